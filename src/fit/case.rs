//! One record over its target: what may be replaced, how much of it must go, and what a summary of it may cost.

use std::ops::Range;

use super::count::Counted;
use super::merged::{MergedBefore, beside_summaries};
use super::{Fitter, Rendered, Strategy, TurnCounter};
use crate::compress::anchors::{self, Anchor};
use crate::compress::{CutPoints, Outline, Reason, Region, SummaryPlacement, compressible_region, freed};
use crate::summarize::marker::END_MARKER;
use crate::trajectory::{self, Edit, Record, Role, TurnView};

/// The smallest summary worth writing, in tokens: room for less than this is not worth squeezing into.
const SMALLEST_SUMMARY: usize = 48;

/// Tokens that joining texts may cost beyond the sum of their parts.
const JOINT_TOKENS: usize = 6;

/// Tokens that a template may put around a summary, and that turns may cost beyond what they seem to in a rendered chat.
const TEMPLATE_TOKENS: usize = 24;

/// A record over its target, with everything that bounds its compression.
pub struct Case<'a> {
    /// What is asked for, and the tools to do it.
    pub fitter: &'a Fitter,
    /// The record.
    pub record: &'a Record<'a>,
    /// Its turns, decoded.
    pub views: &'a [TurnView<'a>],
    /// Its turns as summarizers read them: as they were before any was masked.
    pub read_views: &'a [TurnView<'a>],
    /// Its turns, as facts.
    pub outline: &'a Outline,
    /// What it costs, in every way that is asked for.
    pub counted: &'a Counted,
    /// Where a region may begin and end.
    pub cut_points: CutPoints,
    /// The turns between protected head and tail.
    pub compressible: Range<usize>,
    /// The edit that adds the notice, with the turn that it changes.
    pub notice: Option<(usize, Edit)>,
    /// What the notice costs.
    pub notice_tokens: usize,
    /// The earlier summary at the end of the head, which the next one replaces.
    merged_before: Option<MergedBefore>,
    end_marker_tokens: usize,
}

