//! Stops all requests while a server is down, and lets one at a time find out whether it is back.
//!
//! Times are since any fixed moment, and are handed in: what is decided depends on nothing else.

use std::time::Duration;

/// Failures in a row, with no success between them, after which a server counts as down.
pub const DOWN_AFTER: u32 = 10;

/// Probes that may fail before the run ends: some minutes for a server that is down, less for one that never was up.
const PROBES: u32 = 8;
const FIRST_PROBES: u32 = 3;

/// The longest pause between two probes.
const LONGEST: Duration = Duration::from_mins(1);

/// What a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Go.
    Go,
    /// Go, as the one that finds out.
    Probe,
    /// Look again after that time.
    Wait(Duration),
    /// The server has been down for too long.
    GiveUp,
}

/// Whether a server is up, as far as its answers tell.
#[derive(Debug)]
pub struct Breaker {
    /// The first pause.
    base: Duration,
    failures: u32,
    /// While the server is down: when the next probe may go, and how many have failed.
    down: Option<(Duration, u32)>,
    probing: bool,
    has_answered: bool,
    /// Nobody asks before that: the server said so.
    not_before: Duration,
}

impl Breaker {
    /// A server that is up; `base` is the first pause when it is not.
    pub fn new(base: Duration) -> Self {
        Self {
            base,
            failures: 0,
            down: None,
            probing: false,
            has_answered: false,
            not_before: Duration::ZERO,
        }
    }

    /// What a request may do now.
    pub fn pass(&mut self, now: Duration) -> Pass {
        const WHILE_PROBING: Duration = Duration::from_millis(50);
        if let Some(wait) = self.not_before.checked_sub(now).filter(|wait| !wait.is_zero()) {
            return Pass::Wait(wait);
        }
        let probes = if self.has_answered { PROBES } else { FIRST_PROBES };
        match self.down {
            None => Pass::Go,
            Some((_, failed)) if failed >= probes => Pass::GiveUp,
            Some(_) if self.probing => Pass::Wait(WHILE_PROBING),
            Some((next, _)) if next > now => Pass::Wait(next - now),
            Some(_) => {
                self.probing = true;
                Pass::Probe
            }
        }
    }

    /// The server answered, whatever it said.
    pub fn answered(&mut self) {
        self.has_answered = true;
        self.failures = 0;
        self.down = None;
        self.probing = false;
    }

    /// The server did not answer, or said that it is unable to. Returns whether that counts against the request: while
    /// the server is down it does not.
    pub fn failed(&mut self, pass: Pass, now: Duration) -> bool {
        if pass == Pass::Probe {
            self.probing = false;
            let failed = self.down.map_or(1, |(_, failed)| failed + 1);
            self.down = Some((now + self.pause(failed), failed));
            return false;
        }
        self.failures += 1;
        if self.failures >= DOWN_AFTER && self.down.is_none() {
            self.down = Some((now + self.pause(0), 0));
        }
        self.down.is_none()
    }

    /// A probe that came to nothing of its own: another one may go.
    pub fn abandoned(&mut self, pass: Pass) {
        if pass == Pass::Probe {
            self.probing = false;
        }
    }

    /// Nobody is to ask for that long.
    pub fn hold(&mut self, pause: Duration, now: Duration) {
        self.not_before = self.not_before.max(now + pause);
    }

    fn pause(&self, failed: u32) -> Duration {
        self.base.saturating_mul(1 << failed.min(16)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn down(breaker: &mut Breaker) {
        for _ in 0..DOWN_AFTER {
            assert_eq!(breaker.pass(Duration::ZERO), Pass::Go);
            breaker.failed(Pass::Go, Duration::ZERO);
        }
    }

    #[test]
    fn a_success_between_failures_keeps_it_going() {
        let mut breaker = Breaker::new(SECOND);
        for _ in 0..100 {
            for _ in 1..DOWN_AFTER {
                assert!(breaker.failed(Pass::Go, Duration::ZERO));
            }
            breaker.answered();
        }
        assert_eq!(breaker.pass(Duration::ZERO), Pass::Go);
    }

    #[test]
    fn while_the_server_is_down_one_request_at_a_time_asks() {
        let mut breaker = Breaker::new(SECOND);
        down(&mut breaker);
        assert_eq!(breaker.pass(Duration::ZERO), Pass::Wait(SECOND));
        assert_eq!(breaker.pass(SECOND), Pass::Probe);
        assert!(matches!(breaker.pass(SECOND), Pass::Wait(_)));
        assert!(!breaker.failed(Pass::Probe, SECOND));
        assert_eq!(breaker.pass(SECOND), Pass::Wait(2 * SECOND));
        assert_eq!(breaker.pass(3 * SECOND), Pass::Probe);
        breaker.answered();
        assert_eq!(breaker.pass(3 * SECOND), Pass::Go);
    }

    #[test]
    fn failures_of_a_server_that_is_down_count_against_nobody() {
        let mut breaker = Breaker::new(SECOND);
        down(&mut breaker);
        assert!(!breaker.failed(Pass::Go, Duration::ZERO));
    }

    #[test]
    fn a_server_that_stays_down_is_given_up() {
        for (has_answered, expected) in [(true, PROBES), (false, FIRST_PROBES)] {
            let mut breaker = Breaker::new(SECOND);
            if has_answered {
                breaker.answered();
            }
            let (probes, time) = until_given_up(&mut breaker);
            assert_eq!(probes, expected);
            assert!(time > SECOND * (1 << expected.min(6)));
        }
    }

    fn until_given_up(breaker: &mut Breaker) -> (u32, Duration) {
        down(breaker);
        let mut now = Duration::ZERO;
        let mut probes = 0;
        loop {
            match breaker.pass(now) {
                Pass::Wait(wait) => now += wait,
                Pass::Probe => {
                    probes += 1;
                    breaker.failed(Pass::Probe, now);
                }
                Pass::GiveUp => return (probes, now),
                Pass::Go => panic!("it is down"),
            }
        }
    }

    #[test]
    fn everybody_waits_where_the_server_asks_for_it() {
        let mut breaker = Breaker::new(SECOND);
        breaker.hold(3 * SECOND, SECOND);
        assert_eq!(breaker.pass(2 * SECOND), Pass::Wait(2 * SECOND));
        assert_eq!(breaker.pass(4 * SECOND), Pass::Go);
    }
}
