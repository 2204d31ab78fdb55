//! Secrets that stand at a place of a dialogue, a file or a list: answers to a server, pairs of lines, lists of codes.

use std::ops::Range;

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::prefix::{own, own_line};
use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{
    head, is_filler, is_machine_made, is_password, is_path, is_random_word, skip,
};

/// Bytes behind a word in which its secret is searched.
const MAX_AFTER: usize = 600;

/// Bytes before a word in which its dialogue may have begun.
const MAX_BEFORE: usize = 400;

/// Shortest secret of a dialogue.
const MIN_SECRET: usize = 4;

/// Most codes of a list.
const MAX_CODES: usize = 32;

/// Most words between the heading of a list of codes and the first of them.
const MAX_INTRODUCTION: usize = 20;

/// Returns true if what stands at such a place can be a secret: it is there, and no reference, filler or path.
pub fn is_given(secret: &str) -> bool {
    secret.len() >= MIN_SECRET
        && !is_reference(secret)
        && !is_filler(secret)
        && !is_path(secret)
        && !secret.contains("REDACTED")
}

/// The span of `part`, which is a part of `text`.
pub fn span_of(text: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (start + part.len() <= text.len()).then(|| start..start + part.len())
}

/// The lines behind a word, real or escaped ones, from the rest of its own line on.
pub fn lines_after(text: &str, end: usize) -> impl Iterator<Item = &str> {
    let rest = head(text.get(end..).unwrap_or_default(), MAX_AFTER);
    rest.split('\n').flat_map(|line| line.split("\\n"))
}

/// A line without the marks that dialogues put before what each side says.
fn said(line: &str) -> &str {
    let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '\''));
    let line = own(line)
        .trim_end_matches("\\r")
        .trim_start_matches(['<', '>', '-', '*', '~'])
        .trim_start();
    ["C:", "S:", "Client:", "client:", "=>", "->"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
        .trim_start()
}

/// The answer to a question for a password, in the line that follows: `334 UGFzc3dvcmQ6`.
pub fn answered(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let line = lines_after(text, word.end)
        .skip(1)
        .map(said)
        .find(|line| !line.is_empty())?;
    let secret = line.split(' ').next()?;
    let is_base64 = secret.bytes().all(|byte| Alphabet::Base64.holds(byte));
    (is_base64 && is_given(secret)).then(|| span_of(text, secret))?
}

/// The credentials of `AUTH PLAIN …`, in its line or the next one that the client says.
pub fn plain(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let secret = lines_after(text, word.end)
        .take(4)
        .map(said)
        .filter(|line| !line.is_empty() && !line.starts_with("334"))
        .find_map(|line| line.split([' ', '"', '\'']).next())?;
    let is_base64 = secret.bytes().all(|byte| Alphabet::Base64.holds(byte));
    let is_sign = secret.len() % 4 == 0 && secret.len() >= 8;
    (is_base64 && is_sign && is_given(secret)).then(|| span_of(text, secret))?
}

/// The argument of `PASS …` where a user was named or asked for before it: FTP, POP3, IRC.
pub fn dialogue(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    if text.get(word.clone())? != "PASS " {
        return None;
    }
    let before = text
        .as_bytes()
        .get(word.start.saturating_sub(MAX_BEFORE)..word.start)?;
    let has = |mark: &str| memchr::memmem::find(before, mark.as_bytes()).is_some();
    let after = head(text.get(word.end..)?, MAX_AFTER);
    let is_login = has("USER ") || has("331 ") || after.contains("NICK ") || after.contains("230 ");
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '`');
    let secret = after.split(ends).next()?;
    (is_login && is_given(secret)).then(|| word.end..word.end + secret.len())
}

/// The rest of the line behind its word: `::add-mask::secret`, `password 51:b:…`.
pub fn rest_of_line(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let start = skip(text.as_bytes(), word.end, b"\\\"'");
    let rest = head(text.get(start..)?, MAX_AFTER * 8);
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '\\' | '`' | '<');
    let secret = rest.split(ends).next()?;
    let is_variable = secret.starts_with('$') || secret.starts_with('%');
    (is_given(secret) && !is_variable).then(|| start..start + secret.len())
}

