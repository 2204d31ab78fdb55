//! One question to a model, and what became of it.

use std::sync::Arc;

use super::answer::{BadAnswer, ModelAnswer};
use super::dialect::Dialect;
use super::pace::places::InFlightPlace;
use crate::summarize::failure::Failure;
use crate::summarize::judge::Judge;
use crate::summarize::prompt::Prompt;
use crate::summarize::run_end::RunEnd;
use crate::summarize::{PendingRequest, Usage};

/// A model, and the form of requests that it accepts.
#[derive(Debug)]
pub struct ChatModel {
    /// Its name at the server.
    pub name: String,
    /// It is asked after another one failed.
    pub is_fallback: bool,
    /// Its form of requests, and its state.
    pub dialect: Dialect,
}

/// One question to a model.
#[derive(Debug)]
pub struct Question {
    /// The model.
    pub model: Arc<ChatModel>,
    /// The prompt.
    pub prompt: Prompt,
    /// Tokens of the prompt; 0 if no limit needs them.
    pub prompt_tokens: u64,
    /// Tokens that the answer may have.
    pub max_output: usize,
    /// The seed that spreads pauses.
    pub seed: u64,
    /// The judge of its answer.
    pub judge: Judge,
}

impl Question {
    /// The answer, with nothing but the summary in it.
    ///
    /// # Errors
    ///
    /// If it is no summary: another attempt may do better.
    pub fn judged(&self, mut answer: ModelAnswer) -> Result<ModelAnswer, BadAnswer> {
        match self.judge.summary_in(&answer.text) {
            Ok(text) => {
                answer.text = text;
                Ok(answer)
            }
            Err(failure) => Err(BadAnswer {
                failure,
                is_final: false,
                error: None,
                tokens: (answer.prompt_tokens, answer.completion_tokens),
            }),
        }
    }
}

/// The outcome of a question.
#[derive(Debug)]
pub struct QuestionOutcome<'c> {
    /// Usage of all attempts.
    pub usage: Usage,
    /// The answer.
    pub result: Result<ModelAnswer, ChatError>,
    /// Its place among the requests in flight. It is held until the answer is kept, so that a process that is killed
    /// loses no more answers than may be in flight.
    pub place: Option<InFlightPlace<'c>>,
}

/// The reason why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatError {
    /// The prompt is too long; the tokens that the server takes, if it says so.
    TooLong(Failure, Option<usize>),
    /// All attempts failed, or another one would be no better.
    Failed(Failure),
    /// The answer is pending.
    Pending(Box<PendingRequest>),
    /// The run cannot go on.
    Ended(RunEnd),
}
