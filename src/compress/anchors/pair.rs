//! Scores the grounding of a compressed trajectory: the identifiers that its kept assistant turns rely on.

use std::borrow::Cow;

use super::{Matcher, used};
use crate::compress::alignment::{Origin, WithoutSummaries, align};
use crate::trajectory::{Role, TurnView, Turns};

/// An identifier that kept assistant turns use and, before them, only removed turns contained.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needed {
    /// The identifier, as written.
    pub text: String,
    /// Number of uses in kept assistant turns.
    pub uses: usize,
    /// The index of the turn of the compressed trajectory that uses it first.
    pub first_turn: usize,
    /// A new, extended or updated turn before `first_turn` contains it; otherwise it dangles.
    pub is_held: bool,
}

/// The result of comparing a trajectory with its original.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PairScore {
    /// The identifiers needed, in order of first use.
    pub needed: Vec<Needed>,
    /// The origin of each turn of the compressed trajectory.
    pub origins: Vec<Origin>,
    /// Number of assistant turns of the compressed trajectory.
    pub assistant_turns: usize,
    /// Number of those that are not in the original, so that it is unknown what they rely on.
    pub changed_assistant_turns: usize,
}

impl PairScore {
    /// Returns the number of needed identifiers that are held.
    pub fn held(&self) -> usize {
        self.needed.iter().filter(|needed| needed.is_held).count()
    }

    /// Returns true if there are assistant turns, but none from the original: nothing can be judged.
    pub fn is_unjudged(&self) -> bool {
        self.assistant_turns > 0 && self.changed_assistant_turns == self.assistant_turns
    }
}

/// Scores `compressed` against `original`.
///
/// An identifier is needed if a kept assistant turn uses it, an earlier turn of the original that was not kept contains
/// it, and no earlier kept turn does. It is held if an earlier turn that is new or changed contains it. `told` is the
/// original without secrets, as a summary may quote it. A replaced or removed summary in a turn counts as not kept, the
/// rest of that turn as kept.
pub fn score<'o, 't, 'c>(
    original: impl Into<Turns<'o>>,
    told: impl Into<Turns<'t>>,
    compressed: impl Into<Turns<'c>>,
    without_summaries: WithoutSummaries,
) -> PairScore {
    let (original, compressed) = (original.into(), compressed.into());
    let origins = align(original, compressed, without_summaries);
    score_aligned(original, told, compressed, origins, without_summaries)
}

