//! The summarizer that the configuration names, and the parts of it that a run needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::running;
use crate::cache::{Access, AnswerCache};
use crate::cli::errors::{self, CliError};
use crate::config::{Config, OutputPath, SummarizerKind};
use crate::metrics::Prices;
use crate::summarize::Summarizer;
use crate::summarize::answers::{AnswerStore, InMemory};
use crate::summarize::batch::BatchAnswers;
use crate::summarize::chat::{ChatSettings, ChatSummarizer, Key};
use crate::summarize::command::{CommandSettings, CommandSummarizer};
use crate::summarize::extractive::Extractive;
use crate::summarize::prompt::PromptSettings;
use crate::summarize::spend::{Limits, Spend};
use crate::tokens::TokenCounter;

/// The summarizers of a run, and their counters.
pub struct RunSummarizers {
    /// The summarizer of the configuration.
    pub summarizer: Arc<dyn Summarizer>,
    /// The summarizer used when that one fails.
    pub fallback: Arc<dyn Summarizer>,
    /// The token counter of the run.
    pub counter: Arc<dyn TokenCounter>,
    /// The usage so far; `None` if the run itself sends no requests.
    pub spend: Option<Arc<Spend>>,
    /// The version of its prompts, by which runs differ: a name and a value.
    pub wording: Option<(String, serde_json::Value)>,
}

/// The use that a run makes of stored answers.
pub struct CacheUse {
    /// The folder beside its output, if it has an output.
    pub beside: Option<PathBuf>,
    /// True if stored answers are only read: no request is sent.
    pub dry_run: bool,
    /// True if warnings are printed.
    pub warns: bool,
}

/// Makes the summarizer. Nothing is opened or sent yet.
pub fn chosen(
    config: &Config,
    kept: CacheUse,
    counter: &Arc<dyn TokenCounter>,
) -> Result<RunSummarizers, CliError> {
    let embedded: Arc<dyn Summarizer> = Arc::new(Extractive {
        redaction: config.redaction.enabled,
    });
    let mut chosen = RunSummarizers {
        summarizer: Arc::clone(&embedded),
        fallback: embedded,
        counter: Arc::clone(counter),
        spend: None,
        wording: None,
    };
    match config.summarization.summarizer {
        SummarizerKind::Extractive => {}
        SummarizerKind::Batch => {
            return Err(
                CliError::usage("the summarizer batch works by files of requests and of answers")
                    .with_help("use trajfit batch export, then trajfit batch apply; or trajfit batch run"),
            );
        }
        SummarizerKind::Chat => {
            let spend = Arc::new(Spend::new(limits(config)));
            let settings = chat_settings(config)?;
            let store = answers(config, kept);
            let chat = ChatSummarizer::new(settings, store, Arc::clone(&spend), Arc::clone(counter))
                .map_err(|why| CliError::usage(format!("cannot summarize over the network: {why}")))?;
            chosen.wording = Some(("prompt_version".to_owned(), chat.prompt_version().into()));
            chosen.summarizer = Arc::new(chat);
            chosen.spend = Some(spend);
        }
        SummarizerKind::Command => {
            let spend = Arc::new(Spend::new(Limits::default()));
            let settings = CommandSettings {
                command: config.summarization.command.0.clone(),
                programs: running::jobs(config),
                timeout: Duration::from_secs_f64(config.summarization.timeout),
                most_tokens: config.summary_max_tokens(),
                prompt: prompt_settings(config)?,
            };
            let command = CommandSummarizer::new(settings, answers(config, kept), Arc::clone(&spend))
                .map_err(|why| CliError::usage(format!("cannot summarize by a program: {why}")))?;
            chosen.wording = Some(("prompt_version".to_owned(), command.prompt_version().into()));
            chosen.summarizer = Arc::new(command);
            chosen.spend = Some(spend);
        }
    }
    Ok(chosen)
}

/// The store of answers.
fn answers(config: &Config, kept: CacheUse) -> Arc<dyn AnswerStore> {
    let folder = match &config.summarization.cache {
        OutputPath::Off => None,
        OutputPath::Auto => kept.beside,
        OutputPath::Named(folder) => Some(PathBuf::from(folder)),
    };
    let Some(folder) = folder else {
        return Arc::new(InMemory::default());
    };
    let access = if kept.dry_run { Access::Look } else { Access::Keep };
    let warn = move |warning: &str| {
        if kept.warns {
            errors::warn(&[warning.to_owned()]);
        }
    };
    Arc::new(AnswerCache::new(folder, access, Box::new(warn)))
}

