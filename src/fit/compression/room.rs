//! The tokens available to a summary: those that a region frees, and corrections from records written before.

use super::CompressionCase;
use super::correction::PlanCorrection;
use crate::compress::{Region, extend, freed};

/// The smallest summary worth writing, in tokens: less room than this is not used.
const SMALLEST_SUMMARY: usize = 48;

/// Tokens that a template may put around a summary, and that rendered turns may have beyond their estimates.
const TEMPLATE_TOKENS: usize = 24;

impl CompressionCase<'_> {
    /// Returns the tokens of the earlier summary at the end of the head.
    pub(super) fn replaced_tokens(&self) -> usize {
        self.earlier_summary.as_ref().map_or(0, |earlier| earlier.tokens)
    }

    /// Returns the tokens that the region must free for a summary of the target size.
    pub fn need(&self, measured: PlanCorrection) -> usize {
        let cost = measured.beyond(self.outline.total() + self.notice_tokens);
        let net = cost as i128 - (self.target() + self.replaced_tokens()) as i128;
        self.fitter.settings.summary_size.freed_for(net)
    }

    /// Returns the tokens that the summary of a region should have.
    pub fn summary_target(&self, region: Region) -> usize {
        let freed = freed(self.outline, &region.range());
        self.fitter.settings.summary_size.of(freed)
    }

    /// Returns the least tokens of a region's summary by the plan: the target size, or the room where that is smaller.
    pub fn smallest_cost(&self, region: Region) -> usize {
        let summary = self.summary_budget(region, PlanCorrection::default());
        let cost = summary.min(self.summary_target(region)) + self.notice_tokens;
        cost.saturating_sub(self.replaced_tokens())
    }

    /// Returns the tokens of the trajectory without a region and the earlier summary replaced, before its new summary.
    pub fn cost_without(&self, region: Region) -> usize {
        let replaced = self.replaced_summary(region).map_or(0, |earlier| earlier.tokens);
        let gone = freed(self.outline, &region.range()) + replaced;
        (self.outline.total() + self.notice_tokens).saturating_sub(gone)
    }

    /// Returns the tokens beside the kept turns and the text of the summary: markers, and the template's additions.
    fn around_summary(&self, region: Region) -> usize {
        let joints = match self.counted.governing_rendering(&self.fitter.settings) {
            Some(_) => TEMPLATE_TOKENS,
            None => 0,
        };
        self.marker_tokens(region) + joints
    }

    /// Returns the tokens of the markers behind the summary of a region.
    fn marker_tokens(&self, region: Region) -> usize {
        let message_marker = if self.marks_message(region) {
            self.message_marker_tokens
        } else {
            0
        };
        self.end_marker_tokens + message_marker
    }

    /// Returns true if a region takes the last human turn in, and leaves room for a marker of it.
    pub fn marks_message(&self, region: Region) -> bool {
        let takes_message = self.outline.last_human.is_some_and(|last| region.contains(last));
        let around = self.cost_without(region) + self.end_marker_tokens + self.message_marker_tokens;
        takes_message && around + TEMPLATE_TOKENS + SMALLEST_SUMMARY <= self.target()
    }

    /// Returns the room in tokens that a region leaves under the budget for the text of its summary.
    pub fn summary_room(&self, region: Region, measured: PlanCorrection) -> usize {
        let left = measured.beyond(self.cost_without(region) + self.around_summary(region));
        self.target().saturating_sub(left)
    }

    /// Returns the most tokens that the summary of a region may have: the room left under the budget, up to the maximum
    /// allowed; less than the summary target where only that makes the trajectory fit; the minimum where there is no
    /// room. If the plan of another region was wrong, the summary target is the maximum.
    pub fn summary_budget(&self, region: Region, measured: PlanCorrection) -> usize {
        let settings = &self.fitter.settings;
        let room = self.summary_room(region, measured);
        if room < SMALLEST_SUMMARY {
            settings.summary_size.smallest()
        } else if measured.is_of(region) {
            room.min(settings.summary_max_tokens)
        } else {
            room.min(self.summary_target(region))
        }
    }

    /// Returns the most tokens of a first summary in its turn, if an end marker follows it.
    pub fn summary_turn_budget(&self, region: Region) -> usize {
        self.summary_budget(region, PlanCorrection::default()) + self.marker_tokens(region)
    }

    /// Returns true if the summary of a region gets less than the summary target, markers included, for lack of turns.
    pub fn is_starved(&self, region: Region, measured: PlanCorrection) -> bool {
        let wanted = self.summary_target(region);
        let budget = self.summary_budget(region, measured);
        budget < wanted && self.summary_room(region, measured) + self.around_summary(region) < wanted
    }

    /// Returns true if a starved summary may be written again with more room, which the written record left.
    pub fn has_regained(&self, was_starved: bool, region: Region, measured: PlanCorrection) -> bool {
        was_starved && !self.is_starved(region, measured)
    }

    /// Returns the corrections that a written record implies for the plan of its region.
    pub fn measured(&self, region: Region, summary_tokens: usize, written_tokens: usize) -> PlanCorrection {
        let planned = self.cost_without(region) + self.around_summary(region) + summary_tokens;
        PlanCorrection {
            excess: written_tokens.cast_signed() - planned.cast_signed(),
            region: Some(region),
        }
    }

    /// Returns the region extended by twice the missing tokens (a template may add again what it added for removed
    /// turns), by at least one group; `None` where no group is left.
    pub fn extended(
        &self,
        region: Region,
        measured: PlanCorrection,
        written_tokens: usize,
    ) -> Option<Region> {
        let missing = written_tokens.saturating_sub(self.target());
        let freed = freed(self.outline, &region.range());
        let size = self.fitter.settings.summary_size;
        let net = freed as i128 - size.of(freed) as i128 + 2 * missing as i128;
        let need = self.need(measured).max(size.freed_for(net));
        let end = self.compressible.end;
        extend(self.outline, &self.cut_points, region, end, need)
    }

    /// Returns true if a shorter summary of the same region would make the record fit.
    pub fn can_shrink(&self, region: Region, measured: PlanCorrection, summary_tokens: usize) -> bool {
        (SMALLEST_SUMMARY..summary_tokens).contains(&self.summary_room(region, measured))
    }

    /// Returns true if a shorter summary of the same region, still of the target size, would make the record fit.
    pub fn can_shrink_to_target(
        &self,
        region: Region,
        measured: PlanCorrection,
        summary_tokens: usize,
    ) -> bool {
        self.can_shrink(region, measured, summary_tokens)
            && self.summary_room(region, measured) >= self.summary_target(region)
    }
}
