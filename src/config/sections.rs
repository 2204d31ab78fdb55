//! The sections of the configuration, with their defaults.

use super::byte_size::ByteSize;
use super::command_line::CommandLine;
use super::mark::MarkSummary;
use super::names::{
    Api, CountMode, InputFormat, MarkTurns, OnFailure, OnInvalid, OutputArguments, OutputCompression,
    OutputFormat, OverLimit, Strategy, Style, SummarizerKind, SummaryPlacement, TemplateArguments,
    TokenLimitField, TrainerName,
};
use super::object::JsonObject;
use super::per_trajectory::PerTrajectory;
use super::place::OutputPath;
use crate::fit::SUMMARY_NOTICE;
use crate::pipeline::MAX_RECORD_BYTES;

/// `tokenizer`: the tokenizer and the chat template.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenizerConfig {
    /// A built-in name, a `tokenizer.json`, or a folder that holds one.
    pub name: String,
    /// The chat template that rendered counts are made with: `auto`, the tokenizer's own, or a file.
    pub chat_template: Option<String>,
    /// The form in which the template gets the arguments of tool calls.
    pub template_arguments: TemplateArguments,
    /// Tokens that an image part costs, whatever its size.
    pub image_tokens: usize,
}

/// `compression`: the budget and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressionConfig {
    /// Tokens that a trajectory may cost after compression.
    pub target_max_tokens: usize,
    /// Target length of a summary, in tokens; if not set, smaller for a small budget
    /// (see [`Config::default_summary_target_tokens`](super::Config::default_summary_target_tokens)).
    pub summary_target_tokens: usize,
    /// Target length of a summary as a part of its region, from 0 to below 1; 0 means the same target for all regions.
    pub summary_ratio: f64,
    /// Minimum tokens of such a part of a region; the summary target if not set
    /// (see [`Config::summary_min_tokens`](super::Config::summary_min_tokens)).
    pub summary_min_tokens: Option<usize>,
    /// Maximum tokens of it, and of an extractive summary where the plan leaves room; twice the target if not set
    /// (see [`Config::summary_max_tokens`](super::Config::summary_max_tokens)).
    pub summary_max_tokens: Option<usize>,
    /// The way a trajectory is made to fit.
    pub strategy: Strategy,
    /// The count that the budget applies to.
    pub count: CountMode,
    /// The trainer that the records are made for: its rules set other keys that are not set elsewhere.
    pub trainer: Option<TrainerName>,
    /// The treatment of a record that is still over the budget.
    pub over_limit: OverLimit,
    /// Maximum number of times that a plan is extended when the first summary was not enough.
    pub max_passes: usize,
    /// The place of the summary.
    pub summary_placement: SummaryPlacement,
    /// Identifiers that later turns rely on are kept in the summary.
    pub grounding: bool,
    /// Minimum part of these identifiers that a run must keep, 0 to 1.
    pub min_grounding: Option<f64>,
    /// The summary ends with a list of the files read and modified.
    pub file_footer: bool,
}