/// The same for a known origin of each turn of `compressed`.
pub fn score_aligned<'o, 't, 'c>(
    original: impl Into<Turns<'o>>,
    told: impl Into<Turns<'t>>,
    compressed: impl Into<Turns<'c>>,
    origins: Vec<Origin>,
    without_summaries: WithoutSummaries,
) -> PairScore {
    let (original, told, compressed) = (original.into(), told.into(), compressed.into());
    let new_turns = origins
        .iter()
        .enumerate()
        .filter(|(_, origin)| **origin == Origin::New);
    let changed_assistant_turns = new_turns
        .filter_map(|(turn, _)| compressed.get(turn))
        .filter(|turn| turn.role == Role::Assistant)
        .count();
    let kept = || {
        let turns = origins.iter().enumerate();
        turns.filter_map(|(index, origin)| {
            let turn = original.get(origin.turn()?)?;
            let left = match origin {
                Origin::Updated(_) => without_summaries(&turn).map(TurnView::into_owned),
                _ => None,
            };
            Some((index, left.map_or(turn, Cow::Owned)))
        })
    };
    let (texts, uses) = used(kept());
    let first_turn = |pattern: usize| uses.get(pattern).map_or(0, |used| used.first_turn);
    let first_in_original = |pattern: usize| {
        origins
            .get(first_turn(pattern))
            .and_then(|origin| origin.turn())
            .unwrap_or(0)
    };
    let matcher = Matcher::new(texts.iter().map(String::as_str));
    let mut is_kept = vec![false; original.len()];
    for origin in origins
        .iter()
        .filter(|origin| !matches!(origin, Origin::Updated(_)))
    {
        if let Some(flag) = origin.turn().and_then(|turn| is_kept.get_mut(turn)) {
            *flag = true;
        }
    }
    // Contained in a removed turn before its first use.
    let mut wanted = vec![true; texts.len()];
    let mut open = vec![false; texts.len()];
    let gone = is_kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept);
    for (index, turn) in gone.filter_map(|(index, _)| Some((index, told.get(index)?))) {
        for text in turn.texts() {
            matcher.find(text, &mut wanted, |pattern, _| {
                if index >= first_in_original(pattern) {
                    return true;
                }
                if let Some(is_open) = open.get_mut(pattern) {
                    *is_open = true;
                }
                false
            });
        }
    }
    // And in no kept turn before it.
    for (index, turn) in kept() {
        for text in turn.texts() {
            matcher.find(text, &mut open, |pattern, _| index >= first_turn(pattern));
        }
    }
    let mut lacking = open.clone();
    for (index, origin) in origins.iter().enumerate() {
        let changed = compressed
            .get(index)
            .filter(|_| !matches!(origin, Origin::Kept(_)));
        let Some(turn) = changed else { continue };
        for text in turn.texts() {
            matcher.find(text, &mut lacking, |pattern, _| index >= first_turn(pattern));
        }
    }
    let needed = texts.into_iter().zip(&uses).zip(open.iter().zip(&lacking));
    let needed = needed
        .filter(|(_, (is_open, _))| **is_open)
        .map(|((text, used), (_, is_lacking))| Needed {
            text,
            uses: used.uses,
            first_turn: used.first_turn,
            is_held: !is_lacking,
        });
    PairScore {
        needed: needed.collect(),
        origins,
        assistant_turns: compressed
            .all()
            .filter(|turn| turn.role == Role::Assistant)
            .count(),
        changed_assistant_turns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns<'t>(texts: &[(Role, &'t str)]) -> Vec<TurnView<'t>> {
        let turn = |(index, (role, text)): (usize, &(Role, &'t str))| TurnView::of_text(index, *role, *text);
        texts.iter().enumerate().map(turn).collect()
    }

    fn held(original: &[(Role, &str)], compressed: &[(Role, &str)]) -> Vec<(String, bool)> {
        let original = turns(original);
        let score = score(&original, &original, &turns(compressed), without_summaries);
        score
            .needed
            .into_iter()
            .map(|needed| (needed.text, needed.is_held))
            .collect()
    }

    /// Summaries begin with `SUM` here.
    fn without_summaries<'v>(view: &'v TurnView<'_>) -> Option<TurnView<'v>> {
        let (before, _) = view.text.split_once(" SUM")?;
        let text = Cow::Borrowed(before);
        Some(TurnView { text, ..view.clone() })
    }

    const ORIGINAL: [(Role, &str); 5] = [
        (Role::Human, "mend src/known_file.py"),
        (Role::Assistant, "I look"),
        (Role::Tool, "see lib/deep_one.py and W12345"),
        (
            Role::Assistant,
            "editing lib/deep_one.py, src/known_file.py and my_own_name",
        ),
        (Role::Tool, "ok"),
    ];

    #[test]
    fn a_summary_that_names_it_holds_it() {
        let mut compressed = ORIGINAL.to_vec();
        compressed[2] = (Role::Human, "Summary: lib/deep_one.py was found");
        assert_eq!(
            held(&ORIGINAL, &compressed),
            [("lib/deep_one.py".to_owned(), true)]
        );
        compressed[2] = (Role::Human, "Summary: something was found");
        assert_eq!(
            held(&ORIGINAL, &compressed),
            [("lib/deep_one.py".to_owned(), false)]
        );
    }

    #[test]
    fn turns_that_were_simply_cut_leave_it_dangling_and_a_later_mention_does_not_help() {
        let cut = [ORIGINAL[0], ORIGINAL[3], ORIGINAL[4]];
        assert_eq!(held(&ORIGINAL, &cut), [("lib/deep_one.py".to_owned(), false)]);
        let late = [ORIGINAL[0], ORIGINAL[3], (Role::Human, "lib/deep_one.py")];
        assert_eq!(held(&ORIGINAL, &late), [("lib/deep_one.py".to_owned(), false)]);
    }

    #[test]
    fn what_was_appended_to_a_kept_turn_counts() {
        let merged = [
            (Role::Human, "mend src/known_file.py\n\nlib/deep_one.py exists"),
            ORIGINAL[3],
        ];
        assert_eq!(held(&ORIGINAL, &merged), [("lib/deep_one.py".to_owned(), true)]);
    }

    #[test]
    fn what_only_a_replaced_summary_told_is_gone_and_what_stands_beside_it_is_not() {
        let mut original = ORIGINAL.to_vec();
        original[0] = (
            Role::Human,
            "mend src/known_file.py SUM lib/deep_one.py and W12345",
        );
        original.remove(2);
        let holding = [
            (Role::Human, "mend src/known_file.py SUM lib/deep_one.py"),
            ORIGINAL[3],
        ];
        assert_eq!(held(&original, &holding), [("lib/deep_one.py".to_owned(), true)]);
        let taken_out = [(Role::Human, "mend src/known_file.py"), ORIGINAL[3]];
        assert_eq!(
            held(&original, &taken_out),
            [("lib/deep_one.py".to_owned(), false)]
        );
        let losing = [(Role::Human, "mend src/known_file.py SUM something"), ORIGINAL[3]];
        assert_eq!(held(&original, &losing), [("lib/deep_one.py".to_owned(), false)]);
    }

    #[test]
    fn nothing_is_needed_where_nothing_is_gone_and_changed_assistant_turns_are_counted() {
        assert!(held(&ORIGINAL, &ORIGINAL).is_empty());
        let changed = [ORIGINAL[0], (Role::Assistant, "all of it")];
        let original = turns(&ORIGINAL);
        assert_eq!(
            score(&original, &original, &turns(&changed), without_summaries).changed_assistant_turns,
            1
        );
    }
}
