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
use super::place::Place;
use crate::fit::SUMMARY_NOTICE;
use crate::pipeline::MAX_RECORD_BYTES;

/// `tokenizer`: which tokens are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenizerConfig {
    /// A built-in name, a `tokenizer.json`, or a folder that holds one.
    pub name: String,
    /// The chat template that rendered counts are made with: `auto`, the tokenizer's own, or a file.
    pub chat_template: Option<String>,
    /// How the template gets the arguments of tool calls.
    pub template_arguments: TemplateArguments,
    /// Tokens that an image part costs, whatever its size.
    pub image_tokens: usize,
}

/// `compression`: the budget and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressionConfig {
    /// Tokens that a trajectory may cost after compression.
    pub target_max_tokens: usize,
    /// Tokens that a summary should cost. Where nobody says it, a small budget makes it less
    /// (see [`Config::default_summary_target_tokens`](super::Config::default_summary_target_tokens)).
    pub summary_target_tokens: usize,
    /// The part of its region that a summary should cost, from 0 to below 1; 0 is the same target for all.
    pub summary_ratio: f64,
    /// Tokens that such a part is at least; the summary target if not set
    /// (see [`Config::summary_min_tokens`](super::Config::summary_min_tokens)).
    pub summary_min_tokens: Option<usize>,
    /// Tokens that such a part is at most, and that an extractive summary may cost where the plan leaves room; twice the target if not set
    /// (see [`Config::summary_max_tokens`](super::Config::summary_max_tokens)).
    pub summary_max_tokens: Option<usize>,
    /// How a trajectory is made to fit.
    pub strategy: Strategy,
    /// What the budget is measured in.
    pub count: CountMode,
    /// The trainer that the records are made for: its rules set other keys where nobody else does.
    pub trainer: Option<TrainerName>,
    /// What becomes of a record that is still over the budget.
    pub over_limit: OverLimit,
    /// Times a plan may be extended when the first summary was not enough.
    pub max_passes: usize,
    /// Where the summary goes.
    pub summary_placement: SummaryPlacement,
    /// Whether identifiers that later turns rely on are kept in the summary.
    pub grounding: bool,
    /// The part of these identifiers that a run must hold, 0 to 1.
    pub min_grounding: Option<f64>,
    /// Whether the summary ends with the files read and modified.
    pub file_footer: bool,
}

/// `summarization`: who writes summaries.
#[derive(Debug, Clone, PartialEq)]
pub struct SummarizationConfig {
    /// Who writes summaries.
    pub summarizer: SummarizerKind,
    /// The program asked.
    pub command: CommandLine,
    /// What becomes of a record whose summary failed.
    pub on_failure: OnFailure,
    /// Whether a summary with identifiers that the record does not have is a failed one.
    pub reject_invented: bool,
    /// What the endpoint of a network summarizer understands.
    pub api: Api,
    /// The model that it asks.
    pub model: Option<String>,
    /// The model that it asks where that one fails.
    pub fallback_model: Option<String>,
    /// Where it asks (see [`Config::base_url`](super::Config::base_url)).
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Headers beside our own; never printed, since keys may be among them.
    pub headers: JsonObject,
    /// Fields of the requests' bodies beside our own.
    pub body: JsonObject,
    /// The form of the summaries.
    pub style: Style,
    /// What they should dwell on.
    pub focus: Option<String>,
    /// A file with other wording.
    pub prompt_template: Option<String>,
    /// Tokens that the model reads and writes at most.
    pub context_window: Option<usize>,
    /// Tokens that an answer may have.
    pub max_output_tokens: Option<usize>,
    /// Sampling temperature, 0 to 2.
    pub temperature: f64,
    /// Times a failed request is repeated.
    pub max_retries: usize,
    /// Seconds before the first repetition.
    pub retry_delay: f64,
    /// Seconds that a request may take.
    pub timeout: f64,
    /// Requests a minute.
    pub rpm: Option<usize>,
    /// Tokens a minute.
    pub tpm: Option<usize>,
    /// US dollars for a million tokens read.
    pub price_prompt: Option<f64>,
    /// US dollars for a million tokens written.
    pub price_completion: Option<f64>,
    /// The same for the fallback model, where it is another price.
    pub fallback_price_prompt: Option<f64>,
    /// US dollars for a million tokens that it writes.
    pub fallback_price_completion: Option<f64>,
    /// Requests after which a run ends.
    pub max_requests: Option<usize>,
    /// US dollars that a run may cost.
    pub max_cost: Option<f64>,
    /// Where answers are kept.
    pub cache: Place,
}

