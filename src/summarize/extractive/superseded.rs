//! Statements that a later turn replaced: one rule, of two that tell of the same subject the later one stands.

use rustc_hash::{FxHashMap, FxHashSet};

use super::sentences::{bare, sentences};
use crate::events::event::Event;
use crate::events::line::is_fence;
use crate::events::target::Effect;
use crate::knowledge::phrases::{Kinds, PhraseKind, is_word};

/// Words of a subject at most.
const MAX_WORDS: usize = 6;

/// Changes compared with each statement.
const MAX_CHANGES: usize = 200;

/// The subject of all that says why something is so.
const CAUSE: &str = "cause";

/// A sentence or a call that says that something is no longer what it was: its turn and its words.
struct ChangeNotice {
    turn: usize,
    words: FxHashSet<String>,
}

/// Subjects told of, with the latest turn that does.
#[derive(Default)]
pub(super) struct LatestStatements {
    /// The latest turn that says what a subject is.
    by_subject: FxHashMap<String, usize>,
    /// Changes, the latest first.
    changes: Vec<ChangeNotice>,
    /// The turn after the last run of tests, which tells anew how they are.
    tests_run: Option<usize>,
    /// The turn after the last change after which something went well: problems told before it were worked on.
    mended: Option<usize>,
}

impl LatestStatements {
    /// The changes that calls made, and the outcome of tests; `earlier` are the runs that a later one of the same call superseded.
    pub fn by_calls(actions: &[Event], earlier: &[Event]) -> Self {
        let mut told = Self::default();
        let runs = actions.iter().filter(|action| action.outcome.ran_tests());
        // What a turn calls comes after what it says.
        told.tests_run = runs.map(|action| action.turn + 1).max();
        let went_well = |action: &&Event| action.is_answered && action.outcome.failed() != Some(true);
        let went = actions.iter().chain(earlier).filter(went_well);
        let failed = actions
            .iter()
            .filter(|action| action.outcome.failed() == Some(true));
        let failed: FxHashSet<&str> = failed.map(|action| action.target.key.as_str()).collect();
        let tried = went.clone().filter(|action| action.is_trial());
        let tried = tried.filter(|action| !failed.contains(action.target.key.as_str()));
        let last_run = tried.map(|action| action.turn).max();
        let changed = went.filter(|action| action.target.effect == Effect::Modify);
        let worked = changed.filter(|action| Some(action.turn) < last_run);
        told.mended = worked.map(|action| action.turn + 1).max();
        for action in actions.iter().rev().filter(went_well) {
            let Some((tool, arguments)) = action.target.line.split_once('(') else {
                continue;
            };
            let changes = action.target.effect == Effect::Other && !action.is_lookup();
            if changes {
                let named = tool.split('_').skip(1).chain(arguments.split([' ', ',', ')']));
                told.note_change(action.turn + 1, named);
            }
        }
        told
    }

    /// Notes a sentence of a turn no later than those noted before.
    pub fn note(&mut self, turn: usize, sentence: &str, kinds: Kinds) {
        if sentence.ends_with(['?', '？']) || kinds.has(PhraseKind::Open) {
            return;
        }
        if let Some(subject) = Subject::of(sentence, kinds) {
            self.by_subject.entry(subject.whole).or_insert(turn);
        }
        if kinds.has(PhraseKind::Change) && !kinds.has(PhraseKind::Announcement) {
            self.note_change(turn, sentence.split(' '));
        }
    }

    fn note_change<'w>(&mut self, turn: usize, words: impl Iterator<Item = &'w str>) {
        if self.changes.len() < MAX_CHANGES {
            let words = words.map(bare).filter(|word| !word.is_empty()).collect();
            self.changes.push(ChangeNotice { turn, words });
        }
    }

    /// If a later turn tells anew of the subject of a sentence, told in `turn` or (`None`) before all turns.
    pub fn is_replaced(&self, turn: Option<usize>, sentence: &str, kinds: Kinds) -> bool {
        let is_later = |other: usize| turn.is_none_or(|turn| other > turn);
        if kinds.has(PhraseKind::Outcome) && self.tests_run.is_some_and(is_later) && names_tests(sentence) {
            return true;
        }
        if kinds.has(PhraseKind::Problem) && self.mended.is_some_and(is_later) {
            return true;
        }
        let Some(subject) = Subject::of(sentence, kinds) else {
            return false;
        };
        let told = self.by_subject.get(&subject.whole).copied();
        told.is_some_and(is_later)
            || self
                .changes
                .iter()
                .any(|change| is_later(change.turn) && subject.is_in(&change.words))
    }
}

/// The bytes of words before the last sentence that takes back what was said before it: `Wait, that is not so.`
pub(super) fn end_of_taken_back(words: &str) -> usize {
    let takes_back = |sentence: &&str| Kinds::of(sentence).has(PhraseKind::TakesBack);
    let mut in_fence = false;
    let lines = words.lines().filter(|line| {
        let is_fence = is_fence(line.trim_ascii());
        in_fence ^= is_fence;
        !is_fence && !in_fence
    });
    let last = lines.flat_map(sentences).filter(takes_back).last();
    last.map_or(0, |last| last.as_ptr().addr() - words.as_ptr().addr())
}

