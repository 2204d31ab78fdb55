//! Sentences that say that tests fail now: `There are 2 failing tests`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What every such sentence holds.
static FAIL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("fail"));

/// Words of sentences that tell of what was, may be, is meant to be, or is none of one's own.
const OTHERWISE: [&str; 36] = [
    "0",
    "after",
    "any",
    "before",
    "could",
    "even",
    "except",
    "existing",
    "expected",
    "expects",
    "fixed",
    "had",
    "if",
    "longer",
    "may",
    "might",
    "never",
    "no",
    "none",
    "not",
    "once",
    "originally",
    "pre",
    "previously",
    "should",
    "unrelated",
    "until",
    "used",
    "was",
    "were",
    "when",
    "whether",
    "will",
    "without",
    "would",
    "zero",
];

/// Words that may stand between what says that there are some, and `failing` or `failures`.
const BETWEEN: [&str; 17] = [
    "a",
    "are",
    "few",
    "four",
    "is",
    "just",
    "more",
    "one",
    "only",
    "other",
    "remaining",
    "s",
    "several",
    "some",
    "still",
    "three",
    "two",
];

/// Words that say that there are some.
const THERE_ARE: [&str; 5] = ["get", "have", "see", "there", "there's"];

/// Whether a sentence says that tests fail now.
pub(super) fn tells_failing_tests(sentence: &str) -> bool {
    if FAIL.find(sentence.as_bytes()).is_none() {
        return false;
    }
    let lower = sentence.to_lowercase();
    let is_mark = |c: char| !(c.is_alphanumeric() || c == '_');
    let words: Vec<&str> = lower.split(is_mark).filter(|word| !word.is_empty()).collect();
    let is_otherwise = |word: &&str| OTHERWISE.binary_search(word).is_ok();
    if words.iter().any(is_otherwise) || lower.contains("n't") || lower.contains("n’t") {
        return false;
    }
    words.iter().enumerate().any(|(at, word)| {
        let (before, behind) = words.split_at_checked(at).unwrap_or_default();
        match *word {
            "test" | "tests" => fails(behind.iter().skip(1)),
            "failing" => {
                let is_of_tests = |word: &&str| matches!(*word, "test" | "tests");
                behind.iter().skip(1).take(2).any(is_of_tests) && there_are(before)
            }
            "failure" | "failures" => there_are(before) || begins_with_number(before),
            _ => false,
        }
    })
}

/// Whether what stands behind `tests` says that they fail.
fn fails<'w>(behind: impl Iterator<Item = &'w &'w str>) -> bool {
    let is_between = |word: &&&str| {
        matches!(
            **word,
            "all" | "also" | "are" | "both" | "case" | "cases" | "currently" | "is" | "now" | "still"
        )
    };
    let mut words = behind.take(5).skip_while(is_between);
    matches!(words.next(), Some(&"fail" | &"fails" | &"failing"))
}

/// Whether words end by saying that there are some of what follows.
fn there_are(before: &[&str]) -> bool {
    let is_between = |word: &&&str| is_count(word) || BETWEEN.binary_search(word).is_ok() || is_tests(word);
    let mut words = before.iter().rev().take(7).skip_while(is_between);
    words.next().is_some_and(|word| THERE_ARE.contains(word))
}

/// Whether words are a number, and of what.
fn begins_with_number(before: &[&str]) -> bool {
    let (first, rest) = before.split_first().unwrap_or((&"", &[]));
    rest.len() < 4 && is_count(first) && rest.iter().all(is_tests)
}

fn is_count(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty()
}

fn is_tests(word: &&str) -> bool {
    matches!(*word, "integration" | "test" | "tests" | "unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_that_tests_fail_now_is_taken_for_it() {
        assert!(OTHERWISE.is_sorted() && BETWEEN.is_sorted() && THERE_ARE.is_sorted());
        for sentence in [
            "There are 2 failing tests.",
            "There are still three failing unit tests in test_io.py.",
            "There's one test failure in the suite.",
            "2 tests fail because of the cache.",
            "The tests are still failing.",
            "We still have failing test cases.",
            "We have a few failing test cases with valid URLs.",
            "3 failures remain.",
            "3 unit test failures remain.",
            "I see 3 test failures now.",
            "The test is failing because of a constraint.",
        ] {
            assert!(tells_failing_tests(sentence), "{sentence}");
        }
        for sentence in [
            "I fixed the 2 failing tests.",
            "There are no failing tests.",
            "There is one test failure, but it's unrelated to our change.",
            "The tests would fail without it.",
            "If tests fail, stop.",
            "2 tests were failing.",
            "The tests don't fail.",
            "There are 3 authentication failures in the log.",
            "The build fails.",
            "The failing test covers a scalar.",
            "There are 2 failing tests that were there before.",
        ] {
            assert!(!tells_failing_tests(sentence), "{sentence}");
        }
    }
}
