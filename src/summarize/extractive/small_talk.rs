//! Words of people that ask for nothing: courtesies, answers, words to go on.

use super::sentences::{CODE, sentences};
use crate::knowledge::phrases::{Kinds, PhraseKind, is_word};

/// If a text is nothing but small talk, as one of at most [`MAX_TALK`] bytes may be.
pub(super) fn is_small_talk(text: &str) -> bool {
    const MARKS: [char; 11] = [' ', '.', ',', '!', '?', '，', '。', '！', '、', '\n', '\t'];
    let mut words = text.split(MARKS).filter(|word| !word.is_empty());
    text.len() <= MAX_TALK && words.all(|word| is_word(PhraseKind::Talk, word))
}

/// Longest text that may be small talk as a whole, in bytes.
const MAX_TALK: usize = 48;

/// If a line is a heading of a report, with or without its markup: `**Steps to reproduce** [code]`.
fn is_heading(line: &str) -> bool {
    const MARKS: [char; 6] = [' ', '*', '#', '-', '=', ':'];
    let line = line.strip_suffix(CODE).unwrap_or(line);
    let line = line.trim_matches(MARKS);
    line.len() <= MAX_TALK && is_word(PhraseKind::Heading, line)
}

/// If a sentence of a person says nothing that lasts: small talk, a heading, or a question how to go on.
pub(super) fn is_idle(sentence: &str, kinds: Kinds) -> bool {
    is_small_talk(sentence)
        || is_heading(sentence)
        || kinds.has(PhraseKind::GoOn)
            && !kinds.has_any(&[PhraseKind::Request, PhraseKind::Demand])
            && specifics(sentence) == 0
}

/// If a person's words ask for something new: not an answer to a question, small talk, or a word to go on.
pub fn asks_for_something(text: &str) -> bool {
    let mut is_answer = false;
    text.lines().flat_map(sentences).any(|sentence| {
        let kinds = Kinds::of(sentence);
        is_answer |= kinds.has(PhraseKind::Answer);
        asks(sentence, kinds, is_answer)
            && !is_small_talk(sentence)
            && (!kinds.has(PhraseKind::GoOn) || kinds.has(PhraseKind::Request))
    })
}

/// If a person's words only say yes to what was proposed: they name nothing themselves, and ask for nothing more.
pub fn only_agrees(text: &str) -> bool {
    let mut sentences = text.lines().flat_map(sentences);
    let agrees = |first: &str| {
        Kinds::of(first).has(PhraseKind::Agreement) && specifics(first) == 0 && !first.ends_with('?')
    };
    sentences.next().is_some_and(agrees)
        && !sentences.any(|sentence| asks(sentence, Kinds::of(sentence), true))
}

/// If a sentence asks for something. What it only states where a person answers asks for nothing.
pub(super) fn asks(sentence: &str, kinds: Kinds, is_answer: bool) -> bool {
    let states = || {
        // `Rent another one if ours are taken.` states nothing.
        let end = sentence.match_indices(' ').nth(FIRST_WORDS - 1);
        let first = end.and_then(|(at, _)| sentence.get(..at)).unwrap_or(sentence);
        let stating = [PhraseKind::Is, PhraseKind::States];
        kinds.has(PhraseKind::Answer) || kinds.has_any(&stating) && Kinds::of(first).has_any(&stating)
    };
    sentence.ends_with(['?', '？'])
        || kinds.has_any(&[PhraseKind::Request, PhraseKind::Demand])
        || !(is_answer && states())
}

/// Words at the start of a sentence among which the verb stands of one that states something.
const FIRST_WORDS: usize = 6;

/// The words of a sentence that name something: numbers, paths, code, quotations, names.
pub(super) fn specifics(sentence: &str) -> usize {
    let names = |(place, word): &(usize, &str)| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let first = bare.chars().next().unwrap_or(' ');
        let has_mark = || {
            word.contains(['`', '"', '“', '«', '「'])
                || bare.contains(['/', '_', '@', '.', '#', ':', '(', '='])
        };
        bare.bytes().any(|byte| byte.is_ascii_digit())
            || has_mark()
            // The first word of a sentence and `I` are no names.
            || first.is_uppercase() && *place > 0 && bare != "I" && !bare.starts_with("I'") && !bare.starts_with("I’")
    };
    sentence.split(' ').enumerate().filter(names).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_words_to_go_on_ask_for_nothing() {
        for text in [
            "ok",
            "Yes, please proceed.",
            "Great! Keep going.",
            "continue",
            "",
            " \n",
            "Yes, that's correct. The device showing \"No Service\" is the one with 555-123-2002.",
            "Sure, my user ID is mei_brown_7075.",
            "I’ve restarted my phone. What should I do next?",
            "Ja, meine Nummer ist 4711.",
            "Oui, merci beaucoup.",
            "好的，谢谢。",
        ] {
            assert!(!asks_for_something(text), "{text}");
        }
        for text in [
            "Rename it.",
            "Yes, cancel it please",
            "ok\nand then stop",
            "Sure, my id is 4711. Could you look up my order?",
            "Thanks, but which of them is the cheapest?",
            "Ja, bitte stornieren.",
            "取消订单。",
            "No standard crate, that's settled. Rent a climate crate from Artex if ours are taken.",
            "I'll tell her. Also: set her stage to technical, and that of the two who have one.",
        ] {
            assert!(asks_for_something(text), "{text}");
        }
    }

    #[test]
    fn a_yes_agrees_to_a_proposal_unless_it_asks_on() {
        for (text, expected) in [
            (
                "Yes, please cancel it. The reason is \u{201c}no longer needed.\u{201d}",
                true,
            ),
            ("Yes, cancel it. Could you refund it to my card?", false),
            ("Cancel order #W1, please.", false),
            (
                "Yes, please cancel it. After that, change the address to 12 Elm Street.",
                false,
            ),
            (
                "Ok, now implement the cache in parser.py and write its tests.",
                false,
            ),
            ("Sure thing is that it breaks. Fix it.", false),
        ] {
            assert_eq!(only_agrees(text), expected, "{text}");
        }
    }

    #[test]
    fn headings_of_a_report_say_nothing_and_sentences_do() {
        for (line, expected) in [
            ("**Describe the bug**", true),
            ("Steps To Reproduce [code]", true),
            ("--- Expected behavior:", true),
            ("Issue Text**", true),
            ("预期行为", true),
            ("[code]", false),
            ("Describe the bug.", false),
            ("TimeDelta serialization precision", false),
            ("Reproduce it in the test", false),
            ("reproduce the bug", false),
            ("describe the problem", false),
        ] {
            assert_eq!(is_idle(line, Kinds::of(line)), expected, "{line}");
        }
    }

    #[test]
    fn specifics_are_numbers_paths_code_and_names() {
        for (sentence, expected) in [
            ("I don't know it.", 0),
            ("Sure, my name is John Smith and I’m 41.", 3),
            ("Open src/a.rs and `b`.", 2),
        ] {
            assert_eq!(specifics(sentence), expected, "{sentence}");
        }
    }
}
