//! Explains the decision about one record, for `trajfit explain`.

use std::ops::Range;

use serde::Serialize;

use super::AnswerInText;
use super::compression::CompressionCase;
use super::compression::correction::PlanCorrection;
use super::count::Counted;
use super::fitter::Fitter;
use super::pair::PairScorer;
use super::settings::Strategy;
use super::structure::Prepared;
use crate::compress::Region;
use crate::compress::anchors::{Needed, PairScore};
use crate::metrics::Row;
use crate::names::Named;
use crate::trajectory::{self, Format, ParseError, Record, Views};

/// One turn, as the plan sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnLine {
    /// The turn's index in the trajectory, from 0.
    pub index: usize,
    /// The role of the speaker.
    pub role: &'static str,
    /// The turn's tokens.
    pub tokens: usize,
    /// The index of the assistant turn that it answers.
    pub answers: Option<usize>,
    /// The turn was read in full, so that it may be summarized.
    pub readable: bool,
    /// A mask replaces the turn's outputs.
    pub masked: bool,
}

/// An identifier that the plan would leave dangling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnchorLine {
    /// The identifier.
    pub text: String,
    /// Number of uses in kept assistant turns.
    pub uses: usize,
    /// The index of the turn of the original that uses it first after the region.
    pub first_turn: usize,
    /// The summary contains it.
    pub is_held: bool,
}

/// The decision about a record, and its basis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The turns, in order.
    pub turns: Vec<TurnLine>,
    /// Tokens of the record beside its turns.
    pub extra_tokens: usize,
    /// Tokens of the whole record.
    pub total_tokens: usize,
    /// The budget in tokens.
    pub target_tokens: usize,
    /// Tokens of the notice in the system turn.
    pub notice_tokens: usize,
    /// Tokens that the summary of the region should have.
    pub summary_target_tokens: usize,
    /// The turns between protected head and tail.
    pub compressible: Range<usize>,
    /// The index of the last turn in which a person speaks.
    pub last_human: Option<usize>,
    /// The name of the strategy.
    pub strategy: &'static str,
    /// The summary ends with the files of the region.
    pub file_footer: bool,
    /// Tokens that the region, or masks, must free; `None` where the record fits as it is.
    pub need_tokens: Option<usize>,
    /// The region planned first; `None` where masks come first, since it depends on them.
    pub planned: Option<Range<usize>>,
    /// The region that was replaced.
    pub region: Option<Range<usize>>,
    /// Tokens of the turns of the region.
    pub region_tokens: usize,
    /// Most tokens of its summary, end marker included: the room that the plan leaves, up to the maximum allowed.
    pub summary_budget: usize,
    /// The identifiers that only the region contains and later turns rely on, in order of first use.
    pub anchors: Vec<AnchorLine>,
    /// The row of the metrics.
    pub row: Row,
    /// The record as it would be written; `None` where it stays as it is.
    #[serde(skip)]
    pub text: Option<String>,
    /// The record after mending and conversion, with its form; `turns` are its turns.
    #[serde(skip)]
    pub prepared: Option<(String, Format)>,
}

impl Fitter {
    /// Fits one record and explains the decision.
    pub async fn explain(&self, bytes: &[u8]) -> Result<Explanation, ParseError> {
        let record = trajectory::parse(bytes, self.settings.format)?;
        let fitted = self.fit(bytes).await;
        let (row, planned) = (fitted.row, fitted.planned);
        // A record that cannot be converted is rejected, as its row says, and shown as it is.
        let prepared = self.prepared(&record).ok().flatten();
        let prepared = prepared.map(Prepared::into_text);
        let Some((text, form)) = &prepared else {
            // Marks on turns are no part of the decision.
            let text = match &self.settings.mark {
                Some(_) => self.fit_record(&record).await.text,
                None => fitted.text,
            };
            return Ok(self.explain_prepared(&record, row, planned, text));
        };
        let whole = trajectory::parse(text.as_bytes(), Some(*form))?;
        let written = self.fit_record(&whole).await.text;
        let explained = self.explain_prepared(&whole, row, planned, written);
        Ok(Explanation {
            prepared,
            ..explained
        })
    }

    fn explain_prepared(
        &self,
        record: &Record<'_>,
        row: Row,
        planned: Option<Range<usize>>,
        text: Option<String>,
    ) -> Explanation {
        let mut counted = Counted::of(self, record).located(record);
        let views = Views::of(record, std::mem::take(&mut counted.texts));
        let outline = super::outline(self, record, &counted, &views, AnswerInText::InGroup);
        let case = CompressionCase::new(self, record, &views, &outline, &counted);
        let is_over = row.original_tokens > self.settings.target_max_tokens as u64;
        let strategy = self.settings.strategy;
        let masks_first = strategy != Strategy::Summarize;
        let need = is_over.then(|| {
            if masks_first {
                outline.total().saturating_sub(case.target())
            } else {
                case.need(PlanCorrection::default())
            }
        });
        let compressible = case.compressible.clone();
        let planned = planned.filter(|_| !masks_first);
        let planned = planned.and_then(|turns| case.cut_points.region(turns.start, turns.end));
        let first = usize::try_from(row.region_start).ok();
        let region = first.zip(usize::try_from(row.region_end).ok());
        let region = region.filter(|_| row.was_compressed);
        let region = region
            .and_then(|(start, end)| case.cut_points.region(start, end))
            .or(planned);
        let score = scored(record, text.as_deref());
        let stays = |index: usize| score.origins.iter().any(|origin| origin.turn() == Some(index));
        let is_masked = |index: usize| {
            let in_region = region.is_some_and(|region| region.range().contains(&index));
            row.masked_turns > 0 && !in_region && !score.origins.is_empty() && !stays(index)
        };
        let turns = outline.turns.iter().enumerate().map(|(index, turn)| TurnLine {
            masked: is_masked(index),
            index,
            role: turn.role.label(),
            tokens: turn.tokens,
            answers: turn.answers(index),
            readable: turn.readable,
        });
        Explanation {
            turns: turns.collect(),
            strategy: strategy.name(),
            file_footer: self.settings.file_footer,
            extra_tokens: outline.extra_tokens,
            total_tokens: outline.total(),
            target_tokens: case.target(),
            notice_tokens: case.notice_tokens,
            summary_target_tokens: region.map_or(self.settings.summary_size.smallest(), |region| {
                case.summary_target(region)
            }),
            last_human: outline.last_human,
            need_tokens: need,
            planned: planned.map(Region::range),
            region_tokens: region.map_or(0, |region| case.region_tokens(region)),
            summary_budget: region.map_or(0, |region| case.summary_turn_budget(region)),
            region: region.map(Region::range).filter(|_| row.was_compressed),
            anchors: anchor_lines(score),
            compressible,
            row,
            text,
            prepared: None,
        }
    }
}

fn scored(before: &Record<'_>, after: Option<&str>) -> PairScore {
    let format = Some(before.format);
    let before = before.text.as_bytes();
    let score = after.map(|after| PairScorer { format }.score(before, after.as_bytes()));
    score.and_then(Result::ok).unwrap_or_default()
}

fn anchor_lines(score: PairScore) -> Vec<AnchorLine> {
    let origins = score.origins;
    let line = |needed: Needed| AnchorLine {
        first_turn: origins
            .get(needed.first_turn)
            .and_then(|origin| origin.turn())
            .unwrap_or(0),
        text: needed.text,
        uses: needed.uses,
        is_held: needed.is_held,
    };
    score.needed.into_iter().map(line).collect()
}
