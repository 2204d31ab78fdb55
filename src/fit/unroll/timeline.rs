//! The timeline of a replayed trajectory: the size of the context at each call of the agent, and its compactions.

use std::ops::Range;

use serde::Serialize;

use crate::metrics::Row;

/// A call of the agent: what it sends for one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentCall {
    /// The turns of the step, as indexes of the trajectory's turns: what was said before the call, the answer, results of tools.
    pub turns: Range<usize>,
    /// Tokens that it sends.
    pub prompt_tokens: usize,
    /// Of these, tokens that begin the call before as well.
    pub cached_tokens: usize,
}

/// The turns that a compaction replaces in a context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReplacedTurns {
    /// The first turn of the trajectory that the summary is of, and the first after the last; none where outputs were masked only.
    pub turns: Option<Range<usize>>,
    /// True if the summary before went into it as well.
    pub earlier_summary: bool,
    /// Turns of the trajectory whose outputs were masked.
    pub masked: Vec<usize>,
    /// The summary, with its marker.
    pub summary: Option<String>,
}

/// A compaction of the context, between two calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompactionLine {
    /// Tokens that the context would have had with its next step.
    pub tokens_before: usize,
    /// Tokens that it has with it.
    pub tokens_after: usize,
    /// Tokens of the summary in its turn.
    pub summary_tokens: usize,
    /// Identifiers that the turns after the summary rely on and only replaced turns told.
    pub anchors_needed: usize,
    /// Of these, those that the summary names.
    pub anchors_held: usize,
    /// The turns that it replaced.
    pub replaced: ReplacedTurns,
}

/// A stretch between two compactions, which becomes a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineStretch {
    /// The compaction that it begins with; none in the first.
    pub compaction: Option<CompactionLine>,
    /// The calls of the agent in it.
    pub calls: Vec<AgentCall>,
    /// Tokens of the context at its end.
    pub tokens: usize,
    /// True if that is over the budget.
    pub is_over: bool,
}

impl CompactionLine {
    /// The compaction that a row tells of.
    pub fn of(row: &Row, replaced: ReplacedTurns) -> Self {
        Self {
            tokens_before: row.original_tokens as usize,
            tokens_after: row.compressed_tokens as usize,
            summary_tokens: row.summary_tokens as usize,
            anchors_needed: row.anchors_needed as usize,
            anchors_held: row.anchors_held as usize,
            replaced,
        }
    }
}
