//! What people say that tells nothing by itself: announcements, courtesies, instructions, small talk.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

/// Starts of sentences that only announce the next step, tell somebody what to do, or are polite.
const ANNOUNCEMENTS: &[&str] = &[
    "after doing",
    "after that",
    "call the \"",
    "check if",
    "check the ",
    "check your ",
    "click ",
    "confirm if ",
    "enter ",
    "first, let",
    "go to ",
    "hmm",
    "i apologize for",
    "i appreciate your",
    "i can help",
    "i completely understand",
    "i need to",
    "i recommend",
    "i understand your",
    "i will",
    "i'll",
    "if using ",
    "if you ",
    "let me",
    "let us",
    "let's",
    "make sure ",
    "next, ",
    "now i need",
    "now i'll",
    "now let me",
    "now let's",
    "now, let",
    "once ",
    "open a ",
    "open the ",
    "open your ",
    "please ",
    "press ",
    "restart ",
    "select ",
    "tap ",
    "thank you for",
    "thanks for",
    "that sounds like a",
    "the next step",
    "this will help",
    "to check ",
    "to proceed",
    "toggle ",
    "try ",
    "turn off",
    "turn on",
    "verify ",
    "wait for ",
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

/// Whether `text` starts with one of `starts`, which are sorted.
pub(super) fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    debug_assert!(starts.is_sorted(), "{starts:?}");
    let first_byte = |start: &str| start.as_bytes().first().copied();
    let first = first_byte(text);
    let from = starts.partition_point(|start| first_byte(start) < first);
    let mut near = starts
        .iter()
        .skip(from)
        .take_while(|start| first_byte(start) == first);
    near.any(|start| text.starts_with(start))
}

/// What an assistant says to be polite, or to ask for what it then gets.
const COURTESIES: [&str; 8] = [
    "feel free to",
    "further assistance",
    "happy to help",
    "let me know",
    "please confirm",
    "please provide",
    "to assist you",
    "to proceed with",
];

/// What tells somebody what to do.
const INSTRUCTIONS: [&str; 6] = [
    ", please ",
    "You should ",
    "you need to ",
    "you should ",
    "you will need to ",
    "you'll need to ",
];

/// Whether a sentence holds a courtesy, or begins like one whatever its case (`lower` is its start in small letters); where it
/// `is_past`, also whether it tells the listener what to do: what came of that is told later.
pub(super) fn says_little(lower: &str, sentence: &str, is_past: bool) -> bool {
    static POLITE: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(COURTESIES));
    static BOTH: LazyLock<Option<Searcher>> =
        LazyLock::new(|| Searcher::new(COURTESIES.iter().chain(&INSTRUCTIONS)));
    starts_with_any(lower, &COURTESIES)
        || if is_past {
            holds_any(sentence, BOTH.as_ref(), COURTESIES.iter().chain(&INSTRUCTIONS))
        } else {
            holds_any(sentence, POLITE.as_ref(), &COURTESIES)
        }
}

/// Whether a text holds one of `words`, looked for together where the machine can do that.
pub(super) fn holds_any<'w>(
    text: &str,
    searcher: Option<&Searcher>,
    words: impl IntoIterator<Item = &'w &'w str>,
) -> bool {
    match searcher {
        Some(searcher) => searcher.find(text).is_some(),
        None => words.into_iter().any(|word| text.contains(word)),
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
const SMALL_TALK: [&str; 49] = [
    "a",
    "ahead",
    "all",
    "alright",
    "am",
    "appreciate",
    "checking",
    "confirming",
    "correct",
    "details",
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
    "info",
    "information",
    "is",
    "it",
    "know",
    "letting",
    "lot",
    "me",
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
    "the",
    "update",
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
