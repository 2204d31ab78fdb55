//! What was learned of a server: how it wants to be told the token limit, and whether it takes a temperature.

use std::sync::atomic::{AtomicBool, Ordering};

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

/// What a run knows of one model at its server. Learned once: the first request finds out, the others wait for it.
#[derive(Debug)]
pub struct Dialect {
    completion_limit: AtomicBool,
    temperature: AtomicBool,
    settled: AtomicBool,
    answered: AtomicBool,
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
            answered: AtomicBool::new(false),
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
        self.answered.store(true, Ordering::Release);
        self.settle();
    }

    /// Whether it ever did.
    pub fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    /// Whether there is nothing left to find out.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}
