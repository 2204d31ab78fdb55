//! The figures of one record of an unrolled trajectory.

/// The calls that an agent would have made over a trajectory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCalls {
    /// Number of calls: one for each step.
    pub calls: u64,
    /// Tokens that they send.
    pub prompt_tokens: u64,
    /// Of these, tokens of the prefix shared with the call before: a prefix cache need not read them again.
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
    /// The record's number in its trajectory, from 1; 0 in a row about the whole trajectory.
    pub segment: u64,
    /// Number of records of the trajectory.
    pub segments: u64,
    /// Turns at its beginning that repeat those of the record before.
    pub prefix_turns: u64,
    /// Assistant turns that are trained in it.
    pub trained_turns: u64,
    /// The tokens of these, by their values.
    pub trained_tokens: u64,
    /// The tokens of all assistant turns of the trajectory, by their values.
    pub assistant_tokens: u64,
    /// The tokens that the context would have had without the compaction before it; `None` for a first record.
    pub tokens_before: Option<u64>,
    /// Compactions: one in the row of a record that begins with a summary.
    pub compactions: u64,
    /// Records that teach a summary: one in the row of such a record.
    pub summary_records: u64,
    /// True if the summary that the record begins with was written with an eye on later turns.
    pub hindsight: bool,
    /// The calls of the agent since the compaction before.
    pub calls: AgentCalls,
}

impl SegmentRow {
    /// Number of records that the row is about, without those that teach a summary.
    pub fn records(&self) -> u64 {
        if self.segment == 0 {
            self.segments.max(1)
        } else {
            u64::from(!self.is_summary())
        }
    }

    /// True if the row is about a record that teaches a summary.
    pub fn is_summary(&self) -> bool {
        self.segment > 0 && self.summary_records > 0
    }
}
