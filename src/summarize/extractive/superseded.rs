//! Statements that a later one took back: of two about the same subject, the later one stands.

mod denied;
mod failing;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use rustc_hash::FxHashMap;

use denied::{Denied, denied, holds};
use failing::tells_failing_tests;

use super::small_talk::holds_any;
use super::statement::{Statement, is_correction, may_take_back, statements, tells_change};

/// Corrections looked at: what they take back is told in other words, and so it is compared with each.
const MAX_CORRECTIONS: usize = 16;

/// Longest sentence that is looked through for what was denied, in bytes.
const MAX_SENTENCE: usize = 1_000;

/// Calls looked at that changed the same thing.
const MAX_CALLED: usize = 64;

/// What sentences hold that say what is so besides.
const ADDITIONS: [&str; 4] = [" also ", " as well", " too.", " too,"];

static SAID_BESIDES: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(ADDITIONS));

/// What says of all tests that they pass, or that not one does.
const ALL_TESTS: &str = "all tests is/state";

/// What a sentence is worth once all is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// A later turn took it back.
    Stale,
    /// It says how something is at the end.
    State,
    /// Whatever else.
    Plain,
}

/// What is stated of each subject, from the last turn on backwards.
#[derive(Debug, Default)]
pub(super) struct Stated {
    by_subject: FxHashMap<String, Latest>,
    /// What calls changed, by what they are told to be about: their turns, and what they were called with.
    called: FxHashMap<String, Vec<(usize, String)>>,
    corrections: Vec<(usize, String)>,
    /// Values that corrections deny which name nothing else.
    denied: Vec<(usize, Denied)>,
    /// What subjects are said not to be: that takes back only that they are so.
    denials: Vec<(usize, String, String)>,
    /// The turn that tells of all tests how they are, or since which those pass that failed.
    tests_pass: Option<usize>,
}

/// The latest turns that state something of a subject.
#[derive(Debug, Clone, Copy, Default)]
struct Latest {
    /// Anything.
    any: Option<usize>,
    /// A number or a state.
    value: Option<usize>,
    /// That it is something else than before.
    change: Option<usize>,
}

impl Stated {
    /// Notes a sentence of a turn no later than those noted before, and says what it is worth at the end.
    pub fn note(&mut self, turn: usize, sentence: &str) -> Worth {
        if self.has_passed_since(Some(turn), sentence) {
            return Worth::Stale;
        }
        let may_take_back = may_take_back(sentence);
        let is_correction = may_take_back && is_correction(sentence);
        if may_take_back
            && self.denied.len() < MAX_CORRECTIONS
            && let Some(denied) = denied(sentence, is_correction)
        {
            self.denied.push((turn, denied));
        }
        let statements = statements(sentence);
        if statements.is_empty() {
            return Worth::Plain;
        }
        let is_stale = self.has_later(Some(turn), sentence, &statements);
        // What is so besides takes nothing's place.
        if holds_any(sentence, SAID_BESIDES.as_ref(), &ADDITIONS) {
            return if is_stale { Worth::Stale } else { Worth::Plain };
        }
        let is_value = statements.iter().any(|statement| statement.is_value);
        let is_change = is_correction || tells_change(sentence);
        for mut statement in statements {
            if statement.subject == ALL_TESTS && !sentence.contains("except") && !sentence.contains(" but ") {
                self.note_passed_tests(turn);
            }
            if is_correction && self.corrections.len() < MAX_CORRECTIONS {
                self.corrections.push((turn, statement.subject.clone()));
            }
            if let Some(value) = statement.denies {
                if self.denials.len() < MAX_CORRECTIONS {
                    self.denials.push((turn, statement.subject, value));
                }
                continue;
            }
            statement.is_change |= is_change;
            self.note_as(of_any_id(&statement), turn, &statement);
            if let Some(id) = &statement.id {
                self.note_as([&statement.subject, " ", id].concat(), turn, &statement);
            }
        }
        match is_stale {
            true => Worth::Stale,
            false if is_value || is_change => Worth::State,
            false => Worth::Plain,
        }
    }

    /// Notes that tests which failed pass since a turn.
    pub fn note_passed_tests(&mut self, turn: usize) {
        self.tests_pass = self.tests_pass.max(Some(turn));
    }

