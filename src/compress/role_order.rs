//! Orders of roles that trainers and templates require, as rules that a compression must not break.

use super::{Outline, TurnContent, TurnFacts};
use crate::trajectory::Role;

/// A rule about the order of roles. With `--summary-placement auto`, every rule that held before a compression holds after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a demand of its own")]
pub struct RoleOrder {
    /// Human and tool turns alternate with assistant turns, after the system turns that open the trajectory.
    pub sides_alternate: bool,
    /// Consecutive tool turns count as one of the alternating turns.
    pub tool_runs_are_one: bool,
    /// No turn with the role name of a person follows another such turn.
    pub humans_apart: bool,
    /// No human turn follows a tool turn: the assistant answers each tool.
    pub tools_answered: bool,
}

/// The role of a turn, for the order of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OrderedRole {
    role: Role,
    /// The turn has the role name of a person.
    is_humans: bool,
}

impl OrderedRole {
    /// The seat of a separate summary turn.
    const SUMMARY: Self = Self {
        role: Role::Human,
        is_humans: true,
    };

    fn of(turn: &TurnFacts) -> Self {
        // Answers with a person's words or a summary beside them still are answers.
        let is_answer = turn.role == Role::Human && turn.asked_before.is_some();
        Self {
            role: if is_answer { Role::Tool } else { turn.role },
            is_humans: turn.role == Role::Human || matches!(turn.content, TurnContent::Results { .. }),
        }
    }
}

impl RoleOrder {
    /// Human and tool turns alternate with assistant turns.
    pub const STRICT: Self = Self {
        sides_alternate: true,
        tool_runs_are_one: false,
        humans_apart: false,
        tools_answered: false,
    };

    /// The same, with the answers to parallel calls counted as one.
    pub const TOOL_RUNS: Self = Self {
        tool_runs_are_one: true,
        ..Self::STRICT
    };

    /// No two human turns in a row.
    pub const HUMANS_APART: Self = Self {
        sides_alternate: false,
        tool_runs_are_one: false,
        humans_apart: true,
        tools_answered: false,
    };

    /// No human turn after a tool turn; assistant turns may stand in a row.
    pub const TOOLS_ANSWERED: Self = Self {
        humans_apart: false,
        tools_answered: true,
        ..Self::HUMANS_APART
    };

    /// The orders that are preserved in every trajectory in which they held.
    pub const OF_RECORDS: [Self; 4] = [
        Self::STRICT,
        Self::TOOL_RUNS,
        Self::HUMANS_APART,
        Self::TOOLS_ANSWERED,
    ];

    /// Returns true if a trajectory is in this order.
    pub fn holds(self, outline: &Outline) -> bool {
        self.holds_for(outline.turns.iter().map(OrderedRole::of))
    }

    /// Returns true if a trajectory is in this order without the turns `[start, end)`, with a human turn in their place
    /// or with none.
    pub fn holds_without(self, outline: &Outline, [start, end]: [usize; 2], has_own_turn: bool) -> bool {
        let turns = || outline.turns.iter().map(OrderedRole::of);
        let summary = has_own_turn.then_some(OrderedRole::SUMMARY);
        self.holds_for(turns().take(start).chain(summary).chain(turns().skip(end)))
    }

    fn holds_for(self, seats: impl Iterator<Item = OrderedRole>) -> bool {
        let mut before: Option<OrderedRole> = None;
        for seat in seats {
            if self.sides_alternate && before.is_none() && seat.role == Role::System {
                continue;
            }
            if before.is_some_and(|before| !self.may_follow(before, seat)) {
                return false;
            }
            if self.sides_alternate && !matches!(seat.role, Role::Human | Role::Tool | Role::Assistant) {
                return false;
            }
            before = Some(seat);
        }
        true
    }

    fn may_follow(self, before: OrderedRole, after: OrderedRole) -> bool {
        let is_run = self.tool_runs_are_one && before.role == Role::Tool && after.role == Role::Tool;
        let alternates = (before.role == Role::Assistant) != (after.role == Role::Assistant);
        (!self.sides_alternate || alternates || is_run)
            && !(self.humans_apart && before.is_humans && after.is_humans)
            && !(self.tools_answered && before.role == Role::Tool && after.role == Role::Human)
    }
}
