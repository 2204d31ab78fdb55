//! The user's limits on a run: requests and tokens a minute, requests and money in all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::rate::{Rate, TokenRate};
use crate::metrics::Tokens;
use crate::summarize::chat::ChatSettings;
use crate::summarize::spend::{Admitted, LimitReached, Spend};

/// Interval of looking for tokens that became free because they were not used after all.
const LOOK: Duration = Duration::from_millis(100);

/// The limits that the user has set.
pub struct UserLimits {
    requests: Option<Mutex<Rate>>,
    tokens: Option<Mutex<TokenRate>>,
    spend: Arc<Spend>,
    began: Instant,
}

/// The reservation of a request: its maximum use, until it is settled.
pub struct Reserved<'a> {
    allowance: &'a UserLimits,
    /// Tokens reserved of those a minute.
    tokens: u64,
    _money: Admitted<'a>,
}

impl UserLimits {
    /// The limits of the settings, and those on what is spent.
    pub fn new(settings: &ChatSettings, spend: Arc<Spend>) -> Self {
        Self {
            requests: settings.rpm.map(|rpm| Mutex::new(Rate::per_minute(rpm))),
            tokens: settings.tpm.map(|tpm| Mutex::new(TokenRate::per_minute(tpm))),
            spend,
            began: Instant::now(),
        }
    }

    /// The spending so far.
    pub fn spend(&self) -> &Spend {
        &self.spend
    }

    /// Waits for the rate limits, and for the money that other requests may still need. Must be called one at a time.
    pub async fn reserve(
        &self,
        prompt: u64,
        most: u64,
        is_fallback: bool,
    ) -> Result<Reserved<'_>, LimitReached> {
        if let Some(requests) = &self.requests {
            let wait = lock(requests).wait(self.began.elapsed());
            tokio::time::sleep(wait).await;
            lock(requests).take(1, self.began.elapsed());
        }
        let mut tokens = 0;
        if let Some(rate) = &self.tokens {
            loop {
                let now = self.began.elapsed();
                let wait = lock(rate).wait(now);
                if wait.is_zero() {
                    tokens = lock(rate).take(prompt, most, now);
                    break;
                }
                tokio::time::sleep(wait.min(LOOK)).await;
            }
        }
        Ok(Reserved {
            allowance: self,
            tokens,
            _money: self.spend.admit(Tokens::of(prompt, most, is_fallback)).await?,
        })
    }
}

impl Reserved<'_> {
    /// Gives back the tokens that were not used; with `None`, all of them.
    pub fn settle(&self, used: Option<(u64, u64)>) {
        if let Some(rate) = &self.allowance.tokens {
            lock(rate).settle(self.tokens, used);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
