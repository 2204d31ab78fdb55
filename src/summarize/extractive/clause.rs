//! The words of a clause: which of them may name what it is about.

/// Words looked at before a verb.
const MAX_LOOKED_AT: usize = 16;

/// What people say that they did when something is not what it was.
const CHANGES: [&str; 36] = [
    "activated",
    "bumped",
    "canceled",
    "cancelled",
    "changed",
    "closed",
    "connected",
    "deactivated",
    "decreased",
    "disabled",
    "disconnected",
    "enabled",
    "fixed",
    "increased",
    "locked",
    "lowered",
    "moved",
    "opened",
    "paid",
    "raised",
    "reactivated",
    "refunded",
    "removed",
    "renamed",
    "reset",
    "restored",
    "resumed",
    "reverted",
    "set",
    "suspended",
    "switched",
    "toggled",
    "turned",
    "unlocked",
    "unsuspended",
    "updated",
];

/// The words of the clause that a text ends with, as far as they may name something; `None` where it is a condition.
pub(super) fn clause(before: &str) -> Option<Vec<&str>> {
    let mut words: Vec<&str> = Vec::with_capacity(8);
    let mut is_whole = false;
    let mut rest = before;
    for _ in 0..MAX_LOOKED_AT {
        let start = rest.bytes().rposition(|byte| byte == b' ');
        let word = rest.get(start.map_or(0, |start| start + 1)..).unwrap_or_default();
        rest = rest.get(..start.unwrap_or(0)).unwrap_or_default();
        if ends_clause(word) {
            break;
        }
        match part(word) {
            Part::Condition => return None,
            Part::Joint | Part::Verb => is_whole = true,
            Part::Adverb => {}
            Part::Other if is_whole => {}
            Part::Other => words.push(without_marks(word)),
        }
        if rest.is_empty() {
            break;
        }
    }
    words.reverse();
    Some(words)
}

/// What stands behind the verb of what the speaker did, where the word at a place is `I` or `We` and begins a clause.
pub(super) fn done_by_speaker(sentence: &str, at: usize) -> Option<&str> {
    let (before, rest) = sentence.split_at_checked(at)?;
    let last = before.strip_suffix(' ').unwrap_or(before).rsplit(' ').next()?;
    let is_first = before.is_empty()
        || before.ends_with(' ') && (ends_clause(last) || matches!(part(last), Part::Joint));
    let rest = ["I ", "I've ", "I’ve ", "We ", "We've ", "We’ve "]
        .iter()
        .find_map(|start| rest.strip_prefix(start));
    let mut rest = rest.filter(|_| is_first)?;
    loop {
        let (word, behind) = rest.split_once(' ')?;
        rest = behind;
        if CHANGES.binary_search(&word).is_ok() {
            return Some(rest);
        }
        if !(word == "have" || matches!(part(word), Part::Adverb)) {
            return None;
        }
    }
}

pub(super) fn ends_clause(word: &str) -> bool {
    matches!(
        word.as_bytes().last(),
        Some(b',' | b'.' | b';' | b':' | b'!' | b')')
    ) || word == "—"
}

/// What a word does in a clause.
enum Part {
    /// Makes it one.
    Condition,
    /// Begins another one.
    Joint,
    /// Belongs to no subject.
    Adverb,
    /// Ends what it is about.
    Verb,
    Other,
}

/// The words that matter are few and short: most others are told by their length.
#[inline]
fn part(word: &str) -> Part {
    match word.len() {
        0 => Part::Adverb,
        2 => match word {
            "is" => Part::Verb,
            "if" | "If" => Part::Condition,
            "so" | "as" => Part::Joint,
            _ => Part::Other,
        },
        3 => match word {
            "are" | "was" => Part::Verb,
            "and" | "but" | "why" => Part::Joint,
            "how" | "who" => Part::Condition,
            "now" | "Now" => Part::Adverb,
            _ => Part::Other,
        },
        4 => match word {
            "were" => Part::Verb,
            "that" => Part::Joint,
            "when" | "When" | "once" | "Once" | "what" => Part::Condition,
            "also" | "just" => Part::Adverb,
            _ => Part::Other,
        },
        5 => match word {
            "since" | "Since" | "while" | "which" => Part::Joint,
            "until" | "where" => Part::Condition,
            "still" => Part::Adverb,
            _ => Part::Other,
        },
        6..=12 => match word {
            "unless" | "whether" => Part::Condition,
            "though" | "because" | "Because" => Part::Joint,
            "actually" | "currently" | "already" | "successfully" => Part::Adverb,
            _ => Part::Other,
        },
        _ => Part::Other,
    }
}

pub(super) fn without_marks(word: &str) -> &str {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return word;
    }
    word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '#' | '$'))
}

/// Whether a word can be the first of a name: none that points at something else.
pub(super) fn names_something(word: &str) -> bool {
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
