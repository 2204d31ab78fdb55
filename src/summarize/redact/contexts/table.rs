//! Secrets in the columns of tables: their heading names them, and the cells below hold them.

use std::ops::Range;

use crate::summarize::redact::assigned::named_value::NamedValue;
use crate::summarize::redact::assigned::names::{FoundName, Name, Values};
use crate::summarize::redact::assigned::separator::Syntax;
use crate::summarize::redact::prefix::{row_start, text_start};
use crate::summarize::redact::value::shape::{head, is_machine_made};
use crate::summarize::redact::value::{is_machine_value, is_password_value, is_secret_value};

/// Longest line of a table.
const MAX_LINE: usize = 1_000;

/// Longest heading line.
const MAX_HEADING: usize = 400;

/// Longest title of a column.
const MAX_TITLE: usize = 40;

/// Most words in a title of a column.
const MAX_TITLE_WORDS: usize = 4;

/// Most lines of a table.
const MAX_ROWS: usize = 200;

/// Longest table of a page, from its heading on.
const MAX_MARKUP: usize = 8_000;

/// The separator of the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    /// A character: a comma, a semicolon, a tab, a bar.
    Sign(char),
    /// `\\t`, a tab that is escaped.
    EscapedTab,
    /// Two blanks and more.
    Blanks,
}

/// The signs between cells.
const SIGNS: [char; 6] = [',', ';', '\t', '|', '│', '┃'];

/// The values of the column whose heading is that name.
pub fn column(text: &str, found: FoundName, name: &Name) -> Vec<Range<usize>> {
    let cells = if is_heading(text, found.end) {
        markup_cells(text, found.start)
    } else {
        cells_below(text, found.start..found.end)
    };
    let values = cells.unwrap_or_default().into_iter();
    values
        .filter_map(|span| {
            let value = NamedValue {
                text: text.get(span.clone())?,
                span,
                is_quoted: true,
                is_expression: false,
                is_data: true,
                is_variable: false,
                how: Syntax::Cell,
                ends_line: true,
                is_line: false,
            };
            let is_secret = match name.value {
                Values::Password => is_password_value(&value),
                Values::Secret => is_secret_value(&value),
                Values::Machine => is_machine_value(&value, name, "_") || is_machine_made(value.text, 16),
                Values::Phrase => false,
            };
            is_secret.then_some(value.span)
        })
        .collect()
}

/// The cells below the heading that stands at `name`, in the lines that follow.
fn cells_below(text: &str, name: Range<usize>) -> Option<Vec<Range<usize>>> {
    let between = between_at(text, &name)?;
    let (line, newline) = line_around(text, name.start)?;
    let heading = text.get(line.clone())?;
    if heading.len() > MAX_HEADING {
        return None;
    }
    let start = line.start + row_start(heading.as_bytes());
    let titles = cells(text, start..line.end, between);
    let is_title = |cell: &Range<usize>| {
        text.get(cell.clone()).is_some_and(|cell| {
            !cell.is_empty()
                && cell.len() < MAX_TITLE
                && cell.split(' ').count() <= MAX_TITLE_WORDS
                && cell.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '*'))
                && !cell.contains(['=', '(', '{', '\'', '`'])
                && !cell.ends_with(':')
                // Between blanks alone a title is one word, or begins as one.
                && (between != Between::Blanks || !cell.contains(' ') || cell.starts_with(char::is_uppercase))
        })
    };
    let place = titles.iter().position(|cell| cell.contains(&name.start))?;
    if titles.len() < 2 || !titles.iter().all(is_title) {
        return None;
    }
    let mut spans = Vec::new();
    let mut at = line.end + newline.len();
    for row in text.get(at..)?.split(newline).take(MAX_ROWS) {
        let span = at..at + row.len();
        at = span.end + newline.len();
        let start = span.start + row_start(row.as_bytes());
        let own = text.get(start..span.end)?;
        let is_rule = |c: char| {
            matches!(c, '-' | '+' | '=' | ':' | ' ' | '\r') || is_bar(c) || ('─'..='╿').contains(&c)
        };
        if own.chars().all(is_rule) {
            if own.trim().is_empty() {
                break;
            }
            continue;
        }
        let end = if newline == "\\n" {
            start + text_length(own)
        } else {
            span.end
        };
        let mut row = cells(text, start..end, between);
        if between == Between::Blanks && row.len() != titles.len() && own.trim().contains("  ") {
            row = words(text, start..end);
        }
        if row.len() != titles.len() {
            break;
        }
        spans.extend(row.get(place).cloned());
    }
    Some(spans)
}

/// The length of a text of JSON up to the quote that ends it.
fn text_length(text: &str) -> usize {
    let mut quotes = text.match_indices('"').map(|(at, _)| at);
    quotes
        .find(|at| !text.get(..*at).is_some_and(|head| head.ends_with('\\')))
        .unwrap_or(text.len())
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '│' | '┃')
}

/// The separator of the cells of the line that has the name as one of them.
fn between_at(text: &str, name: &Range<usize>) -> Option<Between> {
    let rest = head(text.get(name.end..)?, MAX_LINE);
    let rest = rest.trim_start_matches(['"', '*', '\\']);
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let next = rest.get(blanks..)?;
    if rest.starts_with('t') && text.get(name.end..)?.starts_with("\\t") {
        return Some(Between::EscapedTab);
    }
    if let Some(sign) = next.chars().next().filter(|sign| SIGNS.contains(sign)) {
        return Some(Between::Sign(sign));
    }
    if is_title_of_pairs(text, name) {
        return Some(Between::Sign(':'));
    }
    let ends_line = next.is_empty() || next.starts_with(['\n', '\r']) || rest.starts_with('n');
    if blanks > 1 && !ends_line {
        return Some(Between::Blanks);
    }
    if !ends_line {
        return None;
    }
    // The last one: as between those before it.
    let (line, _) = line_around(text, name.start)?;
    let before = text
        .get(line.start..name.start)?
        .trim_end_matches(['"', '*', '\\']);
    if before.ends_with("\\t") {
        return Some(Between::EscapedTab);
    }
    let last = before.trim_end_matches(' ').chars().next_back()?;
    if SIGNS.contains(&last) {
        return Some(Between::Sign(last));
    }
    before.ends_with("  ").then_some(Between::Blanks)
}

