//! Whose turn it is to ask, among the processes that share a store of answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answers::{AnswerKey, AnswerStore, KeptAnswer};

/// The first pause before it is looked again whether another process has its answer, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Claims at once for each request in flight: some wait for a repetition, or for their place. What is not claimed is left
/// to other processes.
const CLAIMS_PER_REQUEST: usize = 2;

/// Requests in flight that make any sense.
const MOST_IN_FLIGHT: usize = 1_000_000;

/// Where a process gets its turns.
#[derive(Clone)]
pub struct Turns {
    store: Arc<dyn AnswerStore>,
    places: Arc<Semaphore>,
}

/// What a process that is about to ask finds.
pub enum Turn {
    /// Another process asked, and here is what it was told.
    Known(KeptAnswer),
    /// Nobody else asks while this lives.
    Ours(Claim),
}

/// That this process asks for a key; others wait until this is dropped.
pub struct Claim {
    store: Arc<dyn AnswerStore>,
    key: AnswerKey,
    _place: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// The turns of a process that has so many requests in flight, and keeps their answers there.
    pub fn new(store: Arc<dyn AnswerStore>, in_flight: usize) -> Self {
        let places = CLAIMS_PER_REQUEST * in_flight.clamp(1, MOST_IN_FLIGHT);
        let places = Arc::new(Semaphore::new(places));
        Self { store, places }
    }

    /// Waits while another process asks for that key: until its answer is there, it gives up, or it is no more. The disk may
    /// have to be waited for, so this is for tasks of a tokio runtime.
    pub async fn of(&self, key: AnswerKey) -> Turn {
        let mut pause = FIRST_PAUSE;
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await.ok();
            let store = Arc::clone(&self.store);
            match tokio::task::spawn_blocking(move || look(store, key, place)).await {
                Ok(Some(turn)) => return turn,
                // A place is for what is asked, not for what is waited for.
                Ok(None) => tokio::time::sleep(pause).await,
                // The runtime is ending: nothing is asked any more.
                Err(_) => return Turn::Ours(Claim::new(Arc::clone(&self.store), key, None)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Claim {
    fn new(store: Arc<dyn AnswerStore>, key: AnswerKey, place: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            store,
            key,
            _place: place,
        }
    }

    /// Keeps the answer, and then lets others go on. Returns what is kept.
    pub async fn keep(self, answer: KeptAnswer) -> KeptAnswer {
        let unkept = answer.clone();
        // The disk may have to be waited for, which is not for the thread of the network to do.
        let put = tokio::task::spawn_blocking(move || self.store.put(&self.key, answer));
        put.await.unwrap_or(unkept)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.store.release(&self.key);
    }
}

/// One look: an answer, the right to ask, or neither.
fn look(store: Arc<dyn AnswerStore>, key: AnswerKey, place: Option<OwnedSemaphorePermit>) -> Option<Turn> {
    if !store.claim(&key) {
        return store.get(&key).map(Turn::Known);
    }
    let claim = Claim::new(store, key, place);
    // The answer may have come just before the right to ask.
    let known = claim.store.get(&key).map(Turn::Known);
    Some(known.unwrap_or(Turn::Ours(claim)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::summarize::answers::{AnswerKind, InMemory};

    /// A store for which another process asks, for so many looks.
    struct Elsewhere {
        inner: InMemory,
        looks: AtomicUsize,
        answers: bool,
        released: AtomicUsize,
    }

    impl AnswerStore for Elsewhere {
        fn get(&self, key: &AnswerKey) -> Option<KeptAnswer> {
            self.inner.get(key)
        }

        fn put(&self, key: &AnswerKey, answer: KeptAnswer) -> KeptAnswer {
            self.inner.put(key, answer)
        }

        fn claim(&self, key: &AnswerKey) -> bool {
            let is_over = self.looks.fetch_sub(1, Ordering::Relaxed) == 1;
            if is_over && self.answers {
                self.put(key, answer());
            }
            is_over
        }

        fn release(&self, _: &AnswerKey) {
            self.released.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn answer() -> KeptAnswer {
        KeptAnswer {
            kind: AnswerKind::Summary,
            text: "theirs".to_owned(),
            redactions: 0,
            model: "m".to_owned(),
            prompt_tokens: 1,
            completion_tokens: 1,
        }
    }

    #[test]
    fn who_waits_gets_the_answer_or_else_the_turn_and_gives_it_back() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        for answers in [true, false] {
            let elsewhere = Arc::new(Elsewhere {
                inner: InMemory::default(),
                looks: AtomicUsize::new(3),
                answers,
                released: AtomicUsize::new(0),
            });
            let store: Arc<dyn AnswerStore> = Arc::clone(&elsewhere) as _;
            let key = AnswerKey::of(&["same"]);
            match runtime.block_on(Turns::new(Arc::clone(&store), 1).of(key)) {
                Turn::Known(known) => assert!(answers && known == answer()),
                Turn::Ours(claim) => {
                    assert!(!answers && elsewhere.released.load(Ordering::Relaxed) == 0);
                    runtime.block_on(claim.keep(answer()));
                    assert_eq!(store.get(&key), Some(answer()));
                }
            }
            assert_eq!(elsewhere.released.load(Ordering::Relaxed), 1);
        }
    }
}
