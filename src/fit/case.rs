//! One record over its target: what may be replaced, how much of it must go, and what a summary of it may cost.

use std::ops::Range;
use std::sync::Arc;

use super::count::Counted;
use super::merged::{MergedBefore, beside_summaries};
use super::redacted::secrets_of;
use super::{Fitter, Rendered, Strategy, TurnCounter};
use crate::compress::anchors::{self, Anchor};
use crate::compress::{
    CutPoints, Outline, Reason, Region, SummaryPlacement, compressible_region, extend, freed,
};
use crate::summarize::marker::END_MARKER;
use crate::summarize::redact::RecordSecrets;
use crate::trajectory::{self, Edit, Record, Role, Turns, Views};

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
    pub views: &'a Views<'a>,
    /// Its turns as summarizers read them: as they were before any was masked.
    pub read_views: &'a Views<'a>,
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
    /// The secrets that were recognized anywhere in the record, in turns that are masked now as well.
    pub secrets: Arc<RecordSecrets<'a>>,
}

impl<'a> Case<'a> {
    /// Works out the bounds.
    pub fn new(
        fitter: &'a Fitter,
        record: &'a Record<'a>,
        views: &'a Views<'a>,
        outline: &'a Outline,
        counted: &'a Counted,
    ) -> Self {
        let settings = &fitter.settings;
        let secrets = if settings.redaction || settings.strategy != Strategy::Summarize {
            let personal = settings.redaction && settings.redact_pii;
            Arc::new(secrets_of(record, views, personal))
        } else {
            Arc::default()
        };
        Self::of_turns(fitter, record, [views, views], outline, counted, secrets)
    }

    /// As [`Case::new`], for a record with masks: its turns as they are and as they were, and its secrets.
    pub fn of_turns(
        fitter: &'a Fitter,
        record: &'a Record<'a>,
        [views, read_views]: [&'a Views<'a>; 2],
        outline: &'a Outline,
        counted: &'a Counted,
        secrets: Arc<RecordSecrets<'a>>,
    ) -> Self {
        let cut_points = CutPoints::of(outline);
        let compressible = compressible_region(outline, &cut_points, &fitter.settings.protection);
        let mut case = Self {
            fitter,
            record,
            views,
            read_views,
            outline,
            counted,
            cut_points,
            compressible,
            notice: None,
            notice_tokens: 0,
            merged_before: None,
            end_marker_tokens: fitter.counter.count(END_MARKER) + JOINT_TOKENS,
            secrets,
        };
        if let Some((turn, edit, tokens)) = case.notice_edit() {
            case.notice = Some((turn, edit));
            case.notice_tokens = tokens;
        }
        case.merged_before = case.earlier_merged();
        case
    }

    /// The secrets to be replaced; `None` where none are.
    pub fn redaction(&self) -> Option<&RecordSecrets<'a>> {
        self.fitter.settings.redaction.then_some(self.secrets.as_ref())
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
            .filter(|cost| cost.is_exact() && !turn.opaque)?;
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
        let tokens = self.counter().turn(&trajectory::turn_of(&noticed)?).tokens();
        Some((index, edit, tokens.saturating_sub(cost.tokens())))
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
        let (arguments, images) = (fitter.settings.template_arguments, fitter.settings.image_tokens);
        let rendered = Rendered::of(written, template, arguments, fitter.counter.as_ref(), images)?;
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

    /// Tokens that the region must free for a summary of the target size; `excess` is what the last record written cost beyond
    /// what was planned.
    pub fn need(&self, excess: usize) -> usize {
        let cost = self.outline.total() + self.notice_tokens + excess;
        let net = cost as i128 - (self.target() + self.replaced_tokens()) as i128;
        self.fitter.settings.summary_size.freed_for(net)
    }

    /// Tokens that the summary of a region should cost.
    pub fn summary_target(&self, region: Region) -> usize {
        let freed = freed(self.outline, &region.range());
        self.fitter.settings.summary_size.of(freed)
    }

    /// What the summary of any region costs at least by the plan.
    pub fn smallest_cost(&self) -> usize {
        let cost = self.fitter.settings.summary_size.smallest() + self.notice_tokens;
        cost.saturating_sub(self.replaced_tokens())
    }

    /// What the trajectory costs without a region, and without the earlier summary that goes with it; the summary comes on top.
    pub fn cost_without(&self, region: Region) -> usize {
        let replaced = self.merged_before(region).map_or(0, |earlier| earlier.tokens);
        let gone = freed(self.outline, &region.range()) + replaced;
        (self.outline.total() + self.notice_tokens).saturating_sub(gone)
    }

    /// Tokens that a record may cost beyond its kept turns and the text of its summary: markers, and what a template adds.
    fn around_summary(&self) -> usize {
        let joints = match self.counted.governing_rendering(&self.fitter.settings) {
            Some(_) => TEMPLATE_TOKENS,
            None => 0,
        };
        self.end_marker_tokens + joints
    }