impl<'a> Case<'a> {
    /// Works out the bounds.
    pub fn new(
        fitter: &'a Fitter,
        record: &'a Record<'a>,
        views: &'a [TurnView<'a>],
        outline: &'a Outline,
        counted: &'a Counted,
    ) -> Self {
        let cut_points = CutPoints::of(outline);
        let compressible = compressible_region(outline, &cut_points, &fitter.settings.protection);
        let mut case = Self {
            fitter,
            record,
            views,
            read_views: views,
            outline,
            counted,
            cut_points,
            compressible,
            notice: None,
            notice_tokens: 0,
            merged_before: None,
            end_marker_tokens: fitter.counter.count(END_MARKER) + JOINT_TOKENS,
        };
        if let Some((turn, edit, tokens)) = case.notice_edit() {
            case.notice = Some((turn, edit));
            case.notice_tokens = tokens;
        }
        case.merged_before = case.earlier_merged();
        case
    }

    /// The earlier summary in the turn that a summary would be appended to, where it may be appended.
    fn earlier_merged(&self) -> Option<MergedBefore> {
        let settings = &self.fitter.settings;
        let is_own_turn = settings.summary_placement == SummaryPlacement::Human;
        if is_own_turn || settings.strategy == Strategy::Mask {
            return None;
        }
        let turn = self.compressible.start.checked_sub(1)?;
        let role = self.outline.turns.get(turn)?.role;
        let cost = self.counted.turns.get(turn)?;
        matches!(role, Role::Human | Role::Tool)
            .then(|| MergedBefore::of(self.record, turn, *cost, &mut self.counter()))
            .flatten()
    }

    /// The earlier summary that the summary of a region replaces.
    pub fn merged_before(&self, region: Region) -> Option<&MergedBefore> {
        let earlier = self.merged_before.as_ref()?;
        (earlier.turn + 1 == region.start()).then_some(earlier)
    }

    /// Tokens that go with an earlier summary at the end of the head.
    fn replaced_tokens(&self) -> usize {
        self.merged_before.as_ref().map_or(0, |earlier| earlier.tokens)
    }

    /// The notice at the end of the first system turn, unless it is there already or that turn may be replaced.
    fn notice_edit(&self) -> Option<(usize, Edit, usize)> {
        let notice = self.fitter.settings.notice.as_deref()?;
        let index = self
            .outline
            .first_of(Role::System)
            .filter(|index| *index < self.compressible.start)?;
        let turn = self.record.turns.get(index)?;
        let cost = self
            .counted
            .turns
            .get(index)
            .filter(|cost| cost.exact && !turn.opaque)?;
        if self.views.get(index)?.text.ends_with(notice) {
            return None;
        }
        let edit = trajectory::append_text(self.record, turn, notice)?;
        let start = self.record.turn_span(index)?.start;
        let local = Edit {
            at: edit.at.start.checked_sub(start)?..edit.at.end.checked_sub(start)?,
            ..edit.clone()
        };
        let noticed = trajectory::apply(turn.text, vec![local]);
        let tokens = self.counter().turn(&trajectory::turn_of(&noticed)?).tokens;
        Some((index, edit, tokens.saturating_sub(cost.tokens)))
    }

    /// What a trainer would see of the record as written, where the original could be rendered.
    pub fn rendered(&self, written: &Record<'_>) -> Result<Option<Rendered>, String> {
        let fitter = self.fitter;
        let template = fitter
            .template
            .as_deref()
            .filter(|_| self.counted.rendering().is_some());
        let Some(template) = template else {
            return Ok(None);
        };
        let image_tokens = fitter.settings.image_tokens;
        let rendered = Rendered::of(written, template, fitter.counter.as_ref(), image_tokens)?;
        Ok(Some(rendered.located(written)))
    }

    /// A counter of turns.
    pub fn counter(&self) -> TurnCounter<'a> {
        TurnCounter::new(self.fitter.counter.as_ref(), self.fitter.settings.image_tokens)
    }

    /// Tokens that the trajectory may cost.
    pub fn target(&self) -> usize {
        self.fitter.settings.target_max_tokens
    }

    /// Tokens that the region must free, `missing` being what the passes so far left over the target.
    pub fn need(&self, missing: usize) -> usize {
        let cost =
            self.outline.total() + self.notice_tokens + self.fitter.settings.summary_target_tokens + missing;
        cost.saturating_sub(self.target() + self.replaced_tokens()).max(1)
    }

    /// What the summary of any region costs at least by the plan.
    pub fn smallest_cost(&self) -> usize {
        let cost = self.fitter.settings.summary_target_tokens + self.notice_tokens;
        cost.saturating_sub(self.replaced_tokens())
    }

    /// What the trajectory costs without a region, and without the earlier summary that goes with it; the summary comes on top.
    pub fn cost_without(&self, region: Region) -> usize {
        let replaced = self.merged_before(region).map_or(0, |earlier| earlier.tokens);
        self.outline.total() + self.notice_tokens - freed(self.outline, &region.range()) - replaced
    }

    /// Tokens that the summary of a region may cost: all the room left under the target up to the most allowed, and
    /// less than the summary target where only that makes the trajectory fit.
    pub fn summary_budget(&self, region: Region) -> usize {
        let settings = &self.fitter.settings;
        let joints = match self.counted.governing_rendering(settings) {
            Some(_) => TEMPLATE_TOKENS,
            None => 0,
        };
        let left = self.cost_without(region) + self.end_marker_tokens + joints;
        let room = self.target().saturating_sub(left);
        if room < SMALLEST_SUMMARY {
            settings.summary_target_tokens
        } else {
            room.min(settings.summary_max_tokens)
        }
    }

    /// Why no region of this trajectory can bring it under its target, where that is so.
    pub fn protected_reason(&self) -> Option<Reason> {
        let freed = freed(self.outline, &self.compressible) + self.replaced_tokens();
        let protected = self.outline.total() + self.notice_tokens - freed;
        if protected <= self.target() {
            return None;
        }
        let outside = self.outline.turns.iter().enumerate();
        let (index, largest) = outside
            .filter(|(index, _)| !self.compressible.contains(index))
            .max_by_key(|(_, turn)| turn.tokens)?;
        let detail = format!(
            "{protected} tokens, the largest in turn {index} ({}, {} tokens)",
            largest.role.label(),
            largest.tokens
        );
        Some(Reason::with(Reason::PROTECTED_TURNS_EXCEED_BUDGET, detail))
    }

    /// Why a compressed trajectory is over its target all the same.
    pub fn over_limit_reason(&self) -> Reason {
        self.protected_reason()
            .unwrap_or_else(|| Reason::plain(Reason::REGION_EXHAUSTED))
    }

    /// What the turns of a region cost.
    pub fn region_tokens(&self, region: Region) -> usize {
        self.outline
            .turns
            .get(region.range())
            .unwrap_or_default()
            .iter()
            .map(|turn| turn.tokens)
            .sum()
    }

    /// What kept assistant turns rely on and only the region says.
    /// `region_views` are the region's turns as its summarizer sees them.
    pub fn anchors(&self, region: Region, region_views: &[TurnView<'_>]) -> Vec<Anchor> {
        let before = self.views.get(..region.start()).unwrap_or_default();
        let after = self.views.get(region.end()..).unwrap_or_default();
        match (self.merged_before(region), before.split_last()) {
            (Some(_), Some((last, others))) => {
                let mut before = others.to_vec();
                before.extend(beside_summaries(last.clone()));
                anchors::dangling(&before, region_views, after)
            }
            _ => anchors::dangling(before, region_views, after),
        }
    }
}
