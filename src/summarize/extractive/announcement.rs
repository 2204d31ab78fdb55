//! What people say of what comes next: announcements, instructions, steps for a purpose.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

use super::small_talk::{holds_any, is_ended};
use crate::events::words::starts_with_any;

/// Starts of sentences that only announce the next step, tell somebody what to do, or are polite.
const ANNOUNCEMENTS: &[&str] = &[
    "after doing",
    "after that",
    "also confirm",
    "also, confirm",
    "also, i need to",
    "also, i will",
    "also, please confirm",
    "also, please provide",
    "also, please specify",
    "and please specify",
    "call the \"",
    "check if",
    "check the ",
    "check your ",
    "click ",
    "confirm if ",
    "enter ",
    "finally, i will",
    "find and select",
    "find the option",
    "first we ",
    "first, let",
    "first, we ",
    "for now, i",
    "go to ",
    "hmm",
    "i am ready to",
    "i apologize for",
    "i appreciate your",
    "i can guide",
    "i can help",
    "i can look up",
    "i can start",
    "i completely understand",
    "i need to",
    "i recommend",
    "i understand your",
    "i will",
    "i'll",
    "if so, ",
    "if using ",
    "if yes, ",
    "if you ",
    "let me",
    "let us",
    "let's",
    "look for ",
    "make sure ",
    "next, ",
    "now i also need",
    "now i have a good",
    "now i need",
    "now i should",
    "now i understand",
    "now i'll",
    "now let me",
    "now let's",
    "now, i ",
    "now, let",
    "now, to ",
    "on your phone, open",
    "once ",
    "open a ",
    "open the ",
    "open your ",
    "please ",
    "press ",
    "reboot your",
    "restart ",
    "scroll ",
    "select ",
    "sure, i can help",
    "swipe ",
    "tap ",
    "thank you for",
    "thanks for",
    "that sounds like a",
    "the next step",
    "then i will",
    "then tap",
    "then we will",
    "then, i will",
    "this will help",
    "to check ",
    "to proceed",
    "toggle ",
    "try ",
    "turn off",
    "turn on",
    "unless... let",
    "verify ",
    "wait for ",
    "we are now looking",
    "we should look",
    "we should navigate",
    "we will ",
    "we'll ",
    "you're welcome",
    "不客气",
    "感谢您",
    "接下来",
    "让我",
    "首先",
];

/// Whether a sentence, by its start in small letters, only announces the next step, or is polite.
pub(super) fn is_announcement(lower: &str) -> bool {
    starts_with_any(lower, ANNOUNCEMENTS)
}

/// What follows the purpose or the condition of a next step.
const STEPS: [&str; 5] = [", I need to ", ", I will ", ", I'll ", ", let me ", ", let's "];

/// Starts of conditions.
const CONDITIONS: [&str; 2] = ["if ", "when "];

/// Whether a sentence (`lower` is its start in small letters) tells a step for its purpose, a condition or a need only, or is an
/// item of a list that tells when or whether, but not what.
pub(super) fn is_torn(lower: &str, sentence: &str) -> bool {
    static FOUND: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(STEPS));
    let is_step = || holds_any(sentence, FOUND.as_ref(), &STEPS);
    match lower.as_bytes() {
        [b'a', b'h', ..] | [b'w', b'e', ..] => {
            let needs = lower
                .strip_prefix("ah, ")
                .unwrap_or(lower)
                .starts_with("we need to ");
            // What names code tells what has to become of it.
            needs && memchr::memchr(b'`', sentence.as_bytes()).is_none()
        }
        [b't', b'o', b' ', ..] => !lower.starts_with("to confirm") && is_step(),
        [b'i', b'f', b' ', ..] | [b'w', b'h', ..] => {
            let has_more = || memchr::memchr(b',', sentence.as_bytes()).is_some();
            lower.starts_with("if ") && is_step()
                || lower.starts_with("whether ") && !has_more()
                || starts_with_any(lower, &CONDITIONS) && !is_ended(sentence) && !has_more()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::small_talk::start_of;
    use super::*;

    #[test]
    fn what_is_to_be_done_and_items_without_their_list_are_no_findings() {
        for sentence in [
            "To diagnose the issue, I will need to check the SIM card.",
            "Also, I will need to confirm the new address.",
            "Then I will calculate the total cost.",
            "Now, I should also check the MySQL override.",
            "Unless... let me check if there is one.",
            "When the quotes are at the end of a string (at length 65+)",
            "Whether you want to change or cancel the reservation.",
            "If the value is empty",
            "If it fails, I will guide you through the settings.",
            "Ah, we need to install the package first.",
            "We need to create the table for our model.",
            "We will now run the file, and see what it does.",
        ] {
            let lower = start_of(sentence);
            assert!(is_announcement(&lower) || is_torn(&lower, sentence), "{sentence}");
        }
        for sentence in [
            "To confirm, I will exchange item 12 for item 13.",
            "To fix this issue, we should round the result.",
            "When Airplane Mode is on, no calls come in.",
            "When two threads run both wait.",
            "If that fails, maybe the field was renamed",
            "It is so.",
            "We need to modify the `Docstrings` metaclass to handle properties as well.",
            "We are indeed seeing the same output.",
        ] {
            let lower = start_of(sentence);
            assert!(
                !is_announcement(&lower) && !is_torn(&lower, sentence),
                "{sentence}"
            );
        }
    }
}
