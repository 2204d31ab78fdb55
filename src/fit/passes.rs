//! The compression of one record over its target: plan, summarize, write, and extend until it fits.

use super::attempt::{Unwritten, Written};
use super::case::Case;
use super::summary::{Earlier, Grounded, note};
use super::{Fitted, OnFailure, PendingRequest, Stop};
use crate::compress::{Plan, Reason, Region, Violation, extend, plan};
use crate::metrics::{Row, Status};
use crate::summarize::SummaryError;

/// Two passes in a row that save less than this share end the compression.
const WORTHWHILE_SAVING: f64 = 0.10;

/// Compresses a record that is over its target; `row` is its row as untouched.
pub async fn run(case: Case<'_>, row: Row) -> Fitted {
    let region = match plan(
        case.outline,
        &case.cut_points,
        case.compressible.clone(),
        case.need(0),
        case.smallest_cost(),
    ) {
        Plan::Replace(region) => region,
        Plan::Keep(reason) => {
            let reason = case.protected_reason().unwrap_or(reason);
            return Fitted::untouched(row.ended(Status::Kept, Some(&reason)));
        }
    };
    if case.fitter.settings.dry_run {
        return case.planned(region, row);
    }
    case.compress(region, row).await
}

/// What the passes so far have come to.
struct Progress {
    written: Written,
    region: Region,
    summary: Grounded,
}

