//! The window: how much may be in flight between reader and writer, in bytes and in batches.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A part of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Bytes of memory.
    pub bytes: usize,
    /// Batches.
    pub batches: usize,
}

impl Share {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            batches: self.batches + other.batches,
        }
    }

    /// The rest without `other`.
    pub fn without(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            batches: self.batches.saturating_sub(other.batches),
        }
    }
}

/// Limits how far the reader gets ahead of the writer, so that memory does not grow with the input.
pub struct Window {
    whole: Share,
    in_flight: Mutex<InFlight>,
    freed: Condvar,
}

#[derive(Default)]
struct InFlight {
    taken: Share,
    closed: bool,
}

impl Window {
    /// A window of `whole` bytes and batches.
    pub fn new(whole: Share) -> Self {
        Self {
            whole,
            in_flight: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits until there is room for `share`, and takes it. A batch larger than the window waits until no other is in
    /// it. Returns false if the window is closed.
    pub fn take(&self, share: Share) -> bool {
        let mut in_flight = self.lock();
        loop {
            if in_flight.closed {
                return false;
            }
            let taken = in_flight.taken.and(share);
            let has_room = taken.bytes <= self.whole.bytes && taken.batches <= self.whole.batches;
            if has_room || in_flight.taken.batches == 0 {
                in_flight.taken = taken;
                return true;
            }
            in_flight = self.freed.wait(in_flight).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives back what [`Self::take`] took, or a part of it.
    pub fn release(&self, share: Share) {
        let mut in_flight = self.lock();
        in_flight.taken = in_flight.taken.without(share);
        self.freed.notify_all();
    }

    /// Returns true if that is more than a quarter of the window.
    pub fn is_beyond_quarter(&self, share: Share) -> bool {
        share.bytes > self.whole.bytes / 4 || share.batches > self.whole.batches / 4
    }

    /// Ends the wait of a reader: nothing will be written any more.
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

    fn share(bytes: usize) -> Share {
        Share { bytes, batches: 1 }
    }

    fn window() -> Window {
        Window::new(Share {
            bytes: 10,
            batches: 4,
        })
    }

    #[test]
    fn a_batch_larger_than_the_window_passes_when_it_is_alone() {
        let window = window();
        assert!(window.take(share(1000)));
        window.release(share(1000));
        assert!(window.take(share(6)));
        assert!(window.take(share(4)));
    }

    #[test]
    fn a_closed_window_lets_nobody_wait() {
        let window = window();
        assert!(window.take(share(10)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| window.take(share(10)));
            window.close();
            assert!(!waiting.join().unwrap());
        });
    }
}
