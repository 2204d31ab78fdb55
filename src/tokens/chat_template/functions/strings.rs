//! Python's methods of strings.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Kwargs, Rest, Tuple, from_args};
use minijinja::{Error, ErrorKind, Value};

use super::sizes;
use crate::tokens::chat_template::arguments::{fault, in_order};
use crate::tokens::chat_template::bounds;
use crate::tokens::chat_template::values::is_tuple;

/// Methods that make a text of about the same length, and do not charge it themselves.
const MAKES_TEXT: [&str; 13] = [
    "strip",
    "lstrip",
    "rstrip",
    "partition",
    "rpartition",
    "splitlines",
    "removeprefix",
    "removesuffix",
    "upper",
    "lower",
    "title",
    "capitalize",
    "swapcase",
];

/// Calls a method of a text.
pub fn call(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    if MAKES_TEXT.contains(&method) {
        bounds::room(text.len())?;
    }
    match method {
        "strip" | "lstrip" | "rstrip" => {
            let (of,): (Option<&str>,) = from_args(arguments)?;
            Ok(Value::from(stripped(
                text,
                of,
                method != "rstrip",
                method != "lstrip",
            )))
        }
        "split" | "rsplit" => {
            let (positional, named): (Rest<Value>, Kwargs) = from_args(arguments)?;
            let arguments = in_order((positional, named), &["sep", "maxsplit"])?;
            split(text, &arguments, method == "rsplit")
        }
        "splitlines" => {
            let line_ends = text.bytes().filter(u8::is_ascii_control).count();
            bounds::room(line_ends.saturating_mul(64))?;
            let (keep,): (Option<bool>,) = from_args(arguments)?;
            Ok(lines(text, keep.unwrap_or(false)).into_iter().collect())
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(arguments)?;
            Ok(partition(text, separator, method == "rpartition"))
        }
        "startswith" | "endswith" => {
            let (affixes, start, end): (&Value, Option<i64>, Option<i64>) = from_args(arguments)?;
            let (_, text) = window(text, start, end);
            has_affix(text, affixes, method == "endswith").map(Value::from)
        }
        "find" | "rfind" | "index" | "rindex" | "count" => search(text, method, arguments),
        "replace" => {
            let (old, new, count): (&str, &str, Option<i64>) = from_args(arguments)?;
            replaced(text, old, new, count).map(Value::from)
        }
        "removeprefix" => {
            let (affix,): (&str,) = from_args(arguments)?;
            Ok(Value::from(text.strip_prefix(affix).unwrap_or(text)))
        }
        "removesuffix" => {
            let (affix,): (&str,) = from_args(arguments)?;
            Ok(Value::from(text.strip_suffix(affix).unwrap_or(text)))
        }
        "join" => {
            let (parts,): (&Value,) = from_args(arguments)?;
            bounds::room(parts.len().unwrap_or_default().saturating_mul(24))?;
            let parts: Vec<Value> = parts.try_iter()?.collect();
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            let parts = parts.ok_or_else(|| fault("only texts can be joined"))?;
            joined(&parts, text).map(Value::from)
        }
        "format" => bounds::room(sizes::of_format(text, arguments))
            .and_then(|()| format(FormatStyle::StrFormat, text, arguments))
            .map(Value::from),
        "ljust" | "rjust" | "center" | "zfill" => padded(text, method, arguments),
        _ => {
            let () = from_args(arguments)?;
            cased(text, method)
                .or_else(|| is(text, method).map(Value::from))
                .ok_or_else(|| Error::from(ErrorKind::UnknownMethod))
        }
    }
}

/// Returns true if Python counts a character as white space.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

/// The text without white space, or the characters `of`, at its ends.
pub fn stripped<'t>(text: &'t str, of: Option<&str>, left: bool, right: bool) -> &'t str {
    let goes = |character: char| of.map_or_else(|| is_space(character), |of| of.contains(character));
    let text = if left { text.trim_start_matches(goes) } else { text };
    if right { text.trim_end_matches(goes) } else { text }
}

