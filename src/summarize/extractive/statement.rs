//! What a sentence states of what: `Wait, the port is 9443 now` states a number of the port, and that it is new.

mod change;
mod elsewhere;

use std::sync::LazyLock;

use aho_corasick::Span;
use aho_corasick::packed::Searcher;

use super::clause::{clause, done_by_speaker, ends_clause, names_something, without_marks};
use super::predicate::{REASON, denied, is_state, kind};
pub(super) use change::{is_correction, may_take_back, starts_like, tells_change};

/// What says of something that it is the last one of its name.
const LATEST: [&str; 5] = ["current", "final", "latest", "new", "updated"];

/// Words of a subject at most.
const MAX_WORDS: usize = 6;

/// Bytes of a subject in a script without spaces.
const MAX_BYTES: usize = 36;

/// What a sentence states of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// What it is about and what kind of thing it says, in small letters and without ids: `port is/number`.
    pub subject: String,
    /// Which of several of that name: `#W1` of `your order #W1`.
    pub id: Option<String>,
    /// Whether the subject is the only one of its name: `your order`, `Airplane Mode`, but not `the issue`.
    pub is_one: bool,
    /// Whether what is said is a number or a state.
    pub is_value: bool,
    /// Whether somebody says to have changed it.
    pub is_change: bool,
    /// What it is said not to be, where nothing says what it is.
    pub denies: Option<String>,
}

/// The verbs that states are told with, and the kinds of statements that they make.
const VERBS: [(&str, &str); 35] = [
    (" is ", "is"),
    (" isn't ", "is"),
    (" isn’t ", "is"),
    (" are ", "is"),
    (" was ", "is"),
    (" were ", "is"),
    (" been ", "is"),
    (" remains ", "is"),
    (" remain ", "is"),
    (" runs ", "runs"),
    (" goes ", "goes"),
    (" listens ", "listens"),
    (" uses ", "uses"),
    (" returns ", "returns"),
    (" departs ", "departs"),
    (" arrives ", "arrives"),
    (" costs ", "costs"),
    (" pass ", "is"),
    (" pass.", "is"),
    (" pass!", "is"),
    (" fail ", "is"),
    (" fail.", "is"),
    (" fails ", FAILS),
    (" fails.", WORKS),
    (" passes now", WORKS),
    (" passes.", WORKS),
    (" works again", WORKS),
    (" works now", WORKS),
    (" works!", WORKS),
    (" works.", WORKS),
    (" doesn't work any", WORKS),
    (" doesn't work.", WORKS),
    (" does not work.", WORKS),
    (" has ", "has"),
    (" have ", "has"),
];

/// The kind of verbs that say whether something works as a whole: what was said of that before is no longer so.
const WORKS: &str = "works";

/// The kind of one that says so of one case: that it fails there takes nothing back, but may be taken back.
const FAILS: &str = "fails";

/// The first verb at or after a place of a sentence: the place of the blank before it, and its number.
fn next_verb(sentence: &str, from: usize) -> Option<(usize, usize)> {
    static FOUND: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(VERBS.map(|(verb, _)| verb)));
    if let Some(searcher) = FOUND.as_ref() {
        let found = searcher.find_in(sentence, Span::from(from..sentence.len()))?;
        return Some((found.start(), found.pattern().as_usize()));
    }
    let places = VERBS.iter().enumerate().filter_map(|(number, (verb, _))| {
        let at = sentence.get(from..)?.find(verb)?;
        Some((from + at, number))
    });
    places.min()
}

