//! Settings of the summarizer that asks language models.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::api::Api;
use crate::summarize::prompt::PromptSettings;

/// A key, and its source.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key itself.
    pub value: String,
    /// The environment variable that held it.
    pub variable: String,
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the key in {}", self.variable)
    }
}

/// Settings of server, model, prompts and limits.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    /// The API of the server.
    pub api: Api,
    /// The address of the server.
    pub base_url: String,
    /// The key; local servers need none.
    pub key: Option<ApiKey>,
    /// Headers beside our own.
    pub headers: Vec<(String, String)>,
    /// Fields of the body beside our own.
    pub body: Map<String, Value>,
    /// The model.
    pub model: String,
    /// The model to ask if that one fails.
    pub fallback_model: Option<String>,
    /// The sampling temperature.
    pub temperature: f64,
    /// Maximum completion tokens; by the size of the summary if not set.
    pub max_output_tokens: Option<usize>,
    /// Maximum tokens that the model reads and writes, if known.
    pub context_window: Option<usize>,
    /// Maximum time of a request.
    pub timeout: Duration,
    /// Times a failed request is repeated.
    pub max_retries: usize,
    /// The pause before the first repetition.
    pub retry_delay: Duration,
    /// Maximum requests in flight.
    pub max_concurrent_requests: usize,
    /// Requests a minute.
    pub rpm: Option<usize>,
    /// Tokens a minute, read and written.
    pub tpm: Option<usize>,
    /// Settings of the prompts.
    pub prompt: PromptSettings,
}
