//! Blocks a plain thread on a future, for a limited time once the run is to stop.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The interval of checks whether the run is to stop.
const LOOK: Duration = Duration::from_millis(100);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for the output of a future; `None` if it is not ready `moment` after `stop` was set.
pub fn block_on_until_stopped<F: Future>(
    future: F,
    stop: &AtomicBool,
    moment: Duration,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut asked_to_stop: Option<Instant> = None;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if stop.load(Ordering::Relaxed) && asked_to_stop.get_or_insert_with(Instant::now).elapsed() >= moment
        {
            return None;
        }
        thread::park_timeout(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_had_at_once_even_when_stopping() {
        let stop = AtomicBool::new(true);
        assert_eq!(
            block_on_until_stopped(std::future::ready(5), &stop, Duration::ZERO),
            Some(5)
        );
    }

    #[test]
    fn what_hangs_is_waited_for_until_the_run_is_to_stop() {
        let stop = AtomicBool::new(false);
        let started = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                stop.store(true, Ordering::Relaxed);
            });
            let waited =
                block_on_until_stopped(std::future::pending::<()>(), &stop, Duration::from_millis(50));
            assert_eq!(waited, None);
        });
        assert!(started.elapsed() >= Duration::from_millis(100));
    }
}
