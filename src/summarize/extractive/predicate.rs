//! What kind of thing is said of a subject: only what says the same kind of thing takes another's place.

use super::clause::without_marks;

/// Words of states that something is in, one at a time.
const STATES: [&str; 58] = [
    "accepted",
    "activated",
    "active",
    "alive",
    "approved",
    "available",
    "back",
    "blocked",
    "broken",
    "canceled",
    "cancelled",
    "closed",
    "complete",
    "completed",
    "confirmed",
    "connected",
    "correct",
    "deactivated",
    "delivered",
    "denied",
    "disabled",
    "disconnected",
    "done",
    "down",
    "enabled",
    "expired",
    "failed",
    "failing",
    "fine",
    "fixed",
    "full",
    "green",
    "healthy",
    "inactive",
    "installed",
    "locked",
    "missing",
    "off",
    "ok",
    "online",
    "open",
    "overdue",
    "paid",
    "passing",
    "paused",
    "pending",
    "processed",
    "reactivated",
    "red",
    "resumed",
    "running",
    "shipped",
    "stopped",
    "suspended",
    "unavailable",
    "unlocked",
    "unpaid",
    "working",
];

/// The kind of what says why something is so.
pub(super) const REASON: &str = "reason";

/// The kind of what these words say: a state, a number, a name, a place after such a preposition, or what their first word says.
pub(super) fn kind(said: &str) -> String {
    let set = set_to(said).map(kind_of);
    let is_value = |kind: &String| matches!(kind.as_str(), "number" | "state");
    set.filter(is_value).unwrap_or_else(|| kind_of(said))
}

/// What something was set to, where that is what is said: `9443` of `changed from 8080 to 9443`.
fn set_to(said: &str) -> Option<&str> {
    const SETS: [&str; 8] = [
        "bumped",
        "changed",
        "increased",
        "lowered",
        "raised",
        "reduced",
        "set",
        "updated",
    ];
    let mut rest = said;
    for _ in 0..8 {
        let (word, behind) = rest.split_once(' ')?;
        rest = behind;
        if SETS.contains(&word) {
            let from = rest.strip_prefix("from ").and_then(|rest| rest.split_once(' '));
            return from.map_or(rest, |(_, rest)| rest).strip_prefix("to ");
        }
        if !is_aside(word) {
            break;
        }
    }
    None
}

fn kind_of(said: &str) -> String {
    let mut words = said.split(' ').take(8).filter(|word| !is_aside(word)).peekable();
    let Some(raw) = words.next() else {
        return String::new();
    };
    let word = without_marks(raw);
    let lower = word.to_ascii_lowercase();
    let is_last = raw.len() > word.len() || words.peek().is_none();
    let is_reason = match lower.as_str() {
        "due" => words.peek() == Some(&"to"),
        "caused" => words.peek() == Some(&"by"),
        "because" => true,
        _ => false,
    };
    let is_place = matches!(
        lower.as_str(),
        "in" | "on" | "at" | "to" | "from" | "by" | "of" | "for" | "with" | "under"
    );
    let is_name = matches!(
        lower.as_str(),
        "a" | "an" | "the" | "your" | "our" | "my" | "that"
    ) || word.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric())
        || word.contains(['/', '.', '_', '@']);
    if word.bytes().any(|byte| byte.is_ascii_digit()) && !word.contains('/') {
        "number".to_owned()
    } else if is_state(&lower) || lower == "on" && is_last {
        "state".to_owned()
    } else if is_reason {
        REASON.to_owned()
    } else if is_name && !is_place {
        "name".to_owned()
    } else {
        lower
    }
}

/// The number or the name that something is said not to be (`is_denied`: the verb says so), where nothing else is said.
pub(super) fn denied(said: &str, mut is_denied: bool) -> Option<String> {
    let mut words = said.split(' ').take(8);
    let first = words.find(|word| {
        is_denied |= matches!(*word, "not" | "no");
        !is_aside(word) && !matches!(*word, "a" | "an" | "the" | "your" | "our" | "my")
    })?;
    let mut near = said.split(' ').take(24);
    let mut says_more = || near.any(|word| word == "but" || word.ends_with([',', ';', ':']));
    let first = without_marks(first);
    let is_value = is_denied && !says_more() && matches!(kind(said).as_str(), "number" | "name");
    (is_value && first.len() > 1).then(|| first.to_owned())
}

/// Whether a word, in small letters, is a state that something is in.
pub(super) fn is_state(word: &str) -> bool {
    STATES.binary_search(&word).is_ok()
}

/// Whether a word says when or whether something is so, but not what.
fn is_aside(word: &str) -> bool {
    matches!(
        word,
        "" | "now"
            | "currently"
            | "not"
            | "no"
            | "longer"
            | "still"
            | "already"
            | "actually"
            | "again"
            | "successfully"
            | "being"
            | "indeed"
            | "likely"
            | "mainly"
            | "probably"
            | "set"
            | "turned"
            | "marked"
            | "as"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_first_word_that_says_something() {
        assert!(STATES.is_sorted());
        for (said, expected) in [
            ("9443 now.", "number"),
            ("now 555-0199.", "number"),
            ("ON.", "state"),
            ("currently enabled on your phone.", "state"),
            ("not suspended any more", "state"),
            ("turned off.", "state"),
            ("now set to 9443.", "number"),
            ("changed from 8080 to 9443 today.", "number"),
            ("updated to ON.", "state"),
            ("set to expire on May 3.", "to"),
            ("changed to the faster one.", "changed"),
            ("on May 3", "on"),
            ("not in parser.py after all.", "in"),
            ("the missing index.", "name"),
            ("tests/test_io.py.", "name"),
            ("Premium.", "name"),
            ("operated by Lufthansa", "operated"),
            ("likely due to the cache.", "reason"),
            ("caused by the cache.", "reason"),
            ("due on May 3.", "due"),
            ("", ""),
        ] {
            assert_eq!(kind(said), expected, "{said}");
        }
    }
}
