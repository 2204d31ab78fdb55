//! Keeps the material inside its delimiters: no text of it can end or open a block of the prompt, or a turn of the chat
//! that carries it.

use std::borrow::Cow;

use crate::summarize::control_tokens::ControlTokens;

/// The names of the blocks.
const BLOCKS: [&str; 9] = [
    "turns",
    "turn",
    "call",
    "result",
    "earlier_summary",
    "keep_verbatim",
    "in_progress",
    "task",
    "asked_later",
];

/// Longest name of a tool in a label.
const MAX_LABEL: usize = 80;

/// `text` with a `‹` for the `<` of everything that looks like a delimiter of the prompt, and with the control tokens
/// of known chat templates made harmless: servers interpret those wherever they stand in a message.
pub fn harmless(text: &str) -> Cow<'_, str> {
    match without_blocks(text) {
        Cow::Borrowed(text) => ControlTokens::known().harmless(text),
        Cow::Owned(text) => Cow::Owned(ControlTokens::known().harmless(&text).into_owned()),
    }
}

fn without_blocks(text: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let after = text.get(at + 1..).unwrap_or_default();
        if !opens_block(after) {
            continue;
        }
        safe.push_str(text.get(done..at).unwrap_or_default());
        safe.push('‹');
        done = at + 1;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    safe.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(safe)
}

fn opens_block(after: &str) -> bool {
    let name = after.trim_start_matches(is_gap);
    let length = name
        .bytes()
        .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        .count();
    let name = name.get(..length).unwrap_or_default();
    BLOCKS.iter().any(|block| name.eq_ignore_ascii_case(block))
}

/// Returns true for characters that `<` and a delimiter's name may have between them: slashes, blanks, invisible ones.
fn is_gap(c: char) -> bool {
    c == '/'
        || c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}')
}

/// A tool's name for a label, without characters that could end the label.
pub fn label(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | ' '))
        .take(MAX_LABEL)
        .collect()
}