/// The lines of a text, at all of Python's line ends.
pub fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let is_end = |character: char| matches!(character, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((at, end)) = rest.char_indices().find(|(_, character)| is_end(*character)) {
        let is_pair = end == '\r' && rest.get(at + 1..).is_some_and(|rest| rest.starts_with('\n'));
        let next = at + end.len_utf8() + usize::from(is_pair);
        lines.push(rest.get(..if keep_ends { next } else { at }).unwrap_or_default());
        rest = rest.get(next..).unwrap_or_default();
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// The text with the first `count` occurrences of `old` replaced; all of them if `count` is negative or absent.
pub fn replaced(text: &str, old: &str, new: &str, count: Option<i64>) -> Result<String, Error> {
    let count = count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX);
    let places = text.matches(old).take(count).count();
    bounds::room(places.saturating_mul(new.len()).saturating_add(text.len()))?;
    Ok(text.replacen(old, new, count))
}

/// The texts joined, with a separator between them.
pub fn joined(parts: &[&str], between: &str) -> Result<String, Error> {
    let lengths = parts.iter().map(|part| part.len().saturating_add(between.len()));
    bounds::room(lengths.fold(0, usize::saturating_add))?;
    Ok(parts.join(between))
}

fn split(text: &str, arguments: &[Value], from_right: bool) -> Result<Value, Error> {
    let (separator, most): (Option<&str>, Option<i64>) = from_args(arguments)?;
    let most = most
        .and_then(|most| usize::try_from(most).ok())
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    // A part takes an element of a list, and one for its text.
    let places = match separator {
        Some(separator) => text.matches(separator).take(most).count(),
        None => text.split(is_space).take(most).count(),
    };
    bounds::room(places.saturating_mul(64).saturating_add(text.len()))?;
    let parts: Vec<&str> = match separator {
        Some("") => return Err(fault("an empty separator")),
        Some(separator) if from_right => text.rsplitn(most, separator).collect(),
        Some(separator) => return Ok(text.splitn(most, separator).map(Value::from).collect()),
        None => words(text, most, from_right),
    };
    if from_right {
        return Ok(parts.into_iter().rev().map(Value::from).collect());
    }
    Ok(parts.into_iter().map(Value::from).collect())
}

/// The words of a text, at most `most`; the last one holds the rest.
fn words(text: &str, most: usize, from_right: bool) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = stripped(text, None, !from_right, from_right);
    while !rest.is_empty() {
        let space = if from_right {
            rest.rfind(is_space)
        } else {
            rest.find(is_space)
        };
        let Some(at) = space.filter(|_| words.len() + 1 < most) else {
            words.push(stripped(rest, None, from_right, false));
            break;
        };
        let width = rest
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        let (before, after) = (
            rest.get(..at).unwrap_or_default(),
            rest.get(at + width..).unwrap_or_default(),
        );
        let (word, left) = if from_right {
            (after, before)
        } else {
            (before, after)
        };
        words.push(word);
        rest = stripped(left, None, !from_right, from_right);
    }
    words
}

fn partition(text: &str, separator: &str, from_right: bool) -> Value {
    let parts = if from_right {
        text.rsplit_once(separator)
    } else {
        text.split_once(separator)
    };
    let parts = match parts {
        Some((before, after)) => [before, separator, after],
        None if from_right => ["", "", text],
        None => [text, "", ""],
    };
    Value::from(Tuple::from(parts.map(Value::from)))
}

fn has_affix(text: &str, affixes: &Value, at_end: bool) -> Result<bool, Error> {
    let has = |affix: &str| {
        if at_end {
            text.ends_with(affix)
        } else {
            text.starts_with(affix)
        }
    };
    if let Some(affix) = affixes.as_str() {
        return Ok(has(affix));
    }
    if !is_tuple(affixes) {
        return Err(fault("a prefix or suffix is a text or a tuple of texts"));
    }
    Ok(affixes.try_iter()?.any(|affix| affix.as_str().is_some_and(has)))
}

