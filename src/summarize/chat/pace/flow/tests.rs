//! Tests of the flow against simulated servers with limits.

use std::collections::BTreeMap;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const LATENCY: Duration = Duration::from_millis(200);

/// A server that refuses what is over its limit, as such servers do.
enum Limit {
    /// A bucket of so many requests, refilled with so many a second.
    Bucket(f64, f64),
    /// So many in each second.
    Second(usize),
    /// So many in flight.
    InFlight(usize),
}

/// Makes `count` requests to such a server, at most `most` in flight. Returns the requests sent, and the time.
fn run(count: usize, most: usize, limit: &Limit, says_when: bool) -> (usize, Duration) {
    let mut flow = Flow::new(most, 2 * SECOND);
    // The answers, by their times.
    let mut answers: BTreeMap<(Duration, usize), (Duration, bool)> = BTreeMap::new();
    let (mut now, mut sent, mut done) = (Duration::ZERO, 0, 0);
    let (mut tokens, mut filled) = (5.0_f64, Duration::ZERO);
    let mut by_second: BTreeMap<u64, usize> = BTreeMap::new();
    while done < count {
        let turn = if done + answers.len() < count {
            flow.enter(now)
        } else {
            Admission::Full
        };
        let at = match turn {
            Admission::Go => {
                let takes = match *limit {
                    Limit::Bucket(size, rate) => {
                        tokens = (tokens + now.saturating_sub(filled).as_secs_f64() * rate).min(size);
                        filled = now;
                        let takes = tokens >= 1.0;
                        tokens -= if takes { 1.0 } else { 0.0 };
                        takes
                    }
                    Limit::Second(most) => {
                        let taken = by_second.entry(now.as_secs()).or_default();
                        *taken += 1;
                        *taken <= most
                    }
                    Limit::InFlight(most) => answers.len() < most,
                };
                answers.insert((now + LATENCY, sent), (now, takes));
                sent += 1;
                continue;
            }
            Admission::Wait(wait) => now + wait,
            Admission::Full => Duration::MAX,
            Admission::GiveUp => panic!("given up at {done} of {count}"),
        };
        match answers.first_entry() {
            Some(first) if first.key().0 <= at => {
                now = first.key().0;
                let (began, taken) = first.remove();
                flow.leave(false);
                if taken {
                    done += 1;
                    flow.accepted();
                } else {
                    flow.refused(began, now, says_when.then_some(SECOND));
                }
            }
            _ => now = at,
        }
    }
    (sent, now)
}

#[test]
fn a_server_without_limits_is_soon_given_all_that_may_be_in_flight() {
    let none = Limit::InFlight(usize::MAX);
    for (most, share) in [(50, 0.9), (500, 0.7)] {
        let (sent, time) = run(5000, most, &none, false);
        assert_eq!(sent, 5000);
        let possible = LATENCY * (5000 / most as u32);
        assert!(
            possible.as_secs_f64() / time.as_secs_f64() > share,
            "{most}: {time:?} of {possible:?}"
        );
    }
}

#[test]
fn a_rate_limit_is_found_and_kept() {
    for says_when in [true, false] {
        for limit in [Limit::Bucket(5.0, 5.0), Limit::Second(5)] {
            for most in [10, 50, 500] {
                let (sent, time) = run(1000, most, &limit, says_when);
                assert!(sent <= 1100, "{most}, {says_when}: {sent} sent");
                assert!(time < 300 * SECOND, "{most}, {says_when}: {time:?} of 200 s");
            }
        }
    }
}

#[test]
fn a_limit_of_requests_in_flight_is_found_and_kept() {
    for says_when in [true, false] {
        let (sent, time) = run(1000, 50, &Limit::InFlight(8), says_when);
        assert!(sent <= 1100, "{says_when}: {sent} sent");
        assert!(time < 80 * SECOND, "{says_when}: {time:?} of 25 s");
    }
}

