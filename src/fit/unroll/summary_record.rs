//! The record that teaches the summary of a compaction: the context before it, the request for a summary, and the summary.

use super::Replay;
use super::compaction::Reading;
use super::context::{ContextTurn, ReplayContext};
use super::settings::SummaryRecords;
use crate::compress::Way;
use crate::fit::{Fitted, TurnCounter};
use crate::summarize::in_context::request;
use crate::summarize::marker::body_of;
use crate::trajectory::{self, Role};

/// Tokens that a request and an answer cost beyond their texts.
const TURN_TOKENS: usize = 16;

/// The text between a turn's own text and a request at its end.
const GAP: &str = "\n\n";

impl Replay<'_> {
    /// Tokens that contexts leave free so that a request and a summary fit behind them.
    pub(super) fn reserve(&self) -> usize {
        let fitter = self.fitter;
        match self.settings.summary_records {
            SummaryRecords::None => 0,
            _ => fitter.counter.count(request()) + fitter.settings.summary_max_tokens + TURN_TOKENS,
        }
    }

    /// The record; `None` where it is not wanted, no summary was written, or the chat template takes no such record.
    pub(super) fn summary_record(&self, reading: &Reading<'_>, fitted: &Fitted) -> Option<ReplayContext> {
        let fitter = self.fitter;
        let is_asked = fitted.row.summarizer == fitter.summarizer.name();
        let writer = if is_asked {
            &fitter.summarizer
        } else {
            &fitter.fallback
        };
        let is_wanted = match self.settings.summary_records {
            SummaryRecords::None => false,
            SummaryRecords::Models => !writer.only_quotes(),
            SummaryRecords::All => true,
        };
        if !is_wanted {
            return None;
        }
        let summary = body_of(fitted.summary.as_deref()?)?;
        let answer = trajectory::new_turn_of(reading.record, Role::Assistant, summary);
        let mut places = self.request_places(reading).into_iter();
        places.find_map(|(way, host)| self.with_request(reading, way, host, &answer))
    }

    /// The places of the request, best first: those of a summary in place of the step.
    fn request_places(&self, reading: &Reading<'_>) -> Vec<(Way, Option<usize>)> {
        let (outline, held) = (reading.outline, reading.bounds.held);
        let settings = &self.fitter.settings;
        let region = reading.cut_points.region(held, outline.turns.len());
        let places_in = |region| {
            let setting = settings.summary_placement;
            setting.places(outline, region, &settings.role_orders, false)
        };
        let found = region.map(places_in).unwrap_or_default().into_iter();
        let places = found.map(|place| (place.way, place.host));
        places.chain([(Way::Own, None)]).collect()
    }

    fn with_request(
        &self,
        reading: &Reading<'_>,
        way: Way,
        host: Option<usize>,
        answer: &str,
    ) -> Option<ReplayContext> {
        let record = reading.record;
        let between = record.turn_span(0)?.end..record.turn_span(1)?.start;
        let between = record.text.get(between)?;
        let before = &self.context.body;
        let turn = || record.turns.get(host?);
        let asked = match way {
            Way::Own => [before, between, &trajectory::new_turn(record, request())].concat(),
            Way::HumanBefore | Way::ToolBefore => {
                let edit = trajectory::append_text(record, turn()?, &[GAP, request()].concat())?;
                trajectory::apply(before, vec![edit])
            }
            Way::Part => {
                trajectory::apply(before, vec![trajectory::append_part(record, turn()?, request())?])
            }
            Way::HumanAfter => return None,
        };
        let body = [&asked, between, answer].concat();
        let text = [&body, self.source.frame.1].concat();
        let written = trajectory::parse(text.as_bytes(), Some(record.format)).ok()?;
        let is_own = way == Way::Own;
        let held = &self.context.turns;
        let last = written.turns.last()?;
        let is_sound = last.text == answer && last.role == Role::Assistant;
        if !is_sound || written.turns.len() != held.len() + usize::from(is_own) + 1 {
            return None;
        }
        let mut counter = TurnCounter::new(self.fitter.counter.as_ref(), self.fitter.settings.image_tokens);
        let turns = written.turns.iter().enumerate().map(|(index, turn)| {
            let (old, was) = (held.get(index), record.turns.get(index));
            let same = old.filter(|_| was.is_some_and(|was| was.text == turn.text));
            let changed = || ContextTurn {
                origin: old.and_then(|old| old.origin),
                is_whole: false,
                cost: counter.turn(turn),
                span: (0, 0),
            };
            let span = written.span_of(turn.text);
            ContextTurn {
                span: (span.start, span.end),
                ..same.copied().unwrap_or_else(changed)
            }
        });
        let turns: Vec<ContextTurn> = turns.collect();
        let values: usize = turns.iter().map(|held| held.cost.tokens()).sum();
        let is_rendered = self
            .source
            .counted
            .governing_rendering(&self.fitter.settings)
            .is_some();
        let tokens = if is_rendered {
            self.fitter.rendered_tokens(&text, &self.source)?
        } else {
            self.source.outline.extra_tokens + values
        };
        Some(ReplayContext {
            body,
            fresh: turns.len() - 1,
            prefix_turns: host.unwrap_or(held.len()),
            turns,
            tokens,
            is_exact: true,
            is_summary: true,
            head: None,
            begun: None,
            over: None,
            replaced: None,
            timeline: Vec::new(),
        })
    }
}
