//! Strips what stands before a line: signs of differences and quotes, numbers, bars, bullets, prompts, colours, the
//! time and level of a log.

use super::colour::past_colour;
use super::log_prefix::log;

/// Longest number of a line.
const MAX_NUMBER: usize = 7;

/// Longest path before the number of a line.
const MAX_PATH: usize = 200;

/// Longest name before a bar: `web-1  | line`.
const MAX_SERVICE: usize = 40;

/// Most prefixes before one line: `> +line`.
const MAX_PREFIXES: usize = 4;

/// Bytes in which the beginning of a line is searched backwards.
const MAX_LINE: usize = 400;

/// The reader of a prefix.
type PrefixReader = fn(&[u8]) -> Option<usize>;

/// The readers of one prefix each: its length where it stands there.
const PREFIXES: [PrefixReader; 10] = [
    colour,
    bullet,
    difference,
    quote,
    number,
    bar,
    prompt,
    log,
    found_in_file,
    service,
];

/// Returns where the own text of a line begins. Its indentation is part of it.
pub fn own_start(line: &[u8]) -> usize {
    let line = line.get(..line.len().min(MAX_LINE)).unwrap_or_default();
    let line = line
        .get(..memchr::memchr(b'\n', line).unwrap_or(line.len()))
        .unwrap_or_default();
    let mut start = 0;
    for _ in 0..MAX_PREFIXES {
        let rest = line.get(start..).unwrap_or_default();
        let Some(length) = PREFIXES.iter().find_map(|prefix| prefix(rest)) else {
            break;
        };
        start += length;
    }
    start
}

/// Returns where the own text of a row of a table begins: bars are part of it.
pub fn row_start(line: &[u8]) -> usize {
    let line = line.get(..line.len().min(MAX_LINE)).unwrap_or_default();
    let is_in_cell = |line: &[u8]| {
        let digits = line
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'0'..=b'9'))
            .count();
        line.get(digits) != Some(&b'|')
    };
    let mut start = 0;
    for _ in 0..MAX_PREFIXES {
        let rest = line.get(start..).unwrap_or_default();
        let readers: [PrefixReader; 6] = [colour, difference, quote, number, log, found_in_file];
        let Some(length) = readers
            .iter()
            .find_map(|prefix| prefix(rest))
            .filter(|_| is_in_cell(rest))
        else {
            break;
        };
        start += length;
    }
    start
}

/// The own text of a line.
pub fn own(line: &str) -> &str {
    line.get(own_start(line.as_bytes())..).unwrap_or(line)
}

/// The own text of the line that ends `before`. Line ends are real or escaped, or the opening of a text of JSON.
pub fn own_line(before: &[u8]) -> &[u8] {
    let before = before
        .get(before.len().saturating_sub(MAX_LINE)..)
        .unwrap_or_default();
    let real = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    let line = before.get(real..).unwrap_or_default();
    // Searches for a byte need no preparation, and lines are short.
    let mut slashes = memchr::memrchr_iter(b'\\', line);
    let escaped = slashes.find(|at| line.get(at + 1) == Some(&b'n'));
    let escaped = escaped.map_or(0, |at| at + 2);
    let line = line.get(escaped..).unwrap_or_default();
    let line = line.get(text_start(line)..).unwrap_or_default();
    line.get(own_start(line)..).unwrap_or_default()
}

/// Returns where the last text of JSON begins that is not over: behind `"name": "`.
pub fn text_start(line: &[u8]) -> usize {
    let mut colons = memchr::memrchr_iter(b':', line);
    let opening = colons.find_map(|colon| {
        let is_name = colon > 0 && line.get(colon - 1) == Some(&b'"');
        let rest = line.get(colon + 1..).filter(|_| is_name)?;
        let openings = [b" \"".as_slice(), b"\""];
        let opening = openings.into_iter().find(|opening| rest.starts_with(opening))?;
        Some(colon + 1 + opening.len())
    });
    let start = opening.unwrap_or(0);
    // A quote that is not escaped ends it.
    let inner = line.get(start..).unwrap_or_default();
    let is_over = memchr::memchr_iter(b'"', inner).any(|at| at == 0 || inner.get(at - 1) != Some(&b'\\'));
    if is_over { 0 } else { start }
}

/// The colour of a terminal.
fn colour(line: &[u8]) -> Option<usize> {
    Some(past_colour(line, 0)).filter(|length| *length > 0)
}

/// `+line`, `-line`
fn difference(line: &[u8]) -> Option<usize> {
    match line {
        [sign @ (b'+' | b'-'), next, ..] => (sign != next && !next.is_ascii_digit()).then_some(1),
        [b'+' | b'-'] => Some(1),
        _ => None,
    }
}

/// `> line`
fn quote(line: &[u8]) -> Option<usize> {
    (line.starts_with(b"> ") || line.starts_with(b"< ")).then_some(2)
}

/// `| line`, `│ line`
fn bar(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let rest = line.get(blanks..)?;
    ["│", "┃", "|"]
        .into_iter()
        .find(|bar| rest.starts_with(bar.as_bytes()))
        .filter(|bar| rest.get(bar.len()) == Some(&b' '))
        .map(|bar| blanks + bar.len() + 1)
}

