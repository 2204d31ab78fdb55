//! The client that all requests of a run go through: their turns, their limits, and one knowledge of the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::answer::{self, Answer};
use super::api::{Api, Call};
use super::breaker::{Breaker, Pass};
use super::question::{Asked, Model, Question, Trouble};
use super::rate::Rate;
use super::retry::{self, Verdict};
use super::settings::ChatSettings;
use super::wire::Wire;
use crate::metrics::Tokens;
use crate::summarize::Usage;
use crate::summarize::prompt::Prompt;
use crate::summarize::run_end::RunEnd;
use crate::summarize::spend::{Admitted, Spend};
use crate::tokens::TokenCounter;

/// How long requests wait for the first one to find out how the server wants to be asked.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

/// What is asked of a server that may be down, and the tokens that it may answer with.
const PROBE: &str = "Answer with OK.";
const PROBE_OUTPUT: usize = 16;

/// Requests in flight that make any sense.
const MOST_IN_FLIGHT: usize = 1_000_000;

/// Things that may be learned during one request.
const MAX_LESSONS: usize = 3;

/// The client of a run.
pub struct Client {
    wire: Wire,
    api: Api,
    body: Map<String, Value>,
    temperature: f64,
    max_retries: usize,
    retry_delay: Duration,
    places: Semaphore,
    max_in_flight: u32,
    counter: Arc<dyn TokenCounter>,
    breaker: Mutex<Breaker>,
    requests: Option<Mutex<Rate>>,
    tokens: Option<Mutex<Rate>>,
    spend: Arc<Spend>,
    began: Instant,
    has_answered: AtomicBool,
    /// What the last attempt failed of that found no server, or none that works.
    last_failure: Mutex<String>,
    ended: OnceLock<RunEnd>,
}

/// An attempt that brought no answer.
enum Unanswered {
    /// What is to be done, and whether the attempt counts against the request.
    Verdict(Verdict, bool),
    Ended(RunEnd),
}

impl Client {
    /// The client that the settings ask for.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn new(
        settings: &ChatSettings,
        spend: Arc<Spend>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, String> {
        let max_in_flight = settings.max_concurrent_requests.clamp(1, MOST_IN_FLIGHT);
        Ok(Self {
            wire: Wire::new(settings)?,
            api: settings.api,
            body: settings.body.clone(),
            temperature: settings.temperature,
            max_retries: settings.max_retries,
            retry_delay: settings.retry_delay,
            places: Semaphore::new(max_in_flight),
            max_in_flight: max_in_flight as u32,
            counter,
            breaker: Mutex::new(Breaker::new(
                settings.retry_delay,
                settings.max_concurrent_requests,
            )),
            requests: settings.rpm.map(|rpm| Mutex::new(Rate::per_minute(rpm))),
            tokens: settings.tpm.map(|tpm| Mutex::new(Rate::per_minute(tpm))),
            spend,
            began: Instant::now(),
            has_answered: AtomicBool::new(false),
            last_failure: Mutex::default(),
            ended: OnceLock::new(),
        })
    }

