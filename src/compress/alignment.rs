//! Matches the turns of a compressed trajectory with the turns of its original, whatever program compressed it.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::trajectory::json::leaves;
use crate::trajectory::{ToolCall, TurnView, Turns};

/// The origin of a turn of a compressed trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The turn has the content of this turn of the original.
    Kept(usize),
    /// The turn has the content of this turn and more: a notice, or a summary before or after it.
    Extended(usize),
    /// The turn has the content of this turn, but for a summary in it that was replaced or removed.
    Updated(usize),
    /// The turn is new or changed.
    New,
}

impl Origin {
    /// The turn of the original; `None` for a new turn.
    pub fn turn(self) -> Option<usize> {
        match self {
            Self::Kept(turn) | Self::Extended(turn) | Self::Updated(turn) => Some(turn),
            Self::New => None,
        }
    }
}

/// Returns a turn without its summaries; `None` where it has no summary, or nothing else.
pub type WithoutSummaries = for<'v, 't> fn(&'v TurnView<'t>) -> Option<TurnView<'v>>;

/// Most pairs of turns compared for the longest common subsequence; beyond that, each turn takes the next equal one.
const MAX_PAIRS: usize = 4_000_000;

/// Returns the origin of each turn of `compressed`. Turns are compared by content (role, text, calls, answers), not by
/// JSON spelling; kept turns keep their order. `without_summaries` removes summaries that were appended to turns.
pub fn align<'o, 'c>(
    original: impl Into<Turns<'o>>,
    compressed: impl Into<Turns<'c>>,
    without_summaries: WithoutSummaries,
) -> Vec<Origin> {
    let (original, compressed) = (original.into(), compressed.into());
    let (old, new) = (hashes(original), hashes(compressed));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let pairs = old.iter().rev().zip(new.iter().rev());
    let tail = pairs.take(most).take_while(|(a, b)| a == b).count();
    let old_middle = old.get(head..old.len() - tail).unwrap_or_default();
    let new_middle = new.get(head..new.len() - tail).unwrap_or_default();
    let matched = if old_middle.len() * new_middle.len() <= MAX_PAIRS {
        longest(old_middle, new_middle)
    } else {
        next_equal(old_middle, new_middle)
    };
    let mut origins: Vec<Origin> = (0..head).map(Origin::Kept).collect();
    let found = |index: Option<usize>| index.map_or(Origin::New, |index| Origin::Kept(head + index));
    origins.extend(matched.into_iter().map(found));
    origins.extend((old.len() - tail..old.len()).map(Origin::Kept));
    extend(&mut origins, original, compressed, without_summaries);
    origins
}

/// Finds the origin of new turns that begin with the content of an original turn between the same neighbours.
fn extend(
    origins: &mut [Origin],
    original: Turns<'_>,
    compressed: Turns<'_>,
    without_summaries: WithoutSummaries,
) {
    let mut from = 0;
    // The turns of the original that contain summaries, without these.
    let of_original = OnceCell::new();
    let all = || {
        let turns = original.all().enumerate();
        let left = turns.filter_map(|(turn, view)| Some((turn, without_summaries(&view)?.into_owned())));
        left.collect::<FxHashMap<usize, TurnView<'static>>>()
    };
    for index in 0..origins.len() {
        if let Some(turn) = origins.get(index).and_then(|origin| origin.turn()) {
            from = turn + 1;
            continue;
        }
        let later = origins.get(index..).unwrap_or_default();
        let to = later
            .iter()
            .find_map(|origin| origin.turn())
            .unwrap_or(original.len());
        let Some(new) = compressed.get(index) else {
            continue;
        };
        let beside = without_summaries(&new);
        let is_updated = |turn: usize| {
            let old = of_original.get_or_init(all).get(&turn);
            old.is_some_and(|old| says_something(old) && continues(beside.as_ref().unwrap_or(&new), old))
        };
        let origin_in = |turn: usize| {
            let old = original.get(turn)?;
            if continues(&new, &old) {
                Some(Origin::Extended(turn))
            } else if is_updated(turn) {
                Some(Origin::Updated(turn))
            } else {
                let is_beside = beside.as_ref().is_some_and(|beside| continues(beside, &old));
                is_beside.then_some(Origin::Extended(turn))
            }
        };
        let found = (from..to).find_map(origin_in);
        if let Some((found, origin)) = found.zip(origins.get_mut(index)) {
            *origin = found;
            from = found.turn().map_or(from, |turn| turn + 1);
        }
    }
}

