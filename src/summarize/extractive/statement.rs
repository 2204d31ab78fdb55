//! What a sentence states of what: `Wait, the port is 9443 now` states a number of the port, and that it is new.

/// Words of a subject at most.
const MAX_WORDS: usize = 6;

/// Words looked at in a sentence.
const MAX_LOOKED_AT: usize = 40;

/// Bytes of a subject in a script without spaces.
const MAX_BYTES: usize = 36;

/// What a sentence states of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// What it is about and what kind of thing it says, in small letters and without ids: `port is`.
    pub subject: String,
    /// Which of several of that name: `#W1` of `your order #W1`.
    pub id: Option<String>,
    /// Whether the subject is the only one of its name: `your order`, `Airplane Mode`, but not `the issue`.
    pub is_one: bool,
    /// Whether what is said has digits.
    pub is_number: bool,
    /// Whether somebody says to have changed it.
    pub is_change: bool,
}

/// What people say that they did when something is not what it was.
const CHANGES: [&str; 28] = [
    "activated",
    "canceled",
    "cancelled",
    "changed",
    "closed",
    "connected",
    "deactivated",
    "disabled",
    "disconnected",
    "enabled",
    "fixed",
    "locked",
    "opened",
    "paid",
    "reactivated",
    "refunded",
    "removed",
    "reset",
    "restored",
    "resumed",
    "reverted",
    "suspended",
    "switched",
    "toggled",
    "turned",
    "unlocked",
    "unsuspended",
    "updated",
];

/// Starts of sentences that take back what was said.
const CORRECTIONS: [&str; 10] = [
    "actually,",
    "correction",
    "i was wrong",
    "my mistake",
    "on second thought",
    "update:",
    "updated:",
    "wait,",
    "wait:",
    "更正",
];

/// Whether a sentence says that it takes back what was said.
pub(super) fn is_correction(sentence: &str) -> bool {
    let starts_with = |start: &&str| {
        sentence
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    CORRECTIONS.iter().any(starts_with)
}

/// Whether a sentence says that something is new.
pub(super) fn tells_change(sentence: &str) -> bool {
    let words = sentence.split([' ', ',', '.', '!', '。', '，']);
    words.take(MAX_LOOKED_AT).any(|word| {
        matches!(
            word,
            "now" | "Now" | "instead" | "longer" | "anymore" | "reverted" | "undone"
        )
    }) || sentence.contains("after all")
        || sentence.contains("现在")
        || is_correction(sentence)
}

/// What a sentence states, in its order. Questions and conditions state nothing.
pub(super) fn statements(sentence: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    if sentence.ends_with(['?', '？']) {
        return found;
    }
    let mut clause: Vec<&str> = Vec::with_capacity(MAX_WORDS + 1);
    let mut is_condition = false;
    let mut words = sentence.split(' ').take(MAX_LOOKED_AT).peekable();
    while let Some(raw) = words.next() {
        let word = raw.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '#' | '$'));
        if is_done_by_speaker(&clause) && CHANGES.binary_search(&word).is_ok() {
            found.extend(changed(words.clone()));
            clause.clear();
        } else if let Some(kind) = verb(word, words.peek().copied()) {
            let rest = words.clone().take(4);
            let is_number = rest
                .map(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
                .fold(false, |any, has| any || has);
            if !is_condition && let Some(statement) = stated(&clause, kind, is_number) {
                found.push(statement);
            }
            clause.clear();
        } else {
            match word {
                "if" | "If" | "whether" | "when" | "When" | "once" | "Once" | "unless" | "until" | "what"
                | "which" | "why" | "how" | "where" | "who" => is_condition = true,
                "that" | "and" | "but" | "so" | "since" | "because" | "as" | "though" | "while" => {
                    clause.clear();
                }
                "now" | "Now" | "currently" | "actually" | "still" | "also" | "" => {}
                _ => clause.push(word),
            }
        }
        if raw.ends_with([',', '.', ';', ':', '!', ')', '—']) {
            clause.clear();
            is_condition = false;
        }
    }
    if !sentence.is_ascii() {
        found.extend(stated_without_spaces(sentence));
    }
    found
}

/// What kind of statement a verb makes, where it makes one of a state.
fn verb(word: &str, next: Option<&str>) -> Option<&'static str> {
    Some(match word {
        "is" | "are" | "was" | "were" | "remains" | "remain" | "stays" => "is",
        "has" | "have" if next.is_some_and(|next| next.starts_with("been")) => "is",
        "runs" | "run" => "runs",
        "goes" | "go" => "goes",
        "listens" => "listens",
        "lives" => "lives",
        "costs" => "costs",
        "points" => "points",
        _ => return None,
    })
}

/// Whether the words before a verb make the speaker the one who did it: `I`, `I have`, `I've just`.
fn is_done_by_speaker(clause: &[&str]) -> bool {
    let speaks = |word: &str| matches!(word, "I" | "I've" | "I’ve" | "We" | "we" | "We've" | "we've");
    let follows = |word: &&str| matches!(*word, "have" | "just" | "successfully" | "already");
    clause.first().is_some_and(|word| speaks(word)) && clause.iter().skip(1).all(|word| follows(word))
}

