//! Masking: tool outputs between head and tail are replaced by one line each, oldest first, until the record fits.

mod maskable;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::compression::rewrite::RewriteError;
use super::compression::{CompressionCase, passes};
use super::count::Counted;
use super::count::TurnCounter;
use super::count::rendered::Rendered;
use super::fitted::Fitted;
use super::merged::{bodies_in, without_summaries};
use super::outline::{AnswerInText, outline};
use super::pair::PairScorer;
use super::redacted::{redacted, with_redacted};
use super::settings::{CountMode, Strategy};
use crate::compress::alignment::Origin;
use crate::compress::anchors::{ToolOutput, anchors_of_outputs, score_aligned};
use crate::compress::{MaskedTurns, Reason, Violation, verify_masks};
use crate::metrics::{Row, Status};
use crate::summarize::mask::{Mask, masks, view_at};
use crate::trajectory::{self, Edit, TurnView, Views};

/// Number of times that masks are added after a recount; the last time, all are.
const ROUNDS: usize = 6;

/// A record with masks, written, recounted, and verified.
struct Masked {
    text: String,
    /// Tokens, counted as the budget is.
    tokens: usize,
    value_tokens: usize,
    rendered: Option<Rendered>,
    changed_turns: usize,
    /// The indexes of the masked turns, in order.
    turns: Vec<usize>,
    /// Number of secrets redacted in the masks' sources, by turn.
    secrets: BTreeMap<usize, usize>,
}

/// The reason why no masks were written.
enum MaskError {
    /// No mask saves anything.
    Nothing,
    /// The chat template refuses the masked record.
    Refused(String),
    /// An invariant would be violated.
    Violation(Violation),
}

/// A mask that may be written.
struct MaskChoice {
    turn: usize,
    response: usize,
    text: String,
    /// Estimated number of tokens saved.
    saves: usize,
}

/// Masks a record that is over its budget; `row` is its row before any change.
pub async fn run(mut case: CompressionCase<'_>, row: Row) -> Fitted {
    let may_summarize = case.fitter.settings.strategy == Strategy::MaskThenSummarize;
    if !may_summarize {
        // The notice announces a summary.
        case.notice = None;
        case.notice_tokens = 0;
    }
    let masked = match case.masked() {
        Ok(masked) => masked,
        Err(MaskError::Nothing) if may_summarize => return passes::run(case, row).await,
        Err(why) => return case.unmasked(why, row),
    };
    if masked.tokens <= case.goal() || !may_summarize {
        return case.finish_masked(masked, row);
    }
    let fitted = match case.summarized(&masked, row.clone()).await {
        Ok(fitted) => fitted,
        Err(violation) => return case.unmasked(MaskError::Violation(violation), row),
    };
    // Where a summary saves nothing, the masks stay.
    let is_declined = fitted.row.status == Status::Kept && !fitted.row.degraded && fitted.stop.is_none();
    if is_declined {
        return case.finish_masked(masked, row);
    }
    fitted
}

