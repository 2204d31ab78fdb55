//! Settings of fitting a record: the part of the configuration that the algorithm sees.

use super::mark::SummaryMark;
use super::summary_size::SummarySize;
use crate::compress::{Protection, RoleOrder, SummaryPlacement};
use crate::names::named;
use crate::trajectory::{Format, OutputForm, TemplateArguments};

named! {
    /// The unit of the budget.
    CountMode {
        /// The sum of the turns' tokens.
        Values = "values",
        /// The whole chat as the model's chat template renders it.
        Rendered = "rendered",
    }
}

named! {
    /// The way in which a trajectory is made to fit.
    Strategy {
        /// A stretch of the middle is replaced by one summary turn.
        Summarize = "summarize",
        /// Outputs of tools in the middle are replaced by a line each.
        Mask = "mask",
        /// Masks first, and a summary if they are not enough.
        MaskThenSummarize = "mask-then-summarize",
    }
}

/// The records that get a `compression_metrics` object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerTrajectory {
    /// No records.
    None,
    /// Compressed records.
    Compressed,
    /// All records.
    All,
}

named! {
    /// The treatment of a record that is still over the budget.
    OverLimit {
        /// The record is written, and counted.
        Keep = "keep",
        /// The record goes to the rejects file.
        Reject = "reject",
        /// The record is written, and the run ends with exit code 1.
        Fail = "fail",
    }
}

named! {
    /// The treatment of a record whose summary failed.
    OnFailure {
        /// The extractive summary is used, and the row is marked degraded.
        Fallback = "fallback",
        /// The original is kept, and marked.
        Keep = "keep",
        /// The run ends.
        Fail = "fail",
    }
}

/// All settings that decide a record's result, besides tokenizer and summarizer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of the configuration.
pub struct FitSettings {
    /// The budget of a trajectory in tokens.
    pub target_max_tokens: usize,
    /// The way in which tokens are counted.
    pub count: CountMode,
    /// The way in which a trajectory is made to fit.
    pub strategy: Strategy,
    /// Tokens that a summary should have.
    pub summary_size: SummarySize,
    /// Tokens that a summary may have where there is room under the budget.
    pub summary_max_tokens: usize,
    /// Most summaries written for one trajectory.
    pub max_passes: usize,
    /// The place of the summary.
    pub summary_placement: SummaryPlacement,
    /// The orders of roles that `auto` preserves wherever they held; those of a trainer may be added to
    /// [`RoleOrder::OF_RECORDS`].
    pub role_orders: Vec<RoleOrder>,
    /// Summaries must keep the identifiers that later turns rely on.
    pub grounding: bool,
    /// Summaries end with the files read and modified.
    pub file_footer: bool,
    /// Secrets are redacted in the summarizer's input.
    pub redaction: bool,
    /// Redaction includes personal data.
    pub redact_pii: bool,
    /// The turns that are never summarized.
    pub protection: Protection,
    /// The text appended to the system turn of a compressed trajectory.
    pub notice: Option<String>,
    /// The form in which chat templates get the arguments of tool calls.
    pub template_arguments: TemplateArguments,
    /// The tokens charged for an image.
    pub image_tokens: usize,
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
    /// The treatment of records still over the budget.
    pub over_limit: OverLimit,
    /// The treatment of records whose summary failed.
    pub on_failure: OnFailure,
    /// A summary with identifiers that the record does not have counts as failed.
    pub reject_invented: bool,
    /// The form of every written record; `None` leaves each in its own.
    pub output_form: Option<OutputForm>,
    /// Broken records are mended before anything else.
    pub sanitize: bool,
    /// Mending also joins contents that are only text parts into strings.
    pub join_text_parts: bool,
    /// Mending also cuts the turns after the last assistant turn.
    pub end_with_assistant: bool,
    /// The field that excludes summaries from training.
    pub mark: Option<SummaryMark>,
    /// Records are planned and counted, but not written.
    pub dry_run: bool,
    /// The records that get a `compression_metrics` object.
    pub per_trajectory: PerTrajectory,
}

/// Default number of tokens that a summary should have.
const SUMMARY_TOKENS: usize = 750;

/// The smallest summary size that may be set, in tokens: enough for a line.
pub const SMALLEST_SUMMARY_TARGET: usize = 20;

/// The default text appended to the system turn of a compressed trajectory.
pub const SUMMARY_NOTICE: &str =
    "\n\nEarlier steps of this conversation may stand here as a summary of them.";

impl FitSettings {
    /// Returns the default settings for a budget in tokens, and for the tokens that a summary should have, if set.
    pub fn with_budget(target_max_tokens: usize, summary_tokens: Option<usize>) -> Self {
        let summary_tokens =
            summary_tokens.unwrap_or_else(|| Self::default_summary_tokens(target_max_tokens));
        Self {
            target_max_tokens,
            count: CountMode::Values,
            strategy: Strategy::Summarize,
            summary_size: SummarySize::fixed(summary_tokens),
            summary_max_tokens: summary_tokens.saturating_mul(2),
            max_passes: 3,
            summary_placement: SummaryPlacement::Auto,
            role_orders: RoleOrder::OF_RECORDS.to_vec(),
            grounding: true,
            file_footer: false,
            redaction: true,
            redact_pii: false,
            protection: Protection::default(),
            notice: Some(SUMMARY_NOTICE.to_owned()),
            template_arguments: TemplateArguments::AsWritten,
            image_tokens: 1500,
            format: None,
            over_limit: OverLimit::Keep,
            on_failure: OnFailure::Fallback,
            reject_invented: false,
            output_form: None,
            sanitize: false,
            join_text_parts: false,
            end_with_assistant: false,
            mark: None,
            dry_run: false,
            per_trajectory: PerTrajectory::None,
        }
    }

    /// Returns the default number of tokens that a summary should have: 750, or a quarter of the budget where that is
    /// less, but at least enough for a line.
    pub fn default_summary_tokens(target_max_tokens: usize) -> usize {
        SUMMARY_TOKENS
            .min(target_max_tokens / 4)
            .max(SMALLEST_SUMMARY_TARGET)
    }
}

impl Default for FitSettings {
    fn default() -> Self {
        Self::with_budget(15_250, None)
    }
}
