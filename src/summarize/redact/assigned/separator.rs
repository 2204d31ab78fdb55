//! The separator between a name and its value, in every syntax: `=`, `:`, `=>`, tags, arguments, options, sentences.

use super::names::{FoundName, Name, Values};
use crate::summarize::redact::colour::past_colour;
use crate::summarize::redact::prefix::own_line;
use crate::summarize::redact::value::shape::{head, skip};
use crate::summarize::redact::value::word_lists::{DIRECTIVES, SETTERS, VERBS, VERBS_WITHIN};

/// Longest gap between a name and its value in a sentence or a tag.
const MAX_GAP: usize = 100;

/// Most words of a sentence between a name and its value.
const MAX_WORDS: usize = 7;

/// Longest type between a name and its value.
const MAX_TYPE: usize = 40;

/// The syntax that gives a name its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `name = value`
    Equals,
    /// `name: value`
    Colon,
    /// `<name>value</name>`
    Tag,
    /// The cell of a table, or the tag behind that of the name.
    Cell,
    /// `set("name", "value")`
    Argument,
    /// `--name value`
    Option,
    /// `name value` in files where that is the syntax.
    Space,
    /// In a sentence: `the name is value`.
    Sentence,
}

/// Returns the beginning of the value of a name, and the syntax.
pub fn value_start(text: &str, name: &Name, found: FoundName) -> Option<(usize, Syntax)> {
    let bytes = text.as_bytes();
    let end = past_colour(bytes, found.end);
    let name_end = skip(bytes, end, b"\\\"'`])*");
    let name_end = past_colour(bytes, name_end);
    let is_quoted = name_end > end;
    let at = skip(bytes, name_end, b" \t");
    let before = bytes.get(..found.start)?;
    let rest = bytes.get(at..)?;
    Some(match rest {
        [b'=' | b'!', b'=', ..] if name.value == Values::Password => {
            let end = skip(bytes, skip(bytes, at, b"=!"), b" ");
            bytes
                .get(end)
                .filter(|byte| matches!(byte, b'"' | b'\'' | b'\\'))?;
            (end, Syntax::Equals)
        }
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b'!', b'=', ..] => return None,
        // A default: `${NAME:-value}`, `env.NAME || "value"`, `getenv("NAME") ?: "value"`.
        [b':', b'-', next, ..] if !next.is_ascii_whitespace() => (at + 2, Syntax::Equals),
        [b'|', b'|', b' ', b'"' | b'\'', ..]
        | [b'?', b'?' | b':', b' ', b'"' | b'\'', ..]
        | [b'o', b'r', b' ', b'"' | b'\'', ..]
            if found.is_variable || name.value == Values::Password =>
        {
            (at + 3, Syntax::Equals)
        }
        [b'=', b'>', ..] | [b':' | b'?' | b'+', b'=', ..] => (at + 2, Syntax::Equals),
        [b'|', b'|', b'=', ..] => (at + 3, Syntax::Equals),
        [b'=', ..] => (at + 1, Syntax::Equals),
        [b':', ..] => (at + 1, Syntax::Colon),
        // One argument of a list: `["--name", "value"]`.
        [b',', ..] if is_quoted && bytes.get(found.start) == Some(&b'-') => {
            let value = skip(bytes, at + 1, b" \\\"'");
            bytes.get(value).filter(|byte| **byte != b'-')?;
            (at + 1, Syntax::Option)
        }
        // The name is replaced by a value: `s|__NAME__|value|`.
        [b'|', ..] if before.ends_with(b"s|") => (at + 1, Syntax::Option),
        // Tags that are escaped themselves.
        [b'&', b'g', b't', b';', ..] if before.ends_with(b"&lt;") => (at + 4, Syntax::Tag),
        [b'R', b'E', b'G', b'_', b'S', b'Z', ..] => (at + 6, Syntax::Option),
        // A colon as wide as an ideograph.
        [0xEF, 0xBC, 0x9A, ..] => (at + 3, Syntax::Colon),
        [b'>', ..] if opens_tag(before) => (at + 1, Syntax::Tag),
        // Attributes before the end of the tag.
        [first, ..] if opens_tag(before) && at > name_end && first.is_ascii_alphabetic() => {
            let tag = rest.get(..rest.len().min(2 * MAX_GAP))?;
            let length = memchr::memchr(b'>', tag)?;
            tag.get(..length)
                .filter(|tag| !tag.contains(&b'<') && !tag.ends_with(b"/"))?;
            (at + length + 1, Syntax::Tag)
        }
        [b'<', b'/', ..] => (past_tags(rest).map(|length| at + length)?, Syntax::Cell),
        [b'|', ..] if is_row(before) => (at + 1, Syntax::Cell),
        [0xE2, 0x94, 0x82 | 0x83, ..] if is_row(before) => (at + 3, Syntax::Cell),
        [b',', ..] if is_quoted && is_setter(undotted(before)) => (at + 1, Syntax::Argument),
        [b'.', ..] if is_quoted && unwraps(rest).is_some() => (at + unwraps(rest)?, Syntax::Equals),
        [b'(', b'"' | b'\'' | b'\\', ..] if name.value == Values::Password && sets(text, found) => {
            (at + 1, Syntax::Argument)
        }
        _ => {
            if let Some(length) = named_value(bytes.get(name_end..)?, is_quoted) {
                (name_end + length, Syntax::Equals)
            } else if at > name_end && is_option(bytes, found.start) {
                (at, Syntax::Option)
            } else if at > name_end
                && let Some(how) = space_syntax(text, before, found, rest)
            {
                // The kind of a password of a router: `0`, `5`, `7`.
                let is_kind = matches!(rest, [b'0'..=b'9', b' ', ..]);
                (at + 2 * usize::from(is_kind), how)
            } else {
                let told = sentence(head(text.get(name_end..)?, 2 * MAX_GAP));
                let Some((length, how)) = told else {
                    let is_login = at > name_end && name.value == Values::Password && tells_login(before);
                    return is_login.then_some((at, Syntax::Sentence));
                };
                return (name.is_told() && plain_words(before)).then_some((name_end + length, how));
            }
        }
    })
}

