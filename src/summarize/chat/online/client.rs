//! The client that all requests of a run go through: their order, their limits, and the shared state of the server.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::wire::Wire;
use crate::metrics::Tokens;
use crate::summarize::Usage;
use crate::summarize::chat::ChatSettings;
use crate::summarize::chat::answer::error_names::FORBIDDEN;
use crate::summarize::chat::answer::retry::{self, RetryVerdict};
use crate::summarize::chat::answer::{self, BadAnswer, ModelAnswer};
use crate::summarize::chat::api::{Api, ApiCall};
use crate::summarize::chat::pace::allowance::{Reserved, UserLimits};
use crate::summarize::chat::pace::breaker::Breaker;
use crate::summarize::chat::pace::limits::{Left, LimitUnit};
use crate::summarize::chat::pace::places::{InFlightPlace, NoPlace, Places};
use crate::summarize::chat::question::{ChatError, ChatModel, Question, QuestionOutcome};
use crate::summarize::failure::Failure;
use crate::summarize::prompt::Prompt;
use crate::summarize::run_end::RunEnd;
use crate::summarize::spend::Spend;
use crate::tokens::TokenCounter;

/// Time that requests wait for the first one to find the form that the server accepts.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

/// Upper bound of requests in flight.
const MOST_IN_FLIGHT: usize = 1_000_000;

/// Longest pause that a server may ask for: the run ends if it asks for more.
const LONGEST_WISH: Duration = Duration::from_mins(15);

/// Maximum changes of the form during one request.
const MAX_LESSONS: usize = 3;

/// The client of a run.
pub struct Client {
    pub(super) wire: Wire,
    pub(super) api: Api,
    body: Map<String, Value>,
    temperature: f64,
    max_retries: usize,
    retry_delay: Duration,
    pub(super) places: Places,
    /// Held by the request whose turn it is to be sent.
    pub(super) turn: tokio::sync::Mutex<()>,
    counter: Arc<dyn TokenCounter>,
    breaker: Mutex<Breaker>,
    allowance: UserLimits,
    /// The error of the last attempt that was refused, or found no working server.
    pub(super) last_failure: Mutex<String>,
    pub(super) ended: OnceLock<RunEnd>,
}

/// An attempt that brought no answer.
enum Unanswered {
    /// The verdict, and true if the attempt counts against the request.
    Verdict(RetryVerdict, bool),
    Ended(RunEnd),
}

