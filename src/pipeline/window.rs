//! The window: how much may be in flight between reader and writer, in bytes and in batches.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets the reader go ahead of the writer only so far, so that memory does not grow with the input.
pub struct Window {
    max_bytes: usize,
    max_batches: usize,
    in_flight: Mutex<InFlight>,
    freed: Condvar,
}

#[derive(Default)]
struct InFlight {
    bytes: usize,
    batches: usize,
    closed: bool,
}

impl Window {
    /// A window of so many bytes and batches.
    pub fn new(max_bytes: usize, max_batches: usize) -> Self {
        Self {
            max_bytes,
            max_batches,
            in_flight: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits until there is room for `bytes`, and takes it. A batch larger than the window waits for an empty one.
    /// `false` where the writer has gone.
    pub fn take(&self, bytes: usize) -> bool {
        let mut in_flight = self.lock();
        loop {
            if in_flight.closed {
                return false;
            }
            let room = in_flight.bytes + bytes <= self.max_bytes && in_flight.batches < self.max_batches;
            if room || in_flight.batches == 0 {
                in_flight.bytes += bytes;
                in_flight.batches += 1;
                return true;
            }
            in_flight = self.freed.wait(in_flight).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives back what [`Self::take`] took.
    pub fn release(&self, bytes: usize) {
        let mut in_flight = self.lock();
        in_flight.bytes = in_flight.bytes.saturating_sub(bytes);
        in_flight.batches = in_flight.batches.saturating_sub(1);
        self.freed.notify_all();
    }

    /// Tells a waiting reader that nobody will write any more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.freed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_larger_than_the_window_passes_when_it_is_alone() {
        let window = Window::new(10, 4);
        assert!(window.take(1000));
        window.release(1000);
        assert!(window.take(6));
        assert!(window.take(4));
    }

    #[test]
    fn a_closed_window_lets_nobody_wait() {
        let window = Window::new(10, 4);
        assert!(window.take(10));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| window.take(10));
            window.close();
            assert!(!waiting.join().unwrap());
        });
    }
}