/// `summarization`: the summarizer and its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct SummarizationConfig {
    /// The kind of summarizer.
    pub summarizer: SummarizerKind,
    /// The program that writes summaries.
    pub command: CommandLine,
    /// The treatment of a record whose summary failed.
    pub on_failure: OnFailure,
    /// A summary with identifiers that are not in the record counts as failed.
    pub reject_invented: bool,
    /// The API of a network summarizer's endpoint.
    pub api: Api,
    /// The model.
    pub model: Option<String>,
    /// The model used when the first one fails.
    pub fallback_model: Option<String>,
    /// Base address of the endpoint (see [`Config::base_url`](super::Config::base_url)).
    pub base_url: Option<String>,
    /// The environment variable that holds the API key.
    pub api_key_env: Option<String>,
    /// Additional headers of the requests; never printed, since they may hold keys.
    pub headers: JsonObject,
    /// Additional fields of the request bodies.
    pub body: JsonObject,
    /// The form of the summaries.
    pub style: Style,
    /// The topic that summaries should dwell on.
    pub focus: Option<String>,
    /// A file with a template of the prompt.
    pub prompt_template: Option<String>,
    /// Context window of the model, in tokens.
    pub context_window: Option<usize>,
    /// Maximum tokens of an answer.
    pub max_output_tokens: Option<usize>,
    /// Sampling temperature, 0 to 2.
    pub temperature: f64,
    /// Maximum number of retries of a failed request.
    pub max_retries: usize,
    /// Seconds before the first retry.
    pub retry_delay: f64,
    /// Timeout of a request, in seconds.
    pub timeout: f64,
    /// Maximum requests per minute.
    pub rpm: Option<usize>,
    /// Maximum tokens per minute.
    pub tpm: Option<usize>,
    /// US dollars per million prompt tokens.
    pub price_prompt: Option<f64>,
    /// US dollars per million completion tokens.
    pub price_completion: Option<f64>,
    /// US dollars per million prompt tokens of the fallback model, if different.
    pub fallback_price_prompt: Option<f64>,
    /// US dollars per million completion tokens of the fallback model, if different.
    pub fallback_price_completion: Option<f64>,
    /// Maximum number of requests of a run.
    pub max_requests: Option<usize>,
    /// Maximum cost of a run, in US dollars.
    pub max_cost: Option<f64>,
    /// The place of the answer cache.
    pub cache: OutputPath,
}

/// `batch`: batches of requests to language models.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchConfig {
    /// The request field with the maximum output tokens. A batch gets no answer at once that would show the right one.
    pub token_limit_field: TokenLimitField,
    /// The requests contain the temperature; some models accept none.
    pub send_temperature: bool,
    /// Maximum requests in a file; the vendor's limit if not set.
    pub max_requests_per_file: Option<usize>,
    /// Maximum megabytes of a file; the vendor's limit if not set.
    pub max_file_size: Option<f64>,
    /// Maximum tokens of unfinished batches; the vendor's limit if not set.
    pub max_enqueued_tokens: Option<usize>,
    /// Seconds between two polls of a batch's status.
    pub poll_interval: f64,
    /// Maximum number of successive batches; each asks the requests that follow from the answers before it.
    pub max_rounds: usize,
}

/// `input`: reading of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputConfig {
    /// The format that records are read as.
    pub format: InputFormat,
    /// The treatment of a line that cannot be read as a trajectory.
    pub on_invalid: OnInvalid,
    /// Maximum bytes of a record; a longer one is rejected.
    pub max_record_bytes: ByteSize,
}

/// `output`: content and form of the output.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch")]
pub struct OutputConfig {
    /// The system turn of a compressed trajectory gains a notice of the summary.
    pub add_summary_notice: bool,
    /// The text of the notice, appended unchanged.
    pub summary_notice_text: String,
    /// The compression of the output file.
    pub compress: OutputCompression,
    /// The suffix added to a file's stem if no output is named.
    pub output_suffix: String,
    /// The format of every record.
    pub format: OutputFormat,
    /// The form of tool call arguments if a format is set.
    pub arguments: OutputArguments,
    /// Defects of records are repaired, not only reported.
    pub sanitize: bool,
    /// If repairing, contents of text parts become strings.
    pub join_text_parts: bool,
    /// If repairing, turns after the last assistant turn are cut.
    pub end_with_assistant: bool,
    /// The folder of metrics, totals and rejects, if not beside the output.
    pub report_dir: Option<String>,
    /// The folder for runs whose output is in an object store; that of the user's state if not set.
    pub state_dir: Option<String>,
    /// The field added to summary turns; empty for none.
    pub mark_summary: MarkSummary,
    /// The turns that get the field.
    pub mark_turns: MarkTurns,
    /// The file of rejects, if not beside the output.
    pub rejects_file: Option<String>,
}

/// `processing`: threads and requests in flight.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessingConfig {
    /// Number of worker threads; 0 for one per core.
    pub jobs: usize,
    /// Maximum number of network requests in flight.
    pub max_concurrent_requests: usize,
}

