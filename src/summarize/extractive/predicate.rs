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
