//! What the summarizer that asks language models is told.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::api::Api;
use crate::summarize::prompt::PromptSettings;

/// A key, and where it came from.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The key itself.
    pub value: String,
    /// The environment variable that held it.
    pub variable: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the key in {}", self.variable)
    }
}

/// Everything about server, model, prompts and limits on the way.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    /// What the server understands.
    pub api: Api,
    /// Its address.
    pub base_url: String,
    /// The key; local servers need none.
    pub key: Option<Key>,
    /// Headers beside our own.
    pub headers: Vec<(String, String)>,
    /// Fields of the body beside our own.
    pub body: Map<String, Value>,
    /// The model.
    pub model: String,
    /// The model asked where that one fails.
    pub fallback_model: Option<String>,
    /// The sampling temperature.
    pub temperature: f64,
    /// Tokens that an answer may have; by the size of the summary where it is not set.
    pub max_output_tokens: Option<usize>,
    /// Tokens that model reads and writes at most, where that is known.
    pub context_window: Option<usize>,
    /// How long a request may take.
    pub timeout: Duration,
    /// Times a failed request is repeated.
    pub max_retries: usize,
    /// The pause before the first repetition.
    pub retry_delay: Duration,
    /// Requests in flight.
    pub max_concurrent_requests: usize,
    /// Requests a minute.
    pub rpm: Option<usize>,
    /// Tokens a minute, read and written.
    pub tpm: Option<usize>,
    /// The wording.
    pub prompt: PromptSettings,
}
