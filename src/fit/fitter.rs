//! The settings and tools with which records are fitted.

use std::sync::Arc;

use super::settings::FitSettings;
use crate::summarize::Summarizer;
use crate::tokens::TokenCounter;
use crate::tokens::chat_template::ChatTemplate;

/// Fits records into the budget.
pub struct Fitter {
    /// The settings of the run.
    pub settings: FitSettings,
    /// The user's tokenizer.
    pub counter: Arc<dyn TokenCounter>,
    /// The chat template of the model to be trained, if rendered counts are wanted.
    pub template: Option<Arc<ChatTemplate>>,
    /// The summarizer.
    pub summarizer: Arc<dyn Summarizer>,
    /// The summarizer used when the first one fails and a fallback is configured.
    pub fallback: Arc<dyn Summarizer>,
}
