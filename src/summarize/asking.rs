//! Shares answers among concurrent requests: those with one key wait for one answer.

use std::future::Future;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::answers::{AnswerKey, AnswerStore, KeptAnswer, lock};

/// A store, and the keys that are being asked for.
pub struct SharedAnswers {
    store: Arc<dyn AnswerStore>,
    asking: Mutex<FxHashMap<AnswerKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl SharedAnswers {
    /// Answers kept in that store.
    pub fn new(store: Arc<dyn AnswerStore>) -> Self {
        Self {
            store,
            asking: Mutex::default(),
        }
    }

    /// The kept answer, if there is one.
    pub fn kept(&self, key: &AnswerKey) -> Option<KeptAnswer> {
        self.store.get(key)
    }

    /// The store. The task that asks puts the answer into it as soon as it arrives, whether or not anybody still waits
    /// for it.
    pub fn store(&self) -> &Arc<dyn AnswerStore> {
        &self.store
    }

    /// The kept answer and `true`, or the result of `ask`, which puts its answer into the store. While one task asks,
    /// others with the same key wait for the answer; if there is none, the next one asks.
    pub async fn ask_once<E, F>(
        &self,
        key: AnswerKey,
        ask: impl FnOnce() -> F,
    ) -> Result<(KeptAnswer, bool), E>
    where
        F: Future<Output = Result<(KeptAnswer, bool), E>>,
    {
        if let Some(answer) = self.store.get(&key) {
            return Ok((answer, true));
        }
        let asking = Arc::clone(lock(&self.asking).entry(key).or_default());
        let _turn = asking.lock().await;
        if let Some(answer) = self.store.get(&key) {
            return Ok((answer, true));
        }
        let result = ask().await;
        lock(&self.asking).remove(&key);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;
    use crate::summarize::answers::InMemory;
    use crate::summarize::answers::tests::answer;

    #[test]
    fn what_is_asked_for_at_once_is_asked_for_once() {
        let answers = SharedAnswers::new(Arc::new(InMemory::default()));
        let key = AnswerKey::of(&["same"]);
        let asked = AtomicUsize::new(0);
        let (sender, receiver) = futures_channel::oneshot::channel::<()>();
        let receiver = Mutex::new(Some(receiver));
        let ask = || async {
            asked.fetch_add(1, Ordering::Relaxed);
            let receiver = lock(&receiver).take();
            if let Some(receiver) = receiver {
                let _ = receiver.await;
            }
            Ok::<_, ()>((answers.store().put(&key, answer("once")), false))
        };
        let mut all = Box::pin(join_all((0..5).map(|_| answers.ask_once(key, ask))));
        assert!(futures_util::FutureExt::now_or_never(&mut all).is_none());
        sender.send(()).unwrap();
        let all: Vec<_> = pollster::block_on(all).into_iter().map(Result::unwrap).collect();
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(all.iter().filter(|(_, cached)| !*cached).count(), 1);
    }

    #[test]
    fn where_one_failed_the_next_one_asks() {
        let answers = SharedAnswers::new(Arc::new(InMemory::default()));
        let key = AnswerKey::of(&["same"]);
        let failed = pollster::block_on(answers.ask_once(key, || async { Err(()) }));
        assert_eq!(failed, Err(()));
        let asked = pollster::block_on(answers.ask_once(key, || async { Ok::<_, ()>((answer("x"), false)) }));
        assert_eq!(asked, Ok((answer("x"), false)));
    }
}