/// If a sentence tells of tests.
fn names_tests(sentence: &str) -> bool {
    sentence
        .split(' ')
        .any(|word| matches!(bare(word).as_str(), "test" | "tests" | "suite"))
}

/// The subject of a statement: the words before its verb.
struct Subject {
    whole: String,
    /// The words before the first preposition that are no ids.
    head: Vec<String>,
    /// Words with digits.
    ids: Vec<String>,
}

impl Subject {
    fn of(sentence: &str, kinds: Kinds) -> Option<Self> {
        let before = sentence.get(..kinds.first_is?.0)?;
        if !before.is_ascii() && !before.contains(' ') {
            // A script without spaces.
            let clause = before.rsplit(['，', '：', '；', '、']).next().unwrap_or(before);
            let whole = clause
                .trim_matches(|c: char| !c.is_alphanumeric())
                .trim_start_matches("现在");
            let whole = whole.trim_end_matches("现在").to_owned();
            let is_short = whole.chars().count() > 1 && whole.len() <= 36;
            return is_short.then(|| Self {
                head: vec![whole.clone()],
                whole,
                ids: Vec::new(),
            });
        }
        let mut words: Vec<String> = Vec::new();
        for raw in before.trim_end().rsplit(' ') {
            let is_end = raw.ends_with([',', ';', ':', '.', '!', ')', '—']);
            let word = bare(raw);
            if is_end || is_word(PhraseKind::Joint, &word) {
                break;
            }
            if !word.is_empty() && !is_word(PhraseKind::Article, &word) {
                words.push(word);
            }
        }
        words.reverse();
        let is_id = |word: &&String| word.bytes().any(|byte| byte.is_ascii_digit());
        let head = words
            .iter()
            .take_while(|word| !is_word(PhraseKind::Preposition, word));
        let head: Vec<String> = head.filter(|word| !is_id(word)).cloned().collect();
        if head.is_empty() || words.len() > MAX_WORDS {
            return None;
        }
        // Whatever it is called, there is one cause at the end.
        let is_cause = head.iter().all(|word| is_word(PhraseKind::Cause, word));
        let whole = if is_cause {
            CAUSE.to_owned()
        } else {
            words.join(" ")
        };
        Some(Self {
            whole,
            ids: words.iter().filter(is_id).cloned().collect(),
            head,
        })
    }

    /// If words that tell of a change name it: one without its id may be any.
    fn is_in(&self, words: &FxHashSet<String>) -> bool {
        let has_ids = || {
            words
                .iter()
                .any(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
        };
        self.head.iter().all(|word| words.contains(word))
            && (self.ids.is_empty() || !has_ids() || self.ids.iter().any(|id| words.contains(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the first sentence stands once the second was said later.
    fn stands(earlier: &str, later: &str) -> bool {
        let mut told = LatestStatements::default();
        told.note(1, later, Kinds::of(later));
        !told.is_replaced(Some(0), earlier, Kinds::of(earlier))
    }

    #[test]
    fn of_two_that_tell_of_the_same_subject_the_later_one_stands() {
        for (earlier, later) in [
            ("The port is 8080.", "Correction: the port is 9443."),
            (
                "The root cause is the index.",
                "I was wrong: the root cause was a deadlock.",
            ),
            (
                "I see that your **Airplane Mode** is ON.",
                "I turned off Airplane Mode.",
            ),
            ("Your order #W1 is pending.", "I have cancelled your order #W1."),
            ("The bug is in the reader.", "I fixed the bug."),
            ("Der Port ist 8080.", "Der Port ist 9443."),
            ("端口是 8080。", "更正：端口是 9443。"),
        ] {
            assert!(!stands(earlier, later), "{earlier} / {later}");
        }
        for (earlier, later) in [
            ("The port is 8080.", "Is the port 9443?"),
            ("The port is 8080.", "The host is local."),
            ("Your order #W1 is pending.", "I have cancelled your order #W2."),
            ("The reader drops a line.", "The reader drops a column."),
            ("The port is 8080.", "If the port is 9443, stop."),
        ] {
            assert!(stands(earlier, later), "{earlier} / {later}");
        }
    }

    #[test]
    fn words_are_taken_back_by_what_says_so_and_by_no_other_use_of_its_words() {
        let end = |words: &str| words.get(end_of_taken_back(words)..).unwrap().to_owned();
        for (before, rest) in [
            ("The limit is low. ", "Wait, it is 9. It stays."),
            ("It is 7.\n\n", "Actually, it is 9.\nYes."),
            ("是 7。", "不对，是 9。"),
        ] {
            assert_eq!(end(&[before, rest].concat()), rest);
        }
        for words in [
            "The limit is low. Wait for the pods. Hold on to it.",
            "The limit is low. Actually running it shows the same.",
            "密钥是 7。不对称密钥在文件里。",
            "The limit is low.\n```\nwait.\n```\nIt stays.",
        ] {
            assert_eq!(end(words), words);
        }
    }
}