/// Returns true if the turn has a text that is not blank.
fn says_something(turn: &TurnView<'_>) -> bool {
    turn.texts().any(|text| !text.trim().is_empty())
}

/// Returns true if `new` begins with all that `old` contains.
fn continues(new: &TurnView<'_>, old: &TurnView<'_>) -> bool {
    let said = old.text.trim();
    let answers = || new.responses.iter().zip(&old.responses);
    let goes_on = |new: &str, old: &str| new.trim_start().starts_with(old.trim());
    new.role == old.role
        && (!said.is_empty() || !old.responses.is_empty())
        && goes_on(&new.text, said)
        && new.responses.len() == old.responses.len()
        && answers().all(|(new, old)| goes_on(&new.content, &old.content))
        && new.calls.len() == old.calls.len()
        && new
            .calls
            .iter()
            .zip(&old.calls)
            .all(|(new, old)| hash_of_call(new) == hash_of_call(old))
}

/// Returns the index in `old` of each of `new`, by a longest common subsequence; `None` where it is not part of that.
fn longest(old: &[u64], new: &[u64]) -> Vec<Option<usize>> {
    let width = old.len() + 1;
    let mut lengths = vec![0_u32; width * (new.len() + 1)];
    let length =
        |lengths: &[u32], row: usize, column: usize| lengths.get(row * width + column).copied().unwrap_or(0);
    for (row, a) in new.iter().enumerate().rev() {
        for (column, b) in old.iter().enumerate().rev() {
            let best = if a == b {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let mut column = 0;
    let mut places = Vec::with_capacity(new.len());
    for (row, a) in new.iter().enumerate() {
        let left = length(&lengths, row, column);
        if length(&lengths, row + 1, column) == left {
            places.push(None);
            continue;
        }
        // Part of every longest match from here on: its first equal turn will do.
        let rest = old.get(column..).unwrap_or_default();
        let found = rest.iter().position(|b| a == b).map(|at| column + at);
        places.push(found);
        column = found.map_or(column, |found| found + 1);
    }
    places
}

/// The same in linear time: each of `new` takes the next equal turn of `old`.
fn next_equal(old: &[u64], new: &[u64]) -> Vec<Option<usize>> {
    let mut places: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (index, hash) in old.iter().enumerate() {
        places.entry(*hash).or_default().push(index);
    }
    let mut from = 0;
    new.iter()
        .map(|hash| {
            let all = places.get(hash)?;
            let found = *all.get(all.partition_point(|index| *index < from))?;
            from = found + 1;
            Some(found)
        })
        .collect()
}

fn hashes(turns: Turns<'_>) -> Vec<u64> {
    turns.all().map(|turn| hash_of(&turn)).collect()
}

fn hash_of(turn: &TurnView<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    turn.role.hash(&mut hasher);
    turn.text.trim().hash(&mut hasher);
    turn.calls.len().hash(&mut hasher);
    for call in &turn.calls {
        hash_of_call(call).hash(&mut hasher);
    }
    for response in &turn.responses {
        response.content.trim().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns a hash of a call's name and arguments, without the white space between the arguments.
fn hash_of_call(call: &ToolCall<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    call.name.hash(&mut hasher);
    match leaves::leaves(&call.arguments, usize::MAX) {
        Some(leaves) => {
            for leaf in leaves {
                (leaf.key(), leaf.depth, leaf.value()).hash(&mut hasher);
            }
        }
        None => call.arguments.trim().hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Role;

    fn said(role: Role, text: &str) -> TurnView<'_> {
        TurnView::of_text(0, role, text)
    }

    /// Summaries begin with `SUM` here.
    fn without_summaries<'v>(view: &'v TurnView<'_>) -> Option<TurnView<'v>> {
        let (before, _) = view.text.split_once(" SUM")?;
        Some(said(view.role, before))
    }

    fn turns<'t>(texts: &[&'t str]) -> Vec<TurnView<'t>> {
        texts.iter().map(|text| said(Role::Human, text)).collect()
    }

    fn origins(old: &[&str], new: &[&str]) -> Vec<Origin> {
        align(&turns(old), &turns(new), without_summaries)
    }

    #[test]
    fn turns_are_found_again_around_what_was_replaced_or_cut() {
        use Origin::{Kept, New};
        assert_eq!(
            origins(&["a", "b", "c", "d"], &["a", "sum", "d"]),
            [Kept(0), New, Kept(3)]
        );
        assert_eq!(origins(&["a", "b", "c", "d"], &["a", "d"]), [Kept(0), Kept(3)]);
        let (old, new) = (["a", "b", "c", "d", "e"], ["x", "b", "y", "d", "z"]);
        assert_eq!(origins(&old, &new), [New, Kept(1), New, Kept(3), New]);
        assert_eq!(origins(&[], &["a"]), [New]);
        assert_eq!(origins(&["a"], &[]), []);
    }

    #[test]
    fn a_repeated_turn_is_matched_so_that_most_are() {
        use Origin::{Kept, New};
        assert_eq!(
            origins(&["q", "ok", "a", "ok", "b"], &["sum", "ok", "a", "x"]),
            [New, Kept(1), Kept(2), New]
        );
    }

    #[test]
    fn a_turn_that_goes_on_is_extended() {
        use Origin::{Extended, Kept, New};
        assert_eq!(
            origins(&["system text", "b", "c"], &["system text. Notice", "new", "c"]),
            [Extended(0), New, Kept(2)]
        );
    }

    #[test]
    fn a_turn_whose_summary_was_replaced_is_updated() {
        use Origin::{Extended, Kept, New, Updated};
        let old = ["task", "own words SUM old", "b", "c"];
        assert_eq!(
            origins(&old, &["task", "own words SUM new", "c"]),
            [Kept(0), Updated(1), Kept(3)]
        );
        assert_eq!(
            origins(&old[..2], &["task", "own words SUM old, more"]),
            [Kept(0), Extended(1)]
        );
        assert_eq!(
            origins(&old[..2], &["task", "other words SUM new"]),
            [Kept(0), New]
        );
        assert_eq!(origins(&["a SUM old"], &["b SUM new"]), [New]);
    }

    #[test]
    fn a_turn_whose_summary_was_taken_out_is_updated() {
        use Origin::{Kept, New, Updated};
        let old = ["task", "own words SUM old", "b", "c"];
        assert_eq!(
            origins(&old, &["task", " own words", "new", "c"]),
            [Kept(0), Updated(1), New, Kept(3)]
        );
        // Without the summary, nothing is left to be matched.
        assert_eq!(
            origins(&["task", " SUM old"], &["task", "anything"]),
            [Kept(0), New]
        );
    }

    #[test]
    fn many_turns_are_matched_in_linear_time() {
        let names: Vec<String> = (0..3_000).map(|n| format!("turn {n}")).collect();
        let mut old: Vec<&str> = names.iter().map(String::as_str).collect();
        old.insert(0, "first");
        let new: Vec<&str> = std::iter::once("other")
            .chain(names.iter().map(String::as_str))
            .chain(["last"])
            .collect();
        let origins = origins(&old, &new);
        assert_eq!(
            origins
                .iter()
                .filter(|origin| matches!(origin, Origin::Kept(_)))
                .count(),
            3_000
        );
    }
}
