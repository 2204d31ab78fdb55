//! Other places of a name's value than right behind it: deeper in an object, before it, in the next line, later in a
//! sentence.

use super::names::{FoundName, Name};
use super::separator::Syntax;
use crate::summarize::redact::colour::past_colour;
use crate::summarize::redact::prefix::{own_line, own_start};
use crate::summarize::redact::value::shape::{head, skip};
use crate::summarize::redact::value::word_lists::{PRINTERS, SET_COMMANDS, VALUE_KEYS, VERBS};

/// Bytes behind a name in which its value is searched.
const MAX_AFTER: usize = 160;

/// Bytes before a name in which its value is searched.
const MAX_BEFORE: usize = 200;

/// Most tags between a name and its value.
const MAX_TAGS: usize = 3;

/// Most fields of an object before its value.
const MAX_FIELDS: usize = 6;

/// Most words between a secret and the name that says what it is.
const MAX_WORDS: usize = 4;

/// The places where a value may begin, the likeliest first, and how each is given.
pub fn other_places(text: &str, name: &Name, found: FoundName) -> Vec<(usize, Syntax)> {
    let mut places = Vec::new();
    let bytes = text.as_bytes();
    let end = past_colour(bytes, skip(bytes, past_colour(bytes, found.end), b"\\\"'`"));
    let next = text.get(skip(bytes, end, b"] ")..).unwrap_or_default();
    if ["==", "!=", "=~", "::"].iter().any(|sign| next.starts_with(sign)) {
        return places;
    }
    places.extend(nested(text, found.end, end));
    places.extend(tagged(text, found.start, end));
    places.extend(sibling(text, found, end));
    places.extend(in_line(text, found, end));
    places.extend(printed(text, found, end));
    if name.is_told() {
        places.extend(told(text, found, end));
        places.extend(reversed(text, found));
    }
    places
}

/// The place behind blanks, line ends and what stands before lines.
fn gap(text: &str, at: usize) -> usize {
    let mut at = at;
    for _ in 0..4 {
        let rest = text.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = text.get(at..).unwrap_or_default();
        let Some(newline) = ["\r\n", "\n", "\\r\\n", "\\n"]
            .into_iter()
            .find(|newline| rest.starts_with(newline))
        else {
            break;
        };
        at += newline.len();
        at += own_start(text.as_bytes().get(at..).unwrap_or_default());
    }
    at
}

/// `"name": {"value": "secret"`, `name: |` and the next line, `name: X`, then `value: secret`, `name\u003dsecret`.
fn nested(text: &str, name_end: usize, end: usize) -> Option<(usize, Syntax)> {
    let rest = text.get(name_end..)?;
    if let Some(sign) = ["\\u003d", "\\u003D", "%3D", "&#61;"]
        .iter()
        .find(|sign| rest.starts_with(**sign))
    {
        return Some((name_end + sign.len(), Syntax::Option));
    }
    let rest = text.get(end..)?;
    let sign = usize::from(rest.starts_with([':', '=', ',']));
    let at = gap(text, end + sign);
    let rest = text.get(at..)?;
    if sign == 1
        && let Some(block) = ["|-", ">-", "|+", "|", ">"]
            .iter()
            .find(|block| rest.starts_with(**block))
    {
        let place = gap(text, at + block.len());
        let is_next = text.get(at + block.len()..place)?.contains('n') || text.get(at..place)?.contains('\n');
        return is_next.then_some((place, Syntax::Option));
    }
    let is_block = rest.starts_with('{');
    let mut at = if is_block { gap(text, at + 1) } else { at };
    let is_value_key = |at: usize| {
        let key = skip(text.as_bytes(), at, b"\\\"'");
        let word = VALUE_KEYS.iter().find(|word| {
            text.get(key..key + word.len())
                .is_some_and(|key| key.eq_ignore_ascii_case(word))
        });
        word.map(|word| (key, word))
    };
    // Other fields may stand before it, one in a line.
    for _ in 0..MAX_FIELDS {
        let line = line_of(text, at)?;
        if !is_block || is_value_key(at).is_some() || line.contains(['{', '}']) {
            break;
        }
        at = gap(text, at + line.len());
    }
    let (key, word) = is_value_key(at)?;
    let at = skip(text.as_bytes(), key + word.len(), b"\\\"' ");
    let is_key = at < key + word.len() + 4 && text.get(at..)?.starts_with([':', '=']);
    is_key.then_some((at + 1, Syntax::Equals))
}