/// Returns true if `<`, with a namespace or not, stands there: the name is that of a tag.
fn opens_tag(before: &[u8]) -> bool {
    let near = before.get(before.len().saturating_sub(24)..).unwrap_or_default();
    let head = near
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.'))
        .count();
    near.get(..near.len() - head)
        .is_some_and(|head| head.ends_with(b"<"))
}

/// The length of tags: `</key><string>`, `</td>\n<td class="x">`.
fn past_tags(rest: &[u8]) -> Option<usize> {
    let window = rest.get(..rest.len().min(MAX_GAP))?;
    let close = memchr::memchr(b'>', window)? + 1;
    let blank = window
        .get(close..)?
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace() || **byte == b':')
        .count();
    let open = close + blank;
    match window.get(open..)? {
        [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
            Some(open + memchr::memchr(b'>', window.get(open..)?)? + 1)
        }
        // `<b>Password</b>: x`
        _ => (blank > 0).then_some(open),
    }
}

/// Returns true if it is a row of a table: `| name`, at the beginning of its line.
fn is_row(before: &[u8]) -> bool {
    let near = before
        .get(before.len().saturating_sub(MAX_GAP)..)
        .unwrap_or_default();
    let near = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let near = near.trim_ascii_start();
    near.first() == Some(&b'|')
        || near.starts_with("│".as_bytes())
        || near.starts_with("┃".as_bytes())
        || near.iter().all(u8::is_ascii_whitespace)
}

/// The text before a name with parts: `put("` before `service.db.password`.
fn undotted(before: &[u8]) -> &[u8] {
    let parts = if before.ends_with(b".") {
        before
            .iter()
            .rev()
            .take(MAX_TYPE)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
            .count()
    } else {
        0
    };
    before.get(..before.len() - parts).unwrap_or_default()
}

/// The length up to the text that stands in for a missing variable: `.unwrap_or_else(|_| "`.
fn unwraps(rest: &[u8]) -> Option<usize> {
    let call = [
        b".unwrap_or".as_slice(),
        b".or_else(",
        b".orElse(",
        b".getOrElse(",
    ]
    .into_iter()
    .find(|call| rest.starts_with(call))?;
    let near = rest.get(call.len()..rest.len().min(call.len() + 30))?;
    near.iter()
        .position(|byte| matches!(byte, b'"' | b'\\'))
        .map(|at| call.len() + at)
}

/// Returns true if `define('` or the like stands there.
fn is_setter(before: &[u8]) -> bool {
    let quotes = before
        .iter()
        .rev()
        .take(3)
        .take_while(|byte| matches!(byte, b'\\' | b'"' | b'\''))
        .count();
    let head = before
        .get(..before.len() - quotes)
        .unwrap_or_default()
        .trim_ascii_end();
    if head.ends_with(b"[") {
        return true;
    }
    let Some(call) = head.strip_suffix(b"(") else {
        return false;
    };
    // A pair: `("password", "…")`.
    let is_pair = !call
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b']' | b')'));
    is_pair
        || SETTERS.iter().any(|setter| {
            let start = call.len().saturating_sub(setter.len());
            call.get(start..)
                .is_some_and(|name| name.eq_ignore_ascii_case(setter.as_bytes()))
        })
}

/// Returns true if a call sets what it names: `set_password('…')`, `withPassword("…")`, but not `get("…")`.
fn sets(text: &str, found: FoundName) -> bool {
    let head = text
        .get(found.start..found.word)
        .unwrap_or_default()
        .to_ascii_lowercase();
    // The function of SQL: `PASSWORD('…')`.
    let is_builder = head.is_empty()
        && text
            .get(..found.start)
            .is_some_and(|before| before.ends_with('.'));
    is_builder
        || text.get(found.start..found.end) == Some("PASSWORD")
        || [
            "set", "with", "change", "make", "check", "hash", "reset", "raw", "update",
        ]
        .contains(&head.trim_end_matches('_'))
}

