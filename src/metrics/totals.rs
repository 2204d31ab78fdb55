//! Totals of a run, added up row by row in memory that does not grow with the number of rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::{BothCounts, GroundedRecord, Row, Status, Tokens, UnrollSums, WorstGrounded};

/// Number of steps of a ratio: the four decimals that rows show.
const RATIO_STEPS: usize = 10_000;

/// Sums and distributions over the rows of a run.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Number of records by status, all statuses included.
    pub by_status: BTreeMap<&'static str, u64>,
    /// Records by status and reason code, for records that have one.
    pub by_reason: BTreeMap<(Status, String), u64>,
    /// Records in the output by the format that they were read in.
    pub by_format: BTreeMap<String, u64>,
    /// Compressed records by the place of their summary; those with masks alone have none.
    pub by_placement: BTreeMap<String, u64>,
    /// Records still over the budget by reason code.
    pub over_limit_reasons: BTreeMap<String, u64>,
    /// Plain sums.
    pub sums: Sums,
    /// Sums over records of unrolled trajectories.
    pub unroll: UnrollSums,
    /// Both counts of the records, if there is a chat template.
    pub both_counts: BothCounts,
    /// The records that lost most identifiers.
    pub worst_grounded: WorstGrounded,
    before: Distribution,
    after: Distribution,
    /// Number of compressed records with each ratio.
    ratios: Vec<u64>,
    ratio_sum: f64,
}

/// Sums over the rows of records in the output; `records` and the usage of summaries count the rejected as well.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // Named as the columns that they add up.
pub struct Sums {
    pub records: u64,
    pub original_tokens: u64,
    pub compressed_tokens: u64,
    pub tokens_saved: i64,
    pub original_turns: u64,
    pub compressed_turns: u64,
    pub turns_removed: i64,
    pub still_over_limit: u64,
    pub degraded: u64,
    pub passes: u64,
    pub summary_tokens: u64,
    pub summarization_api_calls: u64,
    pub summarization_errors: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_summaries: u64,
    pub masked_turns: u64,
    pub anchors_needed: u64,
    pub anchors_held: u64,
    /// Of these, named by the summarizer itself.
    pub anchors_written: u64,
    pub records_with_dangling_anchors: u64,
    pub anchors_invented: u64,
    pub redactions: u64,
    pub records_with_faults: u64,
    pub orphan_responses: u64,
    pub unanswered_calls: u64,
    pub repeated_ids: u64,
    pub packed_responses: u64,
    pub same_role_neighbours: u64,
    pub mended_faults: u64,
    pub fallback_prompt_tokens: u64,
    pub fallback_completion_tokens: u64,
    /// Compressed records among the degraded.
    pub degraded_compressed: u64,
    pub summary_starved: u64,
    pub converted: u64,
    pub format_losses: u64,
    pub records_with_format_losses: u64,
    pub mended_shapes: u64,
    pub records_with_mended_shapes: u64,
    pub unknown_roles: u64,
    /// Records that a chat template would have to count and refuses: in none of the token sums.
    pub uncounted_records: u64,
    /// The tokens of these by their values.
    pub uncounted_value_tokens: u64,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            by_status: Status::ALL.iter().map(|status| (status.name(), 0)).collect(),
            by_reason: BTreeMap::new(),
            by_format: BTreeMap::new(),
            by_placement: BTreeMap::new(),
            over_limit_reasons: BTreeMap::new(),
            sums: Sums::default(),
            unroll: UnrollSums::default(),
            both_counts: BothCounts::default(),
            worst_grounded: WorstGrounded::default(),
            before: Distribution::default(),
            after: Distribution::default(),
            ratios: vec![0; RATIO_STEPS + 1],
            ratio_sum: 0.0,
        }
    }
}

impl Totals {
    /// Adds one row.
    pub fn add(&mut self, row: &Row) {
        *self.by_status.entry(row.status.name()).or_default() += 1;
        if !row.reason.is_empty() {
            *self
                .by_reason
                .entry((row.status, row.reason.clone()))
                .or_default() += 1;
        }
        if let Some(segment) = &row.segment {
            self.unroll.add(row, segment);
        }
        self.sums.records += 1;
        self.sums.add_usage(row);
        if row.status == Status::Rejected {
            return;
        }
        if !row.format.is_empty() {
            *self.by_format.entry(row.format.clone()).or_default() += 1;
        }
        if !row.placement.is_empty() {
            *self.by_placement.entry(row.placement.clone()).or_default() += 1;
        }
        if row.still_over_limit {
            *self.over_limit_reasons.entry(row.reason.clone()).or_default() += 1;
        }
        self.sums.add(row);
        self.both_counts.add(row);
        if row.anchors_held < row.anchors_needed {
            self.worst_grounded.add(GroundedRecord::of(row));
        }
        if !row.is_uncounted() {
            self.before.add(row.original_tokens);
            self.after.add(row.compressed_tokens);
        }
        if row.was_compressed {
            let step = (row.compression_ratio * RATIO_STEPS as f64).round() as usize;
            if let Some(count) = self.ratios.get_mut(step.min(RATIO_STEPS)) {
                *count += 1;
            }
            // Rounded as in rows, so that a resumed run, which reads them back, gets the same sum.
            self.ratio_sum += step as f64 / RATIO_STEPS as f64;
        }
    }