impl CompressionCase<'_> {
    /// Returns as few masks as make the record fit; all possible ones where that is not enough.
    fn masked(&self) -> Result<Masked, MaskError> {
        let (choices, secrets) = self.choices();
        let mut counter = self.counter();
        let mut taken = 0;
        let mut saved = 0;
        let mut wanted = self.outline.total().saturating_sub(self.goal());
        let mut round = 0;
        loop {
            while let Some(choice) = choices.get(taken).filter(|_| saved < wanted || round == ROUNDS) {
                saved += choice.saves;
                taken += 1;
            }
            let chosen = choices.get(..taken).unwrap_or_default();
            let masked = self.write_masks(chosen, &mut counter);
            let over = match &masked {
                Ok(masked) => masked.tokens.saturating_sub(self.goal()),
                Err(MaskError::Nothing) => 1,
                Err(_) => 0,
            };
            if over == 0 || taken == choices.len() {
                let mut masked = masked?;
                masked.secrets = secrets;
                masked
                    .secrets
                    .retain(|turn, _| masked.turns.binary_search(turn).is_ok());
                return Ok(masked);
            }
            wanted = saved + over;
            round += 1;
        }
    }

    /// Returns the possible masks in the order of use: outputs that are repeated later first, then all others.
    fn choices(&self) -> (Vec<MaskChoice>, BTreeMap<usize, usize>) {
        let settings = &self.fitter.settings;
        let all = self.maskable();
        let place = |turn: usize| all.partition_point(|view| view.index < turn);
        let Range { start, end } = self.compressible;
        let region = all.get(place(start)..place(end)).unwrap_or_default();
        let (region, secrets): (Vec<TurnView<'_>>, Vec<usize>) =
            redacted(region, self.redaction()).into_iter().unzip();
        let secrets = region.iter().map(|view| view.index).zip(secrets).collect();
        let images = |turn: usize| {
            self.record
                .turns
                .get(turn)
                .map_or_else(Vec::new, trajectory::Turn::images_of_responses)
        };
        let mut masks = masks(&region, &all, images);
        if settings.grounding {
            self.name_what_masks_take(&mut masks, &region);
        }
        let (repeated, single): (Vec<Mask>, Vec<Mask>) =
            masks.into_iter().partition(|mask| mask.reference.is_some());
        let choices = repeated
            .into_iter()
            .chain(single)
            .filter_map(|mask| self.choice(mask, &all));
        (choices.collect(), secrets)
    }

    /// Adds to each mask the identifiers that later turns rely on and only its output contains before them.
    fn name_what_masks_take(&self, masks: &mut [Mask], region: &[TurnView<'_>]) {
        let text = |mask: &Mask| {
            let view = view_at(region, mask.turn)?;
            Some(view.responses.get(mask.response)?.content.as_ref())
        };
        let outputs: Vec<ToolOutput<'_>> = masks
            .iter()
            .map(|mask| ToolOutput {
                turn: mask.turn,
                response: mask.response,
                text: text(mask).unwrap_or_default(),
            })
            .collect();
        let told = anchors_of_outputs(self.views.part(0..self.known()), &outputs);
        for ((mask, output), anchors) in masks.iter_mut().zip(&outputs).zip(&told) {
            mask.name(anchors, output.text.chars().count());
        }
    }

    /// Counts the identifiers of masked outputs that kept assistant turns rely on, needed and held.
    fn note_anchors(&self, masked: &Masked, row: &mut Row) {
        let format = Some(self.record.format);
        let Ok(written) = trajectory::parse(masked.text.as_bytes(), format) else {
            return;
        };
        let views = Views::of(&written, Vec::new());
        let origin = |turn: usize| match masked.turns.binary_search(&turn) {
            Ok(_) => Origin::New,
            Err(_) => Origin::Kept(turn),
        };
        let origins = (0..written.turns.len().min(self.known())).map(origin).collect();
        // Each turn stands where it stood: what a replayed agent does not know is left out at the end.
        let known = 0..self.known();
        let score = with_redacted(self.views, &self.secrets, |told| {
            let (before, after) = (self.views.part(known.clone()), views.part(known.clone()));
            score_aligned(before, told, after, origins, without_summaries)
        });
        row.anchors_needed = score.needed.len() as u64;
        row.anchors_held = score.held() as u64;
    }

    /// Returns the choice for a mask that costs less than its output.
    fn choice(&self, mask: Mask, all: &[TurnView<'_>]) -> Option<MaskChoice> {
        let facts = self.outline.turns.get(mask.turn)?;
        let text = mask.reference.unwrap_or(mask.text);
        let text = match self.redaction() {
            Some(secrets) => secrets.redact(&text).0.into_owned(),
            None => text,
        };
        let view = view_at(all, mask.turn)?;
        // An earlier summary in the same turn would be lost.
        if !bodies_in(view).is_empty() {
            return None;
        }
        let output = &view.responses.get(mask.response)?.content;
        let counter = self.fitter.counter.as_ref();
        let images = self.record.turns.get(mask.turn)?.images_of_responses();
        let images = images
            .get(mask.response)
            .map_or(0, |images| images * self.fitter.settings.image_tokens);
        let saves = (counter.count(output) + images).checked_sub(counter.count(&text))?;
        (facts.readable && saves > 0).then_some(MaskChoice {
            turn: mask.turn,
            response: mask.response,
            text,
            saves,
        })
    }

    /// Writes the record with these masks; turns that would not cost less stay as they are.
    fn write_masks(
        &self,
        choices: &[MaskChoice],
        counter: &mut TurnCounter<'_>,
    ) -> Result<Masked, MaskError> {
        let broken = |what: &str| MaskError::Violation(Violation::KeptPartChanged(what.to_owned()));
        let mut by_turn: BTreeMap<usize, Vec<(usize, &str)>> = BTreeMap::new();
        for choice in choices {
            let responses = by_turn.entry(choice.turn).or_default();
            responses.push((choice.response, &choice.text));
        }
        let mut edits = Vec::new();
        let mut turns = Vec::new();
        let mut value_tokens = self.counted.value_tokens();
        for (index, responses) in by_turn {
            let turn = self.record.turns.get(index);
            let written = turn.and_then(|turn| trajectory::with_responses(turn, &responses));
            let (Some(text), Some(at)) = (written, self.record.turn_span(index)) else {
                continue;
            };
            let cost = trajectory::turn_of(&text).map(|turn| counter.turn(&turn).tokens());
            let before = self.counted.turns.get(index).map(|cost| cost.tokens());
            if let (Some(cost), Some(before)) = (cost, before)
                && cost < before
            {
                value_tokens -= before - cost;
                turns.push(index);
                edits.push(Edit { at, text });
            }
        }
        if turns.is_empty() {
            return Err(MaskError::Nothing);
        }
        let text = trajectory::apply(self.record.text, edits);
        let written = trajectory::parse(text.as_bytes(), Some(self.record.format))
            .map_err(|error| broken(&error.to_string()))?;
        let rendered = self.rendered(&written).map_err(MaskError::Refused)?;
        let tokens = match (self.fitter.settings.count, &rendered) {
            (CountMode::Rendered, Some(rendered)) => rendered.tokens,
            _ => value_tokens,
        };
        let views = |turn: usize| {
            let after = trajectory::view(written.turns.get(turn)?, turn);
            Some([self.views.get(turn)?.into_owned(), after])
        };
        let verified = verify_masks(&MaskedTurns {
            compressible: self.compressible.clone(),
            masked: &turns,
            views: &views,
            original_turns: &self.record.turns,
            written_turns: &written.turns,
            frames: [self.record.frame(), written.frame()],
            original_tokens: self.outline.total(),
            written_tokens: tokens,
        });
        match verified {
            Err(Violation::NotSmaller { .. }) => return Err(MaskError::Nothing),
            Err(violation) => return Err(MaskError::Violation(violation)),
            Ok(()) => {}
        }
        let before = self.counted.rendering().zip(rendered.as_ref());
        let changed_turns = before.map_or(0, |(before, after)| before.changed_beside(after, &turns));
        Ok(Masked {
            text,
            tokens,
            value_tokens,
            rendered,
            changed_turns,
            turns,
            secrets: BTreeMap::new(),
        })
    }

    /// Replaces a region of the masked record by a summary. The summarizer reads the turns as they were; the masks
    /// after the region stay.
    async fn summarized(&self, masked: &Masked, row: Row) -> Result<Fitted, Violation> {
        let mut fitted = self.summarized_once(masked, row).await?;
        if fitted.row.was_compressed {
            let region = fitted.row.region_start..fitted.row.region_end;
            let outside = |turn: &&usize| !region.contains(&(**turn as u64).cast_signed());
            let stay: Vec<usize> = masked.turns.iter().filter(outside).copied().collect();
            let secrets: usize = stay.iter().filter_map(|turn| masked.secrets.get(turn)).sum();
            fitted.row.masked_turns = stay.len() as u64;
            fitted.row.redactions += secrets as u64;
            // Masks removed outputs outside the region, too.
            let text = fitted
                .text
                .as_deref()
                .filter(|_| self.fitter.settings.grounding && !stay.is_empty() && self.compaction.is_none());
            let scorer = PairScorer {
                format: Some(self.record.format),
            };
            let score = text.map(|text| scorer.score(self.record.text.as_bytes(), text.as_bytes()));
            if let Some(Ok(score)) = score {
                fitted.row.anchors_needed = score.needed.len() as u64;
                fitted.row.anchors_held = score.held() as u64;
                fitted.row.anchors_written = fitted.row.anchors_written.min(fitted.row.anchors_held);
            }
        }
        Ok(fitted)
    }

    async fn summarized_once(&self, masked: &Masked, row: Row) -> Result<Fitted, Violation> {
        let record = trajectory::parse(masked.text.as_bytes(), Some(self.record.format))
            .map_err(|error| Violation::KeptPartChanged(error.to_string()))?;
        let mut counted = Counted::of(self.fitter, &record);
        let views = Views::of(&record, std::mem::take(&mut counted.texts));
        let counted = counted.located(&record);
        let place = AnswerInText::of(self.compaction.is_some());
        let outline = outline(self.fitter, &record, &counted, &views, place);
        let (turns, secrets) = ([&views, self.views], Arc::clone(&self.secrets));
        let (fitter, counted) = (self.fitter, &counted);
        let mut case = match &self.compaction {
            Some(compaction) => {
                let wanted = compaction.wanted.clone();
                CompressionCase::within(fitter, &record, turns, &outline, counted, secrets, wanted)
            }
            None => CompressionCase::of_turns(fitter, &record, turns, &outline, counted, secrets),
        };
        case.compaction.clone_from(&self.compaction);
        case.later.clone_from(&self.later);
        Ok(passes::run(case, row).await)
    }

    fn unmasked(&self, why: MaskError, row: Row) -> Fitted {
        match why {
            MaskError::Nothing => {
                let nothing = || Reason::plain(Reason::NOTHING_TO_MASK);
                let reason = self.protected_reason().unwrap_or_else(nothing);
                Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
            }
            MaskError::Refused(refusal) => Self::not_written(RewriteError::Refused(refusal), row),
            MaskError::Violation(violation) => Self::not_written(RewriteError::Violation(violation), row),
        }
    }

    fn finish_masked(&self, masked: Masked, row: Row) -> Fitted {
        let exhausted = || Reason::plain(Reason::MASKS_EXHAUSTED);
        let is_dry = self.fitter.settings.dry_run;
        let over = masked.tokens > self.target();
        let reason = if over {
            Some(self.protected_reason().unwrap_or_else(exhausted))
        } else if is_dry {
            Some(Reason::plain("planned"))
        } else if masked.changed_turns > 0 {
            let detail = format!("rendered otherwise: {}", masked.changed_turns);
            Some(Reason::with(Reason::TEMPLATE_CHANGES_KEPT_TURNS, detail))
        } else {
            None
        };
        let rendered_tokens = masked.rendered.as_ref().map(|rendered| rendered.tokens as u64);
        let original = row.original_tokens;
        let secrets: usize = masked.secrets.values().sum();
        let mut row = row;
        if self.fitter.settings.grounding {
            self.note_anchors(&masked, &mut row);
        }
        let row = Row {
            compressed_tokens: masked.tokens as u64,
            tokens_saved: original.cast_signed() - (masked.tokens as u64).cast_signed(),
            compression_ratio: masked.tokens as f64 / original.max(1) as f64,
            was_compressed: true,
            still_over_limit: over,
            masked_turns: masked.turns.len() as u64,
            redactions: secrets as u64,
            compressed_value_tokens: row.compressed_value_tokens.map(|_| masked.value_tokens as u64),
            compressed_rendered_tokens: rendered_tokens,
            template_changed_turns: rendered_tokens.map(|_| masked.changed_turns as u64),
            ..row
        };
        Fitted {
            text: Some(masked.text),
            ..Fitted::untouched(row.ended(Status::Compressed, reason.as_ref()))
        }
    }
}
