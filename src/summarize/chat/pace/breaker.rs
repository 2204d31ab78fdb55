//! Stops all requests while a server is down, and has one at a time find out whether it is back.
//!
//! The probe is a tiny question of our own: a record's request may fail for reasons of its own. Times are since any
//! fixed moment, and are passed in: decisions depend on nothing else.

use std::time::Duration;

/// Failures in a row after which a server may be down: at least so many, and at least as many as may be in flight, so
/// that a few failing records do not stop the others.
const LEAST_FAILURES: usize = 10;

/// Failed probes after which the run ends: some minutes for a server that is down, less for one that never was up.
const PROBES: u32 = 8;
const FIRST_PROBES: u32 = 3;

/// The longest pause between two probes.
const LONGEST: Duration = Duration::from_mins(1);

/// Interval of looking for the result of another request's probe.
const WHILE_PROBING: Duration = Duration::from_millis(20);

/// The next step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Send it.
    Go,
    /// Probe the server first, and report the result.
    Probe,
    /// Look again after that time.
    Wait(Duration),
    /// The server has been down for too long.
    GiveUp,
}

/// The availability of a server, judged by its answers.
#[derive(Debug)]
pub struct Breaker {
    /// The first pause.
    base: Duration,
    in_flight: usize,
    failures: usize,
    /// Set while the server seems to be down.
    down: Option<Down>,
    has_answered: bool,
}

#[derive(Debug)]
struct Down {
    /// The earliest time of the next probe.
    next: Duration,
    /// Probes that have failed.
    failed: u32,
    /// A probe is in flight.
    probing: bool,
}

impl Breaker {
    /// A server that is up, with at most so many requests in flight; `base` is the first pause once it is down.
    pub fn new(base: Duration, in_flight: usize) -> Self {
        Self {
            base,
            in_flight,
            failures: 0,
            down: None,
            has_answered: false,
        }
    }

    /// The next step of a request. A caller that gets `Probe` must report its result.
    pub fn pass(&mut self, now: Duration) -> Pass {
        let probes = if self.has_answered { PROBES } else { FIRST_PROBES };
        match &mut self.down {
            None => Pass::Go,
            Some(down) if down.failed >= probes => Pass::GiveUp,
            Some(down) if down.probing => Pass::Wait(WHILE_PROBING),
            Some(down) if down.next > now => Pass::Wait(down.next.saturating_sub(now)),
            Some(down) => {
                down.probing = true;
                Pass::Probe
            }
        }
    }

    /// Notes that the server answered, whatever it said.
    pub fn answered(&mut self) {
        self.has_answered = true;
        self.failures = 0;
        self.down = None;
    }

    /// Notes that the server did not answer, or reported that it is unable to. Returns true if that counts against the
    /// request: it does not while the server seems to be down.
    pub fn failed(&mut self, now: Duration) -> bool {
        self.failures += 1;
        let most = if self.has_answered {
            LEAST_FAILURES.max(self.in_flight)
        } else {
            LEAST_FAILURES
        };
        if self.failures >= most && self.down.is_none() {
            self.down = Some(Down {
                next: now + self.base,
                failed: 0,
                probing: false,
            });
        }
        self.down.is_none()
    }

    /// Notes a failed probe.
    pub fn probe_failed(&mut self, now: Duration) {
        if let Some(down) = &mut self.down {
            down.probing = false;
            down.failed += 1;
            down.next = now + self.base.saturating_mul(1 << down.failed.min(16)).min(LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn down() -> Breaker {
        let mut breaker = Breaker::new(SECOND, 20);
        breaker.answered();
        for _ in 0..20 {
            assert_eq!(breaker.pass(Duration::ZERO), Pass::Go);
            breaker.failed(Duration::ZERO);
        }
        breaker
    }

    #[test]
    fn an_answer_between_failures_keeps_it_going() {
        let mut breaker = Breaker::new(SECOND, 1);
        for _ in 0..100 {
            for _ in 1..LEAST_FAILURES {
                assert!(breaker.failed(Duration::ZERO));
            }
            breaker.answered();
        }
        assert_eq!(breaker.pass(Duration::ZERO), Pass::Go);
    }

    #[test]
    fn while_the_server_is_down_one_at_a_time_finds_out() {
        let mut breaker = down();
        assert_eq!(breaker.pass(Duration::ZERO), Pass::Wait(SECOND));
        assert_eq!(breaker.pass(SECOND), Pass::Probe);
        assert!(matches!(breaker.pass(SECOND), Pass::Wait(_)));
        breaker.probe_failed(SECOND);
        assert_eq!(breaker.pass(SECOND), Pass::Wait(2 * SECOND));
        assert_eq!(breaker.pass(3 * SECOND), Pass::Probe);
        breaker.answered();
        assert_eq!(breaker.pass(3 * SECOND), Pass::Go);
    }

    #[test]
    fn failures_of_a_server_that_is_down_count_against_nobody() {
        assert!(!down().failed(Duration::ZERO));
    }

    #[test]
    fn a_server_that_stays_down_is_given_up_and_one_that_never_was_up_sooner() {
        let mut never_up = Breaker::new(SECOND, 20);
        for _ in 0..LEAST_FAILURES {
            never_up.failed(Duration::ZERO);
        }
        assert_eq!(until_given_up(&mut never_up), (FIRST_PROBES, 15 * SECOND));
        let (probes, time) = until_given_up(&mut down());
        assert_eq!(probes, PROBES);
        assert!(
            time > Duration::from_mins(3) && time < Duration::from_mins(6),
            "{time:?}"
        );
    }

    /// Number of probes and time until the run ends, and the last pause.
    fn until_given_up(breaker: &mut Breaker) -> (u32, Duration) {
        let (mut now, mut probes) = (Duration::ZERO, 0);
        loop {
            match breaker.pass(now) {
                Pass::Wait(wait) => now += wait,
                Pass::Probe => {
                    probes += 1;
                    breaker.probe_failed(now);
                }
                Pass::GiveUp => return (probes, now + breaker.base * 8),
                Pass::Go => panic!("it is down"),
            }
        }
    }
}
