//! A summary written into its record, where it disturbs the rest least.

use super::TurnCounter;
use super::attempt::{Attempt, Unwritten, Written};
use super::case::Case;
use crate::compress::{Placement, Region, SummaryPlacement, Violation, place};

impl Case<'_> {
    /// Writes `summary` in place of a region.
    ///
    /// What a template does with the rest is only known when it has rendered the whole: where the placement is left to
    /// us and the first one is refused or changes kept turns, the other one is tried, and the better one taken.
    pub fn write(
        &self,
        region: Region,
        summary: &str,
        counter: &mut TurnCounter<'_>,
    ) -> Result<Written, Unwritten> {
        // An earlier summary is replaced where it stands: the new one is written from it.
        let wanted = match self.merged_before(region) {
            Some(_) => SummaryPlacement::Merge,
            None => self.fitter.settings.summary_placement,
        };
        let placement = place(self.outline, region, wanted);
        let first = self.attempt(region, placement, summary, counter);
        if placement.merged_into.is_some()
            && matches!(first, Err(Unwritten::Violation(Violation::LastTurnGone(_))))
        {
            // Tags in the person's words would make them a tool's in the turn that takes the summary in.
            let own_turn = Placement {
                refused: true,
                ..place(self.outline, region, SummaryPlacement::Human)
            };
            return self.attempt(region, own_turn, summary, counter);
        }
        let undisturbed = match &first {
            Ok(written) => written.changed_turns == 0,
            Err(Unwritten::Refused(_)) => false,
            Err(Unwritten::Violation(_)) => true,
        };
        if wanted != SummaryPlacement::Auto || undisturbed {
            return first;
        }
        let other = if placement.merged_into.is_some() {
            SummaryPlacement::Human
        } else {
            SummaryPlacement::Merge
        };
        let other = place(self.outline, region, other);
        if other.refused {
            return first;
        }
        match (first, self.attempt(region, other, summary, counter)) {
            (Err(_), second) => second,
            (Ok(first), Ok(second)) if second.changed_turns < first.changed_turns => Ok(second),
            (first, _) => first,
        }
    }

    fn attempt(
        &self,
        region: Region,
        placement: Placement,
        summary: &str,
        counter: &mut TurnCounter<'_>,
    ) -> Result<Written, Unwritten> {
        let attempt = Attempt {
            case: self,
            region,
            placement,
        };
        attempt.write(summary, counter)
    }
}
