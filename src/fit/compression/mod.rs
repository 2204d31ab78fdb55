//! One record over its budget: the turns that may be replaced, the tokens to be freed, and the size of the summary.

mod asked;
pub(super) mod correction;
mod kept;
pub(super) mod passes;
mod placed;
mod region;
pub(super) mod rewrite;
mod room;
mod summary;
mod write;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::count::Counted;
use super::count::TurnCounter;
use super::count::rendered::Rendered;
use super::fitter::Fitter;
use super::merged::{EarlierSummary, beside_summaries, bodies_in};
use super::redacted::secrets_of;
use super::settings::Strategy;
use crate::compress::anchors::{self, Anchor};
use crate::compress::{CutPoints, Outline, Reason, Region, SummaryPlacement, compressible_region, freed};
use crate::summarize::Forms;
use crate::summarize::marker::{END_MARKER, FOLLOWED_MESSAGE_MARKER};
use crate::summarize::redact::RecordSecrets;
use crate::tokens::chat_template::ChatTemplate;
use crate::trajectory::{self, Edit, Record, Role, Turns, Views};
use correction::PlanCorrection;
use placed::Placed;

/// Tokens that joining texts may cost beyond the sum of their parts.
const JOINT_TOKENS: usize = 6;

/// The compaction of an agent's context: what goes is given, and not planned.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// The turns that go.
    pub wanted: Range<usize>,
    /// The turns that may go where these are not enough.
    pub most: Range<usize>,
    /// The turns that the agent knows.
    pub known: usize,
    /// Turns follow that a summary is written without.
    pub goes_on: bool,
    /// Tokens that masks bring the context to.
    pub goal: usize,
}

/// A record over its budget, with everything that bounds its compression.
pub struct CompressionCase<'a> {
    /// Settings, tokenizer, template and summarizers of the run.
    pub fitter: &'a Fitter,
    /// The record.
    pub record: &'a Record<'a>,
    /// The turns of the record, decoded.
    pub views: &'a Views<'a>,
    /// The turns as summarizers read them: before any was masked.
    pub read_views: &'a Views<'a>,
    /// The facts about the turns.
    pub outline: &'a Outline,
    /// The token counts of the record.
    pub counted: &'a Counted,
    /// The boundaries that a region may have.
    pub cut_points: CutPoints,
    /// The turns between protected head and tail.
    pub compressible: Range<usize>,
    /// The compaction that it is, where an agent is replayed.
    pub compaction: Option<Compaction>,
    /// Turns that follow the record's own and are known as well: those that a summary may be written with an eye on in hindsight.
    pub later: (&'a Views<'a>, Range<usize>),
    /// The index of the turn that gets the notice, and the edit that adds it.
    pub notice: Option<(usize, Edit)>,
    /// The cost of the notice in tokens.
    pub notice_tokens: usize,
    /// The earlier summary in the turn before the compressible ones; the summary of a region that begins there replaces it.
    pub(super) earlier_summary: Option<EarlierSummary>,
    /// The cost of an end marker in tokens.
    pub(super) end_marker_tokens: usize,
    /// The cost in tokens of the marker of the last human turn, where a summary takes it in.
    pub(super) message_marker_tokens: usize,
    /// The forms of the calls that its turns write as text, once they are asked for.
    pub(super) forms: OnceLock<Forms>,
    /// The secrets recognized anywhere in the record, including in turns that are masked now.
    pub secrets: Arc<RecordSecrets<'a>>,
}

impl<'a> CompressionCase<'a> {
    /// Computes the bounds of a record.
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

    /// The same as [`CompressionCase::new`], for a record with masks: its turns as they are and as they were, and its
    /// secrets.
    pub fn of_turns(
        fitter: &'a Fitter,
        record: &'a Record<'a>,
        [views, read_views]: [&'a Views<'a>; 2],
        outline: &'a Outline,
        counted: &'a Counted,
        secrets: Arc<RecordSecrets<'a>>,
    ) -> Self {
        let cut_points = CutPoints::of(outline);
        let compressible = compressible_region(
            outline,
            &cut_points,
            &fitter.settings.protection,
            fitter.settings.target_max_tokens,
        );
        let read = [views, read_views];
        Self::within(fitter, record, read, outline, counted, secrets, compressible)
    }

