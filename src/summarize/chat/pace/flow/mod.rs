//! Number and rate of the requests that a server gets: as many as it accepts. A refusal is no failure of a request.
//!
//! Additive increase, multiplicative decrease, as in TCP (RFC 5681): until the first refusal the requests in flight
//! multiply; a refusal halves them and spaces requests out in time; each one accepted afterwards lets both grow slowly.
//! Times are since any fixed moment, and are passed in: decisions depend on nothing else.

use std::time::Duration;

/// Requests in flight before the server's limits are known.
const FIRST_WINDOW: f64 = 16.0;

/// Requests that each accepted one adds to those in flight, until the first refusal: they quadruple within the time of
/// one answer.
const FAST_GROWTH: f64 = 3.0;

/// Part of the accepted rate that is kept after a refusal.
const DECREASE: f64 = 0.9;

/// Growth of the rate by an accepted request: `SEARCH` until a second refusal finds the limit, `INCREASE` afterwards.
const SEARCH: f64 = 1.05;
const INCREASE: f64 = 1.005;

/// A request lends its place once it takes `PATIENCE` times as long as others, and at least `SHORTEST_PATIENCE`. At
/// most `LENT` times the places are lent: if one request of a hundred hangs for 150 times as long as others take, more
/// requests hang than hold a place.
const PATIENCE: u32 = 10;
const SHORTEST_PATIENCE: Duration = Duration::from_secs(2);
const LENT: f64 = 2.0;

/// Weight of the latest answer in the moving average of answer times.
const LATEST: f64 = 0.05;

/// Requests a second above which the rate is not limited.
const BOUNDLESS: f64 = 2000.0;

/// The lowest rate, in requests a second: one in a minute.
const SLOWEST: f64 = 1.0 / 60.0;

/// The longest pause that is chosen here; servers may ask for longer ones.
const LONGEST: Duration = Duration::from_mins(1);

/// Pauses in a row, with nothing accepted between them, after which the run ends: eight minutes and more by default.
const MOST_PAUSES: u32 = 12;

/// The next step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Send it.
    Go,
    /// Look again after that time.
    Wait(Duration),
    /// Look again when another one is done.
    Full,
    /// The server has refused everything for too long.
    GiveUp,
}

/// The requests of a run on their way to one server.
#[derive(Debug)]
pub struct Flow {
    /// The first pause if the server names none.
    base: Duration,
    /// Requests in flight, at most.
    most: f64,
    in_flight: usize,
    /// Requests whose places were lent to others, since their answers take so long.
    lent: usize,
    /// Moving average of answer times, without lent places.
    usual: Option<Duration>,
    /// Requests in flight that the server is believed to take.
    window: f64,
    /// Nothing was refused so far.
    unlimited: bool,
    /// Requests a second, after a refusal.
    rate: Option<f64>,
    /// The limit of the rate is still unknown.
    searching: bool,
    /// Requests a second that the server reports as left, and the time until which that holds.
    told: Option<(f64, Duration)>,
    /// The earliest time of the next request.
    next: Duration,
    /// Time of the last refusal that took effect. Requests sent before it tell nothing new.
    changed: Duration,
    /// Requests accepted since then.
    accepted: u32,
    /// Times since then that the rate held a request back, less times that the number in flight did.
    held_by_rate: i64,
    /// Pauses in a row.
    pauses: u32,
}

impl Flow {
    /// A flow of at most `most` requests in flight; `base` is the first pause after a refusal.
    pub fn new(most: usize, base: Duration) -> Self {
        let most = most.max(1) as f64;
        Self {
            base,
            most,
            in_flight: 0,
            lent: 0,
            usual: None,
            window: FIRST_WINDOW.min(most),
            unlimited: true,
            rate: None,
            searching: true,
            told: None,
            next: Duration::ZERO,
            changed: Duration::ZERO,
            accepted: 0,
            held_by_rate: 0,
            pauses: 0,
        }
    }

    /// The next step of a request. One that gets `Go` is in flight until it leaves.
    pub fn enter(&mut self, now: Duration) -> Admission {
        if self.pauses >= MOST_PAUSES {
            return Admission::GiveUp;
        }
        if self.in_flight > 0 && self.in_flight as f64 >= self.window.floor() {
            self.held_by_rate -= 1;
            return Admission::Full;
        }
        let wait = self.next.saturating_sub(now);
        if !wait.is_zero() {
            self.held_by_rate += 1;
            return Admission::Wait(wait);
        }
        self.in_flight += 1;
        let told = self.told.filter(|(_, until)| now < *until);
        let rates = [self.rate, told.map(|(rate, _)| rate)];
        if let Some(rate) = rates.into_iter().flatten().reduce(f64::min) {
            self.next = now + Duration::from_secs_f64((1.0 / rate).min(LONGEST.as_secs_f64()));
        }
        Admission::Go
    }