impl Case<'_> {
    /// What a dry run reports: the plan, with the summary at its target size.
    fn planned(&self, region: Region, row: Row) -> Fitted {
        let summary_tokens = self
            .summary_budget(region)
            .min(self.fitter.settings.summary_target_tokens);
        let tokens = self.cost_without(region) + summary_tokens;
        let turns = self.outline.turns.len() + 1 - region.range().len();
        let over = tokens > self.target();
        let reason = if over {
            self.over_limit_reason()
        } else {
            Reason::plain("planned")
        };
        let estimate = self.estimate(region);
        let row = Row {
            summary_tokens: summary_tokens as u64,
            summarization_api_calls: estimate.requests as u64,
            prompt_tokens: estimate.prompt_tokens,
            completion_tokens: estimate.completion_tokens,
            cached_summary: estimate.cached > 0,
            ..self.compressed_row(region, tokens, turns, row)
        };
        Fitted {
            summary_input_tokens: self.region_tokens(region),
            ..Fitted::untouched(row.ended(Status::Compressed, Some(&reason)))
        }
    }

    /// A row with everything that a compression changes.
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

    async fn compress(&self, first_region: Region, row: Row) -> Fitted {
        let mut pending = None;
        let fitted = self.in_passes(first_region, row, &mut pending).await;
        Fitted { pending, ..fitted }
    }

    /// The passes. What a summary still waits for is left in `pending`.
    async fn in_passes(
        &self,
        first_region: Region,
        mut row: Row,
        pending: &mut Option<Box<PendingRequest>>,
    ) -> Fitted {
        let mut counter = self.counter();
        let mut best: Option<Progress> = None;
        let mut region = first_region;
        let mut missing = 0;
        let mut meagre_passes = 0;
        // Why a summary is not what was asked for; of several passes, the first reason.
        let mut second_best: Option<Reason> = None;
        let mut summary_input_tokens = 0;
        let mut last_tokens = self.outline.total();
        for _ in 0..self.fitter.settings.max_passes {
            let earlier = best.as_ref().map(|best| Earlier {
                region: best.region,
                text: best.summary.text.as_str(),
                stands_in: pending.is_some(),
            });
            let mut summary = match self.summarize(region, earlier, &mut row).await {
                Ok(summary) => summary,
                Err(error) => {
                    return self.without_summary(error, best, row, summary_input_tokens, pending);
                }
            };
            if let Some(reason) = &summary.instead_of {
                row.degraded = true;
                second_best.get_or_insert_with(|| reason.clone());
            }
            if pending.is_none() {
                *pending = summary.pending.take();
            }
            summary_input_tokens += self.region_tokens(region);
            row.passes += 1;
            let written = match self.write(region, &summary.text, &mut counter) {
                Ok(written) => written,
                Err(Unwritten::Violation(Violation::NotSmaller { .. })) => break,
                // What an earlier pass wrote is accepted, and smaller than the original.
                Err(Unwritten::Refused(_)) if best.is_some() => break,
                Err(Unwritten::Refused(refusal)) => {
                    let reason = Reason::with(Reason::TEMPLATE_REFUSES_SUMMARY, refusal);
                    let row = Row {
                        degraded: true,
                        ..row
                    };
                    return Fitted::untouched(row.ended(Status::Kept, Some(&reason)));
                }
                Err(Unwritten::Violation(violation)) => {
                    let reason = Reason::with("verify_failed", violation.to_string());
                    let row = Row {
                        degraded: true,
                        ..row
                    };
                    return Fitted::untouched(row.ended(Status::Failed, Some(&reason)));
                }
            };
            let tokens = written.tokens;
            best = Some(Progress {
                written,
                region,
                summary,
            });
            let saved = last_tokens.saturating_sub(tokens) as f64 / last_tokens.max(1) as f64;
            meagre_passes = if saved < WORTHWHILE_SAVING {
                meagre_passes + 1
            } else {
                0
            };
            last_tokens = tokens;
            // Where nobody may stand in, the next pass waits for this one's summary.
            let waits = pending.is_some() && self.fitter.settings.on_failure != OnFailure::Fallback;
            if tokens <= self.target() || meagre_passes >= 2 || waits {
                break;
            }
            missing += tokens - self.target();
            let end = self.compressible.end;
            match extend(self.outline, &self.cut_points, region, end, self.need(missing)) {
                Some(extended) => region = extended,
                None => break,
            }
        }
        if let Some(progress) = best {
            return self.finish(progress, row, second_best, summary_input_tokens);
        }
        let reason = self
            .protected_reason()
            .unwrap_or_else(|| Reason::plain(Reason::NO_NET_SAVING));
        Fitted {
            summary_input_tokens,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    fn without_summary(
        &self,
        error: SummaryError,
        best: Option<Progress>,
        mut row: Row,
        input: usize,
        pending: &mut Option<Box<PendingRequest>>,
    ) -> Fitted {
        note(&mut row, &error.usage());
        let reason = error.reason();
        if matches!(error, SummaryError::Vetoed { .. }) {
            // As whoever was asked wanted it; what earlier passes came to is gone.
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
            return self.finish(progress, row, Some(reason), input);
        }
        Fitted {
            stop,
            summary_input_tokens: input,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    fn finish(
        &self,
        progress: Progress,
        row: Row,
        second_best: Option<Reason>,
        summary_input_tokens: usize,
    ) -> Fitted {
        let Progress {
            written,
            region,
            summary,
        } = progress;
        let over = written.tokens > self.target();
        let refused_placement = written.placement.refused;
        let reason = if over {
            let reason = self.over_limit_reason();
            Some(second_best.map_or(reason.clone(), |second_best| reason.and(&second_best)))
        } else if second_best.is_some() {
            second_best
        } else if refused_placement {
            let detail = "the turn before it cannot take the summary in";
            Some(Reason::with("placed_as_human_turn", detail))
        } else if written.changed_turns > 0 {
            let detail = format!("rendered otherwise: {}", written.changed_turns);
            Some(Reason::with(Reason::TEMPLATE_CHANGES_KEPT_TURNS, detail))
        } else {
            None
        };
        let refused = refused_placement
            && self.fitter.settings.summary_placement == crate::compress::SummaryPlacement::Merge;
        let row = Row {
            summary_tokens: self.fitter.counter.count(&summary.text) as u64,
            anchors_needed: summary.anchors_needed as u64,
            anchors_held: summary.anchors_held as u64,
            anchors_invented: summary.anchors_invented as u64,
            degraded: row.degraded || refused,
            compressed_value_tokens: row.compressed_value_tokens.map(|_| written.value_tokens as u64),
            compressed_rendered_tokens: written.rendered_tokens.map(|tokens| tokens as u64),
            template_changed_turns: written.rendered_tokens.map(|_| written.changed_turns as u64),
            ..self.compressed_row(region, written.tokens, written.turns, row)
        };
        let row = row.ended(Status::Compressed, reason.as_ref());
        Fitted {
            row,
            text: Some(written.text),
            summary_input_tokens,
            stop: None,
            pending: None,
        }
    }
}
