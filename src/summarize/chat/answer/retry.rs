//! Verdicts on failed attempts: pure functions of statuses, headers and messages.

use std::time::Duration;

use super::BadAnswer;
use super::lasting::{Lasting, lasting};
use crate::summarize::chat::answer;
use crate::summarize::chat::dialect::{DialectFix, RequestShape};
use crate::summarize::failure::Failure;

/// The longest pause between two attempts, whatever a server asks for.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(2);

/// The next step after a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryVerdict {
    /// Ask again, after the time that the server named, if it did.
    Retry(Failure, Option<Duration>),
    /// The server takes no more requests now: ask again when it does, after the time that it named, if it did.
    Refused(Failure, Option<Duration>),
    /// Ask again at once, in another form.
    Relearn(Failure, DialectFix),
    /// The prompt is too long; the tokens that the server takes, if it says so.
    Shorten(Failure, Option<usize>),
    /// No other attempt would succeed.
    Fail(Failure),
    /// No other record would succeed; the cause, if the server names it.
    EndRun(Failure, Option<Lasting>),
}

impl RetryVerdict {
    /// The failure.
    pub fn failure(&self) -> &Failure {
        match self {
            Self::Retry(failure, _)
            | Self::Refused(failure, _)
            | Self::Relearn(failure, _)
            | Self::Shorten(failure, _)
            | Self::Fail(failure)
            | Self::EndRun(failure, _) => failure,
        }
    }
}

/// A failure before there was a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportError {
    /// No connection, or one that broke.
    Connection,
    /// No answer in time.
    Timeout,
    /// A body that is not what its headers say.
    Decoding,
}

/// The verdict on a failure below HTTP.
pub fn after_transport(kind: TransportError, detail: &str) -> RetryVerdict {
    let name = match kind {
        TransportError::Connection => "summary_connection",
        TransportError::Timeout => "summary_timeout",
        TransportError::Decoding => "summary_decoding",
    };
    RetryVerdict::Retry(Failure::new(name, detail), None)
}

/// The verdict on a response with an error status. Phrases that `prompt` holds as well do not count.
pub fn after_status(
    status: u16,
    retry_after: Option<Duration>,
    body: &[u8],
    manner: RequestShape,
    prompt: &str,
) -> RetryVerdict {
    let message = answer::error_message(body);
    let failure = Failure::http(status, &message);
    let text = String::from_utf8_lossy(body);
    if let Some(about) = lasting(status, &text, prompt).filter(|_| status < 500) {
        return RetryVerdict::EndRun(failure, Some(about));
    }
    match status {
        413 => RetryVerdict::Shorten(failure, window_in(&text.to_ascii_lowercase())),
        429 if says(&text, &TOO_LARGE) => {
            RetryVerdict::Shorten(failure, window_in(&text.to_ascii_lowercase()))
        }
        429 | 498 | 503 | 529 => RetryVerdict::Refused(failure, retry_after),
        408 | 409 | 425 | 500..=599 => RetryVerdict::Retry(failure, retry_after),
        401..=403 => RetryVerdict::EndRun(failure, None),
        400 | 422 => after_refusal(failure, &text, manner),
        _ => RetryVerdict::Fail(failure),
    }
}

/// The verdict on a response with a successful status, but no answer.
pub fn after_answer(
    bad: BadAnswer,
    retry_after: Option<Duration>,
    manner: RequestShape,
    prompt: &str,
) -> RetryVerdict {
    let failure = bad.failure;
    let Some(error) = bad.error else {
        return if bad.is_final {
            RetryVerdict::Fail(failure)
        } else {
            RetryVerdict::Retry(failure, None)
        };
    };
    // The error in the body is judged by the status that it names.
    let Some(status) = error.status else {
        let about = lasting(400, &error.text, prompt);
        return about.map_or(RetryVerdict::Retry(failure.clone(), retry_after), |about| {
            RetryVerdict::EndRun(failure, Some(about))
        });
    };
    match after_status(status, retry_after, error.text.as_bytes(), manner, prompt) {
        RetryVerdict::Retry(_, wish) => RetryVerdict::Retry(failure, wish),
        RetryVerdict::Refused(_, wish) => RetryVerdict::Refused(failure, wish),
        RetryVerdict::Fail(_) => RetryVerdict::Fail(failure),
        other => other,
    }
}