/// Returns true if it is the comment above pairs: `# user:password`.
fn is_title_of_pairs(text: &str, name: &Range<usize>) -> bool {
    let Some((line, _)) = line_around(text, name.start) else {
        return false;
    };
    let user = text
        .get(line.start..name.start)
        .and_then(|head| head.strip_prefix('#'));
    name.end == line.end && user.is_some_and(|user| user.ends_with(':') && !user.trim_start().contains(' '))
}

/// The line around a place, and how lines end there: really, or escaped.
fn line_around(text: &str, at: usize) -> Option<(Range<usize>, &'static str)> {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_LINE));
    let before = text.get(from..at)?;
    let real = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
    let line = before.get(real..)?;
    // Searches for a byte need no preparation.
    let mut slashes = memchr::memrchr_iter(b'\\', line.as_bytes());
    let escaped = slashes.find(|at| line.as_bytes().get(at + 1) == Some(&b'n'));
    let escaped = escaped.map_or(0, |at| at + 2);
    let opening = text_start(line.get(escaped..)?.as_bytes());
    let start = from + real + escaped + opening;
    let after = head(text.get(at..)?, MAX_LINE);
    let real = memchr::memchr(b'\n', after.as_bytes()).unwrap_or(after.len());
    let mut slashes = memchr::memchr_iter(b'\\', after.as_bytes().get(..real)?);
    let escaped = slashes.find(|at| after.as_bytes().get(at + 1) == Some(&b'n'));
    Some(match escaped {
        Some(end) => (start..at + end, "\\n"),
        None => (start..at + real, "\n"),
    })
}

/// The cells of a line, without blanks and quotes around them.
fn cells(text: &str, line: Range<usize>, between: Between) -> Vec<Range<usize>> {
    let Some(whole) = text.get(line.clone()) else {
        return Vec::new();
    };
    let bare = |c: char| c.is_whitespace() || matches!(between, Between::Sign(_)) && is_bar(c);
    let inner = match between {
        Between::Sign(sign) if is_bar(sign) => whole.trim_matches(bare),
        Between::Blanks => whole.trim(),
        _ => whole.trim_end_matches(['\r', '\n']),
    };
    let parts: Vec<&str> = match between {
        Between::Sign(',' | ';') => quoted_cells(inner, between),
        Between::Sign(sign) if is_bar(sign) => inner.split(is_bar).collect(),
        Between::Sign(sign) => inner.split(sign).collect(),
        Between::EscapedTab => inner.split("\\t").collect(),
        Between::Blanks => inner.split("  ").filter(|part| !part.trim().is_empty()).collect(),
    };
    parts.into_iter().filter_map(|part| trimmed(text, part)).collect()
}

/// The cells of a line of comma-separated values: no comma between quotes ends one.
fn quoted_cells(line: &str, between: Between) -> Vec<&str> {
    let mut in_quotes = false;
    let ends = |c: char| {
        in_quotes ^= c == '"';
        !in_quotes && between == Between::Sign(c)
    };
    line.split(ends).collect()
}

/// The words of a line.
fn words(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let words = text.get(line).unwrap_or_default().split_whitespace();
    words.filter_map(|word| trimmed(text, word)).collect()
}

/// The span of a part of a text without blanks and quotes around it.
fn trimmed(text: &str, part: &str) -> Option<Range<usize>> {
    let part = part.trim().trim_matches(['"', '\'', '\\', '`', '*']);
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + part.len())
}

/// Returns true if a heading of a page ends there, and the next one or the row follows.
fn is_heading(text: &str, end: usize) -> bool {
    let rest = text
        .get(end..)
        .and_then(|rest| rest.strip_prefix("</th>"))
        .unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
    ["<th", "</tr", "n<th", "n</tr"]
        .iter()
        .any(|tag| rest.starts_with(tag))
}

/// The cells of a table of a page below the heading at `name`: `<tr><th>User</th><th>Password</th></tr>`.
fn markup_cells(text: &str, name: usize) -> Option<Vec<Range<usize>>> {
    let from = text.floor_char_boundary(name.saturating_sub(MAX_LINE));
    let before = text.get(from..name)?;
    let row = before.get(before.rfind("<tr")?..)?;
    let count = |row: &str| row.matches("<th").count() + row.matches("<td").count();
    let place = count(row).checked_sub(1)?;
    let after = head(text.get(name..)?, MAX_MARKUP);
    let after = after.get(..after.find("</table").unwrap_or(after.len()))?;
    let rows = after.split("<tr").skip(1).take(MAX_ROWS);
    let cell = |row: &str| {
        let open = row
            .match_indices("<td")
            .chain(row.match_indices("<th"))
            .map(|(at, _)| at);
        let mut open: Vec<usize> = open.collect();
        open.sort_unstable();
        let cell = row.get(*open.get(place)?..)?;
        let content = cell.get(cell.find('>')? + 1..)?;
        trimmed(text, content.get(..content.find('<')?)?)
    };
    Some(rows.filter_map(cell).collect())
}
