//! Limits of requests and tokens a minute: each request waits until some are free, and takes what it needs.

use std::time::Duration;

/// Time whose unused units are saved up: bursts stay short.
const BURST: Duration = Duration::from_secs(1);

/// A rate in units a minute. Times are since any fixed moment.
#[derive(Debug, Clone)]
pub struct Rate {
    per_unit: Duration,
    /// The moment from which on there are free units.
    free_from: Duration,
}

impl Rate {
    /// A rate of so many units a minute, at least one.
    pub fn per_minute(units: usize) -> Self {
        Self {
            per_unit: Duration::from_mins(1).div_f64(units.max(1) as f64),
            free_from: Duration::ZERO,
        }
    }

    /// Time until there are free units.
    pub fn wait(&self, now: Duration) -> Duration {
        self.free_from.saturating_sub(now)
    }

    /// Takes `units`. Where that is more than are free, those who come later wait for them.
    pub fn take(&mut self, units: u64, now: Duration) {
        let start = self.free_from.max(now.saturating_sub(BURST));
        self.free_from = start + self.per_unit.mul_f64(units as f64);
    }

    /// Corrects what was taken, once it is known what was used.
    pub fn settle(&mut self, taken: u64, used: u64) {
        let difference = self.per_unit.mul_f64(taken.abs_diff(used) as f64);
        self.free_from = if used > taken {
            self.free_from + difference
        } else {
            self.free_from.saturating_sub(difference)
        };
    }
}

/// A rate of tokens. An answer's tokens are not known before it: they are taken to be the mean of the answers so far.
#[derive(Debug, Clone)]
pub struct TokenRate {
    rate: Rate,
    /// Moving average of the tokens of answers.
    answer: Option<f64>,
}

/// Weight of the latest answer in the average.
const LATEST: f64 = 0.1;

impl TokenRate {
    /// A rate of so many tokens a minute.
    pub fn per_minute(tokens: usize) -> Self {
        Self {
            rate: Rate::per_minute(tokens),
            answer: None,
        }
    }

    /// Time until there are free tokens.
    pub fn wait(&self, now: Duration) -> Duration {
        self.rate.wait(now)
    }

    /// Takes the tokens of a prompt and of an answer of at most `most` tokens. Returns how many it took.
    pub fn take(&mut self, prompt: u64, most: u64, now: Duration) -> u64 {
        let answer = self
            .answer
            .map_or(most, |answer| (answer.ceil() as u64).min(most));
        self.rate.take(prompt + answer, now);
        prompt + answer
    }

    /// Corrects what was taken, once it is known what a request used; `None` if the server refused it.
    pub fn settle(&mut self, taken: u64, used: Option<(u64, u64)>) {
        let (prompt, answer) = used.unwrap_or_default();
        self.rate.settle(taken, prompt + answer);
        if used.is_some() {
            let mean = self.answer.unwrap_or(answer as f64);
            self.answer = Some(mean + LATEST * (answer as f64 - mean));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds that each of `count` requests of `units` waits, if they come at `now`.
    fn waits(rate: &mut Rate, count: usize, units: u64, now: Duration) -> Vec<u64> {
        let wait = |_| {
            let wait = rate.wait(now).as_secs();
            rate.take(units, now);
            wait
        };
        (0..count).map(wait).collect()
    }

    #[test]
    fn requests_are_spread_over_the_minute() {
        let mut rate = Rate::per_minute(60);
        assert_eq!(waits(&mut rate, 4, 1, Duration::ZERO), [0, 1, 2, 3]);
        assert_eq!(waits(&mut rate, 4, 1, Duration::from_mins(1)), [0, 0, 1, 2]);
    }

    #[test]
    fn a_large_request_waits_for_those_after_it() {
        let mut rate = Rate::per_minute(6000);
        rate.take(1000, Duration::ZERO);
        assert_eq!(rate.wait(Duration::ZERO), Duration::from_secs(10));
    }

    #[test]
    fn a_limit_of_tokens_is_used_whatever_answers_might_have_been() {
        let (mut rate, mut now, mut used) = (TokenRate::per_minute(60_000), Duration::ZERO, 0);
        let mut answers = std::collections::VecDeque::new();
        while now < Duration::from_mins(10) {
            let wait = rate.wait(now);
            let answered = answers.front().copied();
            match answered {
                // 300 tokens read, 100 to 300 written of 1,500 allowed, after 5 seconds; the first is answered first.
                Some((at, taken, answer)) if at <= now + wait || answers.len() == 1 && used == 0 => {
                    answers.pop_front();
                    now = now.max(at);
                    rate.settle(taken, Some((300, answer)));
                    used += 300 + answer;
                }
                _ => {
                    now += wait;
                    let answer = 100 + (used / 7) % 200;
                    answers.push_back((now + Duration::from_secs(5), rate.take(300, 1500, now), answer));
                }
            }
        }
        let share = used as f64 / 600_000.0;
        assert!((0.95..=1.01).contains(&share), "{share}");
    }

    #[test]
    fn what_was_refused_takes_nothing() {
        let mut rate = TokenRate::per_minute(60);
        let taken = rate.take(10, 20, Duration::ZERO);
        assert_eq!((taken, rate.wait(Duration::ZERO)), (30, Duration::from_secs(30)));
        rate.settle(taken, None);
        assert_eq!(rate.wait(Duration::ZERO), Duration::ZERO);
        assert_eq!(rate.take(10, 20, Duration::ZERO), 30);
    }
}