/// `<name>x</name>`, then `<value>secret`; `<string name="x">secret`; `<Password><Value>secret`.
fn tagged(text: &str, start: usize, end: usize) -> Option<(usize, Syntax)> {
    let rest = text.get(end..)?;
    let mut at = if rest.starts_with("</") || rest.starts_with('>') {
        end + rest.find('>').filter(|at| *at < MAX_AFTER / 2)? + 1
    } else {
        return None;
    };
    let opening = text.get(text.floor_char_boundary(start.saturating_sub(MAX_BEFORE))..start)?;
    let is_attribute = rest.starts_with('>') && opening.ends_with(['"', '\'']);
    let in_tag = opening.rfind('<') > opening.rfind('>');
    let mut tags = usize::from(is_attribute && in_tag);
    at = gap(text, at);
    for _ in 0..MAX_TAGS {
        let rest = text.get(at..)?;
        if !rest.starts_with('<') || !rest.get(1..)?.starts_with(|c: char| c.is_ascii_alphabetic()) {
            break;
        }
        at = gap(text, at + rest.find('>').filter(|at| *at < MAX_AFTER / 2)? + 1);
        tags += 1;
    }
    (tags > 0).then_some((at, Syntax::Tag))
}

/// The value of the same object or tag that stands before its name, or behind other fields: `value="secret" key="name"`,
/// `"Name": "name", "Type": "x", "Value": "secret"`.
fn sibling(text: &str, found: FoundName, end: usize) -> Option<(usize, Syntax)> {
    // A path may go on behind the name: `https://…/secrets/name/version`.
    let rest = text.get(found.end..)?;
    let path = if rest.starts_with('/') {
        head(rest, MAX_AFTER).find(['"', '\'', ' ', '\n'])?
    } else {
        0
    };
    let end = end.max(found.end + path + usize::from(path > 0));
    if end == found.end {
        return None;
    }
    let bytes = text.as_bytes();
    let from = text.floor_char_boundary(found.start.saturating_sub(MAX_BEFORE));
    let before = text.get(from..found.start)?;
    // The name may be the end of a path.
    let quote = before.rfind(['"', '\''])?;
    let key = before
        .get(..quote)?
        .trim_end_matches([' ', ':', '=', '"', '\'', '\\'])
        .to_ascii_lowercase();
    let is_named = ["name", "key", "id"].iter().any(|word| key.ends_with(word));
    let is_path = before
        .get(quote + 1..)?
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte));
    if !is_named || !is_path {
        return None;
    }
    let value_in = |part: &str, at: usize| {
        let word = part.to_ascii_lowercase().rfind("value")?;
        let sign = skip(bytes, at + word + "value".len(), b"\\\"' ");
        let is_sign = matches!(bytes.get(sign), Some(b':' | b'='));
        is_sign.then_some((sign + 1, Syntax::Equals))
    };
    let open = before.rfind(['{', '<', '}', '>']).map_or(0, |at| at + 1);
    let earlier = value_in(before.get(open..)?, from + open);
    earlier.or_else(|| {
        let after = head(text.get(end..)?, MAX_AFTER);
        let after = after.get(..after.find(['}', '>', '{', '<']).unwrap_or(after.len()))?;
        let start = after.to_ascii_lowercase().find("value")?;
        value_in(after.get(..start + "value".len())?, end)
    })
}

/// `name   secret`, all of a line of settings; `setenv NAME secret`.
fn in_line(text: &str, found: FoundName, end: usize) -> Option<(usize, Syntax)> {
    let bytes = text.as_bytes();
    if end != found.end || !matches!(bytes.get(end), Some(b' ' | b'\t')) {
        return None;
    }
    let at = skip(bytes, skip(bytes, skip(bytes, end, b" \t"), b" \t"), b" ");
    let rest = line_of(text, at)?;
    if rest.is_empty() || rest.starts_with(['=', ':', '<', '{', '(']) {
        return None;
    }
    let line = own_line(bytes.get(..found.start)?).trim_ascii();
    let is_first = line.is_empty();
    let is_set = line
        .split(u8::is_ascii_whitespace)
        .any(|word| SET_COMMANDS.iter().any(|command| command.as_bytes() == word));
    let words = rest
        .trim_end_matches(['"', '`', '\'', ';'])
        .split_ascii_whitespace()
        .count();
    if is_first && words == 1 {
        return Some((at, Syntax::Space));
    }
    let how = if found.is_variable {
        Syntax::Option
    } else {
        Syntax::Space
    };
    (is_set && words <= 2).then_some((at, how))
}

