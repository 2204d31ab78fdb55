//! Kept answers of models and programs, so that nobody asks, or pays, for the same thing twice.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::redact::redact;
use super::{NotReady, Usage};
use crate::names::named;

/// Maximum number of answers in the in-memory store.
const MOST_IN_MEMORY: usize = 4096;

/// The SHA-256 of all that an answer depends on: API, server, model, parameters, wording and redacted prompt.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnswerKey([u8; 32]);

named! {
    /// Kinds of kept answers.
    AnswerKind {
        /// A summary.
        Summary = "summary",
        /// A summary to be used verbatim.
        Whole = "whole",
        /// The request to leave the record unchanged.
        Veto = "veto",
        /// A refusal: asked again, the model would refuse again.
        Refused = "refused",
        /// Cut off by the limit on its length, as it would be again.
        CutByLength = "cut_by_length",
    }
}

/// A received answer that is kept, so that it is not paid for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Its kind.
    pub kind: AnswerKind,
    /// The answered text, redacted unless that is off; for a refusal, its words.
    pub text: String,
    /// Number of secrets redacted in it.
    pub redactions: usize,
    /// Name of the model or program.
    pub model: String,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Completion tokens.
    pub completion_tokens: u64,
}

/// A store of answers. A later request finds what was put; a store that fails keeps what it can.
pub trait AnswerStore: Send + Sync {
    /// Opens the store, once a run is certain to begin.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    fn open(&self) -> Result<(), NotReady> {
        Ok(())
    }

    /// The answer for a key.
    fn get(&self, key: &AnswerKey) -> Option<KeptAnswer>;

    /// Keeps an answer and returns the one that is kept, which is another process's if that came first. Once this
    /// returns, the answer outlives the process if the store does.
    fn put(&self, key: &AnswerKey, answer: KeptAnswer) -> KeptAnswer;

    /// Claims a key. Returns true if this process may ask for it, false while another one asks. The owner of a claim
    /// calls [`release`](Self::release) when done, and looks for an answer again before it asks.
    fn claim(&self, _: &AnswerKey) -> bool {
        true
    }

    /// Gives up the claim to a key.
    fn release(&self, _: &AnswerKey) {}

    /// Closes the store: nothing more will be looked up or kept.
    fn close(&self) {}
}

/// An in-memory store of the latest answers; it lasts as long as the run.
#[derive(Debug, Default)]
pub struct InMemory {
    kept: Mutex<(FxHashMap<AnswerKey, KeptAnswer>, VecDeque<AnswerKey>)>,
}

impl KeptAnswer {
    /// The kept form of a received text; with `redaction`, without the secrets in it.
    pub fn received(kind: AnswerKind, text: String, model: String, usage: &Usage, redaction: bool) -> Self {
        let (text, redactions) = if redaction {
            let (redacted, secrets) = redact(&text);
            (redacted.into_owned(), secrets)
        } else {
            (text, 0)
        };
        Self {
            kind,
            text,
            redactions,
            model,
            prompt_tokens: usage.tokens.prompt,
            completion_tokens: usage.tokens.completion,
        }
    }
}

impl AnswerKey {
    /// The key of these parts, in this order.
    pub fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The key with that hash.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A pseudo-random number, always the same for the same key.
    pub fn seed(&self) -> u64 {
        self.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

impl fmt::Debug for AnswerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.seed())
    }
}

impl AnswerStore for InMemory {
    fn get(&self, key: &AnswerKey) -> Option<KeptAnswer> {
        lock(&self.kept).0.get(key).cloned()
    }

    fn put(&self, key: &AnswerKey, answer: KeptAnswer) -> KeptAnswer {
        let mut kept = lock(&self.kept);
        if let Some(first) = kept.0.get(key) {
            return first.clone();
        }
        kept.0.insert(*key, answer.clone());
        kept.1.push_back(*key);
        while kept.1.len() > MOST_IN_MEMORY {
            if let Some(oldest) = kept.1.pop_front() {
                kept.0.remove(&oldest);
            }
        }
        answer
    }
}

/// Locks a mutex, also if another thread panicked while holding it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn answer(text: &str) -> KeptAnswer {
        KeptAnswer {
            kind: AnswerKind::Summary,
            text: text.to_owned(),
            redactions: 0,
            model: "m".to_owned(),
            prompt_tokens: 1,
            completion_tokens: 1,
        }
    }

    #[test]
    fn parts_are_told_apart_wherever_they_end() {
        assert_ne!(AnswerKey::of(&["ab", "c"]), AnswerKey::of(&["a", "bc"]));
        assert_eq!(AnswerKey::of(&["ab", "c"]), AnswerKey::of(&["ab", "c"]));
    }

    #[test]
    fn the_answer_that_came_first_is_kept() {
        let store = InMemory::default();
        let key = AnswerKey::of(&["same"]);
        store.put(&key, answer("first"));
        assert_eq!(store.put(&key, answer("second")), answer("first"));
        assert_eq!(store.get(&key), Some(answer("first")));
    }

    #[test]
    fn memory_is_bounded() {
        let store = InMemory::default();
        for number in 0..=MOST_IN_MEMORY {
            store.put(&AnswerKey::of(&[&number.to_string()]), answer("x"));
        }
        assert_eq!(store.get(&AnswerKey::of(&["0"])), None);
        assert!(store.get(&AnswerKey::of(&["1"])).is_some());
    }
}
