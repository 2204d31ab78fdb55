//! The labels that a program gives its turns in a person's role, learned from the record: nobody begins answer after answer with the
//! same one.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::label_words::WORDS;

/// Answers that must begin alike.
const LEAST: usize = 3;

/// Such labels of a record at most.
const MOST: usize = 4;

/// Bytes of a label at most.
const MAX_LABEL: usize = 60;

/// The labels of an environment's answers in one record, as hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Openings {
    labels: [Option<u64>; MOST],
}

/// How often each label stands behind a call; one that words before all calls have too is a person's.
#[derive(Debug, Default)]
pub(crate) struct OpeningCounts {
    counts: FxHashMap<u64, usize>,
    of_people: FxHashSet<u64>,
    answers: usize,
}

impl OpeningCounts {
    /// Counts a turn behind a call, and returns the hash of its label.
    pub fn note_answer(&mut self, text: &str) -> Option<u64> {
        self.answers += 1;
        let opening = hash_of(text)?;
        *self.counts.entry(opening).or_default() += 1;
        Some(opening)
    }

    /// Notes a turn behind no call.
    pub fn note_words(&mut self, text: &str) {
        if self.answers == 0 {
            self.of_people.extend(hash_of(text));
        }
    }

    /// The labels that are an environment's, the most frequent first: together they begin most of the answers.
    pub fn learned(self) -> Openings {
        let is_one = |(opening, count): &(u64, usize)| *count >= LEAST && !self.of_people.contains(opening);
        let mut found: Vec<(u64, usize)> = self.counts.into_iter().filter(is_one).collect();
        found.sort_unstable_by_key(|(opening, count)| (std::cmp::Reverse(*count), *opening));
        found.truncate(MOST);
        if 2 * found.iter().map(|(_, count)| count).sum::<usize>() <= self.answers {
            found.clear();
        }
        let mut found = found.into_iter().map(|(opening, _)| opening);
        Openings {
            labels: std::array::from_fn(|_| found.next()),
        }
    }
}

impl Openings {
    /// Returns true for the hash of such a label.
    pub fn has(self, opening: Option<u64>) -> bool {
        opening.is_some() && self.labels.contains(&opening)
    }

    /// Returns true if a text begins like an environment's answers.
    pub fn begins(self, text: &str) -> bool {
        self.labels != [None; MOST] && self.has(hash_of(text))
    }
}

/// A text without the label that it begins with, and the colon behind it: `Execution output: [code]`, `[Executor]: exitcode: 1`.
pub(crate) fn without_opening(text: &str) -> &str {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let mut colons = line.match_indices(':').map(|(at, _)| at + 1);
    let is_end = |at: &usize| {
        line.get(*at..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let end = colons.find(is_end).filter(|end| *end <= MAX_LABEL);
    end.and_then(|end| text.get(end..)).map_or(text, str::trim_start)
}

/// The hash of the label that a text begins with: words before a colon or a bracket, or a name in brackets before a colon.
fn hash_of(text: &str) -> Option<u64> {
    let line = text.trim_start().lines().next()?;
    let label = match line.strip_prefix('[') {
        Some(named) => named.split_once("]:")?.0,
        None => line.get(..line.find([':', '['])?)?,
    };
    let is_plain = |sign: char| sign.is_alphabetic() || matches!(sign, ' ' | '_' | '-');
    if label.len() > MAX_LABEL || !label.chars().all(is_plain) {
        return None;
    }
    let small = label.trim().to_lowercase();
    let has = |known: &[String]| {
        small
            .split([' ', '_', '-'])
            .any(|word| known.iter().any(|known| known == word))
    };
    let hasher: BuildHasherDefault<FxHasher> = BuildHasherDefault::default();
    (has(&WORDS.program) && !has(&WORDS.people)).then(|| hasher.hash_one(small.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(task: &str, answers: &[&str]) -> Openings {
        let mut counts = OpeningCounts::default();
        counts.note_words(task);
        for answer in answers {
            counts.note_answer(answer);
        }
        counts.learned()
    }

    #[test]
    fn a_label_that_comes_again_behind_calls_and_nowhere_else_is_an_environments() {
        let answers = [
            "Execution output: [code]\n1",
            "Execution output: [none]",
            "Execution output: [code]",
        ];
        assert!(learned("Sort it.", &answers).begins("Execution output: [code]\nKeyError: 'a'"));
        assert!(!learned("Sort it.", &answers).begins("Execution is slow: why?"));
        // Too few, a label that the task has too, and one among many other answers.
        assert!(!learned("Sort it.", &answers[1..]).begins(answers[0]));
        assert!(!learned("Execution output: none so far", &answers).begins(answers[0]));
        let among = [&answers[..], &["Yes.", "Go on.", "No."]].concat();
        assert!(!learned("Sort it.", &among).begins(answers[0]));
        let named = ["[Executor]: 1", "[Executor]: 2", "[Executor]: exitcode: 1"];
        assert!(learned("[Admin]: Sort it.", &named).begins("[Executor]: none"));
        assert_eq!(without_opening(named[2]), "exitcode: 1");
        assert_eq!(without_opening(answers[0]), "[code]\n1");
    }

    #[test]
    fn what_people_say_alike_is_no_label() {
        for said in [
            "Please don't use pandas.",
            "I get this output: 3",
            "[Bob]: never use pandas",
            "The code doesn't run: why?",
            "Follow-up question: is it slow?",
            "Yes.",
        ] {
            assert!(!learned("Sort it.", &[said; 4]).begins(said), "{said}");
        }
    }
}
