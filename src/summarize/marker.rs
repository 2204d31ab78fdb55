//! The marker that opens a summary turn, the one that ends it, and how an earlier summary is recognized.

/// What every summary turn starts with.
pub const SUMMARY_MARKER: &str = "[CONTEXT SUMMARY]:";

/// What separates a summary from a text that follows it in the same turn.
pub const END_MARKER: &str = "[END OF CONTEXT SUMMARY]";

/// The marker without its colon: models drop it, or put bold around the brackets.
const BARE_MARKER: &str = "[CONTEXT SUMMARY]";

/// `body` with the marker in front exactly once, whatever it brought along: repeated markers, white space, bold.
///
/// An end marker at its end is taken off; who places the summary adds it where it is needed.
pub fn with_marker(body: &str) -> String {
    let mut rest = body.trim_start_matches(is_blank);
    while let Some(after) = after_marker(rest) {
        rest = after.trim_start_matches(is_blank);
    }
    let rest = rest.trim_end_matches(is_blank);
    let rest = rest
        .strip_suffix(END_MARKER)
        .unwrap_or(rest)
        .trim_end_matches(is_blank);
    if rest.is_empty() {
        return SUMMARY_MARKER.to_owned();
    }
    let mut text = String::with_capacity(SUMMARY_MARKER.len() + 1 + rest.len());
    text.push_str(SUMMARY_MARKER);
    text.push('\n');
    let mut pieces = rest.split(SUMMARY_MARKER);
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str(piece.trim_start_matches(' '));
    }
    // Taking one out can join the halves of another.
    while let Some(at) = memchr::memmem::find(
        text.as_bytes().get(1..).unwrap_or_default(),
        SUMMARY_MARKER.as_bytes(),
    ) {
        text.replace_range(at + 1..at + 1 + SUMMARY_MARKER.len(), "");
    }
    text
}

/// The body of an earlier summary turn, without markers; `None` where the text is no summary.
pub fn body_of(text: &str) -> Option<&str> {
    let mut rest = after_marker(text.trim_start_matches(is_blank))?;
    while let Some(after) = after_marker(rest.trim_start_matches(is_blank)) {
        rest = after;
    }
    let end = rest.find(END_MARKER).unwrap_or(rest.len());
    Some(rest.get(..end).unwrap_or(rest).trim_matches(is_blank))
}

/// What follows a marker at the start of `text`, Markdown decoration around it included.
fn after_marker(text: &str) -> Option<&str> {
    let plain = text.trim_start_matches(['*', '#', '_', '`', '>', ' ']);
    let decorated = plain.len() < text.len();
    let head = plain.get(..BARE_MARKER.len())?;
    if !head.eq_ignore_ascii_case(BARE_MARKER) {
        return None;
    }
    let mut rest = plain.get(BARE_MARKER.len()..)?;
    if decorated {
        rest = rest.trim_start_matches(['*', '_', '`']);
    }
    rest = rest.strip_prefix([':', '：']).unwrap_or(rest);
    if decorated {
        rest = rest.trim_start_matches(['*', '_', '`']);
    }
    Some(rest)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_stands_at_the_start_exactly_once() {
        for body in [
            "did this",
            "  \n did this\n",
            "[CONTEXT SUMMARY]: did this",
            "[CONTEXT SUMMARY]:\n[CONTEXT SUMMARY]: did this",
            "**[CONTEXT SUMMARY]:** did this",
            "**[CONTEXT SUMMARY]**: did this",
            "## [Context Summary]\n\ndid this",
            "\u{feff}[CONTEXT SUMMARY]: did this\n[END OF CONTEXT SUMMARY]",
        ] {
            assert_eq!(with_marker(body), "[CONTEXT SUMMARY]:\ndid this", "{body:?}");
        }
    }

    #[test]
    fn a_marker_in_the_middle_is_taken_out() {
        let text = with_marker("a [CONTEXT SUMMARY]: b [CONTEXT [CONTEXT SUMMARY]:SUMMARY]: c");
        assert_eq!(text.matches(SUMMARY_MARKER).count(), 1, "{text}");
        assert!(text.starts_with(SUMMARY_MARKER));
    }

    #[test]
    fn a_body_keeps_its_own_bold() {
        assert_eq!(with_marker("**Asked**: x"), "[CONTEXT SUMMARY]:\n**Asked**: x");
        assert_eq!(with_marker(""), SUMMARY_MARKER);
    }

    #[test]
    fn an_earlier_summary_is_recognized_and_nothing_else() {
        assert_eq!(body_of("[CONTEXT SUMMARY]:\nbody\n"), Some("body"));
        assert_eq!(body_of(" **[CONTEXT SUMMARY]:** body"), Some("body"));
        assert_eq!(
            body_of("[CONTEXT SUMMARY]: body\n[END OF CONTEXT SUMMARY]\nnext"),
            Some("body")
        );
        assert_eq!(body_of("what does [CONTEXT SUMMARY]: mean?"), None);
        assert_eq!(body_of(""), None);
        assert_eq!(body_of(&with_marker("x\ny")), Some("x\ny"));
    }
}
