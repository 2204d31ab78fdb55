//! A vendor's queue of batches: how the vendor reports that it is full, and what may be submitted.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The limits of a vendor's queue, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLimits {
    /// Prompt tokens.
    pub tokens: Option<u64>,
    /// Requests.
    pub requests: Option<u64>,
}

/// The part of a queue that batches take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Prompt tokens, about.
    pub tokens: u64,
    /// Requests.
    pub requests: u64,
}

/// A refusal because the queue is full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueFull {
    /// The message of the vendor.
    pub said: String,
    /// The limits that it names.
    pub room: QueueLimits,
    /// True if it names the queue; otherwise there were only too many requests.
    pub is_told: bool,
    /// The pause that the vendor asks for.
    pub wish: Option<Duration>,
}

/// The next step for a batch that is to be submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueStep {
    /// Submit it.
    Submit,
    /// Wait until others are done.
    Wait,
    /// Split it into so many batches, so that several fit in at once.
    Split(u64),
}

/// The consequence of a refusal, besides waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalAction {
    /// Other batches fill the queue, ours or somebody else's.
    Wait,
    /// The batch may be too large: it is split in two.
    Halve,
    /// Its one request is too large: something shorter has to be asked.
    TooLarge,
}

/// Share of the queue above which a batch is split.
const LARGE: f64 = 0.5;

/// Maximum share of the parts, so that the queue is never nearly empty. Our tokens only approximate the vendor's.
const PART: f64 = 0.25;

/// Share of the queue below which a batch is not refused for its size, however the vendor counts.
const SMALL: f64 = 0.125;

/// Refusals in a row after which a single request with a large share is taken to be too large.
const REFUSALS: u32 = 3;

/// Maximum number of polls between two attempts to submit.
const MOST_LOOKS: u32 = 32;

/// Phrases of vendors for a full queue, in lower case: `OpenAI` (tokens, requests), Azure, gateways.
const SAYS: [&str; 6] = [
    "token_limit_exceeded",
    "enqueued token",
    "enqueued prompt token",
    "enqueued request",
    "batch_limit_exceeded",
    "batch requests in the processing queue",
];

impl QueueLimits {
    /// The smaller limits of both, as far as they are known.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let smaller = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            tokens: smaller(self.tokens, other.tokens),
            requests: smaller(self.requests, other.requests),
        }
    }

    /// These limits, replaced by those of `newer`.
    #[must_use]
    pub fn learned(self, newer: Self) -> Self {
        Self {
            tokens: newer.tokens.or(self.tokens),
            requests: newer.requests.or(self.requests),
        }
    }

    /// The share of the queue that a load takes; 0 if no limit is known.
    fn share(self, load: Load) -> f64 {
        let share = |load: u64, room: Option<u64>| room.map_or(0.0, |room| load as f64 / room.max(1) as f64);
        share(load.tokens, self.tokens).max(share(load.requests, self.requests))
    }

    /// The next step for a batch while others are in the queue.
    pub fn step(self, batch: Load, in_queue: Load) -> QueueStep {
        let share = self.share(batch);
        if share > LARGE && batch.requests > 1 {
            return QueueStep::Split((share / PART).ceil() as u64);
        }
        // A batch is submitted to an empty queue, however large it seems.
        let is_empty = in_queue.requests == 0;
        let together = Load {
            tokens: batch.tokens + in_queue.tokens,
            requests: batch.requests + in_queue.requests,
        };
        if is_empty || self.share(together) <= 1.0 {
            QueueStep::Submit
        } else {
            QueueStep::Wait
        }
    }

    /// The consequence of refusing a batch that was alone in the queue, as far as this run knows; `refusals` in a row.
    pub fn lesson(self, batch: Load, full: &QueueFull, refusals: u32) -> RefusalAction {
        let share = self.share(batch);
        let is_known = self != Self::default();
        match batch.requests {
            _ if !full.is_told || is_known && share < SMALL => RefusalAction::Wait,
            2.. => RefusalAction::Halve,
            _ if share > 1.0 || share > LARGE && refusals >= REFUSALS => RefusalAction::TooLarge,
            _ => RefusalAction::Wait,
        }
    }
}

