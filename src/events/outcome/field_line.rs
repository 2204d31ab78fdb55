//! The line that tells fields of a JSON answer: `status: delivered, total: 5; address city: Bern, zip: 3001`.

use super::text::{MAX_LINE, edges};
use crate::events::line::{cleaned, cleaned_line, shortened};
use crate::trajectory::json::leaves::Leaf;

/// Longest sentence of a field in characters, where other fields are told with it.
const MAX_SENTENCE: usize = 110;

/// The fields that `is_news` wants in a line. A semicolon stands between objects, and between the records of
/// a list.
pub(crate) fn line_of<'l>(
    shown: impl Iterator<Item = &'l Leaf<'l>>,
    mut is_news: impl FnMut(&Leaf<'_>, &str, &str) -> bool,
) -> String {
    let mut line = String::with_capacity(2 * MAX_LINE);
    let mut field = String::with_capacity(MAX_LINE);
    let mut before: Option<&Leaf<'_>> = None;
    for leaf in shown {
        let Some(value) = sentence(&leaf.value(), MAX_SENTENCE) else {
            continue;
        };
        let is_next_item = leaf.is_item
            && before.is_some_and(|before| {
                before.is_item && before.record == leaf.record && before.key() == leaf.key()
            });
        field.clear();
        if !is_next_item {
            push_key(leaf, &mut field);
        }
        field.push_str(&value);
        if !is_news(leaf, &field, &value) {
            continue;
        }
        // What holds it is named once, where its fields begin.
        let is_first = before.is_none_or(|before| !before.is_beside(leaf) && before.depth <= leaf.depth);
        let holder = leaf.parent().filter(|_| is_first).map(|parent| cleaned(&parent));
        let holder = holder
            .as_deref()
            .filter(|holder| *holder != value)
            .unwrap_or_default();
        if let Some(before) = before {
            if line.len() + holder.len() + field.len() + 3 > MAX_LINE {
                // One item of a list is not all of it.
                line.push_str(if is_next_item { ", …" } else { "" });
                break;
            }
            let is_same = before.record == leaf.record && (leaf.record > 0 || before.is_beside(leaf));
            line.push_str(if is_same { ", " } else { "; " });
        }
        if !holder.is_empty() {
            line.push_str(holder);
            line.push(' ');
        }
        line.push_str(&field);
        before = Some(leaf);
    }
    line
}

/// Appends the key that stands before a value: `key: `.
pub(crate) fn push_key(leaf: &Leaf<'_>, field: &mut String) {
    let key = leaf.key();
    let is_name = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let key = if is_name { key } else { cleaned(&key).into() };
    if !key.is_empty() {
        field.push_str(&key);
        field.push_str(": ");
    }
}

/// A value in one line of at most so many characters.
pub(crate) fn sentence(value: &str, most: usize) -> Option<String> {
    // Most values are words and numbers.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'#' | b':');
    if (1..=32).contains(&value.len()) && value.bytes().all(is_plain) {
        return Some(value.to_owned());
    }
    let value = cleaned_line(edges(value).0);
    let short = shortened(&value, most)?;
    (!short.is_empty()).then(|| short.into_owned())
}

/// Returns true if `text` holds `words` with no letter or digit right before or after them.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let Some(first) = words.as_bytes().first() else {
        return false;
    };
    // Both are short: what looks for a substring in long texts is set up longer than this takes.
    let mut places = memchr::memchr_iter(*first, text.as_bytes());
    places.any(|at| {
        let after = text.get(at..).and_then(|rest| rest.strip_prefix(words));
        after.is_some_and(|after| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            !is_part(before) && !is_part(after.chars().next())
        })
    })
}
