//! Statements that a later one took back: of two about the same subject, the later one stands.

use rustc_hash::FxHashMap;

use super::statement::{Statement, is_correction, statements, tells_change};

/// Corrections looked at: what they take back is told in other words, and so it is compared with each.
const MAX_CORRECTIONS: usize = 16;

/// Calls looked at that changed the same thing.
const MAX_CALLED: usize = 64;

/// What sentences hold that say what is so besides.
const ADDITIONS: [&str; 4] = [" also ", " as well", " too.", " too,"];

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
        let statements = statements(sentence);
        if statements.is_empty() {
            return Worth::Plain;
        }
        let is_stale = self.has_later(Some(turn), &statements);
        // What is so besides takes nothing's place.
        if ADDITIONS.iter().any(|word| sentence.contains(word)) {
            return if is_stale { Worth::Stale } else { Worth::Plain };
        }
        let is_value = statements.iter().any(|statement| statement.is_value);
        let is_change = tells_change(sentence);
        let is_correction = is_change && is_correction(sentence);
        for mut statement in statements {
            if is_correction && self.corrections.len() < MAX_CORRECTIONS {
                self.corrections.push((turn, statement.subject.clone()));
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
        !(self.by_subject.is_empty() && self.called.is_empty()) && self.has_later(turn, &statements(sentence))
    }

    fn has_later(&self, turn: Option<usize>, statements: &[Statement]) -> bool {
        let is_later = |other: Option<usize>| other.is_some() && other > turn;
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
            let called = self.called.get(&statement.subject);
            is_replaced
                || called.is_some_and(|called| called.iter().any(changes))
                || self.corrections.iter().any(corrects)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of sentences of one turn each, those that stand at the end.
    fn left<'s>(said: &[&'s str]) -> Vec<&'s str> {
        let mut stated = Stated::default();
        let turns = said.iter().enumerate().rev();
        let mut left: Vec<&str> = turns
            .filter(|(turn, sentence)| stated.note(*turn, sentence) != Worth::Stale)
            .map(|(_, sentence)| *sentence)
            .collect();
        left.reverse();
        left
    }

    #[test]
    fn what_somebody_has_in_a_state_is_taken_back_by_another_state_of_it() {
        let said = [
            "Your account has an overdue bill of $150.00 from February.",
            "You have an active line.",
            "They have a plan of the team.",
            "Your overdue bill is now marked as paid.",
        ];
        assert_eq!(left(&said), said[1..]);
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
    fn a_state_stands_until_another_is_told() {
        for (before, after) in [
            ("The port is 8080.", "The port is 9443 now."),
            (
                "The server runs on port 8080.",
                "The server now runs on port 9443.",
            ),
            (
                "The bug is in parser.py.",
                "The bug is not in parser.py after all.",
            ),
            ("The total is 41.50 EUR.", "Wait, the total is 39.90 EUR."),
            ("The total is 41.50 EUR.", "The total is 39.90 EUR."),
            ("Your line is suspended.", "Your line has been reactivated."),
            (
                "Airplane Mode is currently enabled on your phone.",
                "Airplane Mode is off now.",
            ),
            (
                "The refund of $120 goes to your gift card.",
                "The refund of $120 goes to your PayPal account instead.",
            ),
            ("订单金额是 1299 元。", "更正：订单金额是 1499 元。"),
            (
                "I see that your mobile data is OFF.",
                "Great, my mobile data is on.",
            ),
        ] {
            assert_eq!(left(&[before, after]), [after], "{before}");
        }
        for (before, after) in [
            ("The issue is in a.", "The issue is that b fails."),
            ("The first item is A1.", "The second item is B2."),
            (
                "Your flight is on May 3.",
                "Your flight is operated by Lufthansa.",
            ),
            ("The test file is tests/test_io.py.", "The test file is not new."),
            (
                "The response is cached.",
                "The response is now compressed as well.",
            ),
            ("The server is slow.", "The server runs on port 80."),
            ("Your order is on its way.", "If your order is late, call."),
            ("This is done.", "This is not done."),
            ("Your order #W1 is pending.", "Your order #W2 is delivered."),
            ("The price of your order is 5.", "Your order is delivered."),
        ] {
            assert_eq!(left(&[before, after]), [before, after], "{before}");
        }
    }

    #[test]
    fn a_call_changes_what_it_names() {
        let mut stated = Stated::default();
        stated.note_changes(3, "pending_order", "(order_id: #W2)");
        for (sentence, expected) in [
            ("Your order #W1 is pending.", false),
            ("Your order #W2 is pending.", true),
            ("Your order is pending.", true),
            ("Your order is a gift.", false),
            ("Your pending order is a gift.", true),
        ] {
            assert_eq!(stated.is_stale(Some(1), sentence), expected, "{sentence}");
        }
        stated.note_changes(3, "line", "(line_id: L1002)");
        assert!(stated.is_stale(Some(1), "Your line 555-0100 is suspended."));
    }

    #[test]
    fn what_one_turn_says_in_two_sentences_stays() {
        let mut stated = Stated::default();
        assert_eq!(stated.note(1, "The port is 80."), Worth::State);
        assert_eq!(stated.note(1, "The port is 90 now."), Worth::State);
        assert_eq!(stated.note(0, "The port is 70."), Worth::Stale);
        stated.note_changes(1, "the_airplane_mode", "(on: false)");
        assert!(stated.is_stale(Some(0), "Airplane Mode is on."));
        assert!(stated.is_stale(None, "Its port: the port is 70."));
        assert!(!stated.is_stale(Some(1), "The port is 80."));
    }
}