    /// Number of records with a status.
    pub fn with_status(&self, status: Status) -> u64 {
        self.by_status.get(status.name()).copied().unwrap_or_default()
    }

    /// Records by reason code, whatever their status.
    pub fn reasons(&self) -> BTreeMap<&str, u64> {
        let mut reasons = BTreeMap::new();
        for ((_, reason), count) in &self.by_reason {
            *reasons.entry(reason.as_str()).or_default() += count;
        }
        reasons
    }

    /// Mean ratio of compressed records; `None` if there are none.
    pub fn mean_ratio(&self) -> Option<f64> {
        let compressed: u64 = self.ratios.iter().sum();
        (compressed > 0).then(|| self.ratio_sum / compressed as f64)
    }

    /// Median ratio of compressed records, from ratios of four decimals; of an even number the mean of the middle two.
    pub fn median_ratio(&self) -> Option<f64> {
        let compressed: u64 = self.ratios.iter().sum();
        let step_of = |rank: u64| {
            let mut seen = 0;
            self.ratios.iter().position(|&count| {
                seen += count;
                seen > rank
            })
        };
        let (low, high) = (step_of(compressed.checked_sub(1)? / 2)?, step_of(compressed / 2)?);
        Some((low + high) as f64 / 2.0 / RATIO_STEPS as f64)
    }

    /// Percentiles of the token counts, before and after.
    pub fn percentiles(&self) -> (BTreeMap<&'static str, u64>, BTreeMap<&'static str, u64>) {
        (self.before.percentiles(), self.after.percentiles())
    }
}

impl Sums {
    /// Tokens of the requests for summaries.
    pub fn tokens(&self) -> Tokens {
        Tokens {
            prompt: self.prompt_tokens,
            completion: self.completion_tokens,
            fallback_prompt: self.fallback_prompt_tokens,
            fallback_completion: self.fallback_completion_tokens,
        }
    }

    /// Number of faults of all records as read.
    pub fn faults(&self) -> u64 {
        self.orphan_responses
            + self.unanswered_calls
            + self.repeated_ids
            + self.packed_responses
            + self.same_role_neighbours
    }

    /// Adds the usage of a row's summaries, which was spent even if the record is rejected.
    fn add_usage(&mut self, row: &Row) {
        self.summarization_api_calls += row.summarization_api_calls;
        self.summarization_errors += row.summarization_errors;
        self.prompt_tokens += row.prompt_tokens;
        self.completion_tokens += row.completion_tokens;
        self.fallback_prompt_tokens += row.fallback_prompt_tokens;
        self.fallback_completion_tokens += row.fallback_completion_tokens;
        self.cached_summaries += u64::from(row.cached_summary);
    }

    /// Adds a row whose record is in the output.
    fn add(&mut self, row: &Row) {
        if row.is_uncounted() {
            self.uncounted_records += 1;
            self.uncounted_value_tokens += row.original_tokens;
        } else {
            self.original_tokens += row.original_tokens;
            self.compressed_tokens += row.compressed_tokens;
            self.tokens_saved += row.tokens_saved;
        }
        self.original_turns += row.original_turns;
        self.compressed_turns += row.compressed_turns;
        self.turns_removed += row.turns_removed;
        self.still_over_limit += u64::from(row.still_over_limit);
        self.degraded += u64::from(row.degraded);
        self.degraded_compressed += u64::from(row.degraded && row.was_compressed);
        self.summary_starved += u64::from(row.summary_starved);
        self.passes += row.passes;
        self.summary_tokens += row.summary_tokens;
        self.masked_turns += row.masked_turns;
        self.anchors_needed += row.anchors_needed;
        self.anchors_held += row.anchors_held;
        self.anchors_written += row.anchors_written;
        self.records_with_dangling_anchors += u64::from(row.anchors_held < row.anchors_needed);
        self.anchors_invented += row.anchors_invented;
        self.redactions += row.redactions;
        self.records_with_faults += u64::from(row.faults() > 0);
        self.orphan_responses += row.orphan_responses;
        self.unanswered_calls += row.unanswered_calls;
        self.repeated_ids += row.repeated_ids;
        self.packed_responses += row.packed_responses;
        self.same_role_neighbours += row.same_role_neighbours;
        self.mended_faults += row.mended_faults;
        self.converted += u64::from(row.converted);
        self.format_losses += row.format_losses;
        self.records_with_format_losses += u64::from(row.format_losses > 0);
        self.mended_shapes += row.mended_shapes;
        self.records_with_mended_shapes += u64::from(row.mended_shapes > 0);
        self.unknown_roles += row.unknown_roles;
    }
}
