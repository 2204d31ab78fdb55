//! A row of the metrics of `trajfit unroll`: one record of an unrolled trajectory.

use serde::{Deserialize, Serialize};

use super::{Row, Status};

/// The calls of an agent that lives through a trajectory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCalls {
    /// How many there are: one for each step.
    pub calls: u64,
    /// Tokens that they send.
    pub prompt_tokens: u64,
    /// Of these, tokens that begin the call before as well, so that a server with a prefix cache need not read them again.
    pub cached_tokens: u64,
}

impl AgentCalls {
    /// Adds a call.
    pub fn add(&mut self, prompt_tokens: u64, cached_tokens: u64) {
        self.calls += 1;
        self.prompt_tokens += prompt_tokens;
        self.cached_tokens += cached_tokens;
    }
}

/// The figures that only records of unrolled trajectories have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentRow {
    /// The record's number in its trajectory, from 1; 0 for a trajectory that was not unrolled.
    pub segment: u64,
    /// The records of the trajectory.
    pub segments: u64,
    /// Turns at its beginning that are those of the record before.
    pub prefix_turns: u64,
    /// Assistant turns that are trained in it.
    pub trained_turns: u64,
    /// The tokens of these, by their values.
    pub trained_tokens: u64,
    /// The tokens of all assistant turns of the trajectory, by their values.
    pub assistant_tokens: u64,
    /// The tokens that the context would have had without the compaction before it; none for a first record.
    pub tokens_before: Option<u64>,
    /// The calls of the agent whose context it is, since the compaction before.
    pub calls: AgentCalls,
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
    reason_detail: String,
}

/// How a record of an unrolled trajectory ended, as its row says it.
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
