//! The records of a replayed trajectory: each context with its marks and its lineage, proved against the trajectory.

use super::super::mark::SummaryMark;
use super::super::settings::Strategy;
use super::context::{ReplayContext, record_of};
use super::lineage::Lineage;
use super::settings::SummaryRecords;
use super::timeline::{CompactionLine, TimelineStretch};
use super::{Replay, Unrolled};
use crate::compress::Reason;
use crate::metrics::{Row, SegmentRow, Status};
use crate::trajectory::{self, Record, Role};

impl Replay<'_> {
    /// The records, and the row of each; `whole` is the row of the trajectory as it came.
    pub(super) fn written(mut self, whole: Row, id: &str) -> Unrolled {
        let last = std::mem::replace(&mut self.context, ReplayContext::empty(&self.source));
        let mut contexts = std::mem::take(&mut self.done);
        contexts.push(last);
        let segments = contexts.iter().filter(|context| !context.is_summary).count();
        let has_summaries = self.settings.summary_records != SummaryRecords::None;
        let assistant_tokens = self.assistant_tokens();
        let mut rows = Vec::with_capacity(contexts.len());
        let mut texts = Vec::with_capacity(contexts.len());
        let mut seen = 0;
        let mut segment = 0;
        for context in contexts.iter_mut().filter(|context| !context.is_exact) {
            let text = [&context.body, self.source.frame.1].concat();
            context.tokens = self
                .fitter
                .rendered_tokens(&text, &self.source)
                .unwrap_or(context.tokens);
        }
        for context in &contexts {
            segment += usize::from(!context.is_summary);
            let lineage = Lineage {
                trajectory: id,
                segment,
                segments,
                prefix_turns: context.prefix_turns,
                is_summary: has_summaries.then_some(context.is_summary),
            };
            let text = match self.record_of(context, &lineage, &mut seen) {
                Ok(text) => text,
                Err(what) => return Self::failed(whole, assistant_tokens, what),
            };
            texts.push(text);
            rows.push(self.row_of(context, &lineage, &whole, assistant_tokens));
        }
        if seen != self.source.record.turns.len() {
            return Self::failed(whole, assistant_tokens, "turns are missing");
        }
        let budget = self.fitter.settings.target_max_tokens;
        let acting = contexts.iter().filter(|context| !context.is_summary);
        let timeline = acting.map(|context| stretch_of(context, budget)).collect();
        let stays = segments == 1 && self.settings.mark.is_none();
        Unrolled {
            trajectory: id.to_owned(),
            rows,
            texts: (!stays).then_some(texts),
            timeline,
            summary_input_tokens: self.summary_input_tokens,
            stop: None,
        }
    }

    /// The text of one record. `seen` counts the turns of the trajectory that records have had so far.
    fn record_of(
        &self,
        context: &ReplayContext,
        lineage: &Lineage<'_>,
        seen: &mut usize,
    ) -> Result<String, &'static str> {
        let text = [&context.body, self.source.frame.1].concat();
        let record = record_of(&self.source, &context.turns, &text).ok_or("a record cannot be read")?;
        let trained = |index: usize| index >= context.fresh && is_assistant(&record, index);
        let mark = self.settings.mark.as_ref();
        let marked = mark.map(|mark| marked(&record, mark, trained));
        // What is written is read as any reader does: nothing of it is taken for known.
        let written = marked.as_deref().unwrap_or(&text);
        let Ok(written) = trajectory::parse(written.as_bytes(), Some(record.format)) else {
            return Err("a record cannot be read");
        };
        let field = mark.map_or("", |mark| &mark.field);
        if !trajectory::is_only_marked(&record, &written, field) {
            return Err("a mark changed more than it should");
        }
        self.prove(context, &record, seen)?;
        if mark.is_some() {
            return Ok(trajectory::with_fields(&written, &lineage.fields(None)));
        }
        if lineage.segments == 1 {
            return Ok(text);
        }
        let trained: Vec<usize> = (0..record.turns.len()).filter(|index| trained(*index)).collect();
        Ok(trajectory::with_fields(&written, &lineage.fields(Some(&trained))))
    }

    /// Proves that turns stand in a record as in the trajectory, and that those which no record had before come next.
    fn prove(
        &self,
        context: &ReplayContext,
        record: &Record<'_>,
        seen: &mut usize,
    ) -> Result<(), &'static str> {
        if record.turns.len() != context.turns.len() {
            return Err("a record has other turns than it should");
        }
        for (index, (held, turn)) in context.turns.iter().zip(&record.turns).enumerate() {
            let Some(origin) = held.origin else { continue };
            let original = self.source.record.turns.get(origin);
            let is_same = original.is_some_and(|original| original.text == turn.text);
            if !is_same && (held.is_whole || turn.role == Role::Assistant) {
                return Err("a turn changed");
            }
            if index >= context.fresh {
                if origin != *seen {
                    return Err("a turn stands in no record, or in the wrong place");
                }
                *seen += 1;
            } else if origin >= *seen {
                return Err("a turn stands in a record before its time");
            }
        }
        Ok(())
    }

    fn row_of(
        &self,
        context: &ReplayContext,
        lineage: &Lineage<'_>,
        whole: &Row,
        assistant_tokens: usize,
    ) -> Row {
        let is_trained = |(index, held): &(usize, &super::context::ContextTurn)| {
            let turn = held
                .origin
                .and_then(|origin| self.source.record.turns.get(origin));
            *index >= context.fresh && turn.is_some_and(|turn| turn.role == Role::Assistant)
        };
        let trained: Vec<usize> = context
            .turns
            .iter()
            .enumerate()
            .filter(is_trained)
            .map(|(_, held)| held.cost.tokens())
            .collect();
        let segment = SegmentRow {
            segment: lineage.segment as u64,
            segments: lineage.segments as u64,
            prefix_turns: lineage.prefix_turns as u64,
            trained_turns: trained.len() as u64,
            trained_tokens: trained.iter().sum::<usize>() as u64,
            assistant_tokens: assistant_tokens as u64,
            tokens_before: context.begun.as_ref().map(|row| row.original_tokens),
            compactions: u64::from(context.begun.is_some()),
            summary_records: u64::from(context.is_summary),
            hindsight: self.settings.hindsight && context.begun.is_some(),
            calls: context.calls(),
        };
        let budget = self.fitter.settings.target_max_tokens;
        let is_over = context.tokens > budget;
        let begun = context
            .begun
            .clone()
            .unwrap_or_else(|| Row::untouched(0, 0, budget));
        let row = Row {
            id: lineage.id(),
            original_tokens: whole.original_tokens,
            original_turns: whole.original_turns,
            compressed_tokens: context.tokens as u64,
            compressed_turns: context.turns.len() as u64,
            still_over_limit: is_over,
            target_max_tokens: budget as u64,
            count: whole.count.clone(),
            segment: Some(segment),
            ..begun
        };
        if !is_over {
            let is_alone = lineage.segments == 1;
            let status = if is_alone {
                Status::UnderTarget
            } else {
                Status::Compressed
            };
            // Whatever the compaction came to, the record was over the budget for another reason then, or was degraded.
            return if row.degraded {
                Row { status, ..row }
            } else {
                row.ended(status, None)
            };
        }
        let status = if lineage.segments == 1 {
            Status::Kept
        } else {
            Status::Compressed
        };
        let is_degraded = self.refused.as_ref().is_some_and(|refused| refused.degraded);
        let row = Row {
            degraded: row.degraded || is_degraded,
            ..row
        };
        match &self.refused {
            Some(refused) if is_degraded => Row {
                status,
                reason: refused.reason.clone(),
                reason_detail: refused.reason_detail.clone(),
                ..row
            },
            _ => row.ended(status, Some(&self.exceeded(context))),
        }
    }

    /// Why a record is over the budget.
    fn exceeded(&self, context: &ReplayContext) -> Reason {
        let step = context.over.clone().unwrap_or(0..0);
        let (what, tokens) = if context.is_summary {
            let added = context.turns.get(context.prefix_turns..).unwrap_or_default();
            let tokens = added.iter().map(|held| held.cost.tokens()).sum();
            ("request and summary".to_owned(), tokens)
        } else {
            let last = step.end.saturating_sub(1);
            (
                format!("turns {} to {last}", step.start),
                self.source.tokens(&step),
            )
        };
        let before = context.tokens.saturating_sub(tokens);
        let detail = format!("{what} cost {tokens} tokens, what stands before them {before}");
        let code = match self.fitter.settings.strategy {
            Strategy::Mask => Reason::MASKS_EXHAUSTED,
            _ => Reason::GROUP_EXCEEDS_BUDGET,
        };
        Reason::with(code, detail)
    }

    fn assistant_tokens(&self) -> usize {
        let turns = self.source.record.turns.iter().zip(&self.source.counted.turns);
        turns
            .filter(|(turn, _)| turn.role == Role::Assistant)
            .map(|(_, cost)| cost.tokens())
            .sum()
    }

    /// A fault of ours: the record stays as it was.
    fn failed(whole: Row, assistant_tokens: usize, what: &str) -> Unrolled {
        let reason = Reason::with("verify_failed", what);
        let row = Row {
            degraded: true,
            segment: Some(SegmentRow {
                assistant_tokens: assistant_tokens as u64,
                ..SegmentRow::default()
            }),
            ..whole
        };
        Unrolled::alone(row.ended(Status::Failed, Some(&reason)), None)
    }
}

/// The stretch that a context ends.
fn stretch_of(context: &ReplayContext, budget: usize) -> TimelineStretch {
    let begun = context.begun.as_ref().zip(context.replaced.clone());
    TimelineStretch {
        compaction: begun.map(|(row, replaced)| CompactionLine::of(row, replaced)),
        calls: context.timeline.clone(),
        tokens: context.tokens,
        is_over: context.tokens > budget,
    }
}

fn is_assistant(record: &Record<'_>, index: usize) -> bool {
    let turn = record.turns.get(index);
    turn.is_some_and(|turn| turn.role == Role::Assistant)
}

/// The record's text with its turns marked. A turn that has the field keeps its own value where it is trained, and loses it as context.
fn marked(record: &Record<'_>, mark: &SummaryMark, trained: impl Fn(usize) -> bool) -> String {
    trajectory::marked_anew(record, &mark.field, |index, turn| {
        let is_trained = trained(index);
        (mark.on(turn, !is_trained), !is_trained)
    })
}