impl QueueFull {
    /// The refusal, if this message of a vendor says that its queue is full.
    pub fn told(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        if !SAYS.iter().any(|says| lower.contains(says)) {
            return None;
        }
        let limit = limit_in(&lower);
        let counts_requests = !lower.contains("token") && lower.contains("request");
        Some(Self {
            said: text.to_owned(),
            room: if counts_requests {
                QueueLimits {
                    requests: limit,
                    tokens: None,
                }
            } else {
                QueueLimits {
                    tokens: limit,
                    requests: None,
                }
            },
            is_told: true,
            wish: None,
        })
    }

    /// The refusal by HTTP 429 because there are too many requests, or batches, at this moment; `None` if the message
    /// is about a bill.
    pub fn busy(said: &str, wish: Option<Duration>) -> Option<Self> {
        let lower = said.to_ascii_lowercase();
        let is_bill = ["quota", "billing", "credit"]
            .iter()
            .any(|word| lower.contains(word));
        (!is_bill).then(|| Self {
            said: said.to_owned(),
            room: QueueLimits::default(),
            is_told: false,
            wish,
        })
    }
}

/// Number of polls before the next attempt, after so many refusals in a row: more each time.
pub fn looks(refusals: u32) -> u32 {
    (1 << refusals.saturating_sub(1).min(16)).min(MOST_LOOKS)
}

/// A made-up response that a request is longer than the queue takes, in a server's words for a long prompt, so that it
/// is asked for in pieces. `None` if the line is no request, or the limit is unknown.
pub fn too_large(request: &[u8], room: QueueLimits) -> Option<String> {
    let request: Value = serde_json::from_slice(request).ok()?;
    let tokens = room.tokens?;
    let message = format!("the maximum context length is {tokens} tokens: no more may be enqueued");
    let body = json!({"error": {"message": message}});
    let line = json!({
        "custom_id": request.get("custom_id")?,
        "response": {"status_code": 400, "body": body},
    });
    Some(format!("{line}\n"))
}

