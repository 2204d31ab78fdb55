//! Requests and tokens a minute, kept by reservation: whoever comes takes the next free moment and waits for it.

use std::time::Duration;

/// What may be saved up while nothing is asked: bursts stay short.
const BURST: Duration = Duration::from_secs(1);

/// A rate in units a minute. Times are since any fixed moment.
#[derive(Debug, Clone)]
pub struct Rate {
    per_unit: Duration,
    /// The moment from which on there are free units.
    free_from: Duration,
}

impl Rate {
    /// So many units a minute, at least one.
    pub fn per_minute(units: usize) -> Self {
        Self {
            per_unit: Duration::from_mins(1).div_f64(units.max(1) as f64),
            free_from: Duration::ZERO,
        }
    }

    /// Reserves `units`, and tells how long to wait for them.
    pub fn reserve(&mut self, units: u64, now: Duration) -> Duration {
        let start = self.free_from.max(now.saturating_sub(BURST));
        self.free_from = start + self.per_unit.mul_f64(units as f64);
        start.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_over_the_minute() {
        let mut rate = Rate::per_minute(60);
        let waits: Vec<u64> = (0..4)
            .map(|_| rate.reserve(1, Duration::ZERO).as_secs())
            .collect();
        assert_eq!(waits, [0, 1, 2, 3]);
        assert_eq!(rate.reserve(1, Duration::from_mins(1)), Duration::ZERO);
        let later: Vec<u64> = (0..3)
            .map(|_| rate.reserve(1, Duration::from_mins(1)).as_secs())
            .collect();
        assert_eq!(later, [0, 1, 2]);
    }

    #[test]
    fn a_large_request_waits_for_those_after_it() {
        let mut rate = Rate::per_minute(6000);
        assert_eq!(rate.reserve(1000, Duration::ZERO), Duration::ZERO);
        assert_eq!(rate.reserve(1, Duration::ZERO), Duration::from_secs(10));
    }
}
