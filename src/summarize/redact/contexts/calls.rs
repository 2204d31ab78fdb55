//! Secrets that functions are called with: `login("user", "secret")`.

use std::ops::Range;

use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{
    is_filler, is_joined_words, is_password, is_path, is_random_word,
};
use crate::summarize::redact::value::word_lists::{PLAIN_PARTS, PLAIN_VALUES};

/// Bytes of a call's arguments that are read.
const MAX_ARGUMENTS: usize = 300;

/// An argument of a call: the span between its quotes, if it is a text.
type Argument = Option<Range<usize>>;

/// The arguments of the call that opens at `word`; without a parenthesis they end with their line. `None` if they
/// cannot be read.
fn arguments(text: &str, word: Range<usize>) -> Option<Vec<Argument>> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(word.end + MAX_ARGUMENTS);
    let is_open = text.get(word.clone())?.ends_with('(');
    let mut at = word.end;
    let mut arguments: Vec<Argument> = vec![None];
    let mut depth = 0;
    while at < limit {
        match bytes.get(at)? {
            b'\n' if !is_open => break,
            b'\n' if arguments.iter().all(Option::is_none) && depth > 0 => return None,
            quote @ (b'"' | b'\'') => {
                let escaped = bytes.get(at.checked_sub(1)?) == Some(&b'\\');
                let start = at + 1;
                let end = start + memchr::memchr2(*quote, b'\n', bytes.get(start..limit)?)?;
                if bytes.get(end) != Some(quote) {
                    // The text that the call stands in ends here.
                    if is_open {
                        return None;
                    }
                    break;
                }
                let span = start..end - usize::from(escaped && end > start);
                if depth == 0
                    && let Some(last) = arguments.last_mut()
                {
                    last.get_or_insert(span);
                }
                at = end + 1;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => {
                arguments.push(None);
                at += 1;
            }
            // Named arguments are found by their names.
            b'=' if depth == 0 && bytes.get(at + 1) != Some(&b'>') => {
                arguments.pop();
                break;
            }
            b';' => break,
            _ => at += 1,
        }
    }
    Some(arguments)
}

/// The last text among the arguments, where there are two and more. With `words`, any word can be a password there.
pub fn last_text(text: &str, word: Range<usize>, words: bool) -> Option<Range<usize>> {
    let arguments = arguments(text, word)?;
    let texts: Vec<_> = arguments.iter().flatten().collect();
    let last = texts.last().copied().filter(|_| texts.len() > 1)?;
    let value = text.get(last.clone())?;
    let has_sign = is_password(value) || (is_random_word(value) && value.len() >= 8);
    let is_told = value
        .bytes()
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let is_secret =
        (has_sign && is_told || words && is_word(value) || is_joined_words(value)) && is_literal(value);
    is_secret.then(|| last.clone())
}

/// The argument at that place, if it is a text that can be a secret.
pub fn argument(text: &str, word: Range<usize>, place: usize) -> Option<Range<usize>> {
    let span = arguments(text, word)?.get(place)?.clone()?;
    let value = text.get(span.clone())?;
    let is_secret = is_password(value) || is_random_word(value) || is_joined_words(value) || is_word(value);
    (is_secret && is_literal(value)).then_some(span)
}

/// Returns true if it is one word or two that stand for nothing else.
fn is_word(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.len() >= 8
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        && !["pass", "user", "secret", "token", "name", "admin"]
            .iter()
            .any(|part| lower.contains(part))
        && !lower
            .split('-')
            .any(|part| PLAIN_VALUES.contains(&part) || PLAIN_PARTS.contains(&part))
}

/// Returns true if a text in a call can be a secret: no reference, filler, path, address or sentence.
fn is_literal(value: &str) -> bool {
    !is_reference(value)
        && !is_filler(value)
        && !is_path(value)
        && !value.contains([' ', '/', ',', '(', '{', '<'])
        && !value.starts_with(['.', '#'])
        && !value.contains("REDACTED")
        && !(value.contains('@') && value.rsplit('@').next().is_some_and(|host| host.contains('.')))
}

/// Returns what a script sends when it is asked: `expect "assword:"`, then `send "secret\r"`.
pub fn sent(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let near = rest.get(..rest.char_indices().nth(80).map_or(rest.len(), |(at, _)| at))?;
    let at = near.find("send").filter(|at| *at < 40)? + 4;
    let open = at + near.get(at..)?.find(['"', '\''])? + 1;
    let length = near.get(open..)?.find(['"', '\'', '\n'])?;
    let value = near.get(open..open + length)?;
    let value = value
        .trim_end_matches("\\n")
        .trim_end_matches("\\r")
        .trim_end_matches('\\');
    let start = word.end + open;
    (value.len() >= 4 && !is_reference(value) && !is_filler(value)).then(|| start..start + value.len())
}