/// What a sentence states. Questions and conditions state nothing.
pub(super) fn statements(sentence: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    if sentence.ends_with(['?', '？']) {
        return found;
    }
    let mut from = 0;
    while let Some((at, number)) = next_verb(sentence, from) {
        let (verb, kind) = VERBS.get(number).copied().unwrap_or_default();
        // The blank behind it may stand before the next one.
        from = at + verb.len() - 1;
        if kind == "has" {
            found.extend(had(sentence.get(from + 1..).unwrap_or_default()));
            continue;
        }
        let mut before = sentence.get(..at).unwrap_or_default();
        if verb == " been " {
            let rest = before.strip_suffix(" not").unwrap_or(before);
            match rest.strip_suffix(" has").or_else(|| rest.strip_suffix(" have")) {
                Some(rest) => before = rest,
                None => continue,
            }
        }
        let (after, is_event) = match verb {
            " pass " | " pass." | " pass!" => ("passing", false),
            " fail " | " fail." => ("failing", false),
            _ if matches!(kind, FAILS | WORKS) => ("working", true),
            _ => (sentence.get(from + 1..).unwrap_or_default(), false),
        };
        let told = if is_event { "is" } else { kind };
        let stated = clause(before).and_then(|clause| stated(&clause, after, told));
        found.extend(stated.map(|statement| Statement {
            is_value: statement.is_value && !is_event,
            is_change: kind == WORKS,
            denies: denied(after, verb.starts_with(" isn")),
            ..statement
        }));
    }
    if from == 0 {
        found.extend(elsewhere::stated_by_verbs(sentence));
    }
    let first = sentence.starts_with("We").then_some(0);
    for at in first
        .into_iter()
        .chain(memchr::memchr_iter(b'I', sentence.as_bytes()))
    {
        if let Some(rest) = done_by_speaker(sentence, at) {
            found.extend(changed(rest).into_iter().chain(changed_to(rest)));
        }
    }
    if !sentence.is_ascii() {
        if sentence.contains('是') || sentence.contains('为') {
            found.extend(stated_without_spaces(sentence));
        }
        found.extend(elsewhere::stated_in_script(sentence));
    }
    found
}

/// The statement of what somebody has, where that is told with its state: `an overdue bill of $150`.
fn had(after: &str) -> Option<Statement> {
    let rest = after.strip_prefix("an ").or_else(|| after.strip_prefix("a "))?;
    let (first, behind) = rest.split_once(' ')?;
    let is_named = is_state(first) && behind.starts_with(|c: char| c.is_ascii_lowercase());
    let statement = changed(rest).filter(|_| is_named)?;
    Some(Statement {
        is_change: false,
        ..statement
    })
}

/// The statement that something was changed which a text begins with.
fn changed(rest: &str) -> Option<Statement> {
    let mut named: Vec<&str> = Vec::with_capacity(MAX_WORDS);
    for raw in rest.split(' ').take(MAX_WORDS + 2) {
        let word = without_marks(raw);
        match word {
            "on" | "off" | "back" | "the" | "your" | "my" | "our" if named.is_empty() => {}
            "on" | "off" | "to" | "from" | "for" | "in" | "with" | "and" | "by" | "back" | "at" | "so"
            | "of" => {
                break;
            }
            _ => named.push(word),
        }
        if ends_clause(raw) {
            break;
        }
    }
    let (subject, id) = subject(&named, "is", "state")?;
    Some(Statement {
        subject,
        id,
        is_one: true,
        is_value: true,
        is_change: true,
        denies: None,
    })
}

/// The statement of what that was changed to: a number, a name.
fn changed_to(rest: &str) -> Option<Statement> {
    let (before, to) = rest.split_once(" to ")?;
    let kind = kind(to);
    let is_whole = !before.split(' ').any(ends_clause);
    let changed = changed(before).filter(|_| is_whole && matches!(kind.as_str(), "number" | "name"))?;
    let named = changed.subject.strip_suffix("state")?;
    Some(Statement {
        subject: [named, &kind].concat(),
        is_value: kind == "number",
        ..changed
    })
}

/// Words and the kind of a statement in small letters, and what of them is an id.
fn subject(words: &[&str], verb: &str, kind: &str) -> Option<(String, Option<String>)> {
    let is_id = |word: &&&str| word.bytes().any(|byte| byte.is_ascii_digit());
    let id = words.iter().find(is_id).map(|word| word.to_ascii_lowercase());
    let names = || words.iter().filter(|word| !is_id(word));
    if words.len() > MAX_WORDS || names().next().is_none() {
        return None;
    }
    let mut subject = String::with_capacity(40);
    for word in names() {
        subject.push_str(word);
        subject.push(' ');
    }
    subject.make_ascii_lowercase();
    for piece in [verb, "/", kind] {
        subject.push_str(piece);
    }
    Some((subject, id))
}