/// Makes the summarizer that takes its answers from files.
pub fn in_files(config: &Config, kept: CacheUse, postbox: BatchAnswers) -> Result<RunSummarizers, CliError> {
    let embedded: Arc<dyn Summarizer> = Arc::new(Extractive {
        redaction: config.redaction.enabled,
    });
    let spend = Arc::new(Spend::new(limits(config)));
    let settings = chat_settings(config)?;
    let chat = ChatSummarizer::in_files(settings, answers(config, kept), spend, postbox)
        .map_err(|why| CliError::usage(format!("cannot write prompts: {why}")))?;
    Ok(RunSummarizers {
        counter: running::tokenizer(config)?,
        wording: Some(("prompt_version".to_owned(), chat.prompt_version().into())),
        summarizer: Arc::new(chat),
        fallback: embedded,
        spend: None,
    })
}

/// The prices of the summarizer's tokens, if any is set; those not set are 0.
pub fn prices(config: &Config) -> Option<Prices> {
    let summarization = &config.summarization;
    (config.has_prices() && summarization.summarizer.uses_network()).then(|| {
        let prompt = summarization.price_prompt.unwrap_or_default();
        let completion = summarization.price_completion.unwrap_or_default();
        Prices {
            prompt,
            completion,
            fallback_prompt: summarization.fallback_price_prompt.unwrap_or(prompt),
            fallback_completion: summarization.fallback_price_completion.unwrap_or(completion),
        }
    })
}

/// The limits on requests and costs.
pub fn limits(config: &Config) -> Limits {
    Limits {
        max_requests: config.summarization.max_requests.map(|most| most as u64),
        max_cost: config.summarization.max_cost,
        prices: prices(config),
    }
}

/// The settings for requests to language models.
pub fn chat_settings(config: &Config) -> Result<ChatSettings, CliError> {
    let summarization = &config.summarization;
    let headers = summarization.headers.0.iter();
    Ok(ChatSettings {
        api: summarization.api,
        base_url: config.base_url().to_owned(),
        key: key(config),
        headers: headers
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
        body: summarization.body.0.clone(),
        model: summarization.model.clone().unwrap_or_default(),
        fallback_model: summarization.fallback_model.clone(),
        temperature: summarization.temperature,
        max_output_tokens: summarization.max_output_tokens,
        context_window: summarization.context_window,
        timeout: Duration::from_secs_f64(summarization.timeout),
        max_retries: summarization.max_retries,
        retry_delay: Duration::from_secs_f64(summarization.retry_delay),
        max_concurrent_requests: config.processing.max_concurrent_requests,
        rpm: summarization.rpm,
        tpm: summarization.tpm,
        prompt: prompt_settings(config)?,
    })
}

fn prompt_settings(config: &Config) -> Result<PromptSettings, CliError> {
    let summarization = &config.summarization;
    let template = summarization.prompt_template.as_deref().map(template);
    Ok(PromptSettings {
        style: summarization.style,
        focus: summarization.focus.clone(),
        template: template.transpose()?,
        redaction: config.redaction.enabled,
    })
}

/// The API key from the variable that is named, else from those that are usual for the endpoint; `None` if none is set.
fn key(config: &Config) -> Option<Key> {
    let named = config.summarization.api_key_env.as_deref();
    let usual = config.summarization.api.key_variables(config.base_url());
    named
        .into_iter()
        .chain(usual.iter().copied())
        .find_map(|variable| {
            let value = std::env::var(variable).ok()?.trim().to_owned();
            (!value.is_empty()).then(|| Key {
                value,
                variable: variable.to_owned(),
            })
        })
}

fn template(path: &str) -> Result<String, CliError> {
    std::fs::read_to_string(Path::new(path)).map_err(|error| {
        CliError::usage(format!("cannot read the prompt template {path}: {error}"))
            .with_help("--prompt-template takes a file with two parts and a line --- user --- between them")
    })
}