/// The number after the word limit: `limit: 90,000 enqueued`, `limit of 30k for`.
fn limit_in(lower: &str) -> Option<u64> {
    ["limit: ", "limit of "].iter().find_map(|phrase| {
        let after = lower.split(phrase).nth(1)?;
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.');
        let (number, rest) = after.split_at(end.unwrap_or(after.len()));
        let number: f64 = number
            .trim_end_matches(['.', ','])
            .replace(',', "")
            .parse()
            .ok()?;
        let mut unit = rest.trim_start().chars();
        let factor = match (unit.next(), unit.next()) {
            (_, Some(next)) if next.is_alphanumeric() => 1.0,
            (Some('k'), _) => 1e3,
            (Some('m'), _) => 1e6,
            (Some('b'), _) => 1e9,
            _ => 1.0,
        };
        Some((number * factor) as u64).filter(|limit| *limit > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::batch::response;
    use crate::summarize::chat::answer::retry::RetryVerdict;
    use crate::summarize::chat::dialect::RequestShape;

    fn tokens(tokens: u64) -> QueueLimits {
        QueueLimits {
            tokens: Some(tokens),
            requests: None,
        }
    }

    fn load(tokens: u64, requests: u64) -> Load {
        Load { tokens, requests }
    }

    #[test]
    fn vendors_say_in_their_words_that_the_queue_is_full() {
        let requests = QueueLimits {
            tokens: None,
            requests: Some(1_000_000),
        };
        for (text, room) in [
            (
                "token_limit_exceeded: Enqueued token limit reached for gpt-4o in organization org-x. Limit: 90,000 \
                 enqueued tokens. Please try again once some in_progress batches have been completed.",
                tokens(90_000),
            ),
            (
                "Enqueued request limit reached for text-embedding-3-small in organization org-x. Limit: 1,000,000 enqueued \
                 requests. Please try again once some in_progress batches have been completed.",
                requests,
            ),
            (
                "The number of enqueued tokens has surpassed the configured limit of 30K for the deployment 'm'. Please \
                 either increase the limit or try again once the current jobs have finished.",
                tokens(30_000),
            ),
            ("configured limit of 1.5 M: enqueued tokens", tokens(1_500_000)),
            ("Enqueued token limit reached. Limit: 0.", QueueLimits::default()),
            ("token_limit_exceeded", QueueLimits::default()),
        ] {
            let full = QueueFull::told(text).unwrap();
            assert_eq!((full.room, full.is_told), (room, true), "{text}");
        }
        for other in [
            "invalid_json_line: This line is no JSON.",
            "billing_hard_limit_reached: Billing hard limit has been reached.",
            "Rate limit reached for requests. Limit: 3.",
        ] {
            assert_eq!(QueueFull::told(other), None, "{other}");
        }
        let wish = Some(Duration::from_secs(7));
        let busy = QueueFull::busy("This request would exceed your account's rate limit.", wish).unwrap();
        assert_eq!(
            (busy.room, busy.is_told, busy.wish),
            (QueueLimits::default(), false, wish)
        );
        assert_eq!(QueueFull::busy("You exceeded your current quota.", None), None);
    }

    #[test]
    fn what_fits_is_submitted_and_what_is_large_is_split() {
        let room = tokens(100);
        assert_eq!(room.step(load(40, 9), load(60, 2)), QueueStep::Submit);
        assert_eq!(room.step(load(41, 9), load(60, 2)), QueueStep::Wait);
        assert_eq!(room.step(load(51, 9), load(0, 0)), QueueStep::Split(3));
        assert_eq!(room.step(load(1000, 9), load(0, 0)), QueueStep::Split(40));
        assert_eq!(room.step(load(1000, 1), load(0, 0)), QueueStep::Submit);
        assert_eq!(room.step(load(1000, 1), load(1, 1)), QueueStep::Wait);
        assert_eq!(
            QueueLimits::default().step(load(1000, 9), load(1000, 9)),
            QueueStep::Submit
        );
        let both = QueueLimits {
            tokens: Some(100),
            requests: Some(10),
        };
        assert_eq!(both.step(load(10, 8), load(0, 0)), QueueStep::Split(4));
        assert_eq!(
            tokens(50).and(both),
            QueueLimits {
                tokens: Some(50),
                requests: Some(10)
            }
        );
        assert_eq!(
            both.learned(tokens(200)),
            QueueLimits {
                tokens: Some(200),
                requests: Some(10)
            }
        );
    }

    #[test]
    fn a_batch_that_is_refused_though_it_is_alone_becomes_smaller_where_that_may_help() {
        let told = QueueFull::told("Enqueued token limit reached").unwrap();
        let busy = QueueFull::busy("slow down", None).unwrap();
        let lesson = |room: QueueLimits, batch, refusals| room.lesson(batch, &told, refusals);
        assert_eq!(lesson(tokens(100), load(40, 9), 1), RefusalAction::Halve);
        assert_eq!(lesson(tokens(100), load(12, 9), 9), RefusalAction::Wait);
        assert_eq!(
            lesson(QueueLimits::default(), load(40, 9), 1),
            RefusalAction::Halve
        );
        assert_eq!(
            lesson(QueueLimits::default(), load(40, 1), 9),
            RefusalAction::Wait
        );
        assert_eq!(lesson(tokens(100), load(101, 1), 1), RefusalAction::TooLarge);
        assert_eq!(lesson(tokens(100), load(60, 1), 2), RefusalAction::Wait);
        assert_eq!(lesson(tokens(100), load(60, 1), 3), RefusalAction::TooLarge);
        assert_eq!(tokens(100).lesson(load(40, 9), &busy, 9), RefusalAction::Wait);
        let pauses: Vec<u32> = (1..=8).map(looks).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 32, 32]);
    }

    #[test]
    fn a_request_that_is_too_large_is_asked_for_in_pieces() {
        let line = too_large(br#"{"custom_id": "a", "params": {}}"#, tokens(9000)).unwrap();
        let response = response::read(line.as_bytes()).unwrap();
        assert_eq!(response.custom_id, "a");
        let response::ResponseOutcome::Failed(failed) = response.outcome else {
            panic!("it is an answer");
        };
        let verdict = failed.verdict(RequestShape::default());
        assert!(
            matches!(verdict, RetryVerdict::Shorten(_, Some(9000))),
            "{verdict:?}"
        );
        assert_eq!(too_large(b"no request", tokens(9000)), None);
    }
}
