//! The turns of a record as views: decoded once and kept, or for very many turns decoded on each read.

use std::borrow::Cow;
use std::ops::Range;

use super::decode::{view, view_with};
use crate::trajectory::{Record, Turn, TurnView};

/// Number of views that are kept of any record: a view takes some hundred bytes, even of a short turn.
const FEW: usize = 8 * 1024;

/// Bytes of a record for which one more view is kept.
const BYTES_A_VIEW: usize = 2048;

/// Returns the most turns of a record of so many bytes that may be held decoded at once.
pub fn most_views(bytes: usize) -> usize {
    FEW + bytes / BYTES_A_VIEW
}

impl<'a> Record<'a> {
    /// Returns the text before the first turn and the text after the last.
    pub fn frame(&self) -> (&'a str, &'a str) {
        let turns = self.turns_span();
        (
            self.text.get(..turns.start).unwrap_or_default(),
            self.text.get(turns.end..).unwrap_or_default(),
        )
    }

    /// Returns a turn decoded, counted from 0; `None` after the last one.
    pub fn view(&self, turn: usize) -> Option<TurnView<'a>> {
        self.turns.get(turn).map(|found| view(found, turn))
    }
}

/// The turns of one record, to be read as often as needed.
#[derive(Debug)]
pub struct Views<'a> {
    turns: &'a [Turn<'a>],
    /// The views of all turns; `None` if there are too many to keep.
    kept: Option<Vec<TurnView<'a>>>,
}

impl<'a> Views<'a> {
    /// Returns the turns of a record. `texts` are contents already decoded, each with its turn's index, in order.
    pub fn of(record: &'a Record<'a>, texts: Vec<(u32, String)>) -> Self {
        let turns = record.turns.as_slice();
        let mut texts = texts.into_iter().peekable();
        let mut decoded = |(index, turn): (usize, &Turn<'a>)| {
            let text = texts.next_if(|(at, _)| *at as usize == index);
            view_with(turn, index, text.map(|(_, text)| text))
        };
        let is_few = turns.len() <= most_views(record.text.len());
        let kept = is_few.then(|| turns.iter().enumerate().map(&mut decoded).collect());
        Self { turns, kept }
    }

    /// Returns the turns of a record of which some are known from another one: `known` returns the view of such a turn there.
    pub fn sharing(record: &'a Record<'a>, known: impl Fn(usize) -> Option<&'a TurnView<'a>>) -> Self {
        let turns = record.turns.as_slice();
        let decoded = |(index, turn)| match known(index) {
            Some(view) => view.borrowed(index),
            None => view(turn, index),
        };
        let is_few = turns.len() <= most_views(record.text.len());
        let kept = is_few.then(|| turns.iter().enumerate().map(decoded).collect());
        Self { turns, kept }
    }

    /// Returns one turn.
    pub fn get(&self, turn: usize) -> Option<Cow<'_, TurnView<'a>>> {
        match &self.kept {
            Some(kept) => kept.get(turn).map(Cow::Borrowed),
            None => self.turns.get(turn).map(|found| Cow::Owned(view(found, turn))),
        }
    }

    /// Returns all views, if they are kept.
    pub fn kept(&self) -> Option<&[TurnView<'a>]> {
        self.kept.as_deref()
    }

    /// Returns the views of a range of turns, in order.
    pub fn range(
        &self,
        turns: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Cow<'_, TurnView<'a>>> + Clone + '_ {
        let end = turns.end.min(self.turns.len());
        (turns.start..end).filter_map(|turn| self.get(turn))
    }

    /// Returns the views of all turns, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Cow<'_, TurnView<'a>>> + Clone + '_ {
        self.range(0..self.turns.len())
    }

    /// Returns the turns, kept or not.
    pub fn turns(&self) -> Turns<'_> {
        match &self.kept {
            Some(kept) => Turns::Kept(kept),
            None => Turns::Read(self.turns, 0),
        }
    }

    /// Returns a range of the turns; indexes are then relative to its start.
    pub fn part(&self, turns: Range<usize>) -> Turns<'_> {
        match &self.kept {
            Some(kept) => Turns::Kept(kept.get(turns).unwrap_or_default()),
            None => Turns::Read(self.turns.get(turns.clone()).unwrap_or_default(), turns.start),
        }
    }
}

/// Turns to be read in order, as often as needed.
#[derive(Clone, Copy)]
pub enum Turns<'v> {
    /// Views of the turns.
    Kept(&'v [TurnView<'v>]),
    /// The turns themselves, and the index of the first in its trajectory.
    Read(&'v [Turn<'v>], usize),
    /// A number of turns, made by a function from their indexes.
    Made(usize, &'v (dyn Fn(usize) -> Option<TurnView<'v>> + 'v)),
}

impl<'v> Turns<'v> {
    /// Returns the number of turns.
    pub fn len(self) -> usize {
        match self {
            Self::Kept(views) => views.len(),
            Self::Read(turns, _) => turns.len(),
            Self::Made(count, _) => count,
        }
    }

    /// Returns true if there are no turns.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns one turn.
    pub fn get(self, turn: usize) -> Option<Cow<'v, TurnView<'v>>> {
        match self {
            Self::Kept(views) => views.get(turn).map(Cow::Borrowed),
            Self::Read(turns, first) => {
                let found = turns.get(turn)?;
                Some(Cow::Owned(view(found, first + turn)))
            }
            Self::Made(_, make) => make(turn).map(Cow::Owned),
        }
    }

    /// Returns a range of turns, in order.
    pub fn range(
        self,
        turns: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Cow<'v, TurnView<'v>>> + Clone {
        (turns.start..turns.end.min(self.len())).filter_map(move |turn| self.get(turn))
    }

    /// Returns all turns, in order.
    pub fn all(self) -> impl DoubleEndedIterator<Item = Cow<'v, TurnView<'v>>> + Clone {
        self.range(0..self.len())
    }
}

impl<'v> From<&'v [TurnView<'v>]> for Turns<'v> {
    fn from(views: &'v [TurnView<'v>]) -> Self {
        Self::Kept(views)
    }
}

impl<'v, const N: usize> From<&'v [TurnView<'v>; N]> for Turns<'v> {
    fn from(views: &'v [TurnView<'v>; N]) -> Self {
        Self::Kept(views)
    }
}

impl<'v> From<&'v Vec<TurnView<'v>>> for Turns<'v> {
    fn from(views: &'v Vec<TurnView<'v>>) -> Self {
        Self::Kept(views)
    }
}