/// The output of a command that prints the secret of that name: `cat /run/secrets/db_password`, and the next line; or a
/// line of its own after a sentence that ends with a colon.
fn printed(text: &str, found: FoundName, end: usize) -> Option<(usize, Syntax)> {
    let tail = line_of(text, end).filter(|tail| tail.len() < MAX_AFTER)?;
    let mut at = gap(text, end + tail.len());
    if tail.trim_end().ends_with(':') && text.get(at..)?.starts_with("```") {
        at = gap(text, at + line_of(text, at)?.len());
    }
    let below = line_of(text, at)?.trim();
    if let Some(answer) = answered(below).filter(|_| end == found.end && tail.trim().is_empty()) {
        return Some((at + answer, Syntax::Option));
    }
    let below = below.trim_end_matches(['"', '}', ',']);
    let is_alone = at > end + tail.len()
        && !below.is_empty()
        && !below.contains(' ')
        && !below.ends_with([':', '{', '(', '[', ';', '>']);
    if !is_alone {
        return None;
    }
    let line = own_line(text.as_bytes().get(..found.start)?);
    let is_printer = line
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        .any(|word| PRINTERS.iter().any(|printer| printer.as_bytes() == word));
    let is_assigned = ["=$(", "=`"]
        .iter()
        .any(|sign| memchr::memmem::find(line, sign.as_bytes()).is_some());
    if is_printer && !is_assigned {
        return Some((at, Syntax::Option));
    }
    let is_form = tail.len() < 3 && memchr::memmem::find(line, b"form-data; name=").is_some();
    if is_form {
        return Some((at, Syntax::Option));
    }
    let is_introduced = tail.trim_end().ends_with(':') && tail.len() < 100;
    is_introduced.then_some((at, Syntax::Sentence))
}

/// The place of the text in the answer of an interpreter: `'secret'`, `=> "secret"`.
fn answered(line: &str) -> Option<usize> {
    let value = line.strip_prefix("=> ").unwrap_or(line);
    let value = value
        .strip_prefix("Out[")
        .and_then(|rest| Some(rest.split_once("]: ")?.1))
        .unwrap_or(value);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let is_text = value.len() > 2 && value.get(1..)?.find(quote) == Some(value.len() - 2);
    is_text.then_some(line.len() - value.len())
}

/// The rest of a line, real or escaped, from a place on, in its first `MAX_AFTER` bytes.
fn line_of(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes().get(at..)?;
    let window = bytes.get(..bytes.len().min(MAX_AFTER)).unwrap_or_default();
    let real = memchr::memchr2(b'\n', b'\r', window).unwrap_or(window.len());
    let escaped = memchr::memmem::find(window.get(..real)?, b"\\n").unwrap_or(real);
    Some(head(text.get(at..)?, escaped))
}

/// The places of a sentence behind the name where a value may begin: right behind it, behind each verb and each colon.
fn told(text: &str, found: FoundName, end: usize) -> Vec<(usize, Syntax)> {
    let mut places = Vec::new();
    let before = text.as_bytes().get(..found.start).unwrap_or_default();
    let is_code = before
        .last()
        .is_some_and(|byte| matches!(byte, b'.' | b'$' | b'/' | b'{' | b'@' | b'(' | b'-' | b'_'));
    let line = line_of(text, end).unwrap_or_default();
    if is_code || !line.starts_with([' ', ':', ',', '[', '(']) {
        return places;
    }
    let mut at = 0;
    for (number, word) in line.split_inclusive(' ').enumerate().take(14) {
        let plain = word.trim_end();
        let next = at + word.len();
        let is_right_behind = number == 0 && plain.is_empty();
        if is_right_behind || plain.ends_with([':', '=', '：']) || VERBS.contains(&plain) {
            places.push((end + next, Syntax::Sentence));
        }
        at = next;
    }
    places
}

/// The secret that a sentence names after it: `Use 'secret' as the password`, `secret is my new password`.
fn reversed(text: &str, found: FoundName) -> Option<(usize, Syntax)> {
    let from = text.floor_char_boundary(found.start.saturating_sub(MAX_AFTER));
    let before = text.get(from..found.start)?;
    let before = before.get(before.rfind('\n').map_or(0, |at| at + 1)..)?;
    let mut end = before.trim_end().len();
    for _ in 0..MAX_WORDS {
        let word = before.get(..end)?.rsplit(' ').next()?;
        end = before.get(..end - word.len())?.trim_end().len();
        if word.is_empty() {
            return None;
        }
        if matches!(word, "as" | "is" | "for" | "was") {
            let secret = before.get(..end)?.rsplit(' ').next()?;
            let is_marked = secret.len() > 2
                && secret.starts_with(['"', '\'', '`'])
                && secret.ends_with(['"', '\'', '`']);
            let start = found.start
                - (text.get(from..found.start)?.len()
                    - (secret.as_ptr() as usize).checked_sub(text.as_ptr() as usize + from)?);
            return is_marked.then_some((start, Syntax::Sentence));
        }
        if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
    }
    None
}
