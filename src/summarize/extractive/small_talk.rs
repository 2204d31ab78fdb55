//! What people say that tells nothing by itself: courtesies, fragments, small talk.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

use crate::events::words::starts_with_any;

/// Whether a sentence is an item of a list that names nothing: no mark ends it, it holds no value and no code, and does not
/// begin with what was done.
pub(super) fn is_fragment(sentence: &str) -> bool {
    let names = |byte: u8| {
        byte.is_ascii_digit() || matches!(byte, b'`' | b'"' | b'_' | b'/' | b'$' | b'#' | b'@' | b':')
    };
    let first = || sentence.split(' ').next().unwrap_or_default();
    !is_ended(sentence)
        && sentence.is_ascii()
        && !sentence.bytes().any(names)
        && !first().ends_with("ed")
        && first().starts_with(|c: char| c.is_ascii_uppercase())
}

/// Whether a mark ends a sentence, before closing brackets and quotes.
pub(super) fn is_ended(sentence: &str) -> bool {
    if let Some(b'.' | b'!' | b'?') = sentence.as_bytes().last() {
        return true;
    }
    let bare = sentence.trim_end_matches([')', '"', '\'', '`', '*', '”', '’']);
    bare.ends_with(['.', '!', '?', '…', '。', '！', '？'])
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

/// Words of which, with those of small talk, people make what only tells to go on with what was asked before.
const GO_ON: [&str; 6] = ["continue", "going", "keep", "on", "please", "proceed"];

/// Whether a person's words say what to do, and not just yes or to go on.
pub fn asks_for_something(text: &str) -> bool {
    let words = text.split([' ', '.', ',', '!', '?', '\n']);
    let mut telling = words.filter(|word| {
        let word = word.trim().to_ascii_lowercase();
        !word.is_empty() && !GO_ON.contains(&word.as_str())
    });
    text.len() > 48 || telling.any(|word| !is_small_talk(word.trim()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_to_go_on_asks_for_nothing() {
        for text in [
            "ok",
            "Yes, please proceed.",
            "Great! Keep going.",
            "continue",
            "",
            " \n",
        ] {
            assert!(!asks_for_something(text), "{text}");
        }
        for text in [
            "Rename it.",
            "Yes, cancel it please",
            "No.",
            "weiter so",
            "ok\nand then stop",
        ] {
            assert!(asks_for_something(text), "{text}");
        }
    }

    #[test]
    fn an_item_that_names_nothing_is_a_fragment() {
        for (sentence, expected) in [
            ("Property with getter and setter", true),
            ("Data roaming status (enabled or disabled)", true),
            ("Added the primary workgroup by default", false),
            ("Operations with arrays work.", false),
            ("Boots (size 10)", false),
            ("Contains the `get` function", false),
            ("He said \"stop.\"", false),
        ] {
            assert_eq!(is_fragment(sentence), expected, "{sentence}");
        }
    }
}
