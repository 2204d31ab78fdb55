//! The summarizer that the configuration names, and the parts of it that a run needs.

use std::path::PathBuf;
use std::sync::Arc;

use super::running;
use crate::cache::{AnswerCache, CacheAccess};
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::settings::{Settings, Summaries};
use crate::cli::{CliError, errors};
use crate::config::{OutputPath, SummarizerKind};
use crate::summarize::Summarizer;
use crate::summarize::answers::{AnswerStore, InMemory};
use crate::summarize::batch::BatchAnswers;
use crate::summarize::chat::{ChatSettings, ChatSummarizer};
use crate::summarize::command::CommandSummarizer;
use crate::summarize::extractive::Extractive;
use crate::summarize::spend::{Spend, SpendLimits};
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

/// The use of stored answers.
pub struct StoredAnswers {
    /// The folder beside the output, if it has one.
    pub beside: Option<PathBuf>,
    /// The access to them.
    pub access: CacheAccess,
    /// True if no warnings about them are printed.
    pub quiet: bool,
}

/// Makes the summarizer of a run. Nothing is opened or sent yet. `beside` is the folder of stored answers beside the output,
/// if it has one; a dry run only reads them.
pub fn chosen(
    options: &CompressOptions,
    beside: Option<PathBuf>,
    counter: &Arc<dyn TokenCounter>,
) -> Result<RunSummarizers, CliError> {
    let access = if options.dry_run {
        CacheAccess::Look
    } else {
        CacheAccess::Keep
    };
    let stored = StoredAnswers {
        beside,
        access,
        quiet: options.quiet,
    };
    configured(&options.settings, stored, counter)
}

/// Makes the summarizer that the configuration names. Nothing is opened or sent yet.
pub fn configured(
    settings: &Settings,
    stored: StoredAnswers,
    counter: &Arc<dyn TokenCounter>,
) -> Result<RunSummarizers, CliError> {
    let summaries = &settings.summaries;
    let mut chosen = RunSummarizers::embedded(settings, counter);
    match summaries.kind {
        SummarizerKind::Extractive => {}
        SummarizerKind::Batch => {
            return Err(
                CliError::usage("the summarizer batch works by files of requests and of answers")
                    .with_help("use trajfit batch export, then trajfit batch apply; or trajfit batch run"),
            );
        }
        SummarizerKind::Chat => {
            let spend = Arc::new(Spend::new(summaries.limits));
            let settings = chat_settings(summaries)?;
            let store = answers(summaries, stored);
            let chat = ChatSummarizer::new(settings, store, Arc::clone(&spend), Arc::clone(counter))
                .map_err(|why| CliError::usage(format!("cannot summarize over the network: {why}")))?;
            chosen.wording = Some(("prompt_version".to_owned(), chat.prompt_version().into()));
            chosen.summarizer = Arc::new(chat);
            chosen.spend = Some(spend);
        }
        SummarizerKind::Command => {
            let spend = Arc::new(Spend::new(SpendLimits::default()));
            let mut settings = summaries.command.clone();
            settings.prompt.template = template(summaries)?;
            let store = answers(summaries, stored);
            let command = CommandSummarizer::new(settings, store, Arc::clone(&spend))
                .map_err(|why| CliError::usage(format!("cannot summarize by a program: {why}")))?;
            chosen.wording = Some(("prompt_version".to_owned(), command.prompt_version().into()));
            chosen.summarizer = Arc::new(command);
            chosen.spend = Some(spend);
        }
    }
    Ok(chosen)
}

/// Makes the summarizer that takes its answers from files; `access` is to other stored answers.
pub fn in_files(
    options: &CompressOptions,
    beside: Option<PathBuf>,
    access: CacheAccess,
    postbox: BatchAnswers,
) -> Result<RunSummarizers, CliError> {
    let summaries = &options.settings.summaries;
    let spend = Arc::new(Spend::new(summaries.limits));
    let stored = StoredAnswers {
        beside,
        access,
        quiet: options.quiet,
    };
    let store = answers(summaries, stored);
    let chat = ChatSummarizer::in_files(chat_settings(summaries)?, store, spend, postbox)
        .map_err(|why| CliError::usage(format!("cannot write prompts: {why}")))?;
    let mut chosen = RunSummarizers::embedded(&options.settings, &running::tokenizer(&options.settings)?);
    chosen.wording = Some(("prompt_version".to_owned(), chat.prompt_version().into()));
    chosen.summarizer = Arc::new(chat);
    Ok(chosen)
}

impl RunSummarizers {
    /// The embedded summarizer alone.
    fn embedded(settings: &Settings, counter: &Arc<dyn TokenCounter>) -> Self {
        let embedded = Arc::new(Extractive {
            redaction: settings.fit.redaction,
        });
        Self {
            summarizer: embedded.clone(),
            fallback: embedded,
            counter: Arc::clone(counter),
            spend: None,
            wording: None,
        }
    }
}

/// The store of answers.
fn answers(summaries: &Summaries, stored: StoredAnswers) -> Arc<dyn AnswerStore> {
    let StoredAnswers {
        beside,
        access,
        quiet,
    } = stored;
    let folder = match &summaries.cache {
        OutputPath::Off => None,
        OutputPath::Auto => beside,
        OutputPath::Named(folder) => Some(PathBuf::from(folder)),
    };
    let Some(folder) = folder else {
        return Arc::new(InMemory::default());
    };
    let warn = move |warning: &str| {
        if !quiet {
            errors::warn(&[warning.to_owned()]);
        }
    };
    Arc::new(AnswerCache::new(folder, access, Box::new(warn)))
}

/// The settings for requests to language models.
pub fn chat_settings(summaries: &Summaries) -> Result<ChatSettings, CliError> {
    let mut settings = summaries.chat.clone();
    settings.prompt.template = template(summaries)?;
    Ok(settings)
}

/// The template of the prompt, read from its file.
fn template(summaries: &Summaries) -> Result<Option<String>, CliError> {
    let Some(path) = &summaries.prompt_template else {
        return Ok(None);
    };
    let read = std::fs::read_to_string(path).map_err(|error| {
        CliError::usage(format!("cannot read the prompt template {path}: {error}"))
            .with_help("--prompt-template takes a file with two parts and a line --- user --- between them")
    });
    read.map(Some)
}
