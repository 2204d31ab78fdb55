//! Summaries by batch files: requests are written as lines to send, and answers are read from lines.
//!
//! ```text
//!  chat (prompts, pieces, lengths) ─► postbox ─► responses: is there an answer?
//!                ▲                       │             │
//!                └── the answer ◄────────┼── response ◄┘
//!                                        └── request line ─► the writer of request files
//! ```
//!
//! Everything but the transport is that of `chat`: the same answers give the same summaries.

pub mod custom_id;
pub mod job;
pub mod queue;
pub mod request;
pub mod response;

use std::sync::Arc;

use super::answers::AnswerKey;
use super::chat::ChatSettings;
use super::chat::answer::ModelAnswer;
use super::chat::answer::lasting::Lasting;
use super::chat::answer::retry::RetryVerdict;
use super::chat::api::ApiCall;
pub use super::chat::dialect::{DialectFix, RequestShape};
use super::chat::question::{ChatError, Question, QuestionOutcome};
use super::failure::Failure;
use super::run_end::RunEnd;
use super::{PendingRequest, Usage};
use crate::compress::Reason;
use crate::metrics::Tokens;
use response::{FailedResponse, ResponseOutcome};

/// The responses to one request.
#[derive(Debug)]
pub struct BatchResponse {
    /// The answer, or the last failure.
    pub outcome: ResponseOutcome,
    /// Number of failures.
    pub failures: usize,
    /// Number of answers; the last one counts.
    pub answers: usize,
    /// Changes to the form of requests that the failures ask for.
    pub lessons: Vec<DialectFix>,
}

/// A source of responses.
pub trait Responses: Send + Sync {
    /// The responses to a request; `None` if there are none.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn find(&self, key: &AnswerKey) -> Result<Option<BatchResponse>, String>;
}

/// No responses: every question has to be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoResponses;

impl Responses for NoResponses {
    fn find(&self, _: &AnswerKey) -> Result<Option<BatchResponse>, String> {
        Ok(None)
    }
}

/// Answers questions from the responses, and makes pending requests of the others.
pub struct BatchAnswers {
    /// The responses.
    pub responses: Arc<dyn Responses>,
    /// The form of requests.
    pub manner: RequestShape,
    /// Requests that failed for good are sent again.
    pub resend_failed: bool,
}

const MISSING: &str = "no answer is there yet";

impl BatchAnswers {
    /// The answer to a question, or the request to send for it; `wanted` is about how many tokens the answer will have.
    pub fn ask(
        &self,
        settings: &ChatSettings,
        key: AnswerKey,
        question: &Question,
        wanted: usize,
    ) -> QuestionOutcome<'static> {
        let mut usage = Usage::default();
        let result = self.answer(settings, key, question, wanted, &mut usage);
        QuestionOutcome {
            usage,
            result,
            place: None,
        }
    }

    fn answer(
        &self,
        settings: &ChatSettings,
        key: AnswerKey,
        question: &Question,
        wanted: usize,
        usage: &mut Usage,
    ) -> Result<ModelAnswer, ChatError> {
        let again = |manner: RequestShape, failure: Failure| {
            let call = ApiCall {
                model: &question.model.name,
                prompt: &question.prompt,
                max_output: question.max_output,
                temperature: settings.temperature,
                extra: &settings.body,
            };
            ChatError::Pending(Box::new(PendingRequest {
                key,
                line: request::line(settings.api, &key, &settings.api.body(&call, manner)),
                why: Reason::with(failure.name, failure.detail),
                prompt_tokens: question.prompt_tokens,
                completion_tokens: wanted as u64,
                by_fallback: question.model.is_fallback,
            }))
        };
        let found = self.responses.find(&key);
        let Some(found) = found.map_err(|why| ChatError::Ended(RunEnd::unreadable(&why)))? else {
            return Err(again(self.manner, Failure::new("summary_missing", MISSING)));
        };
        usage.api_calls += 1;
        let mut failures = found.failures;
        let outcome = match found.outcome {
            ResponseOutcome::Answer(answer) => question.judged(answer).map_err(|bad| {
                // Nothing is asked again after a summary: all answers before this one were unusable too.
                failures += found.answers;
                FailedResponse::Answer(bad)
            }),
            ResponseOutcome::Failed(failed) => Err(failed),
        };
        let failed = match outcome {
            Ok(answer) => {
                usage.tokens += Tokens::of(
                    answer.prompt_tokens.unwrap_or(question.prompt_tokens),
                    answer.completion_tokens.unwrap_or_default(),
                    question.model.is_fallback,
                );
                return Ok(answer);
            }
            Err(failed) => failed,
        };
        usage.errors += 1;
        usage.tokens += Tokens::of(
            failed.tokens().0.unwrap_or_default(),
            failed.tokens().1.unwrap_or_default(),
            question.model.is_fallback,
        );
        let manner = found
            .lessons
            .iter()
            .fold(self.manner, |manner, lesson| manner.after(*lesson));
        match failed.verdict(self.manner) {
            RetryVerdict::Shorten(failure, window) => Err(ChatError::TooLong(failure, window)),
            // The caller makes the second attempt, for fewer tokens.
            RetryVerdict::Fail(failure) if failure.name == "summary_cut_by_length" => {
                Err(ChatError::Failed(failure))
            }
            RetryVerdict::Fail(failure) | RetryVerdict::EndRun(failure, Some(Lasting::Model))
                if !self.resend_failed =>
            {
                Err(ChatError::Failed(failure))
            }
            RetryVerdict::Retry(failure, _)
            | RetryVerdict::Refused(failure, _)
            | RetryVerdict::Relearn(failure, _)
            | RetryVerdict::EndRun(failure, _)
                if failures > settings.max_retries && !self.resend_failed =>
            {
                Err(ChatError::Failed(failure))
            }
            RetryVerdict::Fail(failure)
            | RetryVerdict::Retry(failure, _)
            | RetryVerdict::Refused(failure, _)
            | RetryVerdict::Relearn(failure, _)
            | RetryVerdict::EndRun(failure, _) => Err(again(manner, failure)),
        }
    }
}

#[cfg(test)]
mod tests;