#[test]
fn what_a_server_says_is_left_is_spread_over_its_time() {
    let mut flow = Flow::new(50, SECOND);
    assert_eq!(flow.enter(Duration::ZERO), Admission::Go);
    flow.told(
        [(1e6, SECOND / 100), (4.0, 2 * SECOND), (90.0, SECOND)],
        Duration::ZERO,
    );
    assert_eq!(flow.enter(Duration::ZERO), Admission::Go);
    assert_eq!(flow.enter(Duration::ZERO), Admission::Wait(SECOND / 2));
    flow.told([(0.5, 7 * SECOND)], SECOND);
    assert_eq!(flow.enter(SECOND), Admission::Wait(7 * SECOND));
    flow.told([(1e6, SECOND)], SECOND);
    assert_eq!(
        (flow.enter(8 * SECOND), flow.enter(8 * SECOND)),
        (Admission::Go, Admission::Go)
    );
}

#[test]
fn what_a_server_said_once_holds_until_its_time_is_over() {
    let mut flow = Flow::new(50, SECOND);
    flow.told([(1.0, 30 * SECOND)], Duration::ZERO);
    assert_eq!(flow.enter(SECOND), Admission::Go);
    flow.told([], SECOND);
    assert_eq!(flow.enter(SECOND), Admission::Wait(30 * SECOND));
    for _ in 0..10 {
        assert_eq!(flow.enter(31 * SECOND), Admission::Go);
    }
}

#[test]
fn a_server_that_asks_for_no_pause_is_not_given_up_sooner() {
    for wish in [None, Some(Duration::ZERO), Some(SECOND)] {
        let (mut flow, mut now) = (Flow::new(50, SECOND), Duration::ZERO);
        loop {
            match flow.enter(now) {
                Admission::Wait(wait) => now += wait,
                Admission::Go => {
                    flow.leave(false);
                    flow.refused(now, now, wish);
                }
                Admission::GiveUp => break,
                Admission::Full => panic!("nothing is in flight"),
            }
        }
        assert!(now > 5 * Duration::from_mins(1), "{wish:?}: {now:?}");
    }
}

#[test]
fn a_wish_is_obeyed_by_all_and_a_server_that_takes_nothing_is_given_up() {
    let mut flow = Flow::new(50, SECOND);
    for _ in 0..3 {
        assert_eq!(flow.enter(Duration::ZERO), Admission::Go);
    }
    flow.leave(false);
    flow.refused(Duration::ZERO, SECOND, Some(10 * SECOND));
    assert_eq!(flow.enter(SECOND), Admission::Full);
    flow.leave(false);
    // Sent before that: it says nothing new, unless it asks for more.
    flow.refused(Duration::ZERO, SECOND, Some(20 * SECOND));
    flow.leave(false);
    assert_eq!(flow.enter(SECOND), Admission::Wait(20 * SECOND));
    let mut now = 21 * SECOND;
    loop {
        match flow.enter(now) {
            Admission::Wait(wait) => now += wait,
            Admission::Go => {
                flow.leave(false);
                flow.refused(now, now, None);
            }
            Admission::GiveUp => break,
            Admission::Full => panic!("nothing is in flight"),
        }
    }
    assert!(
        now > 5 * Duration::from_mins(1) && now < 15 * Duration::from_mins(1),
        "{now:?}"
    );
}

#[test]
fn a_request_that_hangs_lends_its_place_and_never_more_than_twice_as_many() {
    let mut flow = Flow::new(2, SECOND);
    assert_eq!(flow.hold_limit(), LONGEST);
    flow.took(LATENCY);
    assert_eq!(flow.hold_limit(), 2 * SECOND);
    for _ in 0..100 {
        flow.took(3 * SECOND);
    }
    assert!(flow.hold_limit() > 25 * SECOND, "{:?}", flow.hold_limit());
    for lent in [true, true, true, true, false] {
        assert_eq!(flow.enter(Duration::ZERO), Admission::Go);
        assert_eq!(flow.lend(), lent);
    }
    assert_eq!(flow.enter(Duration::ZERO), Admission::Go);
    assert_eq!(flow.enter(Duration::ZERO), Admission::Full);
    assert_eq!(flow.in_flight(), 6);
    (0..4).for_each(|_| flow.leave(true));
    (0..2).for_each(|_| flow.leave(false));
    assert_eq!(flow.in_flight(), 0);
}
