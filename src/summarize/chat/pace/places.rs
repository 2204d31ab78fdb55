//! The places of requests in flight: who waits for one, who holds one, and when all are free again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::flow::{Admission, Flow};

/// The places of a run.
#[derive(Debug)]
pub struct Places {
    flow: Mutex<Flow>,
    changed: Notify,
    began: Instant,
    closed: AtomicBool,
}

/// A place among the requests in flight, until it is dropped.
#[derive(Debug)]
pub struct InFlightPlace<'p> {
    places: &'p Places,
    lent: AtomicBool,
}

/// The reason why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// The run is over: nothing is sent any more.
    Closed,
    /// The server has refused everything for too long.
    Refused,
}

impl Places {
    /// At most `most` places; `base` is the first pause after a refusal.
    pub fn new(most: usize, base: Duration) -> Self {
        Self {
            flow: Mutex::new(Flow::new(most, base)),
            changed: Notify::new(),
            began: Instant::now(),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits for a place. Must be called one at a time.
    pub async fn enter(&self) -> Result<InFlightPlace<'_>, NoPlace> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.closed.load(Ordering::Relaxed) {
                return Err(NoPlace::Closed);
            }
            let now = self.now();
            let turn = self.flow().enter(now);
            match turn {
                Admission::Go => {
                    return Ok(InFlightPlace {
                        places: self,
                        lent: AtomicBool::new(false),
                    });
                }
                Admission::GiveUp => return Err(NoPlace::Refused),
                Admission::Full => changed.await,
                Admission::Wait(wait) => {
                    let _ = timeout(wait, changed).await;
                }
            }
        }
    }

    /// Closes the places, and waits until all are free.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.flow().in_flight() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// The time since the places were made.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// The flow of requests to the server.
    pub fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlightPlace<'_> {
    /// Waits for an answer. If it takes far longer than others, its place is lent meanwhile.
    pub async fn held_for<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = std::pin::pin!(answer);
        let (hold_limit, began) = (self.places.flow().hold_limit(), self.places.now());
        if let Ok(answer) = timeout(hold_limit, &mut answer).await {
            let took = self.places.now().saturating_sub(began);
            self.places.flow().took(took);
            return answer;
        }
        if self.places.flow().lend() {
            self.lent.store(true, Ordering::Relaxed);
            self.places.changed.notify_waiters();
        }
        answer.await
    }
}

impl Drop for InFlightPlace<'_> {
    fn drop(&mut self) {
        self.places.flow().leave(*self.lent.get_mut());
        self.places.changed.notify_waiters();
    }
}