    /// Notes the end of a request, whatever its result; `lent`, if its place was lent.
    pub fn leave(&mut self, lent: bool) {
        let of = if lent { &mut self.lent } else { &mut self.in_flight };
        *of = of.saturating_sub(1);
    }

    /// Requests in flight, with those whose places were lent.
    pub fn in_flight(&self) -> usize {
        self.in_flight + self.lent
    }

    /// Notes the time that an answer took.
    pub fn took(&mut self, time: Duration) {
        let usual = self.usual.unwrap_or(time);
        self.usual = Some(usual.mul_f64(1.0 - LATEST) + time.mul_f64(LATEST));
    }

    /// Time that a request holds its place before that is lent to another.
    pub fn hold_limit(&self) -> Duration {
        self.usual.map_or(LONGEST, |usual| {
            (usual * PATIENCE).clamp(SHORTEST_PATIENCE, LONGEST)
        })
    }

    /// Lends the place of a request to another. Returns false if too many are lent already.
    pub fn lend(&mut self) -> bool {
        let may = self.in_flight > 0 && (self.lent as f64) < LENT * self.most;
        if may {
            self.in_flight -= 1;
            self.lent += 1;
        }
        may
    }

    /// Notes that the server accepted a request.
    pub fn accepted(&mut self) {
        self.accepted += 1;
        self.pauses = 0;
        let growth = if self.unlimited {
            FAST_GROWTH
        } else {
            1.0 / self.window
        };
        self.window = (self.window + growth).min(self.most);
        let growth = if self.searching { SEARCH } else { INCREASE };
        self.rate = self
            .rate
            .map(|rate| rate * growth)
            .filter(|rate| *rate < BOUNDLESS);
    }

    /// Notes that the server refused a request sent at `sent`, and the pause `wish` that it asks for, if any.
    pub fn refused(&mut self, sent: Duration, now: Duration, wish: Option<Duration>) {
        if sent < self.changed {
            self.hold(wish.unwrap_or_default(), now);
            return;
        }
        self.pauses += 1;
        let own = |rate: Option<f64>, pauses: u32| match rate {
            // The rate was a little too high: a short pause is enough.
            Some(rate) if pauses == 1 => Duration::from_secs_f64(1.0 / rate).min(self.base),
            _ => self.base.saturating_mul(1 << (pauses - 1).min(16)).min(LONGEST),
        };
        // If the pause that the server asked for did not help, ours is the shortest.
        let own = own(self.rate, self.pauses);
        let least = if self.pauses > 1 { own } else { Duration::ZERO };
        let pause = wish.map_or(own, |wish| wish.max(least));
        // Too many at once, or too many in a time: the one that held requests back was too high.
        let too_many_at_once = !self.unlimited && self.held_by_rate < 0;
        if !too_many_at_once {
            // After a first burst, the rate is that of the burst and the pause together.
            let since = now.saturating_sub(self.changed);
            let time = if self.rate.is_none() { since + pause } else { since };
            let seen = f64::from(self.accepted) / time.as_secs_f64().max(1e-3);
            self.searching &= self.rate.is_none();
            let rate = match self.rate {
                // Nothing was accepted: the pauses are enough.
                Some(rate) if self.accepted == 0 => Some(rate),
                Some(rate) => Some(rate.min(seen) * DECREASE),
                None => (self.accepted > 0).then_some(seen * DECREASE),
            };
            self.rate = rate.map(|rate| rate.max(SLOWEST));
        }
        let part = if too_many_at_once { 0.75 } else { 0.5 };
        let fewer = self.window.min(self.in_flight as f64) * part;
        self.window = if self.pauses > 1 { 1.0 } else { fewer.max(1.0) };
        self.unlimited = false;
        self.held_by_rate = 0;
        self.accepted = 0;
        self.changed = now;
        self.hold(pause, now);
    }

    /// Notes how many more requests like the one answered are left, and for how long, by each of the server's limits.
    pub fn told(&mut self, limits: impl IntoIterator<Item = (f64, Duration)>, now: Duration) {
        let mut lowest: Option<(f64, Duration)> = None;
        for (left, time) in limits {
            if left < 1.0 {
                self.hold(time.min(LONGEST), now);
            }
            let rate = left.max(1.0) / time.as_secs_f64().max(1e-3);
            if lowest.is_none_or(|(other, _)| rate < other) {
                lowest = Some((rate, now + time));
            }
        }
        if let Some(lowest) = lowest {
            self.told = (lowest.0 < BOUNDLESS).then_some(lowest);
        }
    }

    /// Holds all requests back for `pause`.
    fn hold(&mut self, pause: Duration, now: Duration) {
        self.next = self.next.max(now + pause);
    }
}

#[cfg(test)]
mod tests;
