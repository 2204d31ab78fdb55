//! The form of requests that a server accepts: the name of the token limit, and if it takes a temperature.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The form of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestShape {
    /// `max_completion_tokens` instead of `max_tokens`.
    pub completion_limit: bool,
    /// With a temperature.
    pub temperature: bool,
}

impl Default for RequestShape {
    /// The form that most servers accept.
    fn default() -> Self {
        Self {
            completion_limit: false,
            temperature: true,
        }
    }
}

impl RequestShape {
    /// This form, changed by a lesson.
    #[must_use]
    pub fn after(self, lesson: DialectFix) -> Self {
        match lesson {
            DialectFix::CompletionLimit => Self {
                completion_limit: true,
                ..self
            },
            DialectFix::NoTemperature => Self {
                temperature: false,
                ..self
            },
        }
    }
}

/// A change of the form that a server's refusal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialectFix {
    /// It wants `max_completion_tokens`.
    CompletionLimit,
    /// It takes no temperature, or not this one.
    NoTemperature,
}

/// Refusals in a row after which the model may be gone: multiplied by `LESS_DOUBT` each time a tiny question finds that
/// it is there.
const DOUBT: usize = 3;
const LESS_DOUBT: usize = 10;

/// The form and state of one model at its server. The first request finds them out, the others wait for it.
#[derive(Debug)]
pub struct Dialect {
    completion_limit: AtomicBool,
    temperature: AtomicBool,
    settled: AtomicBool,
    /// Number of requests and tiny questions that were accepted.
    answers: AtomicUsize,
    /// Number of refusals since the last of these.
    refused: AtomicUsize,
    /// Refusals in a row after which the model is in doubt.
    doubt: AtomicUsize,
    /// Held by the request that finds the form.
    pub probe: tokio::sync::Mutex<()>,
}

impl Default for Dialect {
    fn default() -> Self {
        let first = RequestShape::default();
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
    /// The current form of requests.
    pub fn manner(&self) -> RequestShape {
        RequestShape {
            completion_limit: self.completion_limit.load(Ordering::Relaxed),
            temperature: self.temperature.load(Ordering::Relaxed),
        }
    }

    /// Applies a lesson, which may not be the last one.
    pub fn learn(&self, lesson: DialectFix) {
        match lesson {
            DialectFix::CompletionLimit => self.completion_limit.store(true, Ordering::Relaxed),
            DialectFix::NoTemperature => self.temperature.store(false, Ordering::Relaxed),
        }
    }

    /// Notes that the server does not object to the form.
    pub fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }

    /// Notes that the server accepted a request.
    pub fn answered(&self) {
        self.doubt.store(DOUBT, Ordering::Release);
        self.is_there();
    }

    /// Notes that the server accepted a tiny question: it may still refuse requests.
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

    /// Number of requests and tiny questions that were accepted.
    pub fn answers(&self) -> usize {
        self.answers.load(Ordering::Acquire)
    }

    /// Notes a final refusal. Returns true if the server may refuse all requests: it took none, or none of the last.
    pub fn refused(&self) -> bool {
        self.refused.fetch_add(1, Ordering::AcqRel) + 1 >= self.doubt.load(Ordering::Acquire)
            || self.answers() == 0
    }

    /// Returns true if the form is known.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}