/// `metrics`: metrics and totals.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsConfig {
    /// The CSV file with a row per record.
    pub file: OutputPath,
    /// The file of totals, if not beside the output.
    pub summary_file: Option<String>,
    /// Cells that a spreadsheet would run as formulas get an apostrophe in front.
    pub csv_safe: bool,
    /// The records that gain a `compression_metrics` object.
    pub per_trajectory: PerTrajectory,
}

/// `redaction`: redaction of secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactionConfig {
    /// Secrets are replaced in what summarizers read and write.
    pub enabled: bool,
    /// Secrets are replaced in kept turns too.
    pub kept_turns: bool,
    /// Mail addresses and phone numbers are replaced as secrets are.
    pub pii: bool,
}

impl Default for TokenizerConfig {
    fn default() -> Self {
        Self {
            name: "o200k_base".to_owned(),
            chat_template: None,
            template_arguments: TemplateArguments::AsWritten,
            image_tokens: 1500,
        }
    }
}

impl Default for CompressionConfig {
    fn default() -> Self {
        Self {
            target_max_tokens: 15_250,
            summary_target_tokens: 750,
            summary_ratio: 0.0,
            summary_min_tokens: None,
            summary_max_tokens: None,
            strategy: Strategy::Summarize,
            count: CountMode::Values,
            trainer: None,
            over_limit: OverLimit::Keep,
            max_passes: 3,
            summary_placement: SummaryPlacement::Auto,
            grounding: true,
            min_grounding: None,
            file_footer: false,
        }
    }
}

impl Default for SummarizationConfig {
    fn default() -> Self {
        Self {
            summarizer: SummarizerKind::Extractive,
            command: CommandLine::default(),
            on_failure: OnFailure::Fallback,
            reject_invented: false,
            api: Api::OpenAi,
            model: None,
            fallback_model: None,
            base_url: None,
            api_key_env: None,
            headers: JsonObject::default(),
            body: JsonObject::default(),
            style: Style::Concise,
            focus: None,
            prompt_template: None,
            context_window: None,
            max_output_tokens: None,
            temperature: 0.3,
            max_retries: 3,
            retry_delay: 2.0,
            timeout: 120.0,
            rpm: None,
            tpm: None,
            price_prompt: None,
            price_completion: None,
            fallback_price_prompt: None,
            fallback_price_completion: None,
            max_requests: None,
            max_cost: None,
            cache: OutputPath::Auto,
        }
    }
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self {
            token_limit_field: TokenLimitField::Auto,
            send_temperature: true,
            max_requests_per_file: None,
            max_file_size: None,
            max_enqueued_tokens: None,
            poll_interval: 60.0,
            max_rounds: 10,
        }
    }
}

impl Default for InputConfig {
    fn default() -> Self {
        Self {
            format: InputFormat::Auto,
            on_invalid: OnInvalid::Reject,
            max_record_bytes: ByteSize(MAX_RECORD_BYTES),
        }
    }
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            add_summary_notice: true,
            summary_notice_text: SUMMARY_NOTICE.to_owned(),
            compress: OutputCompression::Auto,
            output_suffix: "_compressed".to_owned(),
            format: OutputFormat::Same,
            arguments: OutputArguments::Auto,
            sanitize: false,
            join_text_parts: false,
            end_with_assistant: false,
            report_dir: None,
            state_dir: None,
            mark_summary: MarkSummary::default(),
            mark_turns: MarkTurns::Summary,
            rejects_file: None,
        }
    }
}

impl Default for ProcessingConfig {
    fn default() -> Self {
        Self {
            jobs: 0,
            max_concurrent_requests: 50,
        }
    }
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self {
            file: OutputPath::Auto,
            summary_file: None,
            csv_safe: false,
            per_trajectory: PerTrajectory::None,
        }
    }
}

impl Default for RedactionConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            kept_turns: false,
            pii: false,
        }
    }
}
