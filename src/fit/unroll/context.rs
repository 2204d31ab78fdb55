//! The context of the agent that is replayed: a record text without its end, and where each of its turns comes from.

use std::ops::Range;

use super::super::count::{Counted, TurnCost};
use super::timeline::{AgentCall, ReplacedTurns};
use crate::compress::Outline;
use crate::metrics::{AgentCalls, Row};
use crate::trajectory::{self, Record, Role};

/// The trajectory that is replayed, with what its turns cost.
pub struct ReplayedTrajectory<'r> {
    /// It.
    pub record: &'r Record<'r>,
    /// Its turns, as facts.
    pub outline: &'r Outline,
    /// Its tokens.
    pub counted: &'r Counted,
    /// The text before its first turn, and after its last.
    pub frame: (&'r str, &'r str),
}

impl<'r> ReplayedTrajectory<'r> {
    /// A trajectory.
    pub fn of(record: &'r Record<'r>, outline: &'r Outline, counted: &'r Counted) -> Self {
        Self {
            frame: record.frame(),
            record,
            outline,
            counted,
        }
    }

    /// The tokens of the turns, counted as the budget is.
    pub fn tokens(&self, turns: &Range<usize>) -> usize {
        let turns = self.outline.turns.get(turns.clone()).unwrap_or_default();
        turns.iter().map(|turn| turn.tokens).sum()
    }

    /// The turns of a step before its assistant turn.
    pub fn said(&self, step: &Range<usize>) -> Range<usize> {
        let turns = self.outline.turns.get(step.clone()).unwrap_or_default();
        let said = turns
            .iter()
            .take_while(|turn| turn.role != Role::Assistant)
            .count();
        step.start..step.start + said
    }

    /// The text of turns, with what stands before the first of them since the turn before.
    fn text(&self, turns: &Range<usize>) -> &'r str {
        let start = self.end_of(turns.start);
        let end = self.end_of(turns.end).max(start);
        self.record.text.get(start..end).unwrap_or_default()
    }

    /// The end of the turns before a turn.
    fn end_of(&self, turn: usize) -> usize {
        let last = turn.checked_sub(1).and_then(|last| self.record.turn_span(last));
        last.map_or(self.frame.0.len(), |span| span.end)
    }
}

/// A turn of a context.
#[derive(Debug, Clone, Copy)]
pub struct ContextTurn {
    /// The turn of the trajectory that it is; `None` for a summary.
    pub origin: Option<usize>,
    /// True if its text is that turn's, byte for byte.
    pub is_whole: bool,
    /// Its value tokens.
    pub cost: TurnCost,
    /// Where its text begins and ends in the context's.
    pub span: (usize, usize),
}

/// An agent's context: the record that is written when it is compacted, or at the end.
#[derive(Debug, Clone)]
pub struct ReplayContext {
    /// The record's text up to the end of its last turn.
    pub body: String,
    /// Its turns.
    pub turns: Vec<ContextTurn>,
    /// Its tokens, counted as the budget is.
    pub tokens: usize,
    /// True if these were counted, and not added up of what its turns cost as rendered elsewhere.
    pub is_exact: bool,
    /// True if it teaches the summary of the compaction that comes next.
    pub is_summary: bool,
    /// The end of its head, after a compaction.
    pub head: Option<usize>,
    /// The first turn that no earlier context had.
    pub fresh: usize,
    /// Turns at its beginning that the context before it begins with as well.
    pub prefix_turns: usize,
    /// The row of the compaction that it began with.
    pub begun: Option<Row>,
    /// The step that took it over the budget.
    pub over: Option<Range<usize>>,
    /// The turns that this compaction replaced in the context before it.
    pub replaced: Option<ReplacedTurns>,
    /// The tokens that the agent sent for its steps since the last compaction.
    pub timeline: Vec<AgentCall>,
}

impl ReplayContext {
    /// Nothing but what stands before the first turn.
    pub fn empty(source: &ReplayedTrajectory<'_>) -> Self {
        Self {
            body: source.frame.0.to_owned(),
            turns: Vec::new(),
            tokens: source.outline.extra_tokens,
            is_exact: false,
            is_summary: false,
            head: None,
            fresh: 0,
            prefix_turns: 0,
            begun: None,
            over: None,
            replaced: None,
            timeline: Vec::new(),
        }
    }

    /// Adds a step, with which the context costs so many tokens.
    pub fn add(&mut self, source: &ReplayedTrajectory<'_>, step: Range<usize>, tokens: usize) {
        let last = self.timeline.last().map_or(0, |call| call.prompt_tokens);
        self.call(source, &step, self.tokens, last);
        self.turns.extend(held(source, step.clone(), self.body.len()));
        self.body.push_str(source.text(&step));
        self.tokens = tokens;
    }

    /// Notes the call of a step, before which the context costs so many tokens, of which the server knows some already.
    pub fn call(
        &mut self,
        source: &ReplayedTrajectory<'_>,
        step: &Range<usize>,
        tokens: usize,
        cached: usize,
    ) {
        let said = source.said(step);
        if said.end == step.end {
            return;
        }
        let prompt_tokens = tokens + source.tokens(&said);
        self.timeline.push(AgentCall {
            turns: step.clone(),
            prompt_tokens,
            cached_tokens: cached.min(prompt_tokens),
        });
    }

    /// The calls since the last compaction, added up.
    pub fn calls(&self) -> AgentCalls {
        let mut calls = AgentCalls::default();
        for call in &self.timeline {
            calls.add(call.prompt_tokens as u64, call.cached_tokens as u64);
        }
        calls
    }

    /// The record's text with a step at its end.
    pub fn text_with(&self, source: &ReplayedTrajectory<'_>, step: &Range<usize>) -> String {
        [&self.body, source.text(step), source.frame.1].concat()
    }

    /// Its turns and those of a step.
    pub fn turns_with(&self, source: &ReplayedTrajectory<'_>, step: &Range<usize>) -> Vec<ContextTurn> {
        let added = held(source, step.clone(), self.body.len());
        self.turns.iter().copied().chain(added).collect()
    }
}

/// The turns of a step, as they are held behind so many bytes.
fn held<'s>(
    source: &'s ReplayedTrajectory<'_>,
    step: Range<usize>,
    bytes: usize,
) -> impl Iterator<Item = ContextTurn> + use<'s> {
    let costs = source.counted.turns.get(step.clone()).unwrap_or_default();
    let start = source.end_of(step.start);
    step.zip(costs).map(move |(turn, cost)| {
        let span = source.record.turn_span(turn).unwrap_or_default();
        ContextTurn {
            origin: Some(turn),
            is_whole: true,
            cost: *cost,
            span: (span.start - start + bytes, span.end - start + bytes),
        }
    })
}

/// The record that a text of these turns is. Turns of the trajectory are not read again.
pub fn record_of<'t>(
    source: &ReplayedTrajectory<'_>,
    turns: &[ContextTurn],
    text: &'t str,
) -> Option<Record<'t>> {
    let read = turns.iter().map(|held| {
        let text = text.get(held.span.0..held.span.1)?;
        let known = held.origin.filter(|_| held.is_whole);
        match known.and_then(|origin| source.record.turns.get(origin)) {
            Some(turn) => Some(turn.moved_to(text)),
            None => trajectory::turn_of(text),
        }
    });
    Some(source.record.with_turns(text, read.collect::<Option<_>>()?))
}
