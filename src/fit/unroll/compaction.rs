//! One compaction of a context: the compression of the record that it is with its next step, of which a summary knows nothing.

use std::ops::Range;

use super::super::compression::{Compaction, CompressionCase};
use super::super::count::Counted;
use super::super::fitted::{Fitted, Stop};
use super::super::fitter::Fitter;
use super::super::masking;
use super::super::outline::{AnswerInText, outline};
use super::super::settings::Strategy;
use super::Replay;
use super::context::{ContextTurn, ReplayContext, ReplayedTrajectory, record_of};
use super::settings::Overlap;
use super::timeline::ReplacedTurns;
use crate::compress::compaction::{Bounds, Size, compacted, head_of, smallest_head};
use crate::compress::{CutPoints, Outline, Protection};
use crate::fit::compression::passes;
use crate::fit::count::rendered::Rendered;
use crate::metrics::Status;
use crate::summarize::marker::SUMMARY_MARKER;
use crate::trajectory::{self, Record, TurnView, Views};

/// A context with its next step, read as a record.
pub(super) struct Reading<'c> {
    pub(super) record: &'c Record<'c>,
    views: &'c Views<'c>,
    pub(super) outline: &'c Outline,
    counted: &'c Counted,
    pub(super) cut_points: CutPoints,
    pub(super) bounds: Bounds,
    /// The turns of the trajectory that follow, where a summary may be written with an eye on them.
    later: Range<usize>,
    /// The size that it would have, were it not compacted.
    next: Size,
}

impl Fitter {
    /// The rendered tokens of a text; `None` where the template refuses it.
    pub(super) fn rendered_tokens(&self, text: &str, source: &ReplayedTrajectory<'_>) -> Option<usize> {
        self.template.as_ref()?;
        let record = trajectory::parse(text.as_bytes(), Some(source.record.format)).ok()?;
        Some(self.rendered(&record)?.ok()?.tokens)
    }

    /// The bytes of a text as rendered; `None` where the template refuses it.
    pub(super) fn rendered_bytes(&self, text: &str, source: &ReplayedTrajectory<'_>) -> Option<usize> {
        let record = trajectory::parse(text.as_bytes(), Some(source.record.format)).ok()?;
        let rendered = Rendered::uncounted(
            &record,
            self.template.as_deref()?,
            self.settings.template_arguments,
        );
        Some(rendered.ok()?.bytes())
    }

    /// A record as the chat template renders it, where there is one.
    fn rendered(&self, record: &Record<'_>) -> Option<Result<Rendered, String>> {
        let template = self.template.as_deref()?;
        let (arguments, images) = (self.settings.template_arguments, self.settings.image_tokens);
        Some(Rendered::of(
            record,
            template,
            arguments,
            self.counter.as_ref(),
            images,
        ))
    }
}

impl<'r> Replay<'r> {
    /// The context compacted, with the step that follows, and the record that teaches its summary; `None` where that cannot be
    /// done. `next` is what it would cost otherwise.
    ///
    /// # Errors
    ///
    /// Why the run must end.
    pub(super) async fn compacted(
        &mut self,
        step: &Range<usize>,
        next: Size,
    ) -> Result<Option<(ReplayContext, Option<ReplayContext>)>, Stop> {
        let text = self.context.text_with(&self.source, step);
        let before = self.context.turns_with(&self.source, step);
        let Some(record) = record_of(&self.source, &before, &text) else {
            return Ok(None);
        };
        let counted = Counted {
            turns: before.iter().map(|held| held.cost).collect(),
            texts: Vec::new(),
            extra_tokens: self.source.counted.extra_tokens,
            rendered: self.fitter.rendered(&record),
        };
        let counted = counted.located(&record);
        let views = Views::sharing(&record, |turn| self.known_view(step, turn));
        let outline = outline(self.fitter, &record, &counted, &views, AnswerInText::WithNextTurn);
        let held = self.context.turns.len();
        let said = self.source.said(step).len();
        let reading = Reading {
            record: &record,
            views: &views,
            outline: &outline,
            counted: &counted,
            cut_points: CutPoints::of(&outline),
            bounds: Bounds {
                held,
                known: held + said,
                head: self.context.head,
            },
            later: self.later(step.end),
            next,
        };
        let Some(fitted) = self.best(&reading).await? else {
            self.guard.note(1, 1, self.settings.min_savings);
            if let (Strategy::Mask, Some(refused)) = (self.fitter.settings.strategy, &self.refused) {
                let least = refused.compressed_tokens as usize;
                self.masked_tokens = least.saturating_sub(self.source.tokens(step));
            }
            return Ok(None);
        };
        let after = fitted.row.compressed_tokens as usize;
        // Where turns were too many, tokens tell nothing of what was won.
        let is_full = next.turns > self.window.trigger.turns;
        let least = if is_full { 0.0 } else { self.settings.min_savings };
        self.guard.note(next.tokens, after, least);
        let taught = self.summary_record(&reading, &fitted);
        let compacted = self.read_back(&reading, &before, fitted, step);
        Ok(compacted.map(|compacted| (compacted, taught)))
    }

