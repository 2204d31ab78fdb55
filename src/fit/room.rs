//! The room that a summary has: tokens that a region frees, what is left under the target, and what writing has shown of it.

use super::case::Case;
use crate::compress::{Region, extend, freed};

/// The smallest summary worth writing, in tokens: room for less than this is not worth squeezing into.
const SMALLEST_SUMMARY: usize = 48;

/// Tokens that a template may put around a summary, and that turns may cost beyond what they seem to in a rendered chat.
const TEMPLATE_TOKENS: usize = 24;

/// What writing a record has shown about its plan; the default before anything was written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured {
    /// Tokens that the record cost beyond what was planned; negative where it cost less.
    excess: isize,
    /// The region that was written.
    region: Option<Region>,
}

impl Measured {
    /// What planned tokens will really be.
    fn beyond(self, planned: usize) -> usize {
        planned.saturating_add_signed(self.excess)
    }

    /// If what a region costs is not known better from another one.
    fn is_of(self, region: Region) -> bool {
        self.region.is_none_or(|written| written == region)
    }
}

impl Case<'_> {
    /// Tokens that go with an earlier summary at the end of the head.
    pub(super) fn replaced_tokens(&self) -> usize {
        self.merged_before.as_ref().map_or(0, |earlier| earlier.tokens)
    }

    /// Tokens that the region must free for a summary of the target size.
    pub fn need(&self, measured: Measured) -> usize {
        let cost = measured.beyond(self.outline.total() + self.notice_tokens);
        let net = cost as i128 - (self.target() + self.replaced_tokens()) as i128;
        self.fitter.settings.summary_size.freed_for(net)
    }

    /// Tokens that the summary of a region should cost.
    pub fn summary_target(&self, region: Region) -> usize {
        let freed = freed(self.outline, &region.range());
        self.fitter.settings.summary_size.of(freed)
    }

    /// What the summary of a region costs at least by the plan: the target size, or the room that there is where that is less.
    pub fn smallest_cost(&self, region: Region) -> usize {
        let summary = self.summary_budget(region, Measured::default());
        let cost = summary.min(self.summary_target(region)) + self.notice_tokens;
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
    pub fn summary_room(&self, region: Region, measured: Measured) -> usize {
        let left = measured.beyond(self.cost_without(region) + self.around_summary());
        self.target().saturating_sub(left)
    }

    /// Tokens that the summary of a region may cost: all the room left under the target up to the most allowed, and
    /// less than the summary target where only that makes the trajectory fit; as little as any where there is no room. Where the plan
    /// of another region has proved wrong, the summary target is the most.
    pub fn summary_budget(&self, region: Region, measured: Measured) -> usize {
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

    /// What a first summary may cost in its turn, where an end marker follows it.
    pub fn summary_turn_budget(&self, region: Region) -> usize {
        self.summary_budget(region, Measured::default()) + self.end_marker_tokens
    }

    /// Whether the summary of a region gets less than the summary target, markers included: no more turns could be taken.
    pub fn is_starved(&self, region: Region, measured: Measured) -> bool {
        let wanted = self.summary_target(region);
        let budget = self.summary_budget(region, measured);
        budget < wanted && self.summary_room(region, measured) + self.around_summary() < wanted
    }

    /// If a starved summary may be written again with more room: the record as written left it.
    pub fn has_regained(&self, was_starved: bool, region: Region, measured: Measured) -> bool {
        was_starved && !self.is_starved(region, measured)
    }

    /// What a written record says about the plan of its region.
    pub fn measured(&self, region: Region, summary_tokens: usize, written_tokens: usize) -> Measured {
        let planned = self.cost_without(region) + self.around_summary() + summary_tokens;
        Measured {
            excess: written_tokens.cast_signed() - planned.cast_signed(),
            region: Some(region),
        }
    }

    /// The region extended by twice what is missing (what a template adds for turns that are gone, it may add again), by one
    /// group at the least; `None` where no group is left.
    pub fn extended(&self, region: Region, measured: Measured, written_tokens: usize) -> Option<Region> {
        let missing = written_tokens.saturating_sub(self.target());
        let freed = freed(self.outline, &region.range());
        let size = self.fitter.settings.summary_size;
        let net = freed as i128 - size.of(freed) as i128 + 2 * missing as i128;
        let need = self.need(measured).max(size.freed_for(net));
        let end = self.compressible.end;
        extend(self.outline, &self.cut_points, region, end, need)
    }

    /// If a shorter summary of the same region would make the record fit.
    pub fn can_shrink(&self, region: Region, measured: Measured, summary_tokens: usize) -> bool {
        (SMALLEST_SUMMARY..summary_tokens).contains(&self.summary_room(region, measured))
    }

    /// If a summary of the same region would make the record fit that is shorter, and still of the target size.
    pub fn can_shrink_to_target(&self, region: Region, measured: Measured, summary_tokens: usize) -> bool {
        self.can_shrink(region, measured, summary_tokens)
            && self.summary_room(region, measured) >= self.summary_target(region)
    }
}