/// Returns true if a text has one of the phrases, which are in lower case.
fn says(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// The verdict on a request that the server calls wrong: too long, or in the wrong form.
fn after_refusal(failure: Failure, body: &str, manner: RequestShape) -> RetryVerdict {
    if says(body, &TOO_LONG) {
        return RetryVerdict::Shorten(failure, window_in(&body.to_ascii_lowercase()));
    }
    if !manner.completion_limit && says(body, &["max_completion_tokens"]) {
        return RetryVerdict::Relearn(failure, DialectFix::CompletionLimit);
    }
    if manner.temperature && says(body, &["temperature"]) {
        return RetryVerdict::Relearn(failure, DialectFix::NoTemperature);
    }
    RetryVerdict::Fail(failure)
}

/// Phrases of rate limits for one request of more than a minute's tokens: waiting would not help it.
const TOO_LARGE: [&str; 3] = [
    "request too large",
    "tokens must be reduced",
    "reduce your message size",
];

/// Phrases for a prompt that is too long, in lower case.
const TOO_LONG: [&str; 12] = [
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "input is too long",
    "exceed_context_size",
    "exceeds the available context size",
    "exceeds the context",
    "context window",
    "context length",
    "too many tokens",
    "input tokens exceed",
    "prompt too long",
];

/// The tokens that a server says it takes, by the phrases of servers that say so.
fn window_in(text: &str) -> Option<usize> {
    let phrases = [
        "maximum context length is ",
        "maximum context length of ",
        "context length is only ",
        "context window of ",
        "tokens > ",
        "\"n_ctx\":",
        "available context size (",
        "(tpm): limit ",
    ];
    phrases.iter().find_map(|phrase| {
        let after = text.split(phrase).nth(1)?.trim_start();
        let digits: String = after
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok().filter(|window| *window > 0)
    })
}

/// The pause before attempt number `attempt` (from 1) is repeated: doubled each time from `base`, and spread by `seed`
/// between half and all of that, so that many requests do not come back at once. A server's own wish comes first, up to
/// [`LONGEST_PAUSE`].
pub fn pause(attempt: u32, base: Duration, seed: u64, wish: Option<Duration>) -> Duration {
    if let Some(wish) = wish {
        return wish.min(LONGEST_PAUSE);
    }
    let doubled = base
        .saturating_mul(1 << attempt.saturating_sub(1).min(16))
        .min(LONGEST_PAUSE);
    doubled.mul_f64(0.5 + 0.5 * share(seed, attempt))
}

/// A number from 0 to 1, by the request and the attempt: the same run pauses alike.
fn share(seed: u64, attempt: u32) -> f64 {
    let mut bits = seed ^ u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(verdict: &RetryVerdict) -> &'static str {
        match verdict {
            RetryVerdict::Retry(..) => "retry",
            RetryVerdict::Relearn(_, DialectFix::CompletionLimit) => "completion limit",
            RetryVerdict::Relearn(_, DialectFix::NoTemperature) => "no temperature",
            RetryVerdict::Shorten(..) => "shorten",
            RetryVerdict::Fail(_) => "fail",
            RetryVerdict::Refused(..) => "refused",
            RetryVerdict::EndRun(..) => "end",
        }
    }

    #[test]
    fn every_status_has_its_verdict() {
        let verdict = |status| after_status(status, None, b"{}", RequestShape::default(), "");
        for status in [408, 409, 425, 500, 502, 504] {
            assert_eq!(kind(&verdict(status)), "retry", "{status}");
        }
        for status in [429, 498, 503, 529] {
            assert_eq!(kind(&verdict(status)), "refused", "{status}");
        }
        for status in [401, 402, 403] {
            assert_eq!(kind(&verdict(status)), "end", "{status}");
        }
        for status in [301, 400, 404, 405, 410, 422, 451] {
            assert_eq!(kind(&verdict(status)), "fail", "{status}");
        }
        assert_eq!(kind(&verdict(413)), "shorten");
    }

    #[test]
    fn a_refusal_is_told_by_its_message() {
        let learned = RequestShape {
            completion_limit: true,
            temperature: false,
        };
        let first = RequestShape::default();
        let cases = [
            (
                first,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                "completion limit",
            ),
            (
                learned,
                "max_completion_tokens is too large, and temperature too",
                "fail",
            ),
            (
                first,
                "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
                "no temperature",
            ),
            (
                first,
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
                "shorten",
            ),
            (
                first,
                "prompt is too long: 210000 tokens > 200000 maximum",
                "shorten",
            ),
            (
                first,
                "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
                "shorten",
            ),
            (first, "messages: roles must alternate", "fail"),
        ];
        for (manner, message, expected) in cases {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            assert_eq!(
                kind(&after_status(400, None, body.as_bytes(), manner, "")),
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn an_error_under_200_is_what_its_name_says() {
        let verdict = |body: serde_json::Value| {
            let bad = answer::read(
                crate::summarize::chat::api::Api::OpenAi,
                body.to_string().as_bytes(),
            );
            kind(&after_answer(bad.unwrap_err(), None, RequestShape::default(), ""))
        };
        let error = |code: &str| serde_json::json!({"error": {"message": "no", "type": "invalid_request_error", "code": code}});
        assert_eq!(verdict(error("insufficient_quota")), "end");
        assert_eq!(verdict(error("model_not_found")), "end");
        assert_eq!(verdict(error("rate_limit_exceeded")), "refused");
        assert_eq!(verdict(error("context_length_exceeded")), "shorten");
        assert_eq!(verdict(error("surprise")), "fail");
        let overloaded = serde_json::json!({"type": "error", "error": {"type": "overloaded_error"}});
        assert_eq!(verdict(overloaded), "refused");
        for (code, expected) in [(429, "refused"), (502, "retry"), (402, "end")] {
            let error = serde_json::json!({"message": "Provider returned error", "code": code});
            assert_eq!(
                verdict(serde_json::json!({"choices": [{"error": error}]})),
                expected
            );
        }
        assert_eq!(
            verdict(serde_json::json!({"error": "Insufficient credits"})),
            "end"
        );
        assert_eq!(verdict(serde_json::json!({"error": "surprise"})), "retry");
    }

    #[test]
    fn a_request_that_is_larger_than_its_rate_limit_is_made_shorter() {
        let message = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The input or output \
                       tokens must be reduced in order to run successfully.";
        let failure = Failure::http(429, message);
        let expected = RetryVerdict::Shorten(failure, Some(30_000));
        assert_eq!(
            after_status(429, None, message.as_bytes(), RequestShape::default(), ""),
            expected
        );
    }

    #[test]
    fn an_error_that_repeats_the_prompt_does_not_end_the_run() {
        let prompt = "The log says Insufficient_Quota.";
        let body = serde_json::json!({"detail": [{"msg": "bad", "input": prompt}]}).to_string();
        let verdict = |prompt| {
            kind(&after_status(
                422,
                None,
                body.as_bytes(),
                RequestShape::default(),
                prompt,
            ))
            .to_owned()
        };
        assert_eq!(
            (verdict(prompt), verdict("")),
            ("fail".to_owned(), "end".to_owned())
        );
    }

    #[test]
    fn the_window_is_read_from_the_message() {
        assert_eq!(window_in("maximum context length is 8192 tokens"), Some(8192));
        assert_eq!(window_in("210000 tokens > 200,000 maximum"), Some(200_000));
        assert_eq!(
            window_in("exceeds the available context size (4096 tokens)"),
            Some(4096)
        );
        assert_eq!(window_in("too many tokens"), None);
    }

    #[test]
    fn pauses_double_are_spread_and_are_the_same_each_time() {
        let base = Duration::from_secs(2);
        for attempt in 1..=5 {
            let full = base * (1 << (attempt - 1));
            let pauses: Vec<_> = (0..50).map(|seed| pause(attempt, base, seed, None)).collect();
            assert!(pauses.iter().all(|pause| *pause >= full / 2 && *pause <= full));
            assert!(pauses.iter().max() > pauses.iter().min());
            assert_eq!(pause(attempt, base, 7, None), pause(attempt, base, 7, None));
        }
        assert!(pause(99, base, 1, None) <= LONGEST_PAUSE);
    }
}
