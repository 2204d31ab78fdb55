//! One question to a model, and what became of it.

use std::sync::Arc;

use super::answer::{Answer, BadAnswer};
use super::dialect::Dialect;
use super::places::Place;
use crate::summarize::failure::Failure;
use crate::summarize::judge::Judge;
use crate::summarize::prompt::Prompt;
use crate::summarize::run_end::RunEnd;
use crate::summarize::{PendingRequest, Usage};

/// A model, and how it wants to be asked.
#[derive(Debug)]
pub struct Model {
    /// Its name at the server.
    pub name: String,
    /// Whether it is asked where another one failed.
    pub is_fallback: bool,
    /// What was learned of it.
    pub dialect: Dialect,
}

/// One thing to ask.
#[derive(Debug)]
pub struct Question {
    /// Whom.
    pub model: Arc<Model>,
    /// What.
    pub prompt: Prompt,
    /// Tokens of the prompt, where a limit makes them matter.
    pub prompt_tokens: u64,
    /// Tokens that the answer may have.
    pub max_output: usize,
    /// What pauses are spread by.
    pub seed: u64,
    /// What tells its answer from what is none.
    pub judge: Judge,
}

impl Question {
    /// An answer with the summary in it alone.
    ///
    /// # Errors
    ///
    /// What it is instead of a summary: another attempt may do better.
    pub fn judged(&self, mut answer: Answer) -> Result<Answer, BadAnswer> {
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

/// What became of a question.
#[derive(Debug)]
pub struct Asked<'c> {
    /// What it took, all attempts together.
    pub usage: Usage,
    /// The answer.
    pub result: Result<Answer, Trouble>,
    /// Its place among the requests in flight. It is held until the answer is kept: what can be lost when this process is
    /// killed is then never more than may be in flight.
    pub place: Option<Place<'c>>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The prompt is too long; the tokens that the server takes, if it says so.
    TooLong(Failure, Option<usize>),
    /// All attempts failed, or another one would be no better.
    Failed(Failure),
    /// The answer is still to come.
    Pending(Box<PendingRequest>),
    /// The run cannot go on.
    Ended(RunEnd),
}
