//! What was learned of a server: how it wants to be told the token limit, and whether it takes a temperature.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How requests are to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// `max_completion_tokens` instead of `max_tokens`.
    pub completion_limit: bool,
    /// With a temperature.
    pub temperature: bool,
}

impl Default for Manner {
    /// As most servers understand it.
    fn default() -> Self {
        Self {
            completion_limit: false,
            temperature: true,
        }
    }
}

impl Manner {
    /// This manner, with a lesson taken in.
    #[must_use]
    pub fn after(self, lesson: Lesson) -> Self {
        match lesson {
            Lesson::CompletionLimit => Self {
                completion_limit: true,
                ..self
            },
            Lesson::NoTemperature => Self {
                temperature: false,
                ..self
            },
        }
    }
}

/// What a server refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lesson {
    /// It wants `max_completion_tokens`.
    CompletionLimit,
    /// It takes no temperature, or not this one.
    NoTemperature,
}

/// Requests in a row that were refused for good, from which on the model may be gone; so many times as many where it was found to be
/// there, and refused again.
const DOUBT: usize = 3;
const LESS_DOUBT: usize = 10;

/// What a run knows of one model at its server. Learned once: the first request finds out, the others wait for it.
#[derive(Debug)]
pub struct Dialect {
    completion_limit: AtomicBool,
    temperature: AtomicBool,
    settled: AtomicBool,
    /// Requests that were taken for what they are.
    answers: AtomicUsize,
    /// Requests refused for good since the last of these.
    refused: AtomicUsize,
    /// How many of them it takes to doubt.
    doubt: AtomicUsize,
    /// Held by the request that finds out.
    pub probe: tokio::sync::Mutex<()>,
}

impl Default for Dialect {
    fn default() -> Self {
        let first = Manner::default();
        Self {
            completion_limit: AtomicBool::new(first.completion_limit),
            temperature: AtomicBool::new(first.temperature),
            settled: AtomicBool::new(false),
            answers: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            doubt: AtomicUsize::new(DOUBT),
            probe: tokio::sync::Mutex::new(()),
        }
    }
}

impl Dialect {
    /// How a request is to be written now.
    pub fn manner(&self) -> Manner {
        Manner {
            completion_limit: self.completion_limit.load(Ordering::Relaxed),
            temperature: self.temperature.load(Ordering::Relaxed),
        }
    }

    /// Takes a lesson in; it is not settled that it was the last one.
    pub fn learn(&self, lesson: Lesson) {
        match lesson {
            Lesson::CompletionLimit => self.completion_limit.store(true, Ordering::Relaxed),
            Lesson::NoTemperature => self.temperature.store(false, Ordering::Relaxed),
        }
    }

    /// The server has answered without a complaint about the manner.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }

    /// The server has taken a request for what it is.
    pub fn answered(&self) {
        self.doubt.store(DOUBT, Ordering::Release);
        self.is_there();
    }

    /// It takes a tiny question, which says nothing of the requests.
    pub fn is_there_still(&self) {
        let doubt = self.doubt.load(Ordering::Acquire);
        self.doubt
            .store(doubt.saturating_mul(LESS_DOUBT), Ordering::Release);
        self.is_there();
    }

    fn is_there(&self) {
        self.refused.store(0, Ordering::Release);
        self.answers.fetch_add(1, Ordering::Release);
        self.settle();
    }

    /// How often it did.
    pub fn answers(&self) -> usize {
        self.answers.load(Ordering::Acquire)
    }

    /// The server has refused a request for good. Returns whether it may refuse all of them: none was taken, or none of the last ones.
    pub fn refused(&self) -> bool {
        self.refused.fetch_add(1, Ordering::AcqRel) + 1 >= self.doubt.load(Ordering::Acquire)
            || self.answers() == 0
    }

    /// Whether there is nothing left to find out.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}
