//! The configuration taken apart: the values that each layer takes, made in this one place.

use std::path::PathBuf;
use std::time::Duration;

use crate::compress::RoleOrder;
use crate::config::{
    Api, Config, ConfigKey, InputFormat, MarkSummary, OnInvalid, OutputArguments, OutputCompression,
    OutputFormat, OutputPath, Resolved, SummarizerKind, TokenLimitField,
};
use crate::fit::{FitSettings, SummaryMark, SummarySize};
use crate::metrics::Prices;
use crate::pipeline::{Codec, NamedFiles};
use crate::stores;
use crate::summarize::batch::RequestShape;
use crate::summarize::batch::request::FileLimits;
use crate::summarize::chat::{self, ChatSettings};
use crate::summarize::command::CommandSettings;
use crate::summarize::prompt::PromptSettings;
use crate::summarize::spend::SpendLimits;
use crate::trainers::TrainerName;
use crate::trajectory::{ArgumentsForm, Format, OutputForm};

/// The settings of a command, by the layer that takes them.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Fitting of a record.
    pub fit: FitSettings,
    /// Name or path of the tokenizer.
    pub tokenizer: String,
    /// Name or path of the chat template, if one is given.
    pub chat_template: Option<String>,
    /// The trainer that the records are made for.
    pub trainer: Option<TrainerName>,
    /// Minimum part of the needed identifiers that a run must hold, 0 to 1.
    pub min_grounding: f64,
    /// Maximum bytes of a record.
    pub max_record_bytes: u64,
    /// The treatment of a line that cannot be read as a trajectory.
    pub on_invalid: OnInvalid,
    /// Number of threads of the worker pool.
    pub jobs: usize,
    /// The summarizer.
    pub summaries: Summaries,
    /// The files of a run.
    pub files: RunFiles,
    /// Batches of requests.
    pub batches: Batches,
    /// The values that affect the bytes of a run's files, by key.
    pub fingerprint: crate::settings::SettingValues,
}

/// The summarizer, and what it may cost.
#[derive(Debug, Clone)]
pub struct Summaries {
    /// The kind of summarizer.
    pub kind: SummarizerKind,
    /// Requests to language models, with the template of `prompt_template` still to be read.
    pub chat: ChatSettings,
    /// The program that writes summaries, with the same to be read.
    pub command: CommandSettings,
    /// A file with a template of the prompt.
    pub prompt_template: Option<String>,
    /// The limits on requests and costs, with the prices of tokens.
    pub limits: SpendLimits,
    /// The place of the answer cache.
    pub cache: OutputPath,
}

/// The files of a run.
#[derive(Debug, Clone)]
pub struct RunFiles {
    /// The suffix added to a file's stem if no output is named.
    pub suffix: String,
    /// The compression of the output; by its name if `None`.
    pub codec: Option<Codec>,
    /// The folder of metrics, totals and rejects, if not beside the output.
    pub report_dir: Option<PathBuf>,
    /// The folder for runs whose output is in an object store.
    pub state_dir: PathBuf,
    /// The side files that are named.
    pub named: NamedFiles,
    /// True if metrics are written.
    pub metrics: bool,
    /// True if cells that a spreadsheet would run get an apostrophe in front.
    pub csv_safe: bool,
}

/// Batches of requests.
#[derive(Debug, Clone, Copy)]
pub struct Batches {
    /// The form of the requests.
    pub shape: RequestShape,
    /// The limits of a file.
    pub file: FileLimits,
    /// Maximum tokens of unfinished batches.
    pub max_enqueued_tokens: Option<u64>,
    /// The time between two polls of a batch's status.
    pub poll_interval: Duration,
    /// Maximum number of successive batches.
    pub max_rounds: u64,
}

impl Summaries {
    /// Maximum number of requests at a time; 0 if the summarizer sends none.
    pub fn requests(&self) -> usize {
        match self.kind {
            SummarizerKind::Extractive | SummarizerKind::Batch => 0,
            SummarizerKind::Chat => self.chat.max_concurrent_requests,
            SummarizerKind::Command => self.command.programs,
        }
    }
}