/// Returns true if the name is an option of a command: `--name`, `-name` after a blank.
fn is_option(bytes: &[u8], start: usize) -> bool {
    let name = bytes.get(start..).unwrap_or_default();
    let before = bytes.get(..start).unwrap_or_default();
    let is_apart = before
        .last()
        .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'['));
    is_apart && name.first() == Some(&b'-')
}

/// Returns the syntax if values follow names behind a blank here: `.netrc`, `redis.conf`, `PASSWORD 'x'`.
fn space_syntax(text: &str, before: &[u8], found: FoundName, rest: &[u8]) -> Option<Syntax> {
    let near = before
        .get(before.len().saturating_sub(MAX_GAP)..)
        .unwrap_or_default();
    let line = own_line(near);
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    let is_login = memchr::memmem::find(near, b"login ").is_some() || has(b"machine ") || has(b"username ");
    let is_quoted = matches!(rest.first(), Some(b'"' | b'\'' | b'`'));
    let name = text.get(found.start..found.end).unwrap_or_default();
    let starts_line = line
        .iter()
        .all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'+' | b'-' | b'#' | b'"'));
    let is_directive = DIRECTIVES.iter().any(|word| name.eq_ignore_ascii_case(word)) && starts_line;
    // `CONFIG SET name value`, `ENV NAME value`, `username bob password 0 value`.
    let head = line.trim_ascii_end();
    let is_set = [b" set".as_slice(), b" SET", b"ENV", b"setx"]
        .iter()
        .any(|word| head.ends_with(word));
    let is_enabled = head.trim_ascii_start() == b"enable";
    let is_apart = near.last().is_none_or(u8::is_ascii_whitespace);
    if is_directive {
        return Some(Syntax::Option);
    }
    (((is_login || is_enabled || is_set) && is_apart) || (is_quoted && name.len() > 4))
        .then_some(Syntax::Space)
}

/// Returns true if a name is a word of a sentence: nothing of an identifier before it.
fn plain_words(before: &[u8]) -> bool {
    !before
        .last()
        .is_some_and(|byte| matches!(byte, b'.' | b'$' | b'/' | b'{' | b'@'))
}

/// The length up to the value that a sentence states, and the syntax.
fn sentence(rest: &str) -> Option<(usize, Syntax)> {
    let mut at = 0;
    let mut words = 0;
    let foreign = rest
        .chars()
        .take(6)
        .take_while(|c| !c.is_ascii())
        .map(char::len_utf8)
        .sum();
    let start = rest.get(..foreign)?;
    for verb in VERBS_WITHIN.iter() {
        if let Some(gap) = start.find(verb) {
            let after = gap + verb.len();
            let blank = after + rest.get(after..)?.len()
                - rest.get(after..)?.trim_start_matches([' ', ':', '：']).len();
            return Some((blank, Syntax::Sentence));
        }
    }
    for word in rest.split_inclusive([' ', '\t']) {
        let end = at + word.len();
        if end > MAX_GAP || words > MAX_WORDS || word.contains(['\n', ';', '{', '[']) {
            return None;
        }
        let plain = word.trim_end_matches([' ', '\t']);
        if plain.ends_with([':', '：', '=']) && !plain.ends_with("==") {
            return (end > plain.len() + at || words > 0).then_some((end, Syntax::Sentence));
        }
        if VERBS.contains(&plain) && (words > 0 || at > 0) {
            return Some((end, Syntax::Sentence));
        }
        words += usize::from(!plain.is_empty());
        at = end;
    }
    None
}

/// The length of `value =` after a name that is a value itself: `name: DB_PASSWORD`, then `value: …`.
fn named_value(rest: &[u8], is_quoted: bool) -> Option<usize> {
    let window = rest.get(..rest.len().min(MAX_GAP))?;
    let gap = window
        .iter()
        .take(40)
        .take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'\\' | b'"' | b'\''))
        .count();
    let gap = match window.get(gap..)? {
        value if value.starts_with(b"value") || value.starts_with(b"Value") => gap,
        default if default.starts_with(b"default=") => gap + 2,
        // Other attributes of the same tag.
        _ if is_quoted => {
            let inner = window.split(|byte| *byte == b'>' || *byte == b'\n').next()?;
            memchr::memmem::find(inner, b" value=").map(|at| at + 1)?
        }
        _ => return None,
    };
    let quotes = skip(window, gap + 5, b"\\\"'");
    let blank = skip(window, quotes, b" ");
    let sign = matches!(window.get(blank), Some(b'=' | b':'));
    (gap > 0 && sign).then_some(blank + 1)
}

/// Returns true if a sentence so far is about a login: `sign in as bob with password …`.
fn tells_login(before: &[u8]) -> bool {
    let near = before
        .get(before.len().saturating_sub(MAX_GAP)..)
        .unwrap_or_default();
    let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.to_ascii_lowercase();
    [
        b"log".as_slice(),
        b"sign in",
        b"user",
        b"account",
        b"connect",
        b"credential",
        b" as ",
    ]
    .iter()
    .any(|word| memchr::memmem::find(&line, word).is_some())
}
