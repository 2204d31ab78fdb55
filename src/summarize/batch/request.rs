//! Requests as lines of a file, in the form of each vendor, and the limits of such files.

use super::custom_id;
use crate::summarize::answers::AnswerKey;
use crate::summarize::chat::api::Api;

/// The path that `OpenAI`'s lines name, and batches of them.
pub const ENDPOINT: &str = "/v1/chat/completions";

/// The limits of a file of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

impl FileLimits {
    /// The vendor's limits of one batch. Megabytes are taken for the smaller ones, and Anthropic's leave room for what
    /// is put around the lines.
    pub fn of(api: Api) -> Self {
        match api {
            Api::OpenAi => Self {
                requests: 50_000,
                bytes: 200_000_000,
            },
            Api::Anthropic => Self {
                requests: 100_000,
                bytes: 255_900_000,
            },
        }
    }

    /// These limits, or the given ones where they are smaller.
    #[must_use]
    pub fn at_most(self, requests: Option<u64>, bytes: Option<u64>) -> Self {
        Self {
            requests: self.requests.min(requests.unwrap_or(u64::MAX)).max(1),
            bytes: self.bytes.min(bytes.unwrap_or(u64::MAX)).max(1),
        }
    }
}

/// The line of a request with that JSON body.
pub fn line(api: Api, key: &AnswerKey, body: &[u8]) -> Vec<u8> {
    let id = custom_id::of(key);
    let opening = match api {
        Api::OpenAi => {
            format!("{{\"custom_id\":\"{id}\",\"method\":\"POST\",\"url\":\"{ENDPOINT}\",\"body\":")
        }
        Api::Anthropic => format!("{{\"custom_id\":\"{id}\",\"params\":"),
    };
    [opening.as_bytes(), body, b"}\n"].concat()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lines_are_what_each_vendor_asks_for() {
        let key = AnswerKey::of(&["x"]);
        let read = |api| serde_json::from_slice::<Value>(&line(api, &key, br#"{"model":"m"}"#)).unwrap();
        assert_eq!(
            read(Api::OpenAi),
            json!({"custom_id": custom_id::of(&key), "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}})
        );
        assert_eq!(
            read(Api::Anthropic),
            json!({"custom_id": custom_id::of(&key), "params": {"model": "m"}})
        );
    }

    #[test]
    fn limits_can_only_be_made_smaller() {
        let limits = FileLimits::of(Api::OpenAi).at_most(Some(7), Some(u64::MAX));
        assert_eq!((limits.requests, limits.bytes), (7, 200_000_000));
        assert_eq!(FileLimits::of(Api::Anthropic).at_most(Some(0), None).requests, 1);
    }
}