    /// The view in the trajectory of a turn of the context with a step, if it is the same there.
    fn known_view(&self, step: &Range<usize>, turn: usize) -> Option<&'r TurnView<'r>> {
        let held = &self.context.turns;
        let origin = match held.get(turn) {
            Some(held) => held.origin.filter(|_| held.is_whole)?,
            None => step.start + turn - held.len(),
        };
        self.views.kept()?.get(origin)
    }

    /// The turns of the trajectory from one on, as far as a summary may be written with an eye on them: the budget's worth.
    fn later(&self, from: usize) -> Range<usize> {
        let turns = self.source.outline.turns.get(from..).unwrap_or_default();
        let mut left = self.fitter.settings.target_max_tokens;
        let known = turns.iter().take_while(|turn| {
            let fits = turn.tokens <= left;
            left = left.saturating_sub(turn.tokens);
            fits
        });
        let count = if self.settings.hindsight { known.count() } else { 0 };
        from..from + count
    }

    /// The compression with the head that is wanted, or with a smaller one where the budget demands it.
    async fn best(&mut self, reading: &Reading<'_>) -> Result<Option<Fitted>, Stop> {
        let cut_points = &reading.cut_points;
        let smallest = smallest_head(reading.outline, cut_points, reading.bounds);
        let usual = self.fitter.settings.protection;
        let (protection, is_small) = match self.settings.overlap {
            Overlap::Tail => (usual, self.settings.head_decay && reading.bounds.head.is_some()),
            Overlap::None => {
                let none = Protection {
                    last_n_turns: 0,
                    tail_tokens: 0,
                    ..usual
                };
                (none, true)
            }
        };
        let head = head_of(reading.outline, cut_points, reading.bounds, &protection);
        let mut heads = vec![if is_small { smallest.min(head) } else { head }];
        heads.extend((smallest < head && !is_small).then_some(smallest));
        let mut best: Option<Fitted> = None;
        for head in heads {
            let mut fitted = self.compressed(reading, &protection, head).await;
            self.summary_input_tokens += fitted.summary_input_tokens;
            if let Some(stop) = fitted.stop {
                return Err(stop);
            }
            let is_masked = self.fitter.settings.strategy == Strategy::Mask;
            let is_vain = is_masked && fitted.row.still_over_limit;
            if fitted.row.status != Status::Compressed || fitted.text.is_none() || is_vain {
                self.refused = Some(fitted.row);
                continue;
            }
            if let Some(best) = &best {
                fitted.row.add_usage(&best.row);
            }
            let is_enough = !fitted.row.still_over_limit;
            best = Some(fitted);
            if is_enough {
                break;
            }
        }
        Ok(best)
    }

    async fn compressed(&self, reading: &Reading<'_>, protection: &Protection, head: usize) -> Fitted {
        let (outline, cut_points, bounds) = (reading.outline, &reading.cut_points, reading.bounds);
        let size = self.fitter.settings.summary_size;
        let goal = self.window.goal(reading.next, 1.0 - self.settings.min_savings);
        let summary = |freed: usize| size.of(freed);
        let most = head..bounds.held;
        let wanted = compacted(outline, cut_points, bounds, protection, head, goal, summary);
        let fitted = self
            .carried_out(reading, wanted.clone(), most.clone(), goal)
            .await;
        let is_masked = self.fitter.settings.strategy == Strategy::Mask;
        let is_enough = fitted.row.was_compressed && !fitted.row.still_over_limit;
        if is_enough || !is_masked || wanted == most {
            return fitted;
        }
        // Masks take nothing from the tail by themselves.
        self.carried_out(reading, most.clone(), most, goal).await
    }

