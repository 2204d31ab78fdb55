//! The totals file of `trajfit unroll`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::metrics::{Status, Sums, Totals, UnrollSums, share_held};
use crate::pipeline::write::journal::RunIdentity;

/// The schema of the totals file, which `docs/json.md` describes.
pub const SCHEMA: &str = "trajfit.unroll/1";

/// The facts about a run in its totals file, besides the totals.
#[derive(Serialize)]
#[allow(missing_docs)] // Named as the keys of the file.
pub struct RunFacts<'r, T> {
    pub dry_run: bool,
    pub is_estimate: bool,
    pub count: &'r str,
    pub summary_input_tokens: u64,
    pub summarization_cost: Option<f64>,
    pub tokenizer_note: Option<&'r str>,
    pub timing: T,
}

/// The totals file.
#[derive(Serialize)]
pub struct UnrollSummary<'r, T> {
    schema: &'static str,
    program: &'static str,
    #[serde(flatten)]
    run: &'r RunIdentity,
    records_by_status: BTreeMap<&'r str, u64>,
    records_by_format: &'r BTreeMap<String, u64>,
    reasons: BTreeMap<&'r str, u64>,
    over_limit_reasons: &'r BTreeMap<String, u64>,
    #[serde(flatten)]
    unroll: &'r UnrollSums,
    trained_share: f64,
    compactions_per_trajectory: f64,
    tokens_out_per_token_in: f64,
    #[serde(flatten)]
    sums: CompactionSums,
    anchors_held_share: f64,
    #[serde(flatten)]
    facts: RunFacts<'r, T>,
}

/// The sums of a run that concern compactions: their summaries, masks and requests.
#[derive(Serialize)]
struct CompactionSums {
    still_over_limit: u64,
    degraded: u64,
    summary_tokens: u64,
    anchors_needed: u64,
    anchors_held: u64,
    anchors_written: u64,
    anchors_invented: u64,
    redactions: u64,
    masked_turns: u64,
    summarization_api_calls: u64,
    summarization_errors: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    fallback_prompt_tokens: u64,
    fallback_completion_tokens: u64,
    cached_summaries: u64,
}

impl CompactionSums {
    fn of(sums: &Sums) -> Self {
        Self {
            still_over_limit: sums.still_over_limit,
            degraded: sums.degraded,
            summary_tokens: sums.summary_tokens,
            anchors_needed: sums.anchors_needed,
            anchors_held: sums.anchors_held,
            anchors_written: sums.anchors_written,
            anchors_invented: sums.anchors_invented,
            redactions: sums.redactions,
            masked_turns: sums.masked_turns,
            summarization_api_calls: sums.summarization_api_calls,
            summarization_errors: sums.summarization_errors,
            prompt_tokens: sums.prompt_tokens,
            completion_tokens: sums.completion_tokens,
            fallback_prompt_tokens: sums.fallback_prompt_tokens,
            fallback_completion_tokens: sums.fallback_completion_tokens,
            cached_summaries: sums.cached_summaries,
        }
    }
}

impl<'r, T> UnrollSummary<'r, T> {
    /// The totals of a run.
    pub fn of(run: &'r RunIdentity, totals: &'r Totals, facts: RunFacts<'r, T>) -> Self {
        let unroll = &totals.unroll;
        let sums = &totals.sums;
        Self {
            schema: SCHEMA,
            program: env!("CARGO_PKG_NAME"),
            run,
            records_by_status: by_status(totals),
            records_by_format: &totals.by_format,
            reasons: totals.reasons(),
            over_limit_reasons: &totals.over_limit_reasons,
            unroll,
            trained_share: four_decimals(unroll.trained_share()),
            compactions_per_trajectory: ratio(unroll.compactions, unroll.trajectories),
            tokens_out_per_token_in: ratio(unroll.context_tokens, unroll.trajectory_tokens),
            sums: CompactionSums::of(sums),
            anchors_held_share: share_held(sums.anchors_needed, sums.anchors_held),
            facts,
        }
    }
}

/// Number of records by status, as rows of this command name it.
fn by_status(totals: &Totals) -> BTreeMap<&str, u64> {
    let name = |status: &'static str| {
        if status == Status::Compressed.name() {
            "unrolled"
        } else {
            status
        }
    };
    let counts = totals.by_status.iter();
    counts.map(|(status, count)| (name(status), *count)).collect()
}

fn ratio(part: u64, whole: u64) -> f64 {
    four_decimals(part as f64 / whole.max(1) as f64)
}

fn four_decimals(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
