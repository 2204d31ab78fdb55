//! A row of the metrics of `trajfit unroll`: one record of an unrolled trajectory.

use serde::{Deserialize, Serialize};

use super::{Row, SegmentRow, Status};

/// One row for a whole trajectory, merged from those of its records; `None` if there are none. A flag is set if it is
/// set in one of them, there is no region and no placement, and the first reason is its reason.
pub fn merged(rows: &[Row], id: &str) -> Option<Row> {
    let (first, others) = rows.split_first()?;
    let mut row = Row {
        id: id.to_owned(),
        region_start: -1,
        region_end: -1,
        placement: String::new(),
        ..first.clone()
    };
    let mut all = row.segment.take().unwrap_or_default();
    all.segment = 0;
    all.tokens_before = None;
    for other in others {
        row.add(other);
        let segment = other.segment.clone().unwrap_or_default();
        all.prefix_turns += segment.prefix_turns;
        all.trained_turns += segment.trained_turns;
        all.trained_tokens += segment.trained_tokens;
        all.compactions += segment.compactions;
        all.summary_records += segment.summary_records;
        all.hindsight |= segment.hindsight;
        all.calls.calls += segment.calls.calls;
        all.calls.prompt_tokens += segment.calls.prompt_tokens;
        all.calls.cached_tokens += segment.calls.cached_tokens;
    }
    row.segment = Some(all);
    Some(row)
}

impl Row {
    /// Adds the row of another record of the same trajectory.
    fn add(&mut self, other: &Self) {
        self.compressed_tokens += other.compressed_tokens;
        self.compressed_turns += other.compressed_turns;
        self.region_turns += other.region_turns;
        self.still_over_limit |= other.still_over_limit;
        self.summary_tokens += other.summary_tokens;
        self.passes += other.passes;
        self.degraded |= other.degraded;
        self.anchors_needed += other.anchors_needed;
        self.anchors_held += other.anchors_held;
        self.anchors_written += other.anchors_written;
        self.anchors_invented += other.anchors_invented;
        self.add_usage(other);
        self.masked_turns += other.masked_turns;
        if self.summarizer.is_empty() {
            other.summarizer.clone_into(&mut self.summarizer);
        }
        if self.reason.is_empty() {
            other.reason.clone_into(&mut self.reason);
            other.reason_detail.clone_into(&mut self.reason_detail);
        }
    }

    /// Adds what the summaries of another row took.
    pub fn add_usage(&mut self, other: &Self) {
        self.summarization_api_calls += other.summarization_api_calls;
        self.summarization_errors += other.summarization_errors;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.fallback_prompt_tokens += other.fallback_prompt_tokens;
        self.fallback_completion_tokens += other.fallback_completion_tokens;
        self.cached_summary |= other.cached_summary;
        self.redactions += other.redactions;
    }
}

/// Makes the columns, each with the figure that it shows, and both ways between them.
macro_rules! columns {
    ($row:ident, $segment:ident; $($(#[$attribute:meta])* $column:ident: $kind:ty = $figure:expr,)+) => {
        /// The columns of the metrics of `trajfit unroll`, in order; `docs/metrics.md` describes them.
        #[derive(Debug, Default, Serialize, Deserialize)]
        pub struct UnrollRow {
            $($(#[$attribute])* $column: $kind,)+
        }

        impl From<Row> for UnrollRow {
            fn from(mut $row: Row) -> Self {
                let $segment = $row.segment.take().unwrap_or_default();
                Self { $($column: $figure,)+ }
            }
        }

        impl From<UnrollRow> for Row {
            fn from(columns: UnrollRow) -> Self {
                let mut $row = Self::default();
                let mut $segment = SegmentRow::default();
                $($figure = columns.$column;)+
                $row.segment = Some($segment);
                $row
            }
        }
    };
}

columns! {
    row, segment;
    source: String = row.source,
    line: u64 = row.line,
    id: String = row.id,
    format: String = row.format,
    #[serde(with = "status")]
    status: Status = row.status,
    reason: String = row.reason,
    trajectory_tokens: u64 = row.original_tokens,
    trajectory_turns: u64 = row.original_turns,
    assistant_tokens: u64 = segment.assistant_tokens,
    segment: u64 = segment.segment,
    segments: u64 = segment.segments,
    context_tokens: u64 = row.compressed_tokens,
    context_turns: u64 = row.compressed_turns,
    trained_turns: u64 = segment.trained_turns,
    trained_tokens: u64 = segment.trained_tokens,
    prefix_turns: u64 = segment.prefix_turns,
    target_max_tokens: u64 = row.target_max_tokens,
    still_over_limit: bool = row.still_over_limit,
    tokens_before: Option<u64> = segment.tokens_before,
    region_start: i64 = row.region_start,
    region_end: i64 = row.region_end,
    region_turns: u64 = row.region_turns,
    summary_tokens: u64 = row.summary_tokens,
    summarizer: String = row.summarizer,
    placement: String = row.placement,
    passes: u64 = row.passes,
    degraded: bool = row.degraded,
    anchors_needed: u64 = row.anchors_needed,
    anchors_held: u64 = row.anchors_held,
    anchors_written: u64 = row.anchors_written,
    anchors_invented: u64 = row.anchors_invented,
    redactions: u64 = row.redactions,
    summarization_api_calls: u64 = row.summarization_api_calls,
    summarization_errors: u64 = row.summarization_errors,
    prompt_tokens: u64 = row.prompt_tokens,
    completion_tokens: u64 = row.completion_tokens,
    fallback_prompt_tokens: u64 = row.fallback_prompt_tokens,
    fallback_completion_tokens: u64 = row.fallback_completion_tokens,
    cached_summary: bool = row.cached_summary,
    count: String = row.count,
    agent_calls: u64 = segment.calls.calls,
    agent_prompt_tokens: u64 = segment.calls.prompt_tokens,
    agent_cached_tokens: u64 = segment.calls.cached_tokens,
    compactions: u64 = segment.compactions,
    masked_turns: u64 = row.masked_turns,
    summary_records: u64 = segment.summary_records,
    hindsight: bool = segment.hindsight,
    reason_detail: String = row.reason_detail,
}

/// The status of a record, where that which compressions call `compressed` is called `unrolled`.
mod status {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::metrics::Status;

    const UNROLLED: &str = "unrolled";

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub fn serialize<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
        match status {
            Status::Compressed => UNROLLED.serialize(serializer),
            status => status.name().serialize(serializer),
        }
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Status, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Status::ALL.into_iter().find(|status| status.name() == name);
        Ok(known.unwrap_or(Status::Compressed))
    }
}