/// The second line of a block that holds a user and a password: `<auth-user-pass>`.
pub fn second_line(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let mut lines = lines_after(text, word.end)
        .skip(1)
        .map(|line| own(line).trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (user, secret) = (lines.next()?, lines.next()?);
    let is_user = user.bytes().all(|byte| Alphabet::Webhook.holds(byte));
    let is_secret = is_given(secret) && !secret.contains(' ') && !secret.starts_with('<');
    let is_chosen = is_password(secret) || is_random_word(secret) || text.get(word)?.starts_with('<');
    (is_user && is_secret && is_chosen).then(|| span_of(text, secret))?
}

/// The third fields of the lines of `chap-secrets`: client, server, secret, addresses.
pub fn third_fields(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let lines = lines_after(text, word.end).skip(1).take(20).map(own);
    let fields = lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (_, server, secret) = (fields.next()?, fields.next()?, fields.next()?);
            let is_server = server == "*" || server.len() > 1;
            let secret = secret.trim_matches(['"', '\'']);
            (is_server && fields.count() < 4 && is_given(secret)).then(|| span_of(text, secret))?
        });
    fields.collect()
}

/// The secret of a line `client * secret *`, which the star between blanks before it announces.
pub fn between_stars(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(word.start.saturating_sub(80)..word.start)?;
    let line = own_line(before).trim_ascii();
    let is_client = !line.is_empty()
        && line
            .iter()
            .all(|byte| Alphabet::Webhook.holds(*byte) || matches!(byte, b'"' | b'\''));
    let rest = head(text.get(word.end..)?, MAX_AFTER).split('\n').next()?;
    let mut fields = rest.split_ascii_whitespace();
    let (field, address) = (fields.next()?, fields.next()?);
    let is_address =
        address == "*" || address.contains('.') && address.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let secret = field.trim_matches(['"', '\'']);
    let is_secret = is_given(secret) && secret.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (is_client && is_address && is_secret && fields.next().is_none()).then(|| span_of(text, secret))?
}

/// The codes that a list of recovery codes holds, behind its heading.
pub fn codes(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let rest = head(text.get(word.end..).unwrap_or_default(), MAX_AFTER * 2);
    // The list ends at a redaction.
    let rest = rest.split("[REDACTED").next().unwrap_or_default();
    let is_sign = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';'
                    | '"'
                    | '\''
                    | '`'
                    | '['
                    | ']'
                    | '\\'
                    | '*'
                    | '|'
                    | ':'
                    | '('
                    | ')'
                    | '/'
                    | '+'
                    | '>'
            )
    };
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut introduction = 0;
    for part in rest.split("\\n").flat_map(|part| part.split(is_sign)) {
        let part = part.trim_end_matches('.');
        let is_number = part.len() < 6 && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || part.bytes().all(|byte| matches!(byte, b'-' | b'.')) {
            continue;
        }
        if is_code(part) {
            spans.extend(span_of(text, part));
        } else if spans.is_empty() && introduction < MAX_INTRODUCTION {
            introduction += 1;
        } else {
            break;
        }
        if spans.len() >= MAX_CODES {
            break;
        }
    }
    // One alone may be a number of something else.
    if spans.len() < 2 {
        spans.clear();
    }
    spans
}

/// Returns true if it is a code for one use: groups of letters and digits, with a digit at least.
fn is_code(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_grouped = part.matches('-').count() >= 1 && !part.starts_with('-') && !part.ends_with('-');
    let is_date = letters == 0 && part.matches('-').count() == 2 && part.len() == 10;
    (6..=40).contains(&part.len())
        && part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !is_date
        && (digits > 0
            || (is_grouped && letters >= 8)
            || letters == part.len() && part.bytes().all(|b| b.is_ascii_uppercase()))
        && (letters > 0 || is_grouped || digits >= 6)
}

