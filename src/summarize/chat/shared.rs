//! The part of a chat summarizer that all its requests share.

use std::sync::{Arc, OnceLock};

use super::settings::ChatSettings;
use super::transport::Transport;
use crate::summarize::asking::SharedAnswers;
use crate::summarize::control_tokens::ControlTokens;
use crate::summarize::prompt::Prompter;
use crate::summarize::spend::Spend;
use crate::tokens::TokenCounter;

/// Settings, prompts, answers and transport of a summarizer.
pub struct Shared {
    /// The settings of the requests.
    pub settings: Arc<ChatSettings>,
    /// The prompts.
    pub prompter: Prompter,
    /// The answers that are known.
    pub answers: SharedAnswers,
    /// The connection to the model.
    pub transport: Box<dyn Transport>,
    /// The requests and tokens of the run.
    pub spend: Arc<Spend>,
    /// The control tokens, once they are known.
    pub control_tokens: OnceLock<Arc<ControlTokens>>,
}

impl Shared {
    /// The texts that must not be in a summary: control tokens of known templates, and those of the run's tokenizer.
    pub fn control_tokens(&self, counter: &dyn TokenCounter) -> Arc<ControlTokens> {
        let tokens = || Arc::new(ControlTokens::and(&counter.special_tokens()));
        Arc::clone(self.control_tokens.get_or_init(tokens))
    }
}