impl Settings {
    /// Takes the configuration apart.
    pub fn of(resolved: &Resolved) -> Self {
        let config = &resolved.config;
        let jobs = match config.processing.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        Self {
            fit: fit(config),
            tokenizer: config.tokenizer.name.clone(),
            chat_template: config.tokenizer.chat_template.clone(),
            trainer: config.compression.trainer,
            min_grounding: config.compression.min_grounding.unwrap_or(0.0),
            max_record_bytes: config.input.max_record_bytes.0,
            on_invalid: config.input.on_invalid,
            jobs,
            summaries: summaries(config, jobs),
            files: files(config),
            batches: batches(config),
            fingerprint: config.fingerprint(),
        }
    }
}

/// Sets what unrolled records do not get: a notice and marks by keys. Their outputs have a suffix of their own.
pub fn prepare_unrolling(resolved: &mut Resolved) {
    let output = &mut resolved.config.output;
    if ConfigKey::by_path("output.output_suffix").is_none_or(|key| !resolved.provenance.is_given(key)) {
        "_unrolled".clone_into(&mut output.output_suffix);
    }
    output.add_summary_notice = false;
    output.mark_summary = MarkSummary::default();
}

fn fit(config: &Config) -> FitSettings {
    let (compression, output) = (&config.compression, &config.output);
    let MarkSummary { field, value } = &output.mark_summary;
    FitSettings {
        target_max_tokens: compression.target_max_tokens,
        count: compression.count,
        strategy: compression.strategy,
        summary_size: SummarySize::scaled(
            compression.summary_ratio,
            config.summary_min_tokens(),
            config.summary_target_max_tokens(),
        ),
        summary_max_tokens: config.summary_max_tokens(),
        max_passes: compression.max_passes,
        summary_placement: compression.summary_placement,
        role_orders: RoleOrder::OF_RECORDS.to_vec(),
        grounding: compression.grounding,
        file_footer: compression.file_footer,
        redaction: config.redaction.enabled,
        redact_pii: config.redaction.pii,
        protection: config.protected_turns,
        notice: config.summary_notice().map(str::to_owned),
        template_arguments: config.tokenizer.template_arguments,
        image_tokens: config.tokenizer.image_tokens,
        format: match config.input.format {
            InputFormat::Auto => None,
            InputFormat::Sharegpt => Some(Format::ShareGpt),
            InputFormat::Messages => Some(Format::Messages),
        },
        over_limit: compression.over_limit,
        on_failure: config.summarization.on_failure,
        reject_invented: config.summarization.reject_invented,
        output_form: output_form(config),
        sanitize: output.sanitize,
        join_text_parts: output.join_text_parts,
        end_with_assistant: output.end_with_assistant,
        mark: (!field.is_empty()).then(|| SummaryMark {
            field: field.clone(),
            value: value.clone(),
            turns: output.mark_turns,
        }),
        dry_run: false,
        per_trajectory: config.metrics.per_trajectory,
    }
}

/// The form that every record gets; `None` if each keeps its own.
fn output_form(config: &Config) -> Option<OutputForm> {
    let (form, usual) = match config.output.format {
        OutputFormat::Same => return None,
        OutputFormat::Sharegpt => (Format::ShareGpt, ArgumentsForm::Object),
        OutputFormat::Messages => (Format::Messages, ArgumentsForm::String),
    };
    let arguments = match config.output.arguments {
        OutputArguments::Auto => usual,
        OutputArguments::String => ArgumentsForm::String,
        OutputArguments::Object => ArgumentsForm::Object,
    };
    Some(OutputForm { form, arguments })
}