/// `* line`, `• line`
fn bullet(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let rest = line.get(blanks..)?;
    ["* ", "• ", "- [ ] ", "- [x] ", "- "]
        .into_iter()
        .find(|bullet| rest.starts_with(bullet.as_bytes()))
        .map(|bullet| blanks + bullet.len())
}

/// `$ line`, `mysql> line`, `127.0.0.1:6379> line`
fn prompt(line: &[u8]) -> Option<usize> {
    if [b"$ ".as_slice(), b"% "]
        .iter()
        .any(|sign| line.starts_with(sign))
    {
        return Some(2);
    }
    let is_host = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'-' | b'_' | b'[' | b']' | b'(' | b')')
    };
    let host = run_of(line, MAX_SERVICE, is_host);
    line.get(host..)?.starts_with(b"> ").then_some(host + 2)
}

/// The number of bytes of one sort, at most `most`, that a line begins with.
fn run_of(line: &[u8], most: usize, is_of_sort: impl Fn(&u8) -> bool) -> usize {
    let run = line.iter().take(most).take_while(|byte| is_of_sort(byte));
    run.count()
}

/// `   12\tline`, `12: line`, `12:line`, `12-line`, `12. line`, `12 | line`
fn number(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let rest = line.get(blanks..)?;
    let digits = run_of(rest, MAX_NUMBER, u8::is_ascii_digit);
    if digits == 0 {
        return None;
    }
    let arrow = "→".as_bytes();
    let sign = match rest.get(digits..)? {
        [b'\\', b't', ..] | [b'.', b' ', ..] => 2,
        [b'\t' | b'|', ..] => 1,
        [b' ', b'|', b' ', ..] => 3,
        behind if behind.starts_with(arrow) => arrow.len(),
        [b':' | b'-', next, ..] if !next.is_ascii_digit() => 1,
        _ => return None,
    };
    Some(blanks + digits + sign)
}

/// `web-1  | line`
fn service(line: &[u8]) -> Option<usize> {
    let name = run_of(line, MAX_SERVICE, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
    });
    let rest = line.get(name..)?;
    let blanks = run_of(rest, MAX_SERVICE, |byte| *byte == b' ');
    // In a row of a table more bars follow.
    let is_row = rest.get(blanks + 1..)?.contains(&b'|');
    (name > 0 && blanks > 0 && !is_row && rest.get(blanks..)?.starts_with(b"| ")).then_some(name + blanks + 2)
}

/// `path/file.py:12:line`, `path/file.py-12-line`, `path/file.env:line`
fn found_in_file(line: &[u8]) -> Option<usize> {
    let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let path = run_of(line, MAX_PATH, is_path);
    let name = line.get(..path)?;
    let is_file = name.iter().any(|byte| matches!(byte, b'/' | b'.'));
    let rest = line.get(path..)?.strip_prefix(b":")?;
    let digits = run_of(rest, MAX_NUMBER, u8::is_ascii_digit);
    if digits == 0 {
        let is_text = rest
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let has_directory = name.contains(&b'/') && !name.starts_with(b"//");
        return (is_text && has_directory).then_some(path + 1);
    }
    let is_place = is_file && rest.get(digits) == Some(&b':');
    // A host, its port and a database are no place in a file.
    let is_database = memchr::memchr_iter(b':', rest).count() == 3;
    (is_place && !is_database).then_some(path + 1 + digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_behind_what_stands_before_it() {
        for prefix in [
            "+",
            "-",
            "> ",
            "> +",
            "  12\t",
            "12: ",
            "12 | ",
            "| ",
            "│ ",
            "* ",
            "• ",
            "- ",
            "1. ",
            "$ ",
            "mysql> ",
            "127.0.0.1:6379> ",
            "web-1  | ",
            "src/app.py:12:",
            "conf/app.env:",
            "\x1b[32m",
            "\x1b[0;32m+",
            "2025-04-02T10:11:12Z INFO ",
            "2025-04-02 10:11:12,123 - app.db - DEBUG ",
            "[10:11:12] ",
            "Apr  2 10:11:12 host app[3]: ",
            "INFO: ",
            "[WARN] ",
            "2025-04-02T10:11:12.000Z [main] ",
        ] {
            assert_eq!(
                own(&format!("{prefix}own=text")).trim_start(),
                "own=text",
                "{prefix}"
            );
            let before = format!("{{\"a\": 1}}\n{prefix}own");
            assert_eq!(own_line(before.as_bytes()).trim_ascii(), b"own", "{prefix}");
        }
        for text in [
            "own: text",
            "  own",
            "--own",
            "-1",
            "12",
            "password: x",
            "10:11",
            "db.host.io:5432:crm:bob:x",
        ] {
            assert_eq!(own(text), text);
        }
        assert_eq!(own_line(b"{\"msg\": \"first\\nown"), b"own");
        assert_eq!(own_line(b"{\"msg\": \"own"), b"own");
    }
}
