//! The sums over the rows of `trajfit unroll`.

use serde::{Deserialize, Serialize};

use super::{Row, SegmentRow, Status};

/// Sums over the records in the output of `trajfit unroll`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnrollSums {
    /// Trajectories in the output.
    pub trajectories: u64,
    /// Trajectories with more than one record.
    pub unrolled_trajectories: u64,
    /// Records in the output.
    pub segments: u64,
    /// Compactions: records that begin with a summary.
    pub compactions: u64,
    /// Records that teach a summary, beside those.
    pub summary_records: u64,
    /// The most records of one trajectory.
    pub most_segments: u64,
    /// Tokens of the trajectories.
    pub trajectory_tokens: u64,
    /// Tokens of the records.
    pub context_tokens: u64,
    /// Tokens of assistant turns, by their values.
    pub assistant_tokens: u64,
    /// Tokens of trained assistant turns, by their values.
    pub trained_tokens: u64,
    /// Trained assistant turns.
    pub trained_turns: u64,
    /// Calls of the agents.
    pub agent_calls: u64,
    /// Tokens that these send.
    pub agent_prompt_tokens: u64,
    /// Of these, tokens that the call before begins with as well.
    pub agent_cached_tokens: u64,
}

impl UnrollSums {
    /// Adds a row.
    pub fn add(&mut self, row: &Row, segment: &SegmentRow) {
        if row.status == Status::Rejected {
            return;
        }
        self.segments += segment.records();
        self.context_tokens += row.compressed_tokens;
        self.trained_tokens += segment.trained_tokens;
        self.trained_turns += segment.trained_turns;
        self.compactions += segment.compactions;
        self.agent_calls += segment.calls.calls;
        self.agent_prompt_tokens += segment.calls.prompt_tokens;
        self.agent_cached_tokens += segment.calls.cached_tokens;
        self.summary_records += segment.summary_records;
        self.most_segments = self.most_segments.max(segment.segments);
        if segment.segment <= 1 && !segment.is_summary() {
            self.trajectories += 1;
            self.unrolled_trajectories += u64::from(segment.segments > 1);
            self.trajectory_tokens += row.original_tokens;
            self.assistant_tokens += segment.assistant_tokens;
        }
    }

    /// The share of assistant tokens that are trained; 1 if there are none.
    pub fn trained_share(&self) -> f64 {
        if self.assistant_tokens == 0 {
            return 1.0;
        }
        self.trained_tokens as f64 / self.assistant_tokens as f64
    }
}

/// The prices of the tokens that an agent sends, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentPrices {
    /// The price of tokens that the server reads.
    pub prompt: f64,
    /// The price of tokens that its prefix cache has.
    pub cached: f64,
}

impl AgentPrices {
    /// The cost of the calls of all agents, in US dollars.
    pub fn cost(&self, sums: &UnrollSums) -> f64 {
        let read = sums.agent_prompt_tokens.saturating_sub(sums.agent_cached_tokens);
        (read as f64 * self.prompt + sums.agent_cached_tokens as f64 * self.cached) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let sums = UnrollSums {
            agent_prompt_tokens: 3_000_000,
            agent_cached_tokens: 2_000_000,
            ..UnrollSums::default()
        };
        let prices = AgentPrices {
            prompt: 3.0,
            cached: 0.3,
        };
        assert!((prices.cost(&sums) - 3.6).abs() < 1e-9);
    }
}