    /// Notes that something was changed by a call whose name has it so: of `pending_order` also the order.
    pub fn note_changes(&mut self, turn: usize, named: &str, arguments: &str) {
        let arguments = arguments.to_ascii_lowercase();
        let ends = memchr::memchr_iter(b'_', named.as_bytes()).map(|at| at + 1);
        for end in std::iter::once(0).chain(ends) {
            let subject = named.get(end..).unwrap_or_default().replace('_', " ");
            let kinds: &[&str] = if end == 0 {
                &["state", "number", "name"]
            } else {
                &["state"]
            };
            for kind in kinds {
                let of_subject = self.called.entry([&subject, " is/", kind].concat()).or_default();
                if of_subject.len() < MAX_CALLED {
                    of_subject.push((turn, arguments.clone()));
                }
            }
        }
    }

    fn note_as(&mut self, subject: String, turn: usize, statement: &Statement) {
        let latest = self.by_subject.entry(subject).or_default();
        latest.any.get_or_insert(turn);
        if statement.is_value {
            latest.value.get_or_insert(turn);
        }
        if statement.is_change {
            latest.change.get_or_insert(turn);
        }
    }

    /// Whether a sentence told before any of these turns (`None`) or in one of them states what a later one took back.
    pub fn is_stale(&self, turn: Option<usize>, sentence: &str) -> bool {
        let is_any = !(self.by_subject.is_empty()
            && self.called.is_empty()
            && self.denied.is_empty()
            && self.denials.is_empty());
        self.has_passed_since(turn, sentence)
            || is_any && self.has_later(turn, sentence, &statements(sentence))
    }

    /// Whether a sentence says that tests fail, before it was told of all how they are.
    fn has_passed_since(&self, turn: Option<usize>, sentence: &str) -> bool {
        self.tests_pass > turn && tells_failing_tests(sentence)
    }

    fn has_later(&self, turn: Option<usize>, sentence: &str, statements: &[Statement]) -> bool {
        let is_later = |other: Option<usize>| other.is_some() && other > turn;
        let denies =
            |(other, denied): &(usize, Denied)| is_later(Some(*other)) && denied.is_told_by(sentence);
        if !statements.is_empty() && self.denied.iter().any(denies) {
            return true;
        }
        statements.iter().any(|statement| {
            // There are many issues and errors, each of which `is` something.
            let replaces = |latest: &Latest| {
                is_later(latest.change)
                    || statement.is_one && is_later(latest.any)
                    || statement.is_value && is_later(latest.value)
            };
            let is_replaced_as = |subject: &str| self.by_subject.get(subject).is_some_and(replaces);
            // What is said of one without its id may be said of any.
            let is_replaced = is_replaced_as(&statement.subject)
                || match &statement.id {
                    Some(id) => is_replaced_as(&[&statement.subject, " ", id].concat()),
                    None => is_replaced_as(&of_any_id(statement)),
                };
            let corrects = |(other, subject): &(usize, String)| {
                is_later(Some(*other)) && is_same(named(subject), named(&statement.subject))
            };
            let changes = |(other, arguments): &(usize, String)| {
                is_later(Some(*other)) && statement.id.as_deref().is_none_or(|id| may_name(arguments, id))
            };
            // Looking through a sentence for each of its statements takes long where it is long.
            let denies = |(other, subject, value): &(usize, String, String)| {
                sentence.len() < MAX_SENTENCE
                    && is_later(Some(*other))
                    && *subject == statement.subject
                    && holds(sentence, value)
            };
            let called = self.called.get(&statement.subject);
            is_replaced
                || called.is_some_and(|called| called.iter().any(changes))
                || self.corrections.iter().any(corrects)
                || statement.denies.is_none() && self.denials.iter().any(denies)
        })
    }
}

/// Whether arguments name an id, or none that looks like it.
fn may_name(arguments: &str, id: &str) -> bool {
    let is_mark = |c: char| !(c.is_alphanumeric() || matches!(c, '#' | '-' | '_'));
    let mut words = arguments.split(is_mark);
    words.clone().any(|word| word == id) || !words.any(|word| shape(word) == shape(id))
}

/// An id with `0` for its digits and `a` for its letters, each once.
fn shape(id: &str) -> String {
    let mut shape = String::with_capacity(8);
    for c in id.chars() {
        let c = match c {
            _ if c.is_ascii_digit() => '0',
            _ if c.is_alphabetic() => 'a',
            _ => c,
        };
        if !shape.ends_with(c) {
            shape.push(c);
        }
    }
    shape
}

/// What a statement is noted as, whichever id it has.
fn of_any_id(statement: &Statement) -> String {
    let mark = if statement.id.is_some() { " *" } else { "" };
    [&statement.subject, mark].concat()
}

/// A subject without the kind of statement.
fn named(subject: &str) -> &str {
    subject.rsplit_once(' ').map_or(subject, |(named, _)| named)
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