    /// The room that a region leaves under the target for the text of its summary.
    pub fn summary_room(&self, region: Region, excess: usize) -> usize {
        let left = self.cost_without(region) + self.around_summary() + excess;
        self.target().saturating_sub(left)
    }

    /// Tokens that the summary of a region may cost: all the room left under the target up to the most allowed, and
    /// less than the summary target where only that makes the trajectory fit; as little as any where there is no room.
    pub fn summary_budget(&self, region: Region, excess: usize) -> usize {
        let settings = &self.fitter.settings;
        let room = self.summary_room(region, excess);
        if room < SMALLEST_SUMMARY {
            settings.summary_size.smallest()
        } else {
            room.min(settings.summary_max_tokens)
        }
    }

    /// What a first summary may cost in its turn, where an end marker follows it.
    pub fn summary_turn_budget(&self, region: Region) -> usize {
        self.summary_budget(region, 0) + self.end_marker_tokens
    }

    /// Whether the summary of a region gets less than the summary target, markers included: no more turns could be taken.
    pub fn is_starved(&self, region: Region, excess: usize) -> bool {
        let wanted = self.summary_target(region);
        let budget = self.summary_budget(region, excess);
        budget < wanted && self.summary_room(region, excess) + self.around_summary() < wanted
    }

    /// If a starved summary may be written again with more room: the record as written left it.
    pub fn has_regained(&self, was_starved: bool, region: Region, excess: usize) -> bool {
        was_starved && !self.is_starved(region, excess)
    }

    /// What a written record cost beyond what was planned.
    pub fn excess(&self, region: Region, summary_tokens: usize, written_tokens: usize) -> usize {
        let planned = self.cost_without(region) + self.around_summary() + summary_tokens;
        written_tokens.saturating_sub(planned)
    }

    /// The region extended by what is missing, by one group at the least; `None` where no group is left.
    pub fn extended(&self, region: Region, excess: usize, written_tokens: usize) -> Option<Region> {
        let missing = written_tokens.saturating_sub(self.target());
        let freed = freed(self.outline, &region.range());
        let size = self.fitter.settings.summary_size;
        let net = freed as i128 - size.of(freed) as i128 + missing as i128;
        let need = self.need(excess).max(size.freed_for(net));
        let end = self.compressible.end;
        extend(self.outline, &self.cut_points, region, end, need)
    }

    /// Whether a shorter summary of the same region would make the record fit.
    pub fn can_shrink(&self, region: Region, excess: usize, summary_tokens: usize) -> bool {
        (SMALLEST_SUMMARY..summary_tokens).contains(&self.summary_room(region, excess))
    }

    /// Why no region of this trajectory can bring it under its target, where that is so.
    pub fn protected_reason(&self) -> Option<Reason> {
        let freed = freed(self.outline, &self.compressible) + self.replaced_tokens();
        let protected = self.outline.total().saturating_sub(freed);
        if protected + self.notice_tokens <= self.target() {
            return None;
        }
        let outside = self.outline.turns.iter().enumerate();
        let (index, largest) = outside
            .filter(|(index, _)| !self.compressible.contains(index))
            .max_by_key(|(_, turn)| turn.tokens)?;
        let notice = match self.notice_tokens {
            0 => String::new(),
            tokens => format!(" and a notice of {tokens}"),
        };
        let detail = format!(
            "{protected} tokens{notice}, the largest in turn {index} ({}, {} tokens)",
            largest.role.label(),
            largest.tokens
        );
        Some(Reason::with(Reason::PROTECTED_TURNS_EXCEED_BUDGET, detail))
    }

    /// Why a trajectory is over its target though no group is left that could join the region.
    pub fn exhausted_reason(&self, region: Region) -> Reason {
        let left = || {
            let detail = "a turn that cannot be summarized parts the turns between head and tail";
            if region.range() == self.compressible {
                Reason::plain(Reason::REGION_EXHAUSTED)
            } else {
                Reason::with(Reason::REGION_DIVIDED, detail)
            }
        };
        self.protected_reason().unwrap_or_else(left)
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
    pub fn anchors(&self, region: Region, region_views: Turns<'_>) -> Vec<Anchor> {
        let before = self.views.part(0..region.start());
        let after = self.views.part(region.end()..self.outline.turns.len());
        if self.merged_before(region).is_none() {
            return anchors::dangling(before, region_views, after);
        }
        let last = region.start() - 1;
        let beside = |turn: usize| {
            let view = before.get(turn)?.into_owned();
            if turn == last {
                beside_summaries(view)
            } else {
                Some(view)
            }
        };
        anchors::dangling(Turns::Made(region.start(), &beside), region_views, after)
    }
}
