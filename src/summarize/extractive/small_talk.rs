//! What people say that tells nothing by itself: announcements, courtesies, instructions, small talk.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

/// Starts of sentences that only announce the next step, or are polite.
const ANNOUNCEMENTS: &[&str] = &[
    "let me",
    "now let me",
    "let's",
    "now let's",
    "i'll",
    "i will",
    "now i'll",
    "now i need",
    "first, let",
    "next, let",
    "now, let",
    "i need to",
    "let us",
    "让我",
    "接下来",
    "首先",
    "thanks for",
    "thank you for",
    "i apologize for",
    "i understand your",
    "i completely understand",
    "i appreciate your",
    "that sounds like a",
    "please check",
    "please double-check",
    "please try",
    "please let",
    "please give me",
    "please wait",
    "please tell me",
    "check the ",
    "check your ",
    "confirm if ",
    "wait for ",
    "if you want",
    "if you'd like",
    "if you would like",
    "call the \"",
    "hmm",
    "you're welcome",
    "感谢您",
    "不客气",
];

/// Whether a sentence, by its start in small letters, only announces the next step, or is polite.
pub(super) fn is_announcement(lower: &str) -> bool {
    starts_with_any(lower, ANNOUNCEMENTS)
}

/// Whether `text` starts with one of `starts`. Most are told apart by their first bytes.
pub(super) fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    let first = text.as_bytes().first();
    starts
        .iter()
        .any(|start| start.as_bytes().first() == first && text.starts_with(start))
}

/// What an assistant says to be polite, or to ask for what it then gets.
const COURTESIES: [&str; 8] = [
    "let me know",
    "please provide",
    "please confirm",
    "feel free to",
    "further assistance",
    "to assist you",
    "to proceed with",
    "happy to help",
];

/// Whether a sentence holds one of them, or begins like one whatever its case (`lower` is its start in small letters).
pub(super) fn is_polite(lower: &str, sentence: &str) -> bool {
    static PHRASES: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(COURTESIES));
    starts_with_any(lower, &COURTESIES)
        || match PHRASES.as_ref() {
            Some(phrases) => phrases.find(sentence).is_some(),
            // Machines without vectors.
            None => COURTESIES.iter().any(|phrase| sentence.contains(phrase)),
        }
}

/// Whether a sentence is a step of a plan (`Step 4: Rerun it`).
pub(super) fn is_numbered_step(lower: &str) -> bool {
    let rest = lower.strip_prefix("step ").unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    lower.starts_with("step ") && rest.starts_with([':', '.'])
}

/// Whether a sentence is a name and nothing more. Scripts without spaces say much without one.
pub(super) fn is_one_word(sentence: &str) -> bool {
    sentence.is_ascii() && !sentence.contains(' ')
}

/// Words of which people make what keeps a talk going and asks for nothing.
const SMALL_TALK: [&str; 40] = [
    "a",
    "ahead",
    "all",
    "alright",
    "am",
    "appreciate",
    "checking",
    "correct",
    "fine",
    "for",
    "go",
    "good",
    "got",
    "great",
    "hello",
    "help",
    "hi",
    "i",
    "i'm",
    "is",
    "it",
    "lot",
    "much",
    "ok",
    "okay",
    "perfect",
    "ready",
    "right",
    "so",
    "sounds",
    "sure",
    "thank",
    "thanks",
    "that",
    "that's",
    "very",
    "works",
    "yes",
    "you",
    "your",
];

/// Whether a text is nothing but small talk.
pub(super) fn is_small_talk(text: &str) -> bool {
    let mut words = text
        .split([' ', '.', ',', '!', '?'])
        .filter(|word| !word.is_empty());
    text.len() <= 48
        && words.all(|word| SMALL_TALK.contains(&word.to_ascii_lowercase().replace('’', "'").as_str()))
}

/// The start of a sentence in small letters, enough to compare with phrases.
pub(super) fn start_of(sentence: &str) -> String {
    const LENGTH: usize = 24;
    let head = sentence.get(..LENGTH).filter(|head| head.is_ascii());
    let start = head.unwrap_or_else(|| {
        let end = sentence.char_indices().nth(LENGTH).map(|(at, _)| at);
        end.and_then(|end| sentence.get(..end)).unwrap_or(sentence)
    });
    if start.is_ascii() {
        start.to_ascii_lowercase()
    } else {
        start.to_lowercase().replace('’', "'")
    }
}
