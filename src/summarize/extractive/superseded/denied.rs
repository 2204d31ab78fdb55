//! Values that a correction names only to say that they are not so: `Wait, 9443 not 8080`.

use super::super::clause::without_marks;
use super::super::statement::starts_like;

/// Starts of sentences that take back what was said, besides those of other corrections.
const STARTS: [&str; 6] = ["actually", "no,", "no:", "oops", "sorry,", "wait"];

/// Words that deny what follows.
const DENIALS: [&str; 8] = ["nicht", "no", "not", "não", "of", "pas", "statt", "than"];

/// Words between a value and its denial, or between a denial and its value, at most.
const MAX_BETWEEN: usize = 4;

/// A value that was denied, and the one that was named in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denied {
    pub old: String,
    pub new: String,
}

impl Denied {
    /// Whether a sentence names the old value, and neither denies it nor names the new one.
    pub fn is_told_by(&self, sentence: &str) -> bool {
        holds(sentence, &self.old)
            && !holds(sentence, &self.new)
            && !sentence
                .split(' ')
                .any(|word| matches!(word, "not" | "no" | "nicht" | "pas"))
            && !sentence.contains("n't ")
    }
}

/// What a sentence denies that begins as a correction.
pub(super) fn denied(sentence: &str, is_correction: bool) -> Option<Denied> {
    if !is_correction && !starts_like(sentence, &STARTS) {
        return None;
    }
    let words: Vec<&str> = sentence.split(' ').take(40).collect();
    let values = |range: std::ops::Range<usize>| {
        let words = words.get(range).unwrap_or_default();
        words.iter().map(|word| value(word))
    };
    words.iter().enumerate().find_map(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let denies = match *word {
            "of" => before == Some(&"instead"),
            "than" => before == Some(&"rather"),
            word => DENIALS.contains(&word),
        };
        let end = words.len().min(at + 3);
        let old_at = (at + 1..end).find(|at| words.get(*at).is_some_and(|word| value(word).is_some()))?;
        let old = value(words.get(old_at)?)?;
        // The one named in its place stands before, or behind a `but`.
        let earlier = values(at.saturating_sub(MAX_BETWEEN)..at).flatten().next_back();
        let later = values(old_at + 1..words.len().min(old_at + 1 + MAX_BETWEEN))
            .flatten()
            .next();
        let new = earlier.or(later)?;
        (denies && new != old).then(|| Denied {
            old: old.to_owned(),
            new: new.to_owned(),
        })
    })
}

/// A word without marks, if it is a value that stands for little else: it has three characters and a digit at least.
fn value(word: &str) -> Option<&str> {
    let bare = without_marks(word);
    let is_long = bare.len() >= 3 && bare.bytes().any(|byte| byte.is_ascii_digit());
    is_long.then_some(bare)
}

/// Whether a sentence holds a value as a word of its own.
pub(super) fn holds(sentence: &str, value: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let numbers = |c: char| matches!(c, '.' | ',');
    sentence.match_indices(value).any(|(at, _)| {
        let before = sentence.get(..at).unwrap_or_default();
        let behind = sentence.get(at + value.len()..).unwrap_or_default();
        let mut following = behind.chars();
        let next = following.next();
        // `80.5` is no `80`, but `80.` is.
        let goes_on = next.is_some_and(is_part)
            || next.is_some_and(numbers) && following.next().is_some_and(|c| c.is_ascii_digit());
        let is_end = before.ends_with(is_part)
            || before.ends_with(numbers)
                && before
                    .trim_end_matches(numbers)
                    .ends_with(|c: char| c.is_ascii_digit());
        !goes_on && !is_end
    })
}

#[cfg(test)]
mod tests {
    use super::super::may_take_back;
    use super::*;

    #[test]
    fn what_is_denied_is_named_beside_what_is_so() {
        assert!(STARTS.iter().all(|start| may_take_back(start)));
        for (sentence, old, new) in [
            ("Correction: it's 9443, not 8080.", "8080", "9443"),
            ("Wait, 9443 not 8080.", "8080", "9443"),
            ("Actually it's 9443 instead of 8080.", "8080", "9443"),
            ("No, it is 39.90 rather than 41.50!", "41.50", "39.90"),
            ("Sorry, not port 8080 but 9443.", "8080", "9443"),
        ] {
            let expected = Denied {
                old: old.to_owned(),
                new: new.to_owned(),
            };
            let found = denied(sentence, sentence.starts_with("Correction"));
            assert_eq!(found, Some(expected), "{sentence}");
        }
        for sentence in [
            "It's 9443, not 8080.",
            "Wait, it is not there.",
            "Wait, line 45 not 40.",
            "Actually, the 3 of them are not 4.",
            "No, 2048 of 4096 are free.",
            "Waiting is fine.",
        ] {
            assert_eq!(denied(sentence, false), None, "{sentence}");
        }
    }

    #[test]
    fn a_value_is_told_by_whatever_names_it_as_a_word() {
        let denied = Denied {
            old: "8080".to_owned(),
            new: "9443".to_owned(),
        };
        for (sentence, expected) in [
            ("The server runs on port 8080.", true),
            ("It is localhost:8080, I see.", true),
            ("It is 8080.", true),
            ("It is 18080.", false),
            ("It is 8080.5 long.", false),
            ("It was 8080 and is 9443.", false),
            ("The port is not 8080.", false),
        ] {
            assert_eq!(denied.is_told_by(sentence), expected, "{sentence}");
        }
    }
}
