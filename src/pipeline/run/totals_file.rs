//! The totals file of a run: what its rows add up to, its settings and the facts about it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::unroll_summary::{RunFacts, UnrollSummary};
use crate::metrics::{BothCounts, Columns, Prices, Sums, Totals, WorstGrounded, share_held};
use crate::pipeline::write::journal::RunIdentity;
use crate::settings::SettingValues;
use crate::tokens::TokenizerIdentity;
use crate::tokens::chat_template::TemplateIdentity;

/// The schema of the totals file, which `docs/json.md` describes.
pub const SCHEMA: &str = "trajfit.summary/1";

/// The totals file.
#[derive(Serialize)]
struct TotalsFile<'r> {
    schema: &'static str,
    program: &'static str,
    #[serde(flatten)]
    run: &'r RunIdentity,
    dry_run: bool,
    /// True if tokens after compression are estimates: in a dry run that requests no summaries.
    is_estimate: bool,
    /// The unit of all sums of tokens of records: `values` or `rendered`.
    count: &'r str,
    records_by_status: &'r BTreeMap<&'static str, u64>,
    records_by_format: &'r BTreeMap<String, u64>,
    records_by_placement: &'r BTreeMap<String, u64>,
    reasons: BTreeMap<&'r str, u64>,
    #[serde(flatten)]
    sums: &'r Sums,
    mean_compression_ratio: Option<f64>,
    median_compression_ratio: Option<f64>,
    /// The share kept of the identifiers that later turns rely on; 1 if there are none.
    anchors_held_share: f64,
    worst_grounded: &'r WorstGrounded,
    original_token_percentiles: BTreeMap<&'static str, u64>,
    compressed_token_percentiles: BTreeMap<&'static str, u64>,
    both_counts: Option<&'r BothCounts>,
    rendered_to_values_before: Option<f64>,
    rendered_to_values_after: Option<f64>,
    summary_input_tokens: u64,
    /// The cost of the summarizer's tokens, in US dollars; in a dry run, an estimate.
    summarization_cost: Option<f64>,
    tokenizer_note: Option<&'r str>,
    timing: Timing,
}

/// The duration of this run; of a resumed one, of its last part.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Timing {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Decompressed bytes read.
    pub bytes_read: u64,
    /// Megabytes read a second.
    megabytes_per_second: f64,
}

impl Timing {
    /// The timing of a run that took `elapsed` and read so many decompressed bytes.
    pub fn of(elapsed: Duration, bytes_read: u64) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self {
            seconds: (seconds * 1e3).round() / 1e3,
            bytes_read,
            megabytes_per_second: (bytes_read as f64 / 1e6 / seconds.max(1e-9) * 10.0).round() / 10.0,
        }
    }
}

/// The unit of the budget of a run: `values` or `rendered`.
pub fn count_of(settings: &SettingValues) -> &str {
    let count = settings.get("compression.count").and_then(Value::as_str);
    count.unwrap_or("values")
}

/// The totals file as JSON; its schema depends on the columns of the rows.
pub fn to_json(
    run: &RunIdentity,
    totals: &Totals,
    columns: Columns,
    facts: RunFacts<'_, Timing>,
) -> serde_json::Result<Vec<u8>> {
    if columns == Columns::Segments {
        return serde_json::to_vec_pretty(&UnrollSummary::of(run, totals, facts));
    }
    let (before, after) = totals.percentiles();
    let RunFacts {
        dry_run,
        is_estimate,
        count,
        summary_input_tokens,
        summarization_cost,
        tokenizer_note,
        timing,
    } = facts;
    let both_counts = &totals.both_counts;
    let sums = &totals.sums;
    serde_json::to_vec_pretty(&TotalsFile {
        schema: SCHEMA,
        program: env!("CARGO_PKG_NAME"),
        run,
        dry_run,
        is_estimate,
        count,
        records_by_status: &totals.by_status,
        records_by_format: &totals.by_format,
        records_by_placement: &totals.by_placement,
        reasons: totals.reasons(),
        sums,
        mean_compression_ratio: totals.mean_ratio().map(|ratio| (ratio * 1e4).round() / 1e4),
        median_compression_ratio: totals.median_ratio(),
        anchors_held_share: share_held(sums.anchors_needed, sums.anchors_held),
        worst_grounded: &totals.worst_grounded,
        original_token_percentiles: before,
        compressed_token_percentiles: after,
        both_counts: both_counts.is_any().then_some(both_counts),
        rendered_to_values_before: both_counts.rendered_to_values_before(),
        rendered_to_values_after: both_counts.rendered_to_values_after(),
        summary_input_tokens,
        summarization_cost,
        tokenizer_note,
        timing,
    })
}

/// The facts of a report on rows that were written to no files.
#[derive(Debug, Clone)]
pub struct RowsReport {
    /// The settings that determine the records.
    pub settings: SettingValues,
    /// The tokenizer.
    pub tokenizer: TokenizerIdentity,
    /// The chat template, if there is one.
    pub template: Option<TemplateIdentity>,
    /// The unit of sums of tokens: `values` or `rendered`.
    pub count: &'static str,
    /// The prices of the summarizer's tokens, if they are known.
    pub prices: Option<Prices>,
    /// Tokens that summarizers read.
    pub summary_input_tokens: u64,
    /// Bytes of the records.
    pub bytes_read: u64,
}

/// The totals of rows as the text of a totals file without sources and outputs.
pub fn rows_report(facts: &RowsReport, totals: &Totals, columns: Columns, elapsed: Duration) -> String {
    let run = RunIdentity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        configuration: facts.settings.clone(),
        tokenizer: facts.tokenizer.clone(),
        chat_template: facts.template.clone(),
        sources: Vec::new(),
        outputs: Vec::new(),
    };
    let cost = facts.prices.map(|prices| prices.cost(totals.sums.tokens()));
    let facts = RunFacts {
        dry_run: false,
        is_estimate: false,
        count: facts.count,
        summary_input_tokens: facts.summary_input_tokens,
        summarization_cost: cost.map(|cost| (cost * 1e4).round() / 1e4),
        tokenizer_note: None,
        timing: Timing::of(elapsed, facts.bytes_read),
    };
    let json = to_json(&run, totals, columns, facts);
    // Text and numbers always serialize.
    String::from_utf8(json.unwrap_or_default()).unwrap_or_default()
}
