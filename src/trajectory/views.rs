//! The turns of a record as views: decoded once and kept, or, where there are very many, decoded whenever they are read.

use std::borrow::Cow;
use std::ops::Range;

use super::decode::{view, view_with};
use super::{Record, Turn, TurnView};

/// Views that are kept of any record: what is made of a turn takes some hundred bytes, however little it says.
const FEW: usize = 8 * 1024;

/// Bytes of a record for which one more view is kept.
const BYTES_A_VIEW: usize = 2048;

/// How many turns of a record of so many bytes may be held decoded at once.
pub fn most_views(bytes: usize) -> usize {
    FEW + bytes / BYTES_A_VIEW
}

impl<'a> Record<'a> {
    /// A turn decoded, counted from 0; `None` beyond the last one.
    pub fn view(&self, turn: usize) -> Option<TurnView<'a>> {
        self.turns.get(turn).map(|found| view(found, turn))
    }
}

/// The turns of one record, to be read as often as needed.
#[derive(Debug)]
pub struct Views<'a> {
    turns: &'a [Turn<'a>],
    /// Their views; `None` where there are too many to keep them.
    kept: Option<Vec<TurnView<'a>>>,
}

impl<'a> Views<'a> {
    /// The turns of a record. `texts` are contents that are decoded already, with their turns, in order.
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

    /// One turn.
    pub fn get(&self, turn: usize) -> Option<Cow<'_, TurnView<'a>>> {
        match &self.kept {
            Some(kept) => kept.get(turn).map(Cow::Borrowed),
            None => self.turns.get(turn).map(|found| Cow::Owned(view(found, turn))),
        }
    }

    /// All views, where they are kept.
    pub fn kept(&self) -> Option<&[TurnView<'a>]> {
        self.kept.as_deref()
    }

    /// Some of the turns, in order.
    pub fn range(
        &self,
        turns: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Cow<'_, TurnView<'a>>> + Clone + '_ {
        let end = turns.end.min(self.turns.len());
        (turns.start..end).filter_map(|turn| self.get(turn))
    }

    /// All turns, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Cow<'_, TurnView<'a>>> + Clone + '_ {
        self.range(0..self.turns.len())
    }

    /// The turns, for those who do not care whether they are kept.
    pub fn turns(&self) -> Turns<'_> {
        match &self.kept {
            Some(kept) => Turns::Kept(kept),
            None => Turns::Read(self.turns, 0),
        }
    }

    /// Some of the turns: what `get` takes is then their place among these.
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
    /// Their views.
    Kept(&'v [TurnView<'v>]),
    /// They themselves, and the place of the first in its trajectory.
    Read(&'v [Turn<'v>], usize),
    /// So many turns, made by a function from their places.
    Made(usize, &'v (dyn Fn(usize) -> Option<TurnView<'v>> + 'v)),
}

impl<'v> Turns<'v> {
    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Self::Kept(views) => views.len(),
            Self::Read(turns, _) => turns.len(),
            Self::Made(count, _) => count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// One of them.
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

    /// Some of them, in order.
    pub fn range(
        self,
        turns: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Cow<'v, TurnView<'v>>> + Clone {
        (turns.start..turns.end.min(self.len())).filter_map(move |turn| self.get(turn))
    }

    /// All of them, in order.
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
