//! The beginnings that a program gives its turns in a person's role, learned from the record: nobody begins answer after answer
//! with the same label.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// Answers that must begin alike.
const LEAST: usize = 3;

/// Such beginnings of a record at most.
const MOST: usize = 4;

/// Length of a beginning in bytes: shorter ones are anybody's, longer ones are sentences.
const LENGTHS: std::ops::RangeInclusive<usize> = 10..=60;

/// The beginnings of an environment's answers in one record, as hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Openings([Option<u64>; MOST]);

/// How often each beginning stands behind a call; one that words before all calls have too is a person's.
#[derive(Debug, Default)]
pub(crate) struct OpeningCounts {
    counts: FxHashMap<u64, usize>,
    of_people: FxHashSet<u64>,
}

impl OpeningCounts {
    /// Counts a turn behind a call, and returns the hash of its beginning.
    pub fn note_answer(&mut self, text: &str) -> Option<u64> {
        let opening = hash_of(text)?;
        *self.counts.entry(opening).or_default() += 1;
        Some(opening)
    }

    /// Notes a turn behind no call.
    pub fn note_words(&mut self, text: &str) {
        if self.counts.is_empty() {
            self.of_people.extend(hash_of(text));
        }
    }

    /// The beginnings that are an environment's, the most frequent first.
    pub fn learned(self) -> Openings {
        let is_one = |(opening, count): &(u64, usize)| *count >= LEAST && !self.of_people.contains(opening);
        let mut found: Vec<(u64, usize)> = self.counts.into_iter().filter(is_one).collect();
        found.sort_unstable_by_key(|(opening, count)| (std::cmp::Reverse(*count), *opening));
        let mut found = found.into_iter().map(|(opening, _)| opening);
        Openings(std::array::from_fn(|_| found.next()))
    }
}

impl Openings {
    /// Returns true for the hash of such a beginning.
    pub fn has(self, opening: Option<u64>) -> bool {
        opening.is_some() && self.0.contains(&opening)
    }

    /// Returns true if a text begins like an environment's answers.
    pub fn begins(self, text: &str) -> bool {
        self != Self::default() && self.has(hash_of(text))
    }
}

/// A text without the label that it begins with: `Execution output: [code]`, `[Executor]: exitcode: 1`.
pub(crate) fn without_opening(text: &str) -> &str {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let at = line.match_indices(':').map(|(at, _)| at + 1);
    let mut ends = at.filter(|at| {
        line.get(*at..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let end = ends.next().filter(|end| *end <= *LENGTHS.end());
    end.and_then(|end| text.get(end..)).map_or(text, str::trim_start)
}

/// The hash of the beginning of a text: its first line, or what that has before a sign that a value stands behind; a name in
/// brackets as a whole.
fn hash_of(text: &str) -> Option<u64> {
    let line = text.trim_start().lines().next()?;
    let is_value = |sign: char| sign.is_ascii_digit() || "[](){}<>:`'\"=".contains(sign);
    let named = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let opening = match named {
        Some((name, _)) if !name.contains(is_value) => line.get(..name.len() + 2)?,
        _ => {
            let opening = line.get(..line.find(is_value).unwrap_or(line.len()))?.trim_end();
            Some(opening).filter(|opening| LENGTHS.contains(&opening.len()))?
        }
    };
    let hasher: BuildHasherDefault<FxHasher> = BuildHasherDefault::default();
    (opening.len() <= *LENGTHS.end()).then(|| hasher.hash_one(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_comes_again_behind_calls_and_nowhere_else_is_an_environments() {
        let learned = |task: &str, answers: &[&str]| {
            let mut counts = OpeningCounts::default();
            counts.note_words(task);
            for answer in answers {
                counts.note_answer(answer);
            }
            counts.learned()
        };
        let answers = [
            "Execution output: [code]\n1",
            "Execution output: [none]",
            "Execution output: [code]",
        ];
        assert!(learned("Sort it.", &answers).begins("Execution output: [code]\nKeyError: 'a'"));
        assert!(!learned("Sort it.", &answers).begins("Execution is slow: why?"));
        // Too few, and a label that the task has too.
        assert!(!learned("Sort it.", &answers[1..]).begins(answers[0]));
        assert!(!learned("Execution output: none so far", &answers).begins(answers[0]));
        assert!(!learned("Sort it.", &["Yes.", "Yes.", "Yes."]).begins("Yes."));
        let named = ["[Executor]: 1", "[Executor]: 2", "[Executor]: exitcode: 1"];
        assert!(learned("[Admin]: Sort it.", &named).begins("[Executor]: none"));
        assert_eq!(without_opening(named[2]), "exitcode: 1");
        assert_eq!(without_opening(answers[0]), "[code]\n1");
    }
}