    /// The same as [`CompressionCase::of_turns`], for given turns that may be replaced.
    pub fn within(
        fitter: &'a Fitter,
        record: &'a Record<'a>,
        [views, read_views]: [&'a Views<'a>; 2],
        outline: &'a Outline,
        counted: &'a Counted,
        secrets: Arc<RecordSecrets<'a>>,
        compressible: Range<usize>,
    ) -> Self {
        let cut_points = CutPoints::of(outline);
        let mut case = Self {
            fitter,
            record,
            views,
            read_views,
            outline,
            counted,
            cut_points,
            compressible,
            compaction: None,
            forms: OnceLock::new(),
            later: (views, 0..0),
            notice: None,
            notice_tokens: 0,
            earlier_summary: None,
            end_marker_tokens: fitter.counter.count(END_MARKER) + JOINT_TOKENS,
            message_marker_tokens: fitter.counter.count(FOLLOWED_MESSAGE_MARKER) + JOINT_TOKENS,
            secrets,
        };
        if let Some((turn, edit, tokens)) = case.notice_edit() {
            case.notice = Some((turn, edit));
            case.notice_tokens = tokens;
        }
        case.earlier_summary = case.find_earlier_summary();
        case
    }

    /// Returns the secrets to be redacted; `None` without redaction.
    pub fn redaction(&self) -> Option<&RecordSecrets<'a>> {
        self.fitter.settings.redaction.then_some(self.secrets.as_ref())
    }

    /// Returns the earlier summary in the turn that a summary would be appended to, if it may be appended there.
    fn find_earlier_summary(&self) -> Option<EarlierSummary> {
        let settings = &self.fitter.settings;
        let is_own_turn = settings.summary_placement == SummaryPlacement::Human;
        if is_own_turn || settings.strategy == Strategy::Mask {
            return None;
        }
        let turn = self.compressible.start.checked_sub(1)?;
        let role = self.outline.turns.get(turn)?.role;
        let cost = self.counted.turns.get(turn)?;
        let is_followed = self.outline.last_human.is_some_and(|last| last > turn);
        matches!(role, Role::Human | Role::Tool)
            .then(|| EarlierSummary::of(self.record, turn, *cost, &mut self.counter(), is_followed))
            .flatten()
    }

    /// Returns the earlier summary that the summary of a region replaces.
    pub fn replaced_summary(&self, region: Region) -> Option<&EarlierSummary> {
        let earlier = self.earlier_summary.as_ref()?;
        (earlier.turn + 1 == region.start()).then_some(earlier)
    }

    /// Returns the notice at the end of the first system turn, unless it is there already or that turn may be replaced.
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

    /// Renders the record as written, counting its tokens; `None` where the original could not be rendered.
    pub fn rendered(&self, written: &Record<'_>) -> Result<Option<Rendered>, String> {
        let fitter = self.fitter;
        let Some(template) = self.template() else {
            return Ok(None);
        };
        let (arguments, images) = (fitter.settings.template_arguments, fitter.settings.image_tokens);
        let rendered = Rendered::of(written, template, arguments, fitter.counter.as_ref(), images)?;
        Ok(Some(rendered.located(written)))
    }

    /// The same, without counting.
    pub fn rendered_uncounted(&self, written: &Record<'_>) -> Result<Option<Rendered>, String> {
        let Some(template) = self.template() else {
            return Ok(None);
        };
        let arguments = self.fitter.settings.template_arguments;
        let rendered = Rendered::uncounted(written, template, arguments)?;
        Ok(Some(rendered.located(written)))
    }

    /// Returns the chat template; `None` where the original could not be rendered by it.
    fn template(&self) -> Option<&ChatTemplate> {
        let template = self.fitter.template.as_deref();
        template.filter(|_| self.counted.rendering().is_some())
    }

    /// Returns a counter of turns.
    pub fn counter(&self) -> TurnCounter<'a> {
        TurnCounter::new(self.fitter.counter.as_ref(), self.fitter.settings.image_tokens)
    }

    /// Returns the budget of the trajectory in tokens.
    pub fn target(&self) -> usize {
        self.fitter.settings.target_max_tokens
    }

    /// The turns that summaries and masks may be written with an eye on: all of them, or those that a replayed agent knows.
    pub fn known(&self) -> usize {
        let compaction = self.compaction.as_ref();
        compaction.map_or(self.outline.turns.len(), |compaction| compaction.known)
    }

    /// Tokens that masks bring the trajectory to.
    pub fn goal(&self) -> usize {
        let compaction = self.compaction.as_ref();
        compaction.map_or(self.target(), |compaction| compaction.goal)
    }

    /// Returns the reason why no region can bring this trajectory within its budget; `None` where one can.
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

    /// Returns the reason why a trajectory is over its budget though no group is left to extend the region, or only
    /// groups that would leave its summary without a place.
    pub fn exhausted_reason(
        &self,
        placed: &Placed,
        measured: PlanCorrection,
        written_tokens: usize,
    ) -> Reason {
        let region = placed.region;
        let left = || {
            if placed.is_moved || self.extended(region, measured, written_tokens).is_some() {
                Reason::with(Reason::NO_PLACE_FOR_SUMMARY, "of a larger region")
            } else if region.range() == self.compressible {
                Reason::plain(Reason::REGION_EXHAUSTED)
            } else {
                let detail = "a turn that cannot be summarized parts the turns between head and tail";
                Reason::with(Reason::REGION_DIVIDED, detail)
            }
        };
        self.protected_reason().unwrap_or_else(left)
    }

    /// Returns the tokens of the turns of a region.
    pub fn region_tokens(&self, region: Region) -> usize {
        self.outline
            .turns
            .get(region.range())
            .unwrap_or_default()
            .iter()
            .map(|turn| turn.tokens)
            .sum()
    }

    /// Returns the identifiers that kept assistant turns rely on and only the region contains. The last human turn
    /// counts as kept: the summary quotes it. `region_views` are the region's turns as its summarizer sees them.
    pub fn anchors(&self, region: Region, region_views: Turns<'_>) -> Vec<Anchor> {
        self.with_after(region, |after| self.anchors_for(region, region_views, after))
    }

    /// Hands the known turns after a region to `read`.
    pub fn with_after<T>(&self, region: Region, read: impl FnOnce(Turns<'_>) -> T) -> T {
        let own = self.views.part(region.end()..self.known());
        let (views, later) = &self.later;
        if later.is_empty() {
            return read(own);
        }
        let all = |place: usize| match place.checked_sub(own.len()) {
            None => own.get(place).map(Cow::into_owned),
            Some(place) => views.get(later.start + place).map(Cow::into_owned),
        };
        read(Turns::Made(own.len() + later.len(), &all))
    }

    fn anchors_for(&self, region: Region, region_views: Turns<'_>, after: Turns<'_>) -> Vec<Anchor> {
        let before = self.views.part(0..region.start());
        let updated = self.replaced_summary(region);
        let quoted = self.outline.last_human.filter(|last| region.contains(*last));
        if updated.is_none() && quoted.is_none() {
            return anchors::dangling(before, region_views, after);
        }
        let kept = |turn: usize| {
            if turn == region.start() {
                return beside_summaries(self.views.get(quoted?)?.into_owned());
            }
            let view = before.get(turn)?.into_owned();
            match updated.filter(|updated| updated.turn == turn) {
                Some(updated) => updated.left_of(view),
                None => Some(view),
            }
        };
        // Earlier summaries in the quoted turn are not quoted.
        let gone = |place: usize| {
            let mut view = region_views.get(place)?.into_owned();
            if Some(view.index) == quoted {
                let bodies = bodies_in(&view).join("\n");
                view.text = Cow::Owned(bodies);
            }
            Some(view)
        };
        let gone = Turns::Made(region_views.len(), &gone);
        anchors::dangling(Turns::Made(region.start() + 1, &kept), gone, after)
    }
}