fn summaries(config: &Config, jobs: usize) -> Summaries {
    let summarization = &config.summarization;
    let headers = summarization.headers.0.iter();
    let timeout = seconds(summarization.timeout);
    let prompt = PromptSettings {
        style: summarization.style,
        focus: summarization.focus.clone(),
        template: None,
        redaction: config.redaction.enabled,
    };
    Summaries {
        kind: summarization.summarizer,
        command: CommandSettings {
            command: summarization.command.0.clone(),
            programs: jobs,
            timeout,
            most_tokens: config.summary_max_tokens(),
            prompt: prompt.clone(),
        },
        chat: ChatSettings {
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
            timeout,
            max_retries: summarization.max_retries,
            retry_delay: seconds(summarization.retry_delay),
            max_concurrent_requests: config.processing.max_concurrent_requests,
            rpm: summarization.rpm,
            tpm: summarization.tpm,
            prompt,
        },
        prompt_template: summarization.prompt_template.clone(),
        limits: SpendLimits {
            max_requests: summarization.max_requests.map(|most| most as u64),
            max_cost: summarization.max_cost,
            prices: prices(config),
        },
        cache: summarization.cache.clone(),
    }
}

/// A time; none where the number was not checked, since nothing uses it.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

/// The prices of the summarizer's tokens, if any is set; those not set are 0.
fn prices(config: &Config) -> Option<Prices> {
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

/// The API key from the variable that is named, else from those that are usual for the endpoint; `None` if none is set.
fn key(config: &Config) -> Option<chat::ApiKey> {
    let named = config.summarization.api_key_env.as_deref();
    let usual = config.summarization.api.key_variables(config.base_url());
    named
        .into_iter()
        .chain(usual.iter().copied())
        .find_map(|variable| {
            let value = std::env::var(variable).ok()?.trim().to_owned();
            (!value.is_empty()).then(|| chat::ApiKey {
                value,
                variable: variable.to_owned(),
            })
        })
}

fn files(config: &Config) -> RunFiles {
    let (output, metrics) = (&config.output, &config.metrics);
    // A dash is standard output, as everywhere.
    let path = |name: &String| stores::argument(if name == "-" { "/dev/stdout" } else { name }.as_ref());
    RunFiles {
        suffix: output.output_suffix.clone(),
        codec: match output.compress {
            OutputCompression::Auto => None,
            OutputCompression::None => Some(Codec::Plain),
            OutputCompression::Gzip => Some(Codec::Gzip),
            OutputCompression::Zstd => Some(Codec::Zstd),
        },
        report_dir: output
            .report_dir
            .as_ref()
            .map(|folder| stores::argument(folder.as_ref())),
        state_dir: output.state_dir.as_ref().map_or_else(state_dir, PathBuf::from),
        named: NamedFiles {
            metrics: match &metrics.file {
                OutputPath::Named(name) => Some(path(name)),
                OutputPath::Auto | OutputPath::Off => None,
            },
            summary: metrics.summary_file.as_ref().map(path),
            rejects: output.rejects_file.as_ref().map(path),
        },
        metrics: metrics.file != OutputPath::Off,
        csv_safe: metrics.csv_safe,
    }
}

/// The usual folder for the state of runs: that of the XDG base directories.
pub fn state_dir() -> PathBuf {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let user = || std::env::home_dir().map(|home| home.join(".local/state"));
    let folder = set.filter(|folder| folder.is_absolute()).or_else(user);
    folder.unwrap_or_default().join("trajfit")
}

fn batches(config: &Config) -> Batches {
    let (batch, api) = (&config.batch, config.summarization.api);
    let bytes = batch.max_file_size.map(|megabytes| (megabytes * 1e6) as u64);
    let requests = batch.max_requests_per_file.map(|most| most as u64);
    Batches {
        shape: RequestShape {
            completion_limit: match batch.token_limit_field {
                TokenLimitField::MaxTokens => false,
                TokenLimitField::MaxCompletionTokens => true,
                TokenLimitField::Auto => {
                    api == Api::OpenAi && config.base_url().starts_with(Api::OpenAi.default_base_url())
                }
            },
            temperature: batch.send_temperature,
        },
        file: FileLimits::of(api).at_most(requests, bytes),
        max_enqueued_tokens: batch.max_enqueued_tokens.map(|most| most as u64),
        poll_interval: seconds(batch.poll_interval),
        max_rounds: batch.max_rounds as u64,
    }
}
