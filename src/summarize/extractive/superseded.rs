//! Findings that a later one took back: of two statements about the same subject, the later one stands.

use rustc_hash::FxHashMap;

use super::candidate::{Candidate, Section};

/// Starts of sentences that take back what was said.
const CORRECTIONS: [&str; 6] = [
    "i was wrong",
    "actually,",
    "correction",
    "updated:",
    "update:",
    "on second thought",
];

/// Corrections looked at: what they take back is told in other words, and so it is compared with each.
const MAX_CORRECTIONS: usize = 16;

/// Words of a subject.
const MAX_WORDS: usize = 6;

/// Places of one turn (see `order`).
const TURN: usize = 100_000;

/// Takes out the findings that a later turn's finding about the same subject takes the place of.
pub(super) fn without_superseded(candidates: &mut Vec<Candidate>) {
    let findings = candidates.iter().enumerate();
    let findings = findings.filter(|(_, candidate)| candidate.section == Section::Findings);
    let mut told: Vec<(usize, usize, String)> = findings
        .filter_map(|(index, candidate)| Some((candidate.order, index, subject(&candidate.text)?)))
        .collect();
    if told.len() < 2 {
        return;
    }
    told.sort_unstable_by_key(|(order, ..)| std::cmp::Reverse(*order));
    let mut last: FxHashMap<&str, usize> = FxHashMap::default();
    let mut corrections: Vec<(usize, &str)> = Vec::new();
    let mut gone: Vec<usize> = Vec::new();
    for (order, index, subject) in &told {
        let is_later = |other: usize| *order < TURN || other / TURN > order / TURN;
        // There are many issues and errors, each of which `is` something; a name of several words is one of a thing.
        let is_name = subject.contains(' ');
        let is_taken_back = is_name && last.get(subject.as_str()).is_some_and(|other| is_later(*other))
            || corrections
                .iter()
                .any(|(other, corrected)| is_later(*other) && is_same(subject, corrected));
        if is_taken_back {
            gone.push(*index);
            continue;
        }
        last.insert(subject, *order);
        let text = candidates
            .get(*index)
            .map_or("", |candidate| candidate.text.as_str());
        if corrections.len() < MAX_CORRECTIONS && begins_in_any_case(text, &CORRECTIONS) {
            corrections.push((*order, subject));
        }
    }
    gone.sort_unstable();
    let mut index = 0;
    candidates.retain(|_| {
        index += 1;
        gone.binary_search(&(index - 1)).is_err()
    });
}

/// Whether two subjects are one: they are the same, or one of two words or more begins the other.
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(' ') && short.contains(' ')))
}

fn begins_in_any_case(text: &str, starts: &[&str]) -> bool {
    let starts_with = |start: &&str| {
        text.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    starts.iter().any(starts_with)
}

/// What a sentence makes a statement about, in small letters: of `the root cause is …`, also after a colon or an opening
/// word (`Noted, your number is …`), the words between.
fn subject(text: &str) -> Option<String> {
    let first_word = text.find(' ').map(|blank| text.split_at(blank));
    let after_word = first_word
        .filter(|(word, _)| word.ends_with(','))
        .map(|(_, rest)| rest);
    let after_colon = || {
        let mut colons = memchr::memchr_iter(b':', text.as_bytes());
        colons.find_map(|colon| text.get(colon + 1..).filter(|rest| rest.starts_with(' ')))
    };
    subject_of(text)
        .or_else(|| subject_of(after_word?.trim_start()))
        .or_else(|| subject_of(after_colon()?.trim_start()))
}

fn subject_of(clause: &str) -> Option<String> {
    let opening = ["the ", "your "].into_iter().find(|opening| {
        let start = clause.get(..opening.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(opening))
    })?;
    let words = clause.get(opening.len()..)?.split(' ');
    let mut subject = String::new();
    for word in words.take(MAX_WORDS) {
        if matches!(word, "is" | "are" | "was" | "were") {
            subject.make_ascii_lowercase();
            return (!subject.is_empty()).then_some(subject);
        }
        if word.ends_with([',', '.', ';', ':', '!', '?']) {
            return None;
        }
        if !subject.is_empty() {
            subject.push(' ');
        }
        subject.push_str(word);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(said: &[&str]) -> Vec<String> {
        let finding = |(turn, text): (usize, &&str)| Candidate {
            section: Section::Findings,
            order: (turn + 1) * TURN,
            text: (*text).to_owned(),
            value: 1.0,
        };
        let mut candidates: Vec<Candidate> = said.iter().enumerate().map(finding).collect();
        without_superseded(&mut candidates);
        candidates.into_iter().map(|candidate| candidate.text).collect()
    }

    #[test]
    fn of_statements_about_the_same_subject_the_last_one_stays() {
        let said = [
            "The root cause is the missing index.",
            "The price of A1 is 5 dollars.",
            "I was wrong: the root cause is a deadlock.",
            "The price of B2 is 6 dollars.",
            "The issue is in a.",
            "The issue is also in b.",
            "Actually, the issue is in c.",
        ];
        assert_eq!(left(&said), [said[1], said[2], said[3], said[6]]);
    }

    #[test]
    fn a_correction_takes_back_what_was_said_in_fewer_words() {
        let said = [
            "Noted, your phone number is 555-0100 and I will use it.",
            "The phone is charged.",
            "Updated: the phone number on file is now 555-0199.",
        ];
        assert_eq!(left(&said), [said[1], said[2]]);
    }

    #[test]
    fn what_one_turn_says_in_two_sentences_stays() {
        let finding = |order, text: &str| Candidate {
            section: Section::Findings,
            order,
            text: text.to_owned(),
            value: 1.0,
        };
        let mut candidates = vec![
            finding(TURN, "The issue is in a."),
            finding(TURN + 1, "The issue is also in b."),
        ];
        without_superseded(&mut candidates);
        assert_eq!(candidates.len(), 2);
    }
}
