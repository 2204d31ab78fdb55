//! An HTTP response: as it stands, with the line of its status, its headers and its body, or as an object of its status and its body.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::field_errors::HTTP_STATUS;
use super::status::{Basis, CallStatus, Outcome};
use super::text::quote;

/// Responses that stand one behind the other in an answer at most.
const MAX_RESPONSES: usize = 16;

/// An HTTP response that is an answer.
pub(super) struct HttpAnswer<'t> {
    /// `412 Precondition Failed`
    status: Cow<'t, str>,
    went_well: bool,
    pub body: Cow<'t, str>,
}

/// Fields that stand beside the status and the body of a response: a record with others has a status and a body of its own.
const BESIDE: [&str; 8] = [
    "headers",
    "statusText",
    "reason",
    "ok",
    "url",
    "method",
    "duration_ms",
    "elapsed_ms",
];

impl<'t> HttpAnswer<'t> {
    /// The response in an answer: of several the last one, behind those that only redirect, say, or within one another.
    pub fn of(answer: &'t str) -> Option<Self> {
        let read = |text| Self::first_of(text).or_else(|| Self::of_object(text));
        let mut response = read(answer)?;
        for _ in 0..MAX_RESPONSES {
            let Cow::Borrowed(text) = response.body else {
                return Some(response);
            };
            match read(text) {
                Some(next) => response = next,
                None => return Some(response),
            }
        }
        None
    }

    /// A response that is told as an object: `{"status": 404, "body": {…}}`.
    fn of_object(answer: &'t str) -> Option<Self> {
        let answer = answer.trim();
        if !answer.starts_with('{') || !answer.contains("\"body\"") {
            return None;
        }
        let fields: FxHashMap<&str, &RawValue> = serde_json::from_str(answer).ok()?;
        let is_of_response = |key: &&str| *key == "body" || HTTP_STATUS.contains(key) || BESIDE.contains(key);
        let body: &'t RawValue = fields.get("body").filter(|_| fields.keys().all(is_of_response))?;
        let status = HTTP_STATUS.iter().find_map(|key| fields.get(key))?;
        let status: u16 = status.get().parse().ok()?;
        let body = match body.get() {
            text if text.starts_with('"') => Cow::Owned(serde_json::from_str::<String>(text).ok()?),
            "null" => Cow::Borrowed(""),
            object => Cow::Borrowed(object),
        };
        (100..600).contains(&status).then(|| Self {
            status: status.to_string().into(),
            went_well: status < 400,
            body,
        })
    }

    fn first_of(answer: &'t str) -> Option<Self> {
        let rest = answer.trim_start().strip_prefix("HTTP/")?;
        let (head, body) = split_head(rest);
        let (version, status) = head.lines().next()?.split_once(' ')?;
        let code: u16 = status.get(..3)?.parse().ok()?;
        let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        (is_version && (100..600).contains(&code)).then(|| Self {
            status: status.trim().into(),
            went_well: code < 400,
            body: body.trim().into(),
        })
    }

    /// The outcome of the call, by that of the body: what it says of an error stands behind the status.
    pub fn outcome(&self, body: Outcome) -> Outcome {
        if self.went_well {
            let (status, basis) = match body.status {
                CallStatus::Unknown => (CallStatus::Ok, Basis::Field),
                status => (status, body.basis),
            };
            return Outcome {
                status,
                basis,
                ..body
            };
        }
        let why = body.error.as_ref().or(body.result.as_ref());
        let error = match why.filter(|_| !self.body.is_empty()) {
            Some(why) => quote(&format!("{}: {why}", self.status)),
            None => quote(&self.status),
        };
        Outcome {
            status: CallStatus::Failed,
            basis: Basis::Field,
            error,
            ..body
        }
    }
}

/// The head of a response, and its body.
fn split_head(text: &str) -> (&str, &str) {
    let split = text.split_once("\r\n\r\n").or_else(|| text.split_once("\n\n"));
    split.unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_responses_the_last_one_counts_and_of_very_many_none() {
        let last = "HTTP/1.1 409 Conflict\nDate: today\n\n{\"message\": \"taken\"}";
        let text = ["HTTP/1.1 100 Continue\n\n", last].concat();
        let response = HttpAnswer::of(&text).unwrap();
        assert_eq!(
            (response.status.as_ref(), response.went_well),
            ("409 Conflict", false)
        );
        assert_eq!(response.body, "{\"message\": \"taken\"}");
        let many = "HTTP/1.1 100 Continue\n\n".repeat(100_000);
        assert!(HttpAnswer::of(&many).is_none());
        let deep = [
            r#"{"status":200,"body":"#.repeat(4_000).as_str(),
            "{}",
            &"}".repeat(4_000),
        ]
        .concat();
        assert!(HttpAnswer::of(&deep).is_none());
    }
}
