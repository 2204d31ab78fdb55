//! The compression of one record over its target: plan, summarize, write, and extend until it fits.

use std::borrow::Cow;

use super::attempt::{Unwritten, Written};
use super::case::Case;
use super::redacted::redacted;
use super::{Fitted, OnFailure};
use crate::compress::anchors::Anchor;
use crate::compress::{Plan, Reason, Region, Violation, extend, freed, plan};
use crate::metrics::{Row, Status};
use crate::summarize::grounding::ground;
use crate::summarize::marker::{body_of, with_marker};
use crate::summarize::redact::redact;
use crate::summarize::{Summary, SummaryError, SummaryRequest};
use crate::trajectory::{Role, TurnView};

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
    summary: Summary,
    anchors: Vec<Anchor>,
    anchors_held: usize,
}

impl Case<'_> {
    /// What a dry run reports: the plan, with the summary at its target size.
    fn planned(&self, region: Region, row: Row) -> Fitted {
        let freed = freed(self.outline, &region.range());
        let summary_tokens = self
            .summary_budget(region)
            .min(self.fitter.settings.summary_target_tokens);
        let tokens = self.outline.total() + self.notice_tokens + summary_tokens - freed;
        let turns = self.outline.turns.len() + 1 - region.range().len();
        let over = tokens > self.target();
        let reason = if over {
            self.over_limit_reason()
        } else {
            Reason::plain("planned")
        };
        let row = Row {
            summary_tokens: summary_tokens as u64,
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

    async fn compress(&self, first_region: Region, mut row: Row) -> Fitted {
        let mut counter = self.counter();
        let mut best: Option<Progress> = None;
        let mut region = first_region;
        let mut missing = 0;
        let mut meagre_passes = 0;
        let mut summary_input_tokens = 0;
        let mut last_tokens = self.outline.total();
        for _ in 0..self.fitter.settings.max_passes {
            let (summary, anchors, anchors_held) = match self.summarize(region, best.as_ref(), &mut row).await
            {
                Ok(summarized) => summarized,
                Err(error) => return self.without_summary(&error, best, row, summary_input_tokens),
            };
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
                anchors,
                anchors_held,
            });
            let saved = last_tokens.saturating_sub(tokens) as f64 / last_tokens.max(1) as f64;
            meagre_passes = if saved < WORTHWHILE_SAVING {
                meagre_passes + 1
            } else {
                0
            };
            last_tokens = tokens;
            if tokens <= self.target() || meagre_passes >= 2 {
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
            return self.finish(progress, row, summary_input_tokens);
        }
        let reason = self
            .protected_reason()
            .unwrap_or_else(|| Reason::plain(Reason::NO_NET_SAVING));
        Fitted {
            summary_input_tokens,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    /// Asks for the summary of a region: of all of it, or of what an earlier pass has not summarized yet.
    async fn summarize(
        &self,
        region: Region,
        earlier: Option<&Progress>,
        row: &mut Row,
    ) -> Result<(Summary, Vec<Anchor>, usize), SummaryError> {
        let settings = &self.fitter.settings;
        let start = earlier.map_or(region.start(), |progress| progress.region.end());
        let mut previous: Vec<Cow<'_, str>> = earlier
            .iter()
            .filter_map(|progress| body_of(&progress.summary.text))
            .map(Cow::Borrowed)
            .collect();
        let region_views = self.views.get(region.range()).unwrap_or_default();
        let (region_views, secrets): (Vec<TurnView<'_>>, Vec<usize>) =
            redacted(region_views, settings.redaction).into_iter().unzip();
        let anchors = if settings.grounding {
            self.anchors(region, &region_views)
        } else {
            Vec::new()
        };
        let mut turns = Vec::new();
        for (view, secrets) in region_views
            .into_iter()
            .zip(secrets)
            .filter(|(view, _)| view.index >= start)
        {
            row.redactions += secrets as u64;
            match body_of(&view.text).filter(|_| view.role == Role::Human) {
                Some(body) => previous.push(Cow::Owned(body.to_owned())),
                // Its text stands in the summary turn already, word for word.
                None if Some(view.index) == self.outline.last_human => {}
                None => turns.push(view),
            }
        }
        let max_tokens = self.summary_budget(region);
        let previous = (!previous.is_empty()).then(|| previous.join("\n"));
        let request = SummaryRequest {
            turns: &turns,
            is_redacted: settings.redaction,
            previous: previous.as_deref(),
            anchors: &anchors,
            max_tokens,
            counter: self.fitter.counter.as_ref(),
        };
        let summarizer = &self.fitter.summarizer;
        summarizer.name().clone_into(&mut row.summarizer);
        let result = match summarizer.summarize(request).await {
            Err(_) if settings.on_failure == OnFailure::Fallback => {
                row.summarization_errors += 1;
                row.degraded = true;
                self.fitter.fallback.name().clone_into(&mut row.summarizer);
                self.fitter.fallback.summarize(request).await
            }
            result => result,
        };
        let mut summary = result?;
        row.summarization_api_calls += summary.api_calls as u64;
        row.summarization_errors += summary.errors as u64;
        row.prompt_tokens += summary.prompt_tokens as u64;
        row.completion_tokens += summary.completion_tokens as u64;
        row.redactions += summary.redactions as u64;
        row.cached_summary |= summary.cached;
        if settings.redaction {
            let (text, secrets) = redact(&summary.text);
            row.redactions += secrets as u64;
            summary.text = text.into_owned();
        }
        let (text, held) = ground(with_marker(&summary.text), &anchors, max_tokens, request.counter);
        summary.text = text;
        Ok((summary, anchors, held))
    }

    fn without_summary(
        &self,
        error: &SummaryError,
        best: Option<Progress>,
        row: Row,
        input: usize,
    ) -> Fitted {
        let row = Row {
            degraded: true,
            summarization_errors: row.summarization_errors + 1,
            ..row
        };
        if let Some(progress) = best {
            return self.finish(progress, row, input);
        }
        let reason = Reason::with("summary_failed", error.to_string());
        Fitted {
            stop: self.fitter.settings.on_failure == OnFailure::Fail,
            summary_input_tokens: input,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    fn finish(&self, progress: Progress, row: Row, summary_input_tokens: usize) -> Fitted {
        let Progress {
            written,
            region,
            summary,
            anchors,
            anchors_held,
        } = progress;
        let over = written.tokens > self.target();
        let refused_placement = written.placement.refused;
        let reason = if over {
            Some(self.over_limit_reason())
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
            anchors_needed: anchors.len() as u64,
            anchors_held: anchors_held as u64,
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
            stop: false,
        }
    }
}