    async fn carried_out(
        &self,
        reading: &Reading<'_>,
        wanted: Range<usize>,
        most: Range<usize>,
        goal: Size,
    ) -> Fitted {
        let Reading {
            record,
            views,
            outline,
            counted,
            bounds,
            ..
        } = *reading;
        let (fitter, views, turns) = (self.fitter, [views, views], wanted.clone());
        let mut case =
            CompressionCase::within(fitter, record, views, outline, counted, self.secrets(), turns);
        case.compaction = Some(Compaction {
            wanted,
            most,
            goal: goal.tokens.min(self.fitter.settings.target_max_tokens),
            known: if self.settings.hindsight {
                outline.turns.len()
            } else {
                bounds.known
            },
            goes_on: !self.settings.hindsight || reading.later.end < self.source.outline.turns.len(),
        });
        case.later = (self.views, reading.later.clone());
        let row = counted.row(&fitter.settings);
        match fitter.settings.strategy {
            Strategy::Summarize => passes::run(case, row).await,
            Strategy::Mask | Strategy::MaskThenSummarize => masking::run(case, row).await,
        }
    }

    /// The context that was written.
    fn read_back(
        &self,
        reading: &Reading<'_>,
        before: &[ContextTurn],
        fitted: Fitted,
        step: &Range<usize>,
    ) -> Option<ReplayContext> {
        let Fitted {
            row, text, summary, ..
        } = fitted;
        let text = text?;
        let written = trajectory::parse(text.as_bytes(), Some(reading.record.format)).ok()?;
        // Masks replace no region.
        let region = usize::try_from(row.region_start)
            .ok()
            .zip(usize::try_from(row.region_end).ok());
        let own_turn = row.placement == "own";
        let (start, end) = region.unwrap_or((before.len(), before.len()));
        let places = (0..start)
            .map(Some)
            .chain(own_turn.then_some(None))
            .chain((end..before.len()).map(Some));
        let mut counter =
            super::super::TurnCounter::new(self.fitter.counter.as_ref(), self.fitter.settings.image_tokens);
        let mut turns = Vec::with_capacity(written.turns.len());
        let mut changed = Vec::new();
        let mut prefix_turns = 0;
        for (index, (turn, place)) in written.turns.iter().zip(places).enumerate() {
            let old = place.and_then(|place| Some((before.get(place)?, reading.record.turns.get(place)?)));
            let same = old.filter(|(_, old)| old.text == turn.text);
            if same.is_some() && index == prefix_turns && index < start {
                prefix_turns += 1;
            }
            let origin = old.and_then(|(held, _)| held.origin);
            changed.extend(origin.filter(|_| same.is_none()));
            let span = written.span_of(turn.text);
            let kept = same.map(|(held, _)| *held);
            turns.push(ContextTurn {
                span: (span.start, span.end),
                ..kept.unwrap_or_else(|| ContextTurn {
                    origin,
                    is_whole: false,
                    cost: counter.turn(turn),
                    span: (0, 0),
                })
            });
        }
        let gone = before.get(start..end).unwrap_or_default();
        let gone_turns: Vec<usize> = gone.iter().filter_map(|held| held.origin).collect();
        let has_summary = |turn: usize| {
            let text = reading.record.turns.get(turn).map(|turn| turn.text);
            text.is_some_and(|text| text.contains(SUMMARY_MARKER))
        };
        let replaced = ReplacedTurns {
            turns: gone_turns
                .first()
                .zip(gone_turns.last())
                .map(|(first, last)| *first..last + 1),
            earlier_summary: region.is_some() && (start.saturating_sub(1)..end).any(has_summary),
            masked: if region.is_none() { changed } else { Vec::new() },
            summary,
        };
        let end = text.len().checked_sub(self.source.frame.1.len())?;
        // A compaction breaks the prefix that the server knows: what stands before the summary is left of it.
        let prefix: usize = turns
            .iter()
            .take(prefix_turns)
            .map(|held| held.cost.tokens())
            .sum();
        let cached = self.source.outline.extra_tokens + prefix;
        let before_step = (row.compressed_tokens as usize).saturating_sub(self.source.tokens(step));
        let is_over = row.compressed_tokens as usize > self.window.budget;
        let mut compacted = ReplayContext {
            replaced: Some(replaced),
            timeline: Vec::new(),
            tokens: row.compressed_tokens as usize,
            is_exact: true,
            is_summary: false,
            head: region.map(|(start, _)| start).or(self.context.head),
            fresh: turns.len().checked_sub(step.len())?,
            prefix_turns,
            over: is_over.then(|| step.clone()),
            body: text.get(..end)?.to_owned(),
            begun: Some(row),
            turns,
        };
        compacted.call(&self.source, step, before_step, cached);
        Some(compacted)
    }
}
