//! The spending of a run on summaries: live figures, and the limits on requests and money.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::metrics::{Prices, Tokens};

/// Limits of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpendLimits {
    /// Requests, failed ones included.
    pub max_requests: Option<u64>,
    /// US dollars.
    pub max_cost: Option<f64>,
    /// Prices of tokens; without them money is not counted.
    pub prices: Option<Prices>,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LimitReached {
    /// The maximum number of requests.
    Requests(u64),
    /// The maximum cost, in US dollars.
    Cost(f64),
}

/// Live figures of the requests of a run. Counters only grow, except for `in_flight`.
#[derive(Debug, Default)]
pub struct Spend {
    limits: SpendLimits,
    /// Requests sent.
    pub requests: AtomicU64,
    /// Requests that are waiting for their answer.
    pub in_flight: AtomicU64,
    /// Attempts to be repeated.
    pub retries: AtomicU64,
    /// Prompt tokens, as servers report them.
    pub prompt_tokens: AtomicU64,
    /// Completion tokens, as servers report them.
    pub completion_tokens: AtomicU64,
    /// The part of `prompt_tokens` of the fallback model.
    pub fallback_prompt_tokens: AtomicU64,
    /// The part of `completion_tokens` of the fallback model.
    pub fallback_completion_tokens: AtomicU64,
    /// Kept answers that were used instead of a request.
    pub cache_hits: AtomicU64,
    /// Maximum cost of the requests in flight, in US dollars.
    reserved: Mutex<f64>,
    settled: Notify,
}

/// A request that may be sent; its reserved cost is released when this is dropped.
#[derive(Debug)]
pub struct Admitted<'s> {
    spend: &'s Spend,
    reserved: f64,
}

impl Spend {
    /// A run that has spent nothing yet.
    pub fn new(limits: SpendLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Prices of tokens, if they are known.
    pub fn prices(&self) -> Option<Prices> {
        self.limits.prices
    }

    /// The cost so far, in US dollars; `None` if prices are unknown.
    pub fn cost(&self) -> Option<f64> {
        let tokens = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let prices = self.limits.prices?;
        Some(prices.cost(Tokens {
            prompt: tokens(&self.prompt_tokens),
            completion: tokens(&self.completion_tokens),
            fallback_prompt: tokens(&self.fallback_prompt_tokens),
            fallback_completion: tokens(&self.fallback_completion_tokens),
        }))
    }

    /// Waits until a request of at most so many tokens is within the limits, and counts it as sent. Requests in flight
    /// count with their maximum cost, so that the limit on money holds whatever they answer.
    pub async fn admit(&self, tokens: Tokens) -> Result<Admitted<'_>, LimitReached> {
        let prices = self.limits.prices;
        let most = prices.map_or(0.0, |prices| prices.cost(tokens));
        loop {
            let settled = self.settled.notified();
            {
                let mut reserved = self.reserved();
                let spent = self.cost().unwrap_or_default();
                let over = |cost: f64| self.limits.max_cost.is_some_and(|most| cost > most);
                if over(spent + most) {
                    return Err(LimitReached::Cost(self.limits.max_cost.unwrap_or_default()));
                }
                if !over(spent + *reserved + most) {
                    let sent = self.requests.load(Ordering::Relaxed);
                    if let Some(limit) = self.limits.max_requests.filter(|limit| sent >= *limit) {
                        return Err(LimitReached::Requests(limit));
                    }
                    *reserved += most;
                    self.requests.fetch_add(1, Ordering::Relaxed);
                    self.in_flight.fetch_add(1, Ordering::Relaxed);
                    return Ok(Admitted {
                        spend: self,
                        reserved: most,
                    });
                }
            }
            settled.await;
        }
    }

    /// Adds the tokens that a request took.
    pub fn took(&self, tokens: Tokens) {
        for (counter, tokens) in [
            (&self.prompt_tokens, tokens.prompt),
            (&self.completion_tokens, tokens.completion),
            (&self.fallback_prompt_tokens, tokens.fallback_prompt),
            (&self.fallback_completion_tokens, tokens.fallback_completion),
        ] {
            counter.fetch_add(tokens, Ordering::Relaxed);
        }
    }

    fn reserved(&self) -> MutexGuard<'_, f64> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        *self.spend.reserved() -= self.reserved;
        self.spend.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.spend.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const DOLLAR_A_TOKEN: Prices = Prices {
        prompt: 1e6,
        completion: 1e6,
        fallback_prompt: 1e6,
        fallback_completion: 1e6,
    };

    fn tokens(prompt: u64, completion: u64) -> Tokens {
        Tokens::of(prompt, completion, false)
    }

    #[test]
    fn requests_are_counted_and_limited() {
        let spend = Spend::new(SpendLimits {
            max_requests: Some(2),
            ..SpendLimits::default()
        });
        for _ in 0..2 {
            pollster::block_on(spend.admit(tokens(1, 1))).unwrap();
        }
        let third = pollster::block_on(spend.admit(tokens(1, 1))).map(drop);
        assert_eq!(third, Err(LimitReached::Requests(2)));
        assert_eq!(spend.in_flight.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn money_in_flight_holds_others_back_until_it_is_known() {
        let spend = Spend::new(SpendLimits {
            max_cost: Some(10.0),
            prices: Some(DOLLAR_A_TOKEN),
            ..SpendLimits::default()
        });
        let first = pollster::block_on(spend.admit(tokens(4, 4))).unwrap();
        assert!(spend.admit(tokens(4, 4)).now_or_never().is_none());
        spend.took(tokens(1, 1));
        drop(first);
        let second = pollster::block_on(spend.admit(tokens(4, 4))).unwrap();
        spend.took(tokens(4, 4));
        drop(second);
        let third = pollster::block_on(spend.admit(tokens(1, 1))).map(drop);
        assert_eq!(third, Err(LimitReached::Cost(10.0)));
    }
}
