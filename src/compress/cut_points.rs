//! The boundaries that a region may have: never inside a group, and never before a tool turn.

use std::ops::Range;

use super::Outline;
use crate::trajectory::Role;

/// The legal boundaries of one trajectory. Both of its ends are always legal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutPoints {
    /// True at `i` if a boundary may lie before turn `i`; one entry more than turns.
    legal: Vec<bool>,
}

/// The turns that a summary replaces, between two cut points, so that no group is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    start: usize,
    end: usize,
}

impl CutPoints {
    /// Finds the cut points of a trajectory.
    pub fn of(outline: &Outline) -> Self {
        let count = outline.turns.len();
        let mut legal = vec![true; count + 1];
        // The open group that begins earliest decides: walk backward, keeping the earliest call not yet reached.
        let mut earliest_call = count;
        for (index, turn) in outline.turns.iter().enumerate().rev() {
            if let Some(call) = turn.answers(index) {
                earliest_call = earliest_call.min(call);
            }
            let inside_group = earliest_call < index;
            let is_tool = turn.role == Role::Tool && index > 0;
            if let Some(legal) = legal.get_mut(index).filter(|_| inside_group || is_tool) {
                *legal = false;
            }
        }
        Self { legal }
    }

    /// Returns true if a boundary may lie before turn `index`.
    pub fn is_cut(&self, index: usize) -> bool {
        self.legal.get(index).copied().unwrap_or(false)
    }

    /// Returns the nearest cut point at or after `index`; the trajectory's end where there is none.
    pub fn at_or_after(&self, index: usize) -> usize {
        let end = self.legal.len().saturating_sub(1);
        (index..end)
            .find(|&candidate| self.is_cut(candidate))
            .unwrap_or(end)
    }

    /// Returns the nearest cut point at or before `index`.
    pub fn at_or_before(&self, index: usize) -> usize {
        let end = self.legal.len().saturating_sub(1);
        (0..=index.min(end))
            .rev()
            .find(|&candidate| self.is_cut(candidate))
            .unwrap_or(0)
    }

    /// Returns the region between two cut points; `None` where it would be empty or either is no cut point.
    pub fn region(&self, start: usize, end: usize) -> Option<Region> {
        (start < end && self.is_cut(start) && self.is_cut(end)).then_some(Region { start, end })
    }
}

impl Region {
    /// The index of the first turn replaced.
    pub fn start(self) -> usize {
        self.start
    }

    /// The index after the last turn replaced.
    pub fn end(self) -> usize {
        self.end
    }

    /// The indexes of the turns replaced.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns true if a turn is replaced.
    pub fn contains(self, turn: usize) -> bool {
        self.range().contains(&turn)
    }
}