/// The statement that something was changed which these words name.
fn changed<'s>(words: impl Iterator<Item = &'s str>) -> Option<Statement> {
    let mut named: Vec<&str> = Vec::with_capacity(MAX_WORDS);
    for raw in words.take(MAX_WORDS + 2) {
        let word = raw.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '#' | '$'));
        match word {
            "on" | "off" | "back" if named.is_empty() => {}
            "the" | "your" | "my" | "our" if named.is_empty() => {}
            "on" | "off" | "to" | "from" | "for" | "in" | "with" | "and" | "by" | "back" | "at" | "so" => {
                break;
            }
            _ => named.push(word),
        }
        if raw.ends_with([',', '.', ';', ':', '!', ')', '—']) {
            break;
        }
    }
    let (subject, id) = subject(&named, "is")?;
    Some(Statement {
        subject,
        id,
        is_one: true,
        is_number: false,
        is_change: true,
    })
}

/// Words and the kind of a statement in small letters, and what of them is an id.
fn subject(words: &[&str], kind: &str) -> Option<(String, Option<String>)> {
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
    subject.push_str(kind);
    Some((subject, id))
}

/// The statement of a verb that these words stand before.
fn stated(clause: &[&str], kind: &str, is_number: bool) -> Option<Statement> {
    let is_any_of = |word: &&&str, known: &[&str]| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    let owned = clause
        .iter()
        .rposition(|word| is_any_of(&word, &["your", "my", "our"]));
    // `The price of your order` is no order.
    let is_within = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| clause.get(before));
        before.is_some_and(|before| is_any_of(&before, &["of", "for", "on", "in", "with", "to", "from"]))
    };
    let owned = owned.filter(|at| !is_within(at));
    let definite = owned.or_else(|| clause.iter().position(|word| is_any_of(&word, &["the"])));
    let definite = definite.or_else(|| {
        clause
            .iter()
            .position(|word| is_any_of(&word, &["your", "my", "our"]))
    });
    let (words, is_named) = match definite {
        Some(at) => (clause.get(at + 1..)?, false),
        None => (clause, true),
    };
    if is_named && (words.len() > 4 || !words.first().is_some_and(|first| names_something(first))) {
        return None;
    }
    let (subject, id) = subject(words, kind)?;
    Some(Statement {
        is_one: is_named || owned.is_some() || words.len() > 1,
        subject,
        id,
        is_number,
        is_change: false,
    })
}

/// Whether a word can be the first of a name: none that points at something else.
fn names_something(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
        && !matches!(
            word,
            "A" | "An"
                | "I"
                | "He"
                | "She"
                | "It"
                | "We"
                | "You"
                | "They"
                | "This"
                | "These"
                | "That"
                | "Those"
                | "There"
                | "Here"
                | "Everything"
                | "Nothing"
                | "One"
                | "Each"
                | "Both"
                | "Another"
                | "Some"
                | "Also"
        )
}

/// Statements in scripts without spaces: `订单金额是 1499 元`.
fn stated_without_spaces(sentence: &str) -> impl Iterator<Item = Statement> {
    let clauses = sentence.split(['，', '：', '；', '。', '！', ',', ':']);
    clauses.filter_map(|clause| {
        let (subject, said) = clause.split_once(['是', '为'])?;
        let subject = subject.trim().trim_end_matches("现在");
        let is_word = subject.chars().count() > 1 && subject.len() <= MAX_BYTES;
        let is_one = !matches!(subject, "问题" | "原因" | "根本原因" | "错误");
        (is_word && subject.chars().all(|c| c.is_alphabetic() && !c.is_ascii())).then(|| Statement {
            subject: subject.to_owned(),
            id: None,
            is_change: false,
            is_one,
            is_number: said.bytes().take(8).any(|byte| byte.is_ascii_digit()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_wherever_their_clause_stands() {
        for (sentence, subjects) in [
            ("The root cause is the missing index.", &["root cause is"][..]),
            ("I was wrong: the root cause was a deadlock.", &["root cause is"]),
            ("I see that your **Airplane Mode** is ON.", &["airplane mode is"]),
            ("Airplane Mode is off now.", &["airplane mode is"]),
            ("Great, your line has been reactivated.", &["line is"]),
            (
                "Your plan is active and the line now runs.",
                &["plan is", "line runs"],
            ),
            ("The refund of $120 goes to your card.", &["refund of goes"]),
            ("更正：订单金额是 1499 元。", &["订单金额"]),
            ("The price of your order is 5.", &["price of your order is"]),
            ("This is the reason your line 555-01 is suspended.", &["line is"]),
            ("I have now reactivated your line.", &["line is"]),
            ("I turned off Airplane Mode and waited.", &["airplane mode is"]),
            ("I've toggled mobile data on.", &["mobile data is"]),
            ("They cancelled your order.", &[]),
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
        for (sentence, is_one, is_number) in [
            ("The port is 9443.", false, true),
            ("The issue is in a.", false, false),
            ("Your order is pending.", true, false),
            ("The phone number is 555-0100.", true, true),
            ("VPN is connected.", true, false),
        ] {
            let found = statements(sentence);
            assert_eq!(found.len(), 1, "{sentence}");
            assert_eq!(
                (found[0].is_one, found[0].is_number),
                (is_one, is_number),
                "{sentence}"
            );
        }
    }

    #[test]
    fn what_is_new_is_said_to_be() {
        for sentence in [
            "The port is 9443 now.",
            "It goes to your card instead.",
            "The bug is not in a after all.",
            "Wait, the total is 39.90 EUR.",
            "The file is no longer there.",
        ] {
            assert!(tells_change(sentence), "{sentence}");
        }
        for sentence in ["The port is known.", "Waiting is fine.", "Update the file."] {
            assert!(!tells_change(sentence), "{sentence}");
        }
    }
}
