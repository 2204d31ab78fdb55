//! The turns of a region as its summarizer reads them: without secrets, and only the first and last of very many.

use std::ops::Range;

use super::CompressionCase;
use crate::compress::Region;
use crate::compress::anchors::Anchor;
use crate::fit::redacted::{redacted, redacted_alone};
use crate::trajectory::{TurnView, Turns, most_views};

/// The summarizer's input from a region.
pub struct ReadRegion<'v> {
    /// The turns, in order, each with the number of secrets redacted.
    pub turns: Vec<(TurnView<'v>, usize)>,
    /// Identifiers that kept turns rely on and only the region contains, including turns that are not read.
    pub anchors: Vec<Anchor>,
    /// Number of turns that are not read, since there are too many.
    pub left_out: usize,
}

impl CompressionCase<'_> {
    /// Reads a region, preceded by the earlier summary that its summary replaces.
    pub fn read(&self, region: Region) -> ReadRegion<'_> {
        let merged = self.replaced_summary(region).map(|earlier| &earlier.view);
        let merged = redacted(merged.map_or(&[], std::slice::from_ref), self.redaction());
        let (read, left_out) = self.read_turns(region);
        if left_out == 0 {
            let turns = merged.into_iter().chain(self.without_secrets_in(region.range()));
            let (views, secrets): (Vec<TurnView<'_>>, Vec<usize>) = turns.unzip();
            let anchors = self.anchors_in(region, Turns::Kept(&views));
            return ReadRegion {
                turns: views.into_iter().zip(secrets).collect(),
                anchors,
                left_out,
            };
        }
        let first = region.start() - merged.len().min(region.start());
        let turn = |place: usize| {
            let before = merged.get(place).map(|(view, _)| view.clone());
            before.or_else(|| Some(redacted_alone(self.read_views.get(first + place)?, self.redaction()).0))
        };
        let anchors = self.anchors_in(region, Turns::Made(region.end() - first, &turn));
        let [start, end] = read;
        let turns = self
            .without_secrets_in(start)
            .into_iter()
            .chain(self.without_secrets_in(end));
        ReadRegion {
            turns: merged.clone().into_iter().chain(turns).collect(),
            anchors,
            left_out,
        }
    }

    fn anchors_in(&self, region: Region, turns: Turns<'_>) -> Vec<Anchor> {
        if self.fitter.settings.grounding {
            self.anchors(region, turns)
        } else {
            Vec::new()
        }
    }

    /// Returns the turns of a region that are read, and the number of those that are not.
    fn read_turns(&self, region: Region) -> ([Range<usize>; 2], usize) {
        let (start, end) = (region.start(), region.end());
        let most = most_views(self.record.text.len());
        let left_out = region.range().len().saturating_sub(most);
        if left_out == 0 {
            return ([start..end, end..end], 0);
        }
        let half = start + most / 2;
        ([start..half, half + left_out..end], left_out)
    }

    fn without_secrets_in(&self, turns: Range<usize>) -> Vec<(TurnView<'_>, usize)> {
        if let Some(kept) = self.read_views.kept() {
            return redacted(kept.get(turns).unwrap_or_default(), self.redaction());
        }
        let views = self.read_views.range(turns);
        views.map(|view| redacted_alone(view, self.redaction())).collect()
    }
}
