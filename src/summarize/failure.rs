//! Failures of requests, by stable names that metrics group by.

use crate::summarize::redact::redact;

/// Characters of a server's message that are shown.
const MAX_DETAIL: usize = 240;

/// Characters of it that are read: enough to show, even if redaction shortens them.
const MAX_READ: usize = 64 * MAX_DETAIL;

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Stable, `snake_case`.
    pub name: &'static str,
    /// The message of the server or the system: short, on one line, without secrets.
    pub detail: String,
}

impl Failure {
    /// A failure; its detail is shortened and redacted.
    pub fn new(name: &'static str, detail: &str) -> Self {
        Self {
            name,
            detail: presentable(detail),
        }
    }

    /// The failure of a response with that status.
    pub fn http(status: u16, detail: &str) -> Self {
        let name = status_name(status);
        if name == "summary_http_other" {
            return Self::new(name, &format!("HTTP {status}: {detail}"));
        }
        Self::new(name, detail)
    }
}

/// A text on one line, short, without secrets.
fn presentable(text: &str) -> String {
    let text: String = whole_words(text)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let (text, _) = redact(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(MAX_DETAIL) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// The beginning of a text, far longer than the part shown, up to the end of a word: redaction does not recognize half
/// of a secret.
fn whole_words(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(MAX_READ) else {
        return text;
    };
    let text = text.get(..end).unwrap_or_default();
    text.rfind(char::is_whitespace)
        .and_then(|end| text.get(..end))
        .unwrap_or_default()
}

fn status_name(status: u16) -> &'static str {
    match status {
        400 => "summary_http_400",
        401 => "summary_http_401",
        402 => "summary_http_402",
        403 => "summary_http_403",
        404 => "summary_http_404",
        405 => "summary_http_405",
        408 => "summary_http_408",
        409 => "summary_http_409",
        413 => "summary_http_413",
        422 => "summary_http_422",
        425 => "summary_http_425",
        429 => "summary_http_429",
        500 => "summary_http_500",
        501 => "summary_http_501",
        502 => "summary_http_502",
        503 => "summary_http_503",
        504 => "summary_http_504",
        529 => "summary_http_529",
        300..400 => "summary_http_redirect",
        _ => "summary_http_other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_one_short_line_without_secrets() {
        let key = "sk-proj-a8F3kQ9zL2mX7pR4tV6wB1nC5dE0gHjKsTyU";
        let failure = Failure::http(400, &format!("bad\n  key {key} {}", "x ".repeat(500)));
        assert!(!failure.detail.contains(key) && !failure.detail.contains('\n'));
        assert!(failure.detail.chars().count() <= MAX_DETAIL + 1);
        // Secrets that shrink, and one that is cut in two.
        let part = "aZ3".repeat(120);
        let token = format!("eyJ{part}.eyJ{part}.{part} ");
        for times in [3, 200] {
            let detail = Failure::new("summary_http_400", &token.repeat(times)).detail;
            assert!(!detail.contains("eyJ"), "{detail}");
        }
        assert_eq!(Failure::http(418, "teapot").detail, "HTTP 418: teapot");
    }
}