fn search(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (&str, Option<i64>, Option<i64>) = from_args(arguments)?;
    let (offset, part) = window(text, start, end);
    let found = match method {
        "count" if wanted.is_empty() => return Ok(Value::from(part.chars().count() + 1)),
        "count" => return Ok(Value::from(part.matches(wanted).count())),
        "find" | "index" => part.find(wanted),
        _ => part.rfind(wanted),
    };
    match found {
        Some(at) => Ok(Value::from(
            offset + part.get(..at).unwrap_or_default().chars().count(),
        )),
        None if method.ends_with("index") => Err(fault("the text is not in the other one")),
        None => Ok(Value::from(-1)),
    }
}

/// The part between two indexes in characters, negative ones from the end; and the first index.
fn window(text: &str, start: Option<i64>, end: Option<i64>) -> (usize, &str) {
    if start.is_none() && end.is_none() {
        return (0, text);
    }
    let length = text.chars().count();
    let place = |given: i64| match usize::try_from(given) {
        Ok(place) => place.min(length),
        Err(_) => length.saturating_sub(usize::try_from(given.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let (start, end) = (start.map_or(0, place), end.map_or(length, place));
    let byte = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    (start, text.get(byte(start)..byte(end)).unwrap_or_default())
}

fn padded(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (width, fill): (i64, Option<&str>) = from_args(arguments)?;
    let fill = if method == "zfill" {
        "0"
    } else {
        fill.unwrap_or(" ")
    };
    let missing = usize::try_from(width)
        .unwrap_or(0)
        .saturating_sub(text.chars().count());
    bounds::room(missing.saturating_mul(fill.len()).saturating_add(text.len()))?;
    let left = match method {
        "ljust" => 0,
        // If the width is odd, the odd fill character goes to the left.
        "center" => missing / 2 + usize::from(missing % 2 == 1 && width % 2 == 1),
        _ => missing,
    };
    let (sign, digits) = text.split_at(usize::from(method == "zfill" && text.starts_with(['+', '-'])));
    Ok(Value::from(format!(
        "{sign}{}{digits}{}",
        fill.repeat(left),
        fill.repeat(missing - left)
    )))
}

/// The text with its case changed.
fn cased(text: &str, method: &str) -> Option<Value> {
    let text = match method {
        "upper" => text.to_uppercase(),
        "lower" | "casefold" => text.to_lowercase(),
        "title" => titled(text),
        "capitalize" => {
            let mut characters = text.chars();
            let first: String = characters
                .next()
                .into_iter()
                .flat_map(char::to_uppercase)
                .collect();
            first + &characters.as_str().to_lowercase()
        }
        "swapcase" => {
            let swapped = |character: char| {
                let text = character.to_string();
                if character.is_uppercase() {
                    text.to_lowercase()
                } else {
                    text.to_uppercase()
                }
            };
            text.chars().map(swapped).collect()
        }
        _ => return None,
    };
    Some(Value::from(text))
}

fn titled(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for character in text.chars() {
        if in_word {
            titled.extend(character.to_lowercase());
        } else {
            titled.extend(character.to_uppercase());
        }
        in_word = character.is_lowercase() || character.is_uppercase();
    }
    titled
}

/// The result of a test such as `isdigit`; `None` for another method.
fn is(text: &str, method: &str) -> Option<bool> {
    let all = |of: fn(char) -> bool| !text.is_empty() && text.chars().all(of);
    let cased =
        |this: fn(char) -> bool, other: fn(char) -> bool| text.chars().any(this) && !text.chars().any(other);
    Some(match method {
        "isalpha" => all(char::is_alphabetic),
        "isdigit" | "isnumeric" | "isdecimal" => all(char::is_numeric),
        "isalnum" => all(char::is_alphanumeric),
        "isspace" => all(is_space),
        "isascii" => text.is_ascii(),
        "islower" => cased(char::is_lowercase, char::is_uppercase),
        "isupper" => cased(char::is_uppercase, char::is_lowercase),
        _ => return None,
    })
}
