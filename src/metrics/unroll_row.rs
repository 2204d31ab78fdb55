//! A row of the metrics of `trajfit unroll`: one record of an unrolled trajectory.

use serde::{Deserialize, Serialize};

use super::{AgentCalls, Row, SegmentRow, Status};

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
        self.redactions += other.redactions;
        self.summarization_api_calls += other.summarization_api_calls;
        self.summarization_errors += other.summarization_errors;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.fallback_prompt_tokens += other.fallback_prompt_tokens;
        self.fallback_completion_tokens += other.fallback_completion_tokens;
        self.cached_summary |= other.cached_summary;
        if self.summarizer.is_empty() {
            other.summarizer.clone_into(&mut self.summarizer);
        }
        if self.reason.is_empty() {
            other.reason.clone_into(&mut self.reason);
            other.reason_detail.clone_into(&mut self.reason_detail);
        }
    }
}

/// The columns of the metrics of `trajfit unroll`, in order; `docs/metrics.md` describes them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UnrollRow {
    source: String,
    line: u64,
    id: String,
    format: String,
    status: UnrollStatus,
    reason: String,
    trajectory_tokens: u64,
    trajectory_turns: u64,
    assistant_tokens: u64,
    segment: u64,
    segments: u64,
    context_tokens: u64,
    context_turns: u64,
    trained_turns: u64,
    trained_tokens: u64,
    prefix_turns: u64,
    target_max_tokens: u64,
    still_over_limit: bool,
    tokens_before: Option<u64>,
    region_start: i64,
    region_end: i64,
    region_turns: u64,
    summary_tokens: u64,
    summarizer: String,
    placement: String,
    passes: u64,
    degraded: bool,
    anchors_needed: u64,
    anchors_held: u64,
    anchors_written: u64,
    anchors_invented: u64,
    redactions: u64,
    summarization_api_calls: u64,
    summarization_errors: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    fallback_prompt_tokens: u64,
    fallback_completion_tokens: u64,
    cached_summary: bool,
    count: String,
    agent_calls: u64,
    agent_prompt_tokens: u64,
    agent_cached_tokens: u64,
    compactions: u64,
    reason_detail: String,
}

/// The status of a record of an unrolled trajectory at the end, as its row names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnrollStatus {
    #[default]
    UnderTarget,
    Unrolled,
    Kept,
    Rejected,
    Failed,
}

impl From<Row> for UnrollRow {
    fn from(row: Row) -> Self {
        let segment = row.segment.unwrap_or_default();
        Self {
            source: row.source,
            line: row.line,
            id: row.id,
            format: row.format,
            status: match row.status {
                Status::UnderTarget => UnrollStatus::UnderTarget,
                Status::Compressed => UnrollStatus::Unrolled,
                Status::Kept => UnrollStatus::Kept,
                Status::Rejected => UnrollStatus::Rejected,
                Status::Failed => UnrollStatus::Failed,
            },
            reason: row.reason,
            trajectory_tokens: row.original_tokens,
            trajectory_turns: row.original_turns,
            assistant_tokens: segment.assistant_tokens,
            segment: segment.segment,
            segments: segment.segments,
            context_tokens: row.compressed_tokens,
            context_turns: row.compressed_turns,
            trained_turns: segment.trained_turns,
            trained_tokens: segment.trained_tokens,
            prefix_turns: segment.prefix_turns,
            target_max_tokens: row.target_max_tokens,
            still_over_limit: row.still_over_limit,
            tokens_before: segment.tokens_before,
            region_start: row.region_start,
            region_end: row.region_end,
            region_turns: row.region_turns,
            summary_tokens: row.summary_tokens,
            summarizer: row.summarizer,
            placement: row.placement,
            passes: row.passes,
            degraded: row.degraded,
            anchors_needed: row.anchors_needed,
            anchors_held: row.anchors_held,
            anchors_written: row.anchors_written,
            anchors_invented: row.anchors_invented,
            redactions: row.redactions,
            summarization_api_calls: row.summarization_api_calls,
            summarization_errors: row.summarization_errors,
            prompt_tokens: row.prompt_tokens,
            completion_tokens: row.completion_tokens,
            fallback_prompt_tokens: row.fallback_prompt_tokens,
            fallback_completion_tokens: row.fallback_completion_tokens,
            cached_summary: row.cached_summary,
            count: row.count,
            agent_calls: segment.calls.calls,
            agent_prompt_tokens: segment.calls.prompt_tokens,
            agent_cached_tokens: segment.calls.cached_tokens,
            compactions: segment.compactions,
            reason_detail: row.reason_detail,
        }
    }
}

impl From<UnrollRow> for Row {
    fn from(row: UnrollRow) -> Self {
        Self {
            source: row.source,
            line: row.line,
            id: row.id,
            format: row.format,
            status: match row.status {
                UnrollStatus::UnderTarget => Status::UnderTarget,
                UnrollStatus::Unrolled => Status::Compressed,
                UnrollStatus::Kept => Status::Kept,
                UnrollStatus::Rejected => Status::Rejected,
                UnrollStatus::Failed => Status::Failed,
            },
            reason: row.reason,
            original_tokens: row.trajectory_tokens,
            original_turns: row.trajectory_turns,
            compressed_tokens: row.context_tokens,
            compressed_turns: row.context_turns,
            target_max_tokens: row.target_max_tokens,
            still_over_limit: row.still_over_limit,
            region_start: row.region_start,
            region_end: row.region_end,
            region_turns: row.region_turns,
            summary_tokens: row.summary_tokens,
            summarizer: row.summarizer,
            placement: row.placement,
            passes: row.passes,
            degraded: row.degraded,
            anchors_needed: row.anchors_needed,
            anchors_held: row.anchors_held,
            anchors_written: row.anchors_written,
            anchors_invented: row.anchors_invented,
            redactions: row.redactions,
            summarization_api_calls: row.summarization_api_calls,
            summarization_errors: row.summarization_errors,
            prompt_tokens: row.prompt_tokens,
            completion_tokens: row.completion_tokens,
            fallback_prompt_tokens: row.fallback_prompt_tokens,
            fallback_completion_tokens: row.fallback_completion_tokens,
            cached_summary: row.cached_summary,
            count: row.count,
            reason_detail: row.reason_detail,
            segment: Some(SegmentRow {
                segment: row.segment,
                segments: row.segments,
                prefix_turns: row.prefix_turns,
                trained_turns: row.trained_turns,
                trained_tokens: row.trained_tokens,
                assistant_tokens: row.assistant_tokens,
                tokens_before: row.tokens_before,
                compactions: row.compactions,
                calls: AgentCalls {
                    calls: row.agent_calls,
                    prompt_tokens: row.agent_prompt_tokens,
                    cached_tokens: row.agent_cached_tokens,
                },
            }),
            ..Self::default()
        }
    }
}
