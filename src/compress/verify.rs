//! The final check of a compressed record: invariants 1 to 6, on the text that will be written.

use super::{Outline, Region};
use crate::trajectory::Role;

/// A compressed trajectory and its original, as texts to compare and counts to add up.
pub struct Compressed<'a, T> {
    /// The facts about the original.
    pub outline: &'a Outline,
    /// The turns replaced.
    pub region: Region,
    /// The original turns.
    pub original_turns: &'a [T],
    /// The turn of the original that loses an earlier summary, with the text of it that must be kept.
    pub in_place: Option<(usize, &'a str)>,
    /// The turns as written.
    pub written_turns: &'a [T],
    /// The text of the original before its first turn and after its last.
    pub original_frame: (&'a str, &'a str),
    /// The same of the written record.
    pub written_frame: (&'a str, &'a str),
    /// Kept turns that may have gained text at one place: the system turn, and the turn that received the summary.
    pub appended: &'a [usize],
    /// The text of the last human turn, where the region contains it.
    pub quoted_human: Option<&'a str>,
    /// The text of the summary as written.
    pub summary_text: &'a str,
    /// The summary is a turn of its own.
    pub own_turn: bool,
    /// The cost of the written trajectory in tokens, its changed turns counted as written.
    pub written_tokens: usize,
}

/// An invariant that does not hold: a bug of this program, which must not reach the data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A kept turn, or the text around the turns, changed.
    #[error("a kept part changed ({0})")]
    KeptPartChanged(String),
    /// A group lies partly inside the region.
    #[error("the group of turn {0} is split")]
    GroupSplit(usize),
    /// The last human or assistant turn is gone.
    #[error("the last {0} turn is gone")]
    LastTurnGone(&'static str),
    /// The compressed trajectory is not smaller.
    #[error("{written} tokens written, {original} before")]
    NotSmaller {
        /// Tokens after compression.
        written: usize,
        /// Tokens before compression.
        original: usize,
    },
}

/// Checks a compressed record.
pub fn verify<T: AsRef<str>>(compressed: &Compressed<'_, T>) -> Result<(), Violation> {
    kept_parts_are_identical(compressed)?;
    groups_are_whole(compressed.outline, compressed.region)?;
    last_turns_are_kept(compressed)?;
    let original = compressed.outline.total();
    if compressed.written_tokens >= original {
        return Err(Violation::NotSmaller {
            written: compressed.written_tokens,
            original,
        });
    }
    Ok(())
}

fn kept_parts_are_identical<T: AsRef<str>>(compressed: &Compressed<'_, T>) -> Result<(), Violation> {
    let changed = |what: String| Err(Violation::KeptPartChanged(what));
    if compressed.original_frame != compressed.written_frame {
        return changed("the fields around the turns".to_owned());
    }
    let Compressed {
        original_turns,
        written_turns,
        region,
        ..
    } = compressed;
    let summary_turns = usize::from(compressed.own_turn);
    let expected = original_turns.len() + summary_turns - region.range().len();
    if written_turns.len() != expected {
        return changed(format!("{} turns, {expected} expected", written_turns.len()));
    }
    let kept = (0..region.start()).chain(region.end()..original_turns.len());
    for index in kept {
        let shift = if index < region.start() {
            0
        } else {
            region.range().len() - summary_turns
        };
        let in_place = compressed.in_place.filter(|(turn, _)| *turn == index);
        let original = original_turns.get(index).map(AsRef::as_ref);
        let original = in_place.map(|(_, text)| text).or(original);
        let written = written_turns.get(index - shift).map(AsRef::as_ref);
        let extended = || match (original, written) {
            (Some(original), Some(written)) => is_extension(original, written),
            _ => false,
        };
        let kept = original == written || (compressed.appended.contains(&index) && extended());
        if !kept {
            return changed(format!("turn {index}"));
        }
    }
    Ok(())
}

/// Returns true if `written` is `original` with something inserted at one place.
fn is_extension(original: &str, written: &str) -> bool {
    let (original, written) = (original.as_bytes(), written.as_bytes());
    let head = original
        .iter()
        .zip(written)
        .take_while(|(left, right)| left == right)
        .count();
    let tail = original
        .iter()
        .rev()
        .zip(written.iter().rev())
        .take_while(|(left, right)| left == right)
        .count();
    written.len() > original.len() && head + tail >= original.len()
}

fn groups_are_whole(outline: &Outline, region: Region) -> Result<(), Violation> {
    let links = outline
        .turns
        .iter()
        .enumerate()
        .filter_map(|(turn, facts)| Some((turn, facts.answers(turn)?)));
    match links
        .into_iter()
        .find(|&(turn, call)| region.contains(turn) != region.contains(call))
    {
        Some((_, call)) => Err(Violation::GroupSplit(call)),
        None => Ok(()),
    }
}

fn last_turns_are_kept<T>(compressed: &Compressed<'_, T>) -> Result<(), Violation> {
    let replaced = |turn: Option<usize>| turn.is_some_and(|turn| compressed.region.contains(turn));
    if replaced(compressed.outline.last_of(Role::Assistant)) {
        return Err(Violation::LastTurnGone("assistant"));
    }
    let quoted = compressed
        .quoted_human
        .is_some_and(|text| compressed.summary_text.contains(text));
    if replaced(compressed.outline.last_human) && !quoted {
        return Err(Violation::LastTurnGone("human"));
    }
    Ok(())
}
