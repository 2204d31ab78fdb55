//! What fitting a record depends on: the part of the configuration that the algorithm sees.

use super::SummaryMark;
use super::summary_size::SummarySize;
use crate::compress::{Protection, RoleOrder, SummaryPlacement};
use crate::names::named;
use crate::trajectory::{Format, Target, TemplateArguments};

named! {
    /// What the budget is measured in.
    CountMode {
        /// The sum of what the turns cost.
        Values = "values",
        /// The whole chat as the model's chat template renders it.
        Rendered = "rendered",
    }
}

named! {
    /// How a trajectory is made to fit.
    Strategy {
        /// A stretch of the middle is replaced by one summary turn.
        Summarize = "summarize",
        /// Outputs of tools in the middle are replaced by a line each.
        Mask = "mask",
        /// Masks first, and a summary where they are not enough.
        MaskThenSummarize = "mask-then-summarize",
    }
}

/// The records that gain a `compression_metrics` object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerTrajectory {
    /// None of them.
    None,
    /// Those that are compressed.
    Compressed,
    /// All of them.
    All,
}

named! {
    /// What becomes of a record that is still over the budget.
    OverLimit {
        /// It is written, and counted.
        Keep = "keep",
        /// It goes to the rejects file.
        Reject = "reject",
        /// It is written, and the run ends with exit code 1.
        Fail = "fail",
    }
}

named! {
    /// What becomes of a record whose summary failed.
    OnFailure {
        /// The extractive summary is used, and the row marked degraded.
        Fallback = "fallback",
        /// The original is kept, and marked.
        Keep = "keep",
        /// The run ends.
        Fail = "fail",
    }
}

/// Everything that decides what a record becomes, besides tokenizer and summarizer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of the configuration.
pub struct FitSettings {
    /// Tokens that a trajectory may cost.
    pub target_max_tokens: usize,
    /// Which tokens these are.
    pub count: CountMode,
    /// How it is made to cost no more.
    pub strategy: Strategy,
    /// Tokens that a summary should cost.
    pub summary_size: SummarySize,
    /// Tokens that a summary may cost where there is room under the target.
    pub summary_max_tokens: usize,
    /// Summaries of one trajectory, at most.
    pub max_passes: usize,
    /// Where the summary goes.
    pub summary_placement: SummaryPlacement,
    /// The orders of roles that `auto` keeps wherever they held; those of a trainer may be added to
    /// [`RoleOrder::OF_RECORDS`].
    pub role_orders: Vec<RoleOrder>,
    /// Whether summaries must keep the identifiers that later turns rely on.
    pub grounding: bool,
    /// Whether summaries end with the files read and modified.
    pub file_footer: bool,
    /// Whether secrets are taken out of what summarizers read.
    pub redaction: bool,
    /// Whether personal data counts as secret there.
    pub redact_pii: bool,
    /// What is never summarized.
    pub protection: Protection,
    /// Appended to the system turn of a compressed trajectory.
    pub notice: Option<String>,
    /// How chat templates get the arguments of tool calls.
    pub template_arguments: TemplateArguments,
    /// What an image costs.
    pub image_tokens: usize,
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
    /// What becomes of records still over the target.
    pub over_limit: OverLimit,
    /// What becomes of records whose summary failed.
    pub on_failure: OnFailure,
    /// Whether a summary with identifiers that the record does not have is a failed one.
    pub reject_invented: bool,
    /// The form that every record gets; `None` leaves each in its own.
    pub output_form: Option<Target>,
    /// Whether what is broken in a record is mended before all else.
    pub sanitize: bool,
    /// Whether contents that are text parts and nothing else become strings then.
    pub join_text_parts: bool,
    /// Whether what follows the last assistant turn is cut then.
    pub end_with_assistant: bool,
    /// The field that tells that summaries are not to be learnt.
    pub mark: Option<SummaryMark>,
    /// Plan and count, but summarize nothing.
    pub dry_run: bool,
    /// The records that a `compression_metrics` object is put into.
    pub per_trajectory: PerTrajectory,
}

/// The tokens that a summary should cost where nobody says it.
const SUMMARY_TOKENS: usize = 750;

/// The fewest tokens that a summary may be asked to cost: what can hold a line.
pub const SMALLEST_SUMMARY_TARGET: usize = 20;

/// The text that the system turn of a compressed trajectory gains, unless another one is set.
pub const SUMMARY_NOTICE: &str =
    "\n\nEarlier steps of this conversation may stand here as a summary of them.";

impl FitSettings {
    /// The default settings for a budget in tokens, with the tokens that a summary should cost, where they are set.
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

    /// The tokens that a summary should cost where nobody says it: 750, or a quarter of the budget where that is less, but no
    /// less than can hold a line.
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