/// `batch`: how language models are asked in batches.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchConfig {
    /// The field that tells how many tokens may be written: nobody answers whom it could be learned from.
    pub token_limit_field: TokenLimitField,
    /// Whether the temperature is sent; some models take none.
    pub send_temperature: bool,
    /// Requests in a file, at most; what the vendor takes if not set.
    pub max_requests_per_file: Option<usize>,
    /// Megabytes in a file, at most; what the vendor takes if not set.
    pub max_file_size: Option<f64>,
    /// Tokens in batches under way, at most; what the vendor allows if not set.
    pub max_enqueued_tokens: Option<usize>,
    /// Seconds between two looks at how far a batch is.
    pub poll_interval: f64,
    /// Batches one after another, each asking what the answers before it lead to.
    pub max_rounds: usize,
}

/// `input`: how input is read.
#[derive(Debug, Clone, PartialEq)]
pub struct InputConfig {
    /// The format that records are read as.
    pub format: InputFormat,
    /// What becomes of a line that cannot be read as a trajectory.
    pub on_invalid: OnInvalid,
    /// Bytes of a record that are read; a longer one is rejected.
    pub max_record_bytes: ByteSize,
}

/// `output`: what is written into the output.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch")]
pub struct OutputConfig {
    /// Whether the system turn of a compressed trajectory says that there is a summary.
    pub add_summary_notice: bool,
    /// What it then says, appended as it stands.
    pub summary_notice_text: String,
    /// How output is compressed as a file.
    pub compress: OutputCompression,
    /// What a file's stem gains where no output is named.
    pub output_suffix: String,
    /// The form of every record.
    pub format: OutputFormat,
    /// How the arguments of calls are written where a form is asked for.
    pub arguments: OutputArguments,
    /// Whether what is broken in a record is mended, and not only reported.
    pub sanitize: bool,
    /// Whether contents of text parts become strings then.
    pub join_text_parts: bool,
    /// Whether what follows the last assistant turn is cut then.
    pub end_with_assistant: bool,
    /// The folder of metrics, totals and rejects, where they are not beside the output.
    pub report_dir: Option<String>,
    /// The field that summary turns gain; empty for none.
    pub mark_summary: MarkSummary,
    /// The turns that gain it.
    pub mark_turns: MarkTurns,
    /// The rejects, where they are not beside the output.
    pub rejects_file: Option<String>,
}

/// `processing`: how the work is done.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessingConfig {
    /// Worker threads; 0 for as many as there are cores.
    pub jobs: usize,
    /// Network requests in flight at once.
    pub max_concurrent_requests: usize,
}

/// `metrics`: what is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsConfig {
    /// The CSV with a row a record.
    pub file: Place,
    /// The totals, where they are not beside the output.
    pub summary_file: Option<String>,
    /// Whether cells that a spreadsheet would run begin with an apostrophe.
    pub csv_safe: bool,
    /// The records that gain a `compression_metrics` object.
    pub per_trajectory: PerTrajectory,
}

/// `redaction`: secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactionConfig {
    /// Whether secrets are replaced before a text leaves the machine.
    pub enabled: bool,
    /// Whether they are replaced in kept turns too.
    pub kept_turns: bool,
    /// Whether mail addresses and phone numbers are replaced as secrets are.
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
            cache: Place::Auto,
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
            file: Place::Auto,
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