impl Client {
    /// A client with these settings.
    ///
    /// # Errors
    ///
    /// If they are wrong.
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
            places: Places::new(max_in_flight, settings.retry_delay),
            turn: tokio::sync::Mutex::default(),
            counter,
            breaker: Mutex::new(Breaker::new(
                settings.retry_delay,
                settings.max_concurrent_requests,
            )),
            allowance: UserLimits::new(settings, spend),
            last_failure: Mutex::default(),
            ended: OnceLock::new(),
        })
    }

    /// Asks until there is an answer, or a final failure.
    pub async fn ask(&self, question: &Question) -> QuestionOutcome<'_> {
        let mut usage = Usage::default();
        let mut place = None;
        let result = self.answer(question, &mut usage, &mut place).await;
        QuestionOutcome { usage, result, place }
    }

    /// Sends nothing new, and waits until what is in flight is answered and kept.
    pub async fn finish(&self) {
        self.end(RunEnd::over());
        self.places.close().await;
    }

    async fn answer<'c>(
        &'c self,
        question: &Question,
        usage: &mut Usage,
        place: &mut Option<InFlightPlace<'c>>,
    ) -> Result<ModelAnswer, ChatError> {
        let (mut attempts, mut lessons) = (0_u32, 0);
        loop {
            let (verdict, counts) = match self.attempt(question, usage, place).await {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Ended(end)) => return Err(ChatError::Ended(end)),
                Err(Unanswered::Verdict(verdict, counts)) => (verdict, counts),
            };
            usage.errors += 1;
            match verdict {
                RetryVerdict::Retry(failure, wish) => {
                    *place = None;
                    attempts += u32::from(counts);
                    if attempts as usize > self.max_retries {
                        return Err(ChatError::Failed(failure));
                    }
                    self.allowance.spend().retries.fetch_add(1, Ordering::Relaxed);
                    // The breaker waits for a server that is down.
                    if counts {
                        let pause = retry::pause(attempts, self.retry_delay, question.seed, wish);
                        tokio::time::sleep(pause).await;
                    }
                }
                // The place is free; the next one depends on what the server accepts.
                RetryVerdict::Refused(..) => {
                    *place = None;
                    self.allowance.spend().retries.fetch_add(1, Ordering::Relaxed);
                }
                RetryVerdict::Relearn(failure, lesson) => {
                    lessons += 1;
                    if lessons > MAX_LESSONS {
                        return Err(ChatError::Failed(failure));
                    }
                    question.model.dialect.learn(lesson);
                }
                RetryVerdict::Shorten(failure, window) => return Err(ChatError::TooLong(failure, window)),
                RetryVerdict::EndRun(failure, about) if about.is_some() || failure.name != FORBIDDEN => {
                    let end = RunEnd::refused(self.wire.url(), &failure, about, self.wire.key());
                    return Err(ChatError::Ended(self.end(end)));
                }
                RetryVerdict::Fail(failure) | RetryVerdict::EndRun(failure, _) => {
                    *place = None;
                    match self.is_for_all(question, usage, &failure).await {
                        Ok(Some(false)) => return Err(ChatError::Failed(failure)),
                        Ok(Some(true)) => {
                            let end = RunEnd::refuses_all(self.wire.url(), &failure, self.wire.key());
                            return Err(ChatError::Ended(self.end(end)));
                        }
                        Ok(None) => {
                            attempts += 1;
                            if attempts as usize > self.max_retries {
                                return Err(ChatError::Failed(failure));
                            }
                        }
                        Err(end) => return Err(ChatError::Ended(end)),
                    }
                }
            }
        }
    }

    /// One request, once its turn has come.
    async fn attempt<'c>(
        &'c self,
        question: &Question,
        usage: &mut Usage,
        place: &mut Option<InFlightPlace<'c>>,
    ) -> Result<ModelAnswer, Unanswered> {
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
        let (entered, reserved) = self.turn(question, usage).await.map_err(Unanswered::Ended)?;
        let entered = place.insert(entered);
        usage.api_calls += 1;
        let manner = dialect.manner();
        let body = self.request(&question.model, &question.prompt, question.max_output);
        let sent = self.places.now();
        let reply = match entered.held_for(self.wire.post(body)).await {
            Err((kind, detail)) => {
                reserved.settle(None);
                let verdict = retry::after_transport(kind, &detail);
                return Err(self.no_server(verdict, detail));
            }
            Ok(reply) => reply,
        };
        let read = (200..300)
            .contains(&reply.status)
            .then(|| self.read(&reply.body, question));
        let verdict = match read {
            Some(Ok(answer)) => {
                self.breaker().answered();
                dialect.answered();
                let tokens = (answer.prompt_tokens, answer.completion_tokens);
                let tokens = (tokens.0.unwrap_or_default(), tokens.1.unwrap_or_default());
                reserved.settle(Some(tokens));
                self.note(usage, &question.model, tokens);
                self.took_on(&reply.left, tokens);
                return Ok(answer);
            }
            Some(Err(bad)) => {
                let tokens = (bad.tokens.0.unwrap_or(0), bad.tokens.1.unwrap_or(0));
                reserved.settle(Some(tokens));
                self.note(usage, &question.model, tokens);
                retry::after_answer(bad, reply.retry_after, manner, &question.prompt.user)
            }
            None => {
                reserved.settle(None);
                let error = self.wire.error_body(&reply.body);
                retry::after_status(
                    reply.status,
                    reply.retry_after,
                    &error,
                    manner,
                    &question.prompt.user,
                )
            }
        };
        match &verdict {
            RetryVerdict::Refused(failure, wish) => {
                self.refused(sent, failure, *wish).map_err(Unanswered::Ended)?;
            }
            _ if (500..600).contains(&reply.status) => {
                return Err(self.no_server(verdict, format!("HTTP {}", reply.status)));
            }
            _ => self.took_on(&reply.left, (question.prompt_tokens, 0)),
        }
        self.breaker().answered();
        if !matches!(verdict, RetryVerdict::Relearn(..) | RetryVerdict::Refused(..)) {
            dialect.settle();
        }
        Err(Unanswered::Verdict(verdict, true))
    }

    /// Waits until a request may be sent: first come, first served.
    async fn turn(
        &self,
        question: &Question,
        usage: &mut Usage,
    ) -> Result<(InFlightPlace<'_>, Reserved<'_>), RunEnd> {
        let _turn = self.turn.lock().await;
        self.until_up(&question.model, usage).await?;
        let place = self.places.enter().await.map_err(|none| match none {
            NoPlace::Closed => self.end(RunEnd::over()),
            NoPlace::Refused => self.end(RunEnd::busy(self.wire.url(), &lock(&self.last_failure))),
        })?;
        let most = question.max_output as u64;
        let reserved = self
            .reserve(question.prompt_tokens, most, question.model.is_fallback)
            .await?;
        match self.ended.get() {
            Some(end) => Err(end.clone()),
            None => Ok((place, reserved)),
        }
    }

    /// Prompt and completion tokens as the server reports them, or as counted here if it reports none or zero.
    fn used(&self, question: &Question, answer: &ModelAnswer) -> (u64, u64) {
        let said = |tokens: Option<u64>| tokens.filter(|tokens| *tokens > 0);
        let count = |text: &str| self.counter.count(text) as u64;
        let read = || match question.prompt_tokens {
            0 => count(&question.prompt.system) + count(&question.prompt.user),
            known => known,
        };
        (
            said(answer.prompt_tokens).unwrap_or_else(read),
            said(answer.completion_tokens).unwrap_or_else(|| count(&answer.text)),
        )
    }

    /// Notes that the server accepted a request. The limits that it reports hold for all requests.
    fn took_on(&self, left: &[Left], (prompt, answer): (u64, u64)) {
        let now = self.places.now();
        let mut flow = self.places.flow();
        flow.accepted();
        let limits = left.iter().filter_map(|left| {
            let units = match left.of {
                LimitUnit::Requests => 1,
                LimitUnit::Tokens => prompt + answer,
                LimitUnit::Prompt => prompt,
                LimitUnit::Answer => answer,
            };
            (units > 0).then(|| (left.amount / units as f64, left.time))
        });
        flow.told(limits, now);
    }

    /// Notes that the server accepts no requests now. That holds for all requests.
    fn refused(&self, sent: Duration, failure: &Failure, wish: Option<Duration>) -> Result<(), RunEnd> {
        lock(&self.last_failure).clone_from(&failure.detail);
        if let Some(wish) = wish.filter(|wish| *wish > LONGEST_WISH) {
            let later = format!("{} (it asks for {} s)", failure.detail, wish.as_secs());
            return Err(self.end(RunEnd::busy(self.wire.url(), &later)));
        }
        let now = self.places.now();
        self.places.flow().refused(sent, now, wish);
        Ok(())
    }

    /// The result of an attempt that found no working server.
    fn no_server(&self, verdict: RetryVerdict, detail: String) -> Unanswered {
        *lock(&self.last_failure) = detail;
        let now = self.places.now();
        let counts = self.breaker().failed(now);
        Unanswered::Verdict(verdict, counts)
    }

    /// The summary in a success, with the tokens that it took. Only errors are searched for the key.
    fn read(&self, body: &[u8], question: &Question) -> Result<ModelAnswer, BadAnswer> {
        let answer =
            answer::read(self.api, body).or_else(|_| answer::read(self.api, &self.wire.error_body(body)))?;
        let (read, written) = self.used(question, &answer);
        question.judged(ModelAnswer {
            prompt_tokens: Some(read),
            completion_tokens: Some(written),
            ..answer
        })
    }

    pub(super) fn request(&self, model: &ChatModel, prompt: &Prompt, max_output: usize) -> Vec<u8> {
        let call = ApiCall {
            model: &model.name,
            prompt,
            max_output,
            temperature: self.temperature,
            extra: &self.body,
        };
        self.api.body(&call, model.dialect.manner())
    }

    /// Waits until the user's limits let a request go.
    pub(super) async fn reserve(
        &self,
        prompt: u64,
        most: u64,
        is_fallback: bool,
    ) -> Result<Reserved<'_>, RunEnd> {
        let reserved = self.allowance.reserve(prompt, most, is_fallback).await;
        reserved.map_err(|limit| self.end(RunEnd::limit(limit)))
    }

    pub(super) fn note(&self, usage: &mut Usage, model: &ChatModel, tokens: (u64, u64)) {
        let tokens = Tokens::of(tokens.0, tokens.1, model.is_fallback);
        usage.tokens += tokens;
        self.allowance.spend().took(tokens);
    }

    /// Ends the run, for the first reason that there was.
    pub(super) fn end(&self, end: RunEnd) -> RunEnd {
        self.ended.get_or_init(|| end).clone()
    }

    pub(super) fn breaker(&self) -> MutexGuard<'_, Breaker> {
        lock(&self.breaker)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
