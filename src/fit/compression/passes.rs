//! Compresses one record over its budget: plan, summarize, write, and extend the region until it fits.

use std::ops::Range;

use super::correction::PlanCorrection;
use super::placed::Placed;
use super::rewrite::{RewriteError, RewrittenRecord};
use super::summary::{GroundedSummary, PreviousPass, note};
use super::{Compaction, CompressionCase};
use crate::compress::{Plan, Reason, Region, Violation, plan};
use crate::fit::{Fitted, OnFailure, Stop};
use crate::metrics::{Row, Status};
use crate::names::Named;
use crate::summarize::{PendingRequest, SummaryError};

/// Two passes in a row that each save less than 1 in this many tokens over the budget end the compression.
const WORTHWHILE_SAVING: usize = 10;

/// Compresses a record that is over its budget, or an agent's context; `row` is its row before any change.
pub async fn run(mut case: CompressionCase<'_>, row: Row) -> Fitted {
    let need = case.need(PlanCorrection::default());
    let plan = match case.compaction.clone() {
        None => plan_within(&case, case.compressible.clone(), need),
        Some(Compaction { wanted, most, .. }) => {
            case.compressible = most.clone();
            match plan_within(&case, wanted.clone(), usize::MAX) {
                Plan::Keep(_) if wanted != most => plan_within(&case, most, usize::MAX),
                plan => plan,
            }
        }
    };
    match plan {
        Plan::Replace(region) => match case.placed(region) {
            Ok(placed) => {
                let planned = Some(placed.region.range());
                let fitted = case.compress(placed, row).await;
                Fitted { planned, ..fitted }
            }
            Err(unwritten) => CompressionCase::not_written(unwritten, row),
        },
        Plan::Keep(reason) => {
            let reason = case.protected_reason().unwrap_or(reason);
            Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }
}

/// The region within these turns whose replacement frees the tokens needed.
fn plan_within(case: &CompressionCase<'_>, turns: Range<usize>, need: usize) -> Plan {
    let cost = |region| case.smallest_cost(region);
    plan(case.outline, &case.cut_points, turns, need, cost)
}

/// A record written by a pass.
struct PassResult {
    written: RewrittenRecord,
    placed: Placed,
    summary: GroundedSummary,
    is_starved: bool,
}

/// The last pass, from which the next one continues.
struct LastPass {
    region: Region,
    text: String,
    tokens: usize,
    low_savings: usize,
}

impl CompressionCase<'_> {
    /// Returns a row with the fields that a compression changes.
    fn compressed_row(&self, region: Region, tokens: usize, turns: usize, row: Row) -> Row {
        let original = row.original_tokens;
        Row {
            compressed_tokens: tokens as u64,
            tokens_saved: original.cast_signed() - (tokens as u64).cast_signed(),
            compression_ratio: tokens as f64 / original.max(1) as f64,
            compressed_turns: turns as u64,
            turns_removed: row.original_turns.cast_signed() - (turns as u64).cast_signed(),
            region_start: (region.start() as u64).cast_signed(),
            region_end: (region.end() as u64).cast_signed(),
            region_turns: region.range().len() as u64,
            was_compressed: true,
            still_over_limit: tokens > self.target(),
            ..row
        }
    }

    async fn compress(&self, first: Placed, row: Row) -> Fitted {
        let mut pending = None;
        let first_region = first.region;
        let fitted = self.in_passes(first, row, &mut pending).await;
        let fitted = Fitted { pending, ..fitted };
        if self.fitter.settings.dry_run {
            self.as_dry_run(first_region, fitted)
        } else {
            fitted
        }
    }

    /// Runs the passes. A request that a summary still waits for is left in `pending`.
    async fn in_passes(
        &self,
        first: Placed,
        mut row: Row,
        pending: &mut Option<Box<PendingRequest>>,
    ) -> Fitted {
        let max_passes = self.fitter.settings.max_passes;
        let mut counter = self.counter();
        let mut best: Option<PassResult> = None;
        let mut last: Option<LastPass> = None;
        let mut placed = first;
        let mut measured = PlanCorrection::default();
        // The reason why a summary is not the one requested; of several passes, the first reason.
        let mut degraded_reason: Option<Reason> = None;
        let mut summary_input_tokens = 0;
        // The reason why the record is over its budget, if it stays so.
        let mut over_reason = Reason::plain(Reason::PASSES_EXHAUSTED);
        for pass in 1..=max_passes {
            let region = placed.region;
            let earlier = last.as_ref().map(|last| PreviousPass {
                region: last.region,
                text: last.text.as_str(),
                stands_in: pending.is_some(),
            });
            let budget = self.summary_budget(region, measured);
            let mut summary = match self.summarize(region, measured, earlier, &mut row).await {
                Ok(summary) => summary,
                Err(error) => {
                    return self.without_summary(error, best, row, summary_input_tokens, pending);
                }
            };
            if let Some(reason) = &summary.instead_of {
                row.degraded = true;
                degraded_reason.get_or_insert_with(|| reason.clone());
            }
            if pending.is_none() {
                *pending = summary.pending.take();
            }
            summary_input_tokens += self.region_tokens(region);
            row.passes += 1;
            let (tokens, written) = match self.write(&placed, &summary.text, &mut counter) {
                Ok(written) => (written.tokens, Some(written)),
                Err(RewriteError::Violation(Violation::NotSmaller { written, .. })) => (written, None),
                // The record written by an earlier pass is accepted, and smaller than the original.
                Err(RewriteError::Refused(refusal)) if best.is_some() => {
                    over_reason = Reason::with(Reason::TEMPLATE_REFUSES_SUMMARY, refusal);
                    break;
                }
                Err(unwritten) => return Self::not_written(unwritten, row),
            };
            let summary_tokens = self.fitter.counter.count(&summary.text);
            let low_savings = self.low_savings(last.as_ref(), tokens);
            last = Some(LastPass {
                region,
                text: summary.text.clone(),
                tokens,
                low_savings,
            });
            let is_starved = self.is_starved(region, measured);
            measured = self.measured(region, summary_tokens, tokens);
            let is_better = best
                .as_ref()
                .is_none_or(|best| self.is_better(best, tokens, is_starved));
            if let Some(written) = written.filter(|_| is_better) {
                best = Some(PassResult {
                    written,
                    placed: placed.clone(),
                    summary,
                    is_starved,
                });
            }
            if tokens <= self.target() && pass < max_passes && self.has_regained(is_starved, region, measured)
            {
                continue;
            }
            if best
                .as_ref()
                .is_some_and(|best| best.written.tokens <= self.target())
            {
                break;
            }
            let summary_room = (summary_tokens, budget);
            let Some(next) = self.next_place(&placed, measured, tokens, summary_room) else {
                over_reason = self.exhausted_reason(&placed, measured, tokens);
                break;
            };
            placed = next;
            let detail = if low_savings >= 2 {
                "two passes in a row saved less than 10 % of what was over the target".to_owned()
            } else {
                format!("{pass} of {max_passes}")
            };
            over_reason = Reason::with(Reason::PASSES_EXHAUSTED, detail);
            // Without a fallback, the next pass waits for this one's summary.
            let waits = pending.is_some() && self.fitter.settings.on_failure != OnFailure::Fallback;
            if low_savings >= 2 || waits {
                break;
            }
        }
        let Some(progress) = best else {
            return self.not_smaller(over_reason, row, summary_input_tokens);
        };
        let is_largest = last.is_none_or(|last| last.region == progress.placed.region);
        if !is_largest && over_reason.code != Reason::TEMPLATE_REFUSES_SUMMARY {
            over_reason = Reason::plain(Reason::LARGER_REGION_COSTS_MORE);
        }
        self.finish(progress, row, degraded_reason, over_reason, summary_input_tokens)
    }

    /// Returns the place of the next pass: the same region if only its summary is too long, or if only that can still
    /// shrink, otherwise a larger one; `None` where no other pass could help.
    fn next_place(
        &self,
        placed: &Placed,
        measured: PlanCorrection,
        written_tokens: usize,
        (summary_tokens, budget): (usize, usize),
    ) -> Option<Placed> {
        let region = placed.region;
        // A summarizer that exceeded its limit is not asked for a shorter summary of the same region.
        let may_shrink = summary_tokens <= budget;
        if may_shrink && self.can_shrink_to_target(region, measured, summary_tokens) {
            return Some(placed.clone());
        }
        let same = || may_shrink && self.can_shrink(region, measured, summary_tokens);
        let extended = self.extended_and_placed(region, measured, written_tokens);
        extended.or_else(|| same().then(|| placed.clone()))
    }

    /// Returns the number of passes in a row, including this one, that saved little of the excess tokens.
    fn low_savings(&self, last: Option<&LastPass>, tokens: usize) -> usize {
        let before = last.map_or(self.outline.total(), |last| last.tokens);
        let is_low = before.saturating_sub(tokens) * WORTHWHILE_SAVING < before.saturating_sub(self.target());
        if is_low {
            last.map_or(0, |last| last.low_savings) + 1
        } else {
            0
        }
    }

    /// Returns true if a record of so many tokens is better than the best so far: smaller, or no longer starved.
    fn is_better(&self, best: &PassResult, tokens: usize, is_starved: bool) -> bool {
        if tokens.max(best.written.tokens) <= self.target() {
            return best.is_starved && !is_starved;
        }
        tokens < best.written.tokens
    }

    /// Returns the report of a dry run. Requests are those of the first pass; the identifiers that another summarizer's
    /// summary will name are unknown.
    fn as_dry_run(&self, first_region: Region, fitted: Fitted) -> Fitted {
        let mut row = fitted.row;
        if row.status == Status::Compressed && row.reason.is_empty() {
            row = row.ended(Status::Compressed, Some(&Reason::plain("planned")));
        }
        if !self.fitter.summarizer.only_quotes() {
            let estimate = self.estimate(first_region);
            self.fitter.summarizer.name().clone_into(&mut row.summarizer);
            row = Row {
                summarization_api_calls: estimate.requests as u64,
                prompt_tokens: estimate.prompt_tokens,
                completion_tokens: estimate.completion_tokens,
                cached_summary: estimate.cached > 0,
                anchors_needed: 0,
                anchors_held: 0,
                anchors_written: 0,
                ..row
            };
        }
        Fitted { row, ..fitted }
    }

    fn without_summary(
        &self,
        error: SummaryError,
        best: Option<PassResult>,
        mut row: Row,
        input: usize,
        pending: &mut Option<Box<PendingRequest>>,
    ) -> Fitted {
        note(&mut row, &error.usage());
        let reason = error.reason();
        if matches!(error, SummaryError::Vetoed { .. }) {
            // The summarizer vetoed the record on purpose; results of earlier passes are dropped.
            row.degraded = false;
            return Fitted {
                summary_input_tokens: input,
                ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
            };
        }
        row.degraded = true;
        if let SummaryError::EndRun { message, help, .. } = error {
            return Fitted {
                stop: Some(Stop::Run { message, help }),
                summary_input_tokens: input,
                ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
            };
        }
        *pending = error.into_pending();
        let stop = (self.fitter.settings.on_failure == OnFailure::Fail).then_some(Stop::AtRecord);
        if let (Some(progress), None) = (best, &stop) {
            return self.finish(progress, row, Some(reason.clone()), reason, input);
        }
        Fitted {
            stop,
            summary_input_tokens: input,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    fn finish(
        &self,
        progress: PassResult,
        row: Row,
        degraded_reason: Option<Reason>,
        over_reason: Reason,
        summary_input_tokens: usize,
    ) -> Fitted {
        let PassResult {
            written,
            placed,
            summary,
            is_starved,
        } = progress;
        let refused_placement = written.placement.refused;
        let reason = if written.tokens > self.target() {
            let other = degraded_reason.filter(|other| other.code != over_reason.code);
            Some(match other {
                Some(other) => over_reason.and(&other),
                None => over_reason,
            })
        } else if degraded_reason.is_some() {
            degraded_reason
        } else if refused_placement {
            let detail = "the turn before it cannot take the summary in";
            Some(Reason::with("placed_as_human_turn", detail))
        } else if written.changed_turns > 0 {
            let detail = format!("rendered otherwise: {}", written.changed_turns);
            Some(Reason::with(Reason::TEMPLATE_CHANGES_KEPT_TURNS, detail))
        } else {
            summary.read_in_part
        };
        let row = Row {
            summary_tokens: written.summary_tokens as u64,
            summary_starved: is_starved,
            anchors_needed: summary.anchors_needed as u64,
            anchors_held: summary.anchors_held as u64,
            anchors_written: summary.anchors_written as u64,
            anchors_invented: summary.anchors_invented as u64,
            degraded: row.degraded || refused_placement,
            placement: written.placement.way.name().to_owned(),
            region_moved: placed.is_moved,
            compressed_value_tokens: row.compressed_value_tokens.map(|_| written.value_tokens as u64),
            compressed_rendered_tokens: written.rendered_tokens.map(|tokens| tokens as u64),
            template_changed_turns: written.rendered_tokens.map(|_| written.changed_turns as u64),
            ..self.compressed_row(placed.region, written.tokens, written.turns, row)
        };
        let row = row.ended(Status::Compressed, reason.as_ref());
        Fitted {
            text: Some(written.text),
            summary: Some(summary.text),
            summary_input_tokens,
            ..Fitted::untouched(row)
        }
    }
}