/// The text that a test types into a field for a password: `fill("#password", "secret")`, `send_keys("secret")`.
pub fn typed(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(text.floor_char_boundary(word.start.saturating_sub(MAX_BEFORE / 2))..word.start)?;
    let before = before.rsplit(['\n', ';']).next()?;
    let line = head(text.get(word.end..)?, MAX_AFTER).split('\n').next()?;
    let line = line.split("\\n").next()?;
    let mut texts: Vec<&str> = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'', '`']) {
        let gap = rest.get(..open)?;
        if gap.contains(';') || (gap.contains(')') && !texts.is_empty() && !gap.contains(',')) {
            break;
        }
        let quote = rest.get(open..)?.chars().next()?;
        let inner = rest.get(open + 1..)?;
        let length = inner.find(quote)?;
        texts.push(inner.get(..length)?.trim_end_matches('\\'));
        rest = inner.get(length + 1..)?;
    }
    let (secret, named) = texts.split_last()?;
    let names = named.iter().copied().chain([before]);
    let is_field = names.map(str::to_ascii_lowercase).any(|name| {
        [
            "password", "passwd", "passcode", "pwd", "pass\"", "pass'", "#pass", "passwort",
        ]
        .iter()
        .any(|word| name.contains(word))
    });
    let is_named = named.is_empty() || is_field;
    let is_secret = is_given(secret) && !secret.contains(' ') && !secret.starts_with(['#', '.', '[']);
    (is_field && is_named && is_secret).then(|| span_of(text, secret))?
}

/// The text that a statement sets a password to: `SET PASSWORD FOR u = 'secret'`.
pub fn set_to(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let statement = head(text.get(word.end..)?, MAX_AFTER / 2).split(';').next()?;
    let value = statement.get(statement.find('=').or_else(|| statement.find(" TO "))? + 1..)?;
    let open = value.find(['\'', '"']).filter(|open| {
        !value
            .get(..*open)
            .is_some_and(|gap| gap.contains(['%', '?', ':', ',']))
    })?;
    let quote = value.get(open..)?.chars().next()?;
    let secret = value.get(open + 1..)?.split(quote).next()?.trim_end_matches('\\');
    is_given(secret).then(|| span_of(text, secret))?
}

/// The hash of a password as files of users hold it: `$6$salt$hash`, `$apr1$salt$hash`.
pub fn hash(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = head(text.get(word.start..)?, MAX_AFTER);
    let scheme = word.len() * usize::from(rest.starts_with('{'));
    let digits = rest.bytes().skip(scheme);
    let length = scheme
        + digits
            .take_while(|byte| Alphabet::Path.holds(*byte) || matches!(byte, b'$' | b',' | b'='))
            .count();
    let hash = rest.get(..length)?;
    let last = hash.rsplit('$').next()?;
    (hash.matches('$').count() >= 3 && last.len() >= 20 || hash.starts_with('{') && hash.len() > 24)
        .then(|| word.start..word.start + length)
}

/// The key of 32 digits in base sixteen near the name of its file: `config/master.key`.
pub fn key_file(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let start = text.floor_char_boundary(word.start.saturating_sub(MAX_BEFORE / 4));
    let near = head(text.get(start..)?, word.end - start + MAX_BEFORE / 4);
    near.split(|c: char| !c.is_ascii_alphanumeric())
        .map(|part| part.strip_prefix('n').unwrap_or(part))
        .find(|part| {
            part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_machine_made(part, 32)
        })
        .and_then(|part| span_of(text, part))
}

/// The password of an address `user/password@host`: `jdbc:oracle:thin:user/password@…`.
pub fn slashed(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let rest = head(text.get(word.end..)?, MAX_AFTER / 3);
    let user = rest
        .find(['/', '@', ' ', '\n'])
        .filter(|at| rest.get(*at..).is_some_and(|rest| rest.starts_with('/')))?;
    let secret = rest.get(user + 1..)?.split(['@', ' ', '"', '\n']).next()?;
    let is_end = rest.get(user + 1 + secret.len()..)?.starts_with('@');
    let start = word.end + user + 1;
    (user > 0 && is_end && is_given(secret)).then(|| start..start + secret.len())
}
