//! Turns of asking, among the processes that share a store of answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answers::{AnswerKey, AnswerStore, KeptAnswer};

/// The first and the longest pause between two looks for the answer of another process.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Claims held at once for each request in flight: some wait for a repetition, or for their place. Unclaimed keys are
/// left to other processes.
const CLAIMS_PER_REQUEST: usize = 2;

/// Upper bound of requests in flight.
const MOST_IN_FLIGHT: usize = 1_000_000;

/// Gives a process its turns.
#[derive(Clone)]
pub struct ProcessTurns {
    store: Arc<dyn AnswerStore>,
    places: Arc<Semaphore>,
}

/// The result of waiting for a turn.
pub enum Claimed {
    /// The answer that another process got.
    Known(KeptAnswer),
    /// This process asks; no other does while the claim lives.
    Ours(Claim),
}

/// The right of this process to ask for a key; others wait until it is dropped.
pub struct Claim {
    store: Arc<dyn AnswerStore>,
    key: AnswerKey,
    _place: Option<OwnedSemaphorePermit>,
}

impl ProcessTurns {
    /// The turns of a process with so many requests in flight, whose answers are kept in `store`.
    pub fn new(store: Arc<dyn AnswerStore>, in_flight: usize) -> Self {
        let places = CLAIMS_PER_REQUEST * in_flight.clamp(1, MOST_IN_FLIGHT);
        let places = Arc::new(Semaphore::new(places));
        Self { store, places }
    }

    /// Waits while another process asks for that key: until its answer is there, it gives up, or it ends. The disk may
    /// block, so this is for tasks of a tokio runtime.
    pub async fn of(&self, key: AnswerKey) -> Claimed {
        let mut pause = FIRST_PAUSE;
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await.ok();
            let store = Arc::clone(&self.store);
            match tokio::task::spawn_blocking(move || look(store, key, place)).await {
                Ok(Some(turn)) => return turn,
                // Waiting for another process takes no place.
                Ok(None) => tokio::time::sleep(pause).await,
                // The runtime is ending: nothing is asked any more.
                Err(_) => return Claimed::Ours(Claim::new(Arc::clone(&self.store), key, None)),
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

    /// Keeps the answer, and then releases the claim. Returns the answer that is kept.
    pub async fn keep(self, answer: KeptAnswer) -> KeptAnswer {
        let unkept = answer.clone();
        // The disk may block, which the network's thread must not.
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
fn look(store: Arc<dyn AnswerStore>, key: AnswerKey, place: Option<OwnedSemaphorePermit>) -> Option<Claimed> {
    if !store.claim(&key) {
        return store.get(&key).map(Claimed::Known);
    }
    let claim = Claim::new(store, key, place);
    // The answer may have come just before the right to ask.
    let known = claim.store.get(&key).map(Claimed::Known);
    Some(known.unwrap_or(Claimed::Ours(claim)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::summarize::answers::InMemory;
    use crate::summarize::answers::tests::answer;

    /// A store that another process has claimed, for so many looks.
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
                self.put(key, answer("theirs"));
            }
            is_over
        }

        fn release(&self, _: &AnswerKey) {
            self.released.fetch_add(1, Ordering::Relaxed);
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
            match runtime.block_on(ProcessTurns::new(Arc::clone(&store), 1).of(key)) {
                Claimed::Known(known) => assert!(answers && known == answer("theirs")),
                Claimed::Ours(claim) => {
                    assert!(!answers && elsewhere.released.load(Ordering::Relaxed) == 0);
                    runtime.block_on(claim.keep(answer("theirs")));
                    assert_eq!(store.get(&key), Some(answer("theirs")));
                }
            }
            assert_eq!(elsewhere.released.load(Ordering::Relaxed), 1);
        }
    }
}
