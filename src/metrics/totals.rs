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

/// Makes the sums: of each the figure that it adds up, and the rows whose figures these are.
macro_rules! sums {
    ($row:ident; $($(#[$doc:meta])* $name:ident: $number:ty = $figure:expr, of $rows:ident;)+) => {
        /// Sums over the rows of a run, named as the columns that they add up.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        #[allow(missing_docs)]
        pub struct Sums {
            $($(#[$doc])* pub $name: $number,)+
        }

        impl Sums {
            fn add(&mut self, $row: &Row) {
                let rows = SummedRows::with($row);
                $(if rows.$rows { self.$name += $figure; })+
            }
        }
    };
}

/// The sets of rows that a row belongs to.
#[expect(clippy::struct_excessive_bools, reason = "the sets overlap")]
struct SummedRows {
    /// All rows: summaries cost what they cost, even if the record is rejected.
    all: bool,
    /// Rows of records in the output.
    written: bool,
    /// Those of them whose tokens are counted as the budget is.
    counted: bool,
    /// The others, which a chat template would have to count and refuses.
    uncounted: bool,
}

impl SummedRows {
    fn with(row: &Row) -> Self {
        let written = row.status != Status::Rejected;
        Self {
            all: true,
            written,
            counted: written && !row.is_uncounted(),
            uncounted: written && row.is_uncounted(),
        }
    }
}

sums! {
    row;
    records: u64 = 1, of all;
    original_tokens: u64 = row.original_tokens, of counted;
    compressed_tokens: u64 = row.compressed_tokens, of counted;
    tokens_saved: i64 = row.tokens_saved, of counted;
    original_turns: u64 = row.original_turns, of written;
    compressed_turns: u64 = row.compressed_turns, of written;
    turns_removed: i64 = row.turns_removed, of written;
    still_over_limit: u64 = u64::from(row.still_over_limit), of written;
    degraded: u64 = u64::from(row.degraded), of written;
    passes: u64 = row.passes, of written;
    summary_tokens: u64 = row.summary_tokens, of written;
    summarization_api_calls: u64 = row.summarization_api_calls, of all;
    summarization_errors: u64 = row.summarization_errors, of all;
    prompt_tokens: u64 = row.prompt_tokens, of all;
    completion_tokens: u64 = row.completion_tokens, of all;
    cached_summaries: u64 = u64::from(row.cached_summary), of all;
    masked_turns: u64 = row.masked_turns, of written;
    anchors_needed: u64 = row.anchors_needed, of written;
    anchors_held: u64 = row.anchors_held, of written;
    /// Of these, named by the summarizer itself.
    anchors_written: u64 = row.anchors_written, of written;
    records_with_dangling_anchors: u64 = u64::from(row.anchors_held < row.anchors_needed), of written;
    anchors_invented: u64 = row.anchors_invented, of written;
    redactions: u64 = row.redactions, of written;
    records_with_faults: u64 = u64::from(row.faults() > 0), of written;
    orphan_responses: u64 = row.orphan_responses, of written;
    unanswered_calls: u64 = row.unanswered_calls, of written;
    repeated_ids: u64 = row.repeated_ids, of written;
    packed_responses: u64 = row.packed_responses, of written;
    same_role_neighbours: u64 = row.same_role_neighbours, of written;
    mended_faults: u64 = row.mended_faults, of written;
    fallback_prompt_tokens: u64 = row.fallback_prompt_tokens, of all;
    fallback_completion_tokens: u64 = row.fallback_completion_tokens, of all;
    /// Compressed records among the degraded.
    degraded_compressed: u64 = u64::from(row.degraded && row.was_compressed), of written;
    summary_starved: u64 = u64::from(row.summary_starved), of written;
    converted: u64 = u64::from(row.converted), of written;
    format_losses: u64 = row.format_losses, of written;
    records_with_format_losses: u64 = u64::from(row.format_losses > 0), of written;
    mended_shapes: u64 = row.mended_shapes, of written;
    records_with_mended_shapes: u64 = u64::from(row.mended_shapes > 0), of written;
    unknown_roles: u64 = row.unknown_roles, of written;
    /// Records that a chat template would have to count and refuses: in none of the token sums.
    uncounted_records: u64 = 1, of uncounted;
    /// The tokens of these by their values.
    uncounted_value_tokens: u64 = row.original_tokens, of uncounted;
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
        self.sums.add(row);
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
}