    /// Asks until there is an answer, or no hope of one.
    pub async fn ask(&self, question: &Question) -> Asked<'_> {
        let mut usage = Usage::default();
        let mut place = None;
        let result = self.answer(question, &mut usage, &mut place).await;
        Asked { usage, result, place }
    }

    /// Sends nothing new, and waits until what is in flight is answered and kept.
    pub async fn finish(&self) {
        self.end(RunEnd::over());
        let _all = self.places.acquire_many(self.max_in_flight).await;
    }

    async fn answer<'c>(
        &'c self,
        question: &Question,
        usage: &mut Usage,
        place: &mut Option<SemaphorePermit<'c>>,
    ) -> Result<Answer, Trouble> {
        let (mut attempts, mut lessons) = (0_u32, 0);
        loop {
            let (verdict, counts) = match self.attempt(question, usage, place).await {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Ended(end)) => return Err(Trouble::Ended(end)),
                Err(Unanswered::Verdict(verdict, counts)) => (verdict, counts),
            };
            usage.errors += 1;
            match verdict {
                Verdict::Retry(failure, wish) => {
                    *place = None;
                    attempts += u32::from(counts);
                    if attempts as usize > self.max_retries {
                        return Err(Trouble::Failed(failure));
                    }
                    self.spend.retries.fetch_add(1, Ordering::Relaxed);
                    // A server that is down is waited for by the breaker.
                    if counts {
                        let pause = retry::pause(attempts, self.retry_delay, question.seed, wish);
                        tokio::time::sleep(pause).await;
                    }
                }
                Verdict::Relearn(failure, lesson) => {
                    lessons += 1;
                    if lessons > MAX_LESSONS {
                        return Err(Trouble::Failed(failure));
                    }
                    question.model.dialect.learn(lesson);
                }
                Verdict::Shorten(failure, window) => return Err(Trouble::TooLong(failure, window)),
                // A wrong address or model is wrong for every record.
                Verdict::Fail(failure)
                    if failure.name == "summary_http_404" && !self.has_answered.load(Ordering::Relaxed) =>
                {
                    return Err(Trouble::Ended(
                        self.end(RunEnd::not_found(self.wire.url(), &failure)),
                    ));
                }
                Verdict::Fail(failure) => return Err(Trouble::Failed(failure)),
                Verdict::EndRun(failure) => {
                    let end = RunEnd::refused(self.wire.url(), &failure, self.wire.key());
                    return Err(Trouble::Ended(self.end(end)));
                }
            }
        }
    }

    /// One request, when its turn has come.
    async fn attempt<'c>(
        &'c self,
        question: &Question,
        usage: &mut Usage,
        place: &mut Option<SemaphorePermit<'c>>,
    ) -> Result<Answer, Unanswered> {
        *place = None;
        let dialect = &question.model.dialect;
        let _probe = if dialect.is_settled() {
            None
        } else {
            let probe = tokio::time::timeout(PROBE_PATIENCE, dialect.probe.lock())
                .await
                .ok();
            probe.filter(|_| !dialect.is_settled())
        };
        *place = self.places.acquire().await.ok();
        self.until_up(&question.model, usage)
            .await
            .map_err(Unanswered::Ended)?;
        let _admitted = self
            .admitted(Tokens::of(
                question.prompt_tokens,
                question.max_output as u64,
                question.model.is_fallback,
            ))
            .await
            .map_err(Unanswered::Ended)?;
        usage.api_calls += 1;
        let manner = dialect.manner();
        let body = self.request(&question.model, &question.prompt, question.max_output);
        let verdict = match self.wire.post(body).await {
            Err((kind, detail)) => {
                let verdict = retry::after_transport(kind, &detail);
                return Err(self.no_server(verdict, detail));
            }
            Ok(reply) if (200..300).contains(&reply.status) => match answer::read(self.api, &reply.body) {
                Ok(answer) => {
                    self.breaker().answered();
                    dialect.settle();
                    self.has_answered.store(true, Ordering::Relaxed);
                    let written = || self.counter.count(&answer.text) as u64;
                    let tokens = (
                        answer.prompt_tokens.unwrap_or(question.prompt_tokens),
                        answer.completion_tokens.unwrap_or_else(written),
                    );
                    self.note(usage, &question.model, tokens);
                    return Ok(answer);
                }
                Err(bad) => {
                    let tokens = (bad.tokens.0.unwrap_or(0), bad.tokens.1.unwrap_or(0));
                    self.note(usage, &question.model, tokens);
                    retry::after_answer(bad, manner)
                }
            },
            Ok(reply) => {
                let verdict = retry::after_status(reply.status, reply.retry_after, &reply.body, manner);
                if (500..600).contains(&reply.status) {
                    return Err(self.no_server(verdict, format!("HTTP {}", reply.status)));
                }
                if let (429, Some(wish)) = (reply.status, reply.retry_after) {
                    // What one request is told holds for all of them.
                    let now = self.now();
                    self.breaker().hold(wish.min(retry::LONGEST_PAUSE), now);
                }
                verdict
            }
        };
        self.breaker().answered();
        if !matches!(verdict, Verdict::Relearn(..)) {
            dialect.settle();
        }
        Err(Unanswered::Verdict(verdict, true))
    }

    /// An attempt that found no server, or none that works.
    fn no_server(&self, verdict: Verdict, detail: String) -> Unanswered {
        *lock(&self.last_failure) = detail;
        let now = self.now();
        let counts = self.breaker().failed(now);
        Unanswered::Verdict(verdict, counts)
    }

    fn request(&self, model: &Model, prompt: &Prompt, max_output: usize) -> Vec<u8> {
        let call = Call {
            model: &model.name,
            prompt,
            max_output,
            temperature: self.temperature,
            extra: &self.body,
        };
        self.api.body(&call, model.dialect.manner())
    }

    /// Waits until the server is believed to be up.
    async fn until_up(&self, model: &Model, usage: &mut Usage) -> Result<(), RunEnd> {
        loop {
            if let Some(end) = self.ended.get() {
                return Err(end.clone());
            }
            let now = self.now();
            let pass = self.breaker().pass(now);
            match pass {
                Pass::Go => return Ok(()),
                Pass::Probe => self.probe(model, usage).await?,
                Pass::Wait(wait) => tokio::time::sleep(wait).await,
                Pass::GiveUp => {
                    let end = RunEnd::down(self.wire.url(), &lock(&self.last_failure));
                    return Err(self.end(end));
                }
            }
        }
    }

    /// Asks something tiny, which nothing but the server can fail at.
    async fn probe(&self, model: &Model, usage: &mut Usage) -> Result<(), RunEnd> {
        let prompt = Prompt {
            system: Arc::from(""),
            user: PROBE.to_owned(),
        };
        let _admitted = self
            .admitted(Tokens::of(0, PROBE_OUTPUT as u64, model.is_fallback))
            .await?;
        usage.api_calls += 1;
        let failure = match self.wire.post(self.request(model, &prompt, PROBE_OUTPUT)).await {
            Ok(reply) if reply.status < 500 => {
                if let Ok(answer) = answer::read(self.api, &reply.body) {
                    let tokens = (answer.prompt_tokens, answer.completion_tokens);
                    self.note(usage, model, (tokens.0.unwrap_or(0), tokens.1.unwrap_or(0)));
                }
                self.breaker().answered();
                return Ok(());
            }
            Ok(reply) => format!("HTTP {}", reply.status),
            Err((_, detail)) => detail,
        };
        usage.errors += 1;
        *lock(&self.last_failure) = failure;
        let now = self.now();
        self.breaker().probe_failed(now);
        Ok(())
    }

    /// Waits for the rate limits, and for the money that other requests may still need.
    async fn admitted(&self, tokens: Tokens) -> Result<Admitted<'_>, RunEnd> {
        let now = self.now();
        let wait = |rate: &Option<Mutex<Rate>>, units| {
            rate.as_ref()
                .map_or(Duration::ZERO, |rate| lock(rate).reserve(units, now))
        };
        let wait = wait(&self.requests, 1).max(wait(&self.tokens, tokens.prompt + tokens.completion));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        self.spend
            .admit(tokens)
            .await
            .map_err(|limit| self.end(RunEnd::limit(limit)))
    }

    fn note(&self, usage: &mut Usage, model: &Model, tokens: (u64, u64)) {
        let tokens = Tokens::of(tokens.0, tokens.1, model.is_fallback);
        usage.took(tokens);
        self.spend.took(tokens);
    }

    /// Ends the run, for the first reason that there was.
    fn end(&self, end: RunEnd) -> RunEnd {
        self.ended.get_or_init(|| end).clone()
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        lock(&self.breaker)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
