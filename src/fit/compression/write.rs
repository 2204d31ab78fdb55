//! Writes a summary into its record, where it keeps the order of roles and changes kept turns least.

use super::CompressionCase;
use super::correction::PlanCorrection;
use super::placed::Placed;
use super::rewrite::{Rewrite, RewriteError, RewrittenRecord};
use crate::compress::{Placement, Reason, Region, SummaryPlacement, Violation, moved};
use crate::fit::TurnCounter;
use crate::summarize::marker::with_marker;

/// Number of extensions tried until a region has a place for its summary.
const MAX_EXTENSIONS: usize = 4;

impl CompressionCase<'_> {
    /// Returns the places for the summary of a region; without any, those of a region that differs by a group.
    ///
    /// # Errors
    ///
    /// There is no place: the chat template refuses all of them, or no order of roles would be kept.
    pub fn placed(&self, planned: Region) -> Result<Placed, RewriteError> {
        let mut refused = None;
        let mut in_region = |region: Region, is_moved: bool| {
            let placements = self.placements_of(region, &mut refused);
            (!placements.is_empty()).then_some(Placed {
                region,
                is_moved,
                placements,
            })
        };
        let found = in_region(planned, false).or_else(|| {
            let may_move_start = self.replaced_summary(planned).is_none();
            let end = self.compressible.end;
            let others = moved(self.outline, &self.cut_points, planned, end, may_move_start);
            others.into_iter().find_map(|other| in_region(other, true))
        });
        found.ok_or_else(|| refused.unwrap_or(RewriteError::NoPlace))
    }

    /// Returns a region extended by the missing tokens, with places for its summary; `None` where no group is left.
    pub fn extended_and_placed(
        &self,
        from: Region,
        measured: PlanCorrection,
        written_tokens: usize,
    ) -> Option<Placed> {
        let mut wanted = self.extended(from, measured, written_tokens)?;
        for _ in 0..MAX_EXTENSIONS {
            let placed = self.placed(wanted).ok();
            // A region that was moved back may be no extension.
            if let Some(placed) = placed.filter(|placed| placed.region.end() > from.end()) {
                return Some(placed);
            }
            wanted = self.extended(wanted, measured, written_tokens)?;
        }
        None
    }

    fn placements_of(&self, region: Region, refused: &mut Option<RewriteError>) -> Vec<Placement> {
        let is_update = self.replaced_summary(region).is_some();
        let settings = &self.fitter.settings;
        let setting = settings.summary_placement;
        let all = setting.places(self.outline, region, &settings.role_orders, is_update);
        if setting == SummaryPlacement::Auto {
            self.tried(region, all, refused)
        } else {
            all
        }
    }

    /// Returns the places that the chat template accepts and that keep a person's words theirs; those that change the
    /// fewest kept turns come first.
    fn tried(
        &self,
        region: Region,
        all: Vec<Placement>,
        refused: &mut Option<RewriteError>,
    ) -> Vec<Placement> {
        let quotes_human = self.outline.last_human.is_some_and(|last| region.contains(last));
        if self.counted.rendering().is_none() && !quotes_human {
            return all;
        }
        let stand_in = with_marker("(summary)");
        let mut tried: Vec<(usize, Placement)> = Vec::new();
        let mut all = all.into_iter();
        for placement in all.by_ref() {
            let attempt = Rewrite {
                case: self,
                region,
                placement,
            };
            match attempt.changed_turns(&stand_in) {
                Ok(changed) => tried.push((changed, placement)),
                Err(RewriteError::Refused(refusal)) => {
                    refused.get_or_insert(RewriteError::Refused(refusal));
                }
                Err(_) => {}
            }
            // No other place is better, and the later ones need not be rendered.
            if tried.last().is_some_and(|(changed, _)| *changed == 0) {
                break;
            }
        }
        tried.sort_by_key(|(changed, _)| *changed);
        tried
            .into_iter()
            .map(|(_, placement)| placement)
            .chain(all)
            .collect()
    }

    /// Writes `summary` in place of a region, in the first of its places where that is possible.
    pub fn write(
        &self,
        placed: &Placed,
        summary: &str,
        counter: &mut TurnCounter<'_>,
    ) -> Result<RewrittenRecord, RewriteError> {
        let mut first: Option<RewriteError> = None;
        for &placement in &placed.placements {
            let is_template = matches!(first, Some(RewriteError::Refused(_)));
            if placement.refused && is_template {
                break;
            }
            let attempt = Rewrite {
                case: self,
                region: placed.region,
                placement,
            };
            match attempt.write(summary, counter) {
                Err(
                    unwritten @ (RewriteError::Refused(_)
                    | RewriteError::Violation(Violation::LastTurnGone(_))),
                ) => {
                    first.get_or_insert(unwritten);
                }
                written => return written,
            }
        }
        Err(first.unwrap_or(RewriteError::NoPlace))
    }
}

impl RewriteError {
    /// Returns the reason for keeping a record whose summary has no place.
    pub fn no_place() -> Reason {
        let detail = "wherever it stood, the order of roles would break";
        Reason::with(Reason::NO_PLACE_FOR_SUMMARY, detail)
    }
}