/// The statement of a verb, by the words of its clause and what stands behind it.
fn stated(clause: &[&str], after: &str, verb: &str) -> Option<Statement> {
    let of_speakers = |word: &&str| matches!(*word, "your" | "Your" | "my" | "My" | "our" | "Our");
    let owned = clause.iter().rposition(of_speakers);
    // `The price of your order` is no order.
    let is_within = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| clause.get(before));
        before.is_some_and(|before| matches!(*before, "of" | "for" | "on" | "in" | "with" | "to" | "from"))
    };
    let is_the = |word: &&str| matches!(*word, "the" | "The");
    let definite = match owned {
        Some(at) if !is_within(at) => Some(at),
        Some(at) => clause.iter().position(is_the).or(Some(at)),
        None => clause.iter().position(is_the),
    };
    let words = match definite {
        Some(at) => clause.get(at + 1..)?,
        None => clause,
    };
    // The new total is the total.
    let words = match words {
        [first, rest @ ..] if definite.is_some() && !rest.is_empty() && LATEST.contains(first) => rest,
        _ => words,
    };
    let is_named = definite.is_none();
    if is_named && (words.len() > 4 || !words.first().is_some_and(|first| names_something(first))) {
        return None;
    }
    let kind = kind(after);
    let (subject, id) = subject(words, verb, &kind)?;
    Some(Statement {
        // Something has one reason, unless it is told of several.
        is_one: is_named
            || definite == owned
            || words.len() > 1
            || verb == "listens"
            || kind == REASON && words.iter().all(|word| !word.ends_with('s')),
        // A function returns one thing here, another one something else.
        is_value: matches!(kind.as_str(), "number" | "state")
            && matches!(verb, "is" | "runs" | "goes" | "listens"),
        subject,
        id,
        is_change: false,
        denies: None,
    })
}

/// Statements in scripts without spaces: `订单金额是 1499 元`.
fn stated_without_spaces(sentence: &str) -> impl Iterator<Item = Statement> {
    let clauses = sentence.split(['，', '：', '；', '。', '！', ',', ':']);
    clauses.filter_map(|clause| {
        let (subject, said) = clause.split_once(['是', '为'])?;
        let subject = subject.trim().trim_end_matches("现在").trim_start_matches("现在");
        let is_word = subject.chars().count() > 1 && subject.len() <= MAX_BYTES;
        let is_one = !matches!(subject, "问题" | "原因" | "根本原因" | "错误");
        (is_word && subject.chars().all(|c| c.is_alphabetic() && !c.is_ascii())).then(|| Statement {
            subject: subject.to_owned(),
            id: None,
            is_change: false,
            denies: None,
            is_one,
            is_value: said.bytes().take(8).any(|byte| byte.is_ascii_digit()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_wherever_their_clause_stands() {
        for (sentence, subjects) in [
            (
                "The root cause is the missing index.",
                &["root cause is/name"][..],
            ),
            (
                "I was wrong: the root cause was a deadlock.",
                &["root cause is/name"],
            ),
            (
                "I see that your **Airplane Mode** is ON.",
                &["airplane mode is/state"],
            ),
            ("Airplane Mode is off now.", &["airplane mode is/state"]),
            ("Great, your line has been reactivated.", &["line is/state"]),
            (
                "Your plan is active and the line now runs well.",
                &["plan is/state", "line runs/well"],
            ),
            ("The refund of $120 goes to your card.", &["refund of goes/to"]),
            ("更正：订单金额是 1499 元。", &["订单金额"]),
            (
                "The price of your order is 5.",
                &["price of your order is/number"],
            ),
            (
                "This is the reason your line 555-01 is suspended.",
                &["line is/state"],
            ),
            ("I have now reactivated your line.", &["line is/state"]),
            (
                "I turned off Airplane Mode and waited.",
                &["airplane mode is/state"],
            ),
            ("I've toggled mobile data on.", &["mobile data is/state"]),
            ("They cancelled your order.", &[]),
            (
                "It is late, which is why your line is suspended.",
                &["line is/state"],
            ),
            ("Your order has not been cancelled.", &["order is/state"]),
            ("All tests pass.", &["all tests is/state"]),
            ("If your line is off, call us.", &[]),
            ("Is your line active?", &[]),
            ("This is fine.", &[]),
            ("There are three of them.", &[]),
            ("It has been done.", &[]),
            ("", &[]),
        ] {
            let found = statements(sentence);
            let found: Vec<&str> = found.iter().map(|statement| statement.subject.as_str()).collect();
            assert_eq!(found, subjects, "{sentence}");
        }
    }

    #[test]
    fn numbers_and_names_are_told_apart() {
        for (sentence, is_one, is_value) in [
            ("The port is 9443.", false, true),
            ("The issue is in a.", false, false),
            ("Your order is pending.", true, true),
            ("The phone number is 555-0100.", true, true),
            ("VPN is connected.", true, true),
        ] {
            let found = statements(sentence);
            assert_eq!(found.len(), 1, "{sentence}");
            assert_eq!(
                (found[0].is_one, found[0].is_value),
                (is_one, is_value),
                "{sentence}"
            );
        }
    }
}
