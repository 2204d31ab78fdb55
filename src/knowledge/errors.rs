//! Error texts and refusals: lines that say that something failed, was not done, or was not found.

use std::sync::LazyLock;

use serde::Deserialize;

use super::found::LiteralHits;
use super::pattern::{Hit, LazyPattern, bare};
use super::table::LineTable;

/// The sort of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ErrorKind {
    /// The call failed.
    Error,
    /// It was not carried out, and changed nothing.
    Refusal,
    /// Its object is not there.
    NotFound,
    /// A search found nothing, which is no failure.
    NoMatch,
    /// A script marked something as failed, which may be an error or just what it was to show.
    Mark,
    /// Something tells of an error that need not be the call's.
    Mention,
}

impl ErrorKind {
    /// Returns true if a call that printed such a line did not do what was asked.
    pub fn fails(self) -> bool {
        matches!(self, Self::Error | Self::Refusal | Self::NotFound)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorTable {
    #[serde(default)]
    text: Vec<ErrorRow>,
    #[serde(default)]
    no: Vec<No>,
    #[serde(default)]
    words: ChangeWords,
}

/// A text. Of `start`, `end` and `holds` a row has one: its literal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorRow {
    kind: ErrorKind,
    start: Option<String>,
    end: Option<String>,
    holds: Option<String>,
    /// The pattern of the line.
    line: Option<LazyPattern>,
    /// A word of the call that prints it.
    call: Option<String>,
    /// It is looked for in a whole output, and not only near its ends.
    #[serde(default)]
    anywhere: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    example: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    counterexample: Option<String>,
    #[serde(default, rename = "language")]
    _language: Option<String>,
}

/// A program whose exit code 1 is an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct No {
    program: String,
    says: String,
    /// It prints something then.
    #[serde(default)]
    prints: bool,
}

/// Words of an answer's first line that say whether a change was made.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeWords {
    error_headings: Vec<String>,
    tool_errors: Vec<String>,
    done: Vec<String>,
    not_done: Vec<String>,
    not_allowed: Vec<String>,
    refused: Vec<String>,
}

/// Longest line in which a text is looked for anywhere but at its start, in bytes.
const MAX_LINE: usize = 400;

/// Longest line looked at for words that say whether a change was made, in bytes.
const MAX_DONE: usize = 300;

impl ErrorRow {
    fn literal(&self) -> Option<&str> {
        let start = self.start.as_deref().or(self.end.as_deref());
        start.or(self.holds.as_deref())
    }

    /// Returns true if two rows differ in nothing but the pattern of the line.
    fn is_like(&self, other: &Self) -> bool {
        let key = |row: &'_ Self| (row.kind, row.anywhere, row.holds.clone(), row.call.clone());
        self.holds.is_some() && key(self) == key(other)
    }

    fn is_in(&self, line: &str) -> bool {
        let starts = self.start.as_deref().is_none_or(|start| line.starts_with(start));
        let ends = self.end.as_deref().is_none_or(|end| line.ends_with(end));
        let is_short = self.start.is_some() || self.line.is_some() || line.len() <= MAX_LINE;
        starts && ends && is_short && self.line.as_ref().is_none_or(|pattern| pattern.is_match(line))
    }
}

/// The table, with rows of one sort and literal as one row.
static TABLE: LazyLock<ErrorTable> = LazyLock::new(|| {
    let table: ErrorTable = super::table(include_str!("errors.toml"));
    let mut text: Vec<ErrorRow> = Vec::new();
    for row in table.text {
        let mut alike = text.iter_mut().filter(|known| known.is_like(&row));
        match alike.find_map(|known| known.line.as_mut()).zip(row.line.as_ref()) {
            Some((known, line)) => *known = known.or(line),
            None => text.push(row),
        }
    }
    ErrorTable { text, ..table }
});

/// A line that says something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorLine<'t> {
    pub kind: ErrorKind,
    pub line: &'t str,
    /// It counts wherever it stands in an output.
    pub is_anywhere: bool,
}

/// The literals of all rows.
pub(super) fn literals() -> impl Iterator<Item = (LineTable, usize, &'static str)> {
    let rows = TABLE.text.iter().enumerate();
    rows.filter_map(|(number, row)| Some((LineTable::Errors, number, row.literal()?)))
}

/// The text of a hit on its line, if there is one.
fn known<'t>(row: usize, hit: Hit<'t>, call: &str) -> Option<ErrorLine<'t>> {
    let row = TABLE.text.get(row)?;
    let is_call = row.call.as_deref().is_none_or(|word| call.contains(word));
    if !is_call || row.start.is_some() && !hit.may_begin_line() {
        return None;
    }
    let line = hit.line();
    // `Error: (none)` says that there was none.
    if line.trim_end().ends_with("(none)") {
        return None;
    }
    row.is_in(bare(line)).then_some(ErrorLine {
        kind: row.kind,
        line,
        is_anywhere: row.anywhere,
    })
}

/// Lines of an output of `call` that say something, with what they say; one line may do so twice.
pub(crate) fn lines<'t>(found: &LiteralHits<'t>, call: &str) -> impl Iterator<Item = ErrorLine<'t>> {
    let hits = found.of(LineTable::Errors);
    hits.filter_map(move |(row, hit)| known(row, hit, call))
}

/// The meaning of exit code 1 of a program that says no in this way, and if it prints something then.
pub(crate) fn no_of(program: &str) -> Option<(&'static str, bool)> {
    let no = TABLE.no.iter().find(|no| no.program == program)?;
    Some((&no.says, no.prints))
}

/// The status in small letters, if it says that somebody did not allow what was asked for.
pub(crate) fn not_allowed(status: &str) -> Option<&'static str> {
    let mut known = TABLE.words.not_allowed.iter();
    Some(known.find(|known| known.eq_ignore_ascii_case(status))?.as_str())
}

/// Words at the beginning of an answer to an edit that may say that it was refused.
const MAX_REFUSED: usize = 5;

/// Returns true if a line is what the caller of a tool says where that failed.
pub(crate) fn is_tool_error(line: &str) -> bool {
    TABLE
        .words
        .tool_errors
        .iter()
        .any(|start| line.starts_with(start.as_str()))
}

/// The error of the action before it that a page tells under a heading.
pub(crate) fn error_under_heading(page: &str) -> Option<&str> {
    let mut headings = TABLE.words.error_headings.iter();
    let (_, below) = headings.find_map(|heading| page.split_once(heading.as_str()))?;
    let line = below.trim_start().lines().next()?.trim();
    let is_none = ["none", "no error", "no errors", "n/a"]
        .contains(&line.trim_end_matches('.').to_ascii_lowercase().as_str());
    (!line.is_empty() && !line.starts_with('#') && !is_none).then_some(line)
}

/// Returns true if the first words of an answer to an edit say that it was refused, and not before that it was done.
pub(crate) fn says_refused(text: &str) -> bool {
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    let words = words.take(MAX_REFUSED);
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_of = |known: &[String], word: &str| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    let (refused, done) = (&TABLE.words.refused, &TABLE.words.done);
    let mut telling = words.filter(|word| is_of(refused, word) || is_of(done, word));
    telling.next().is_some_and(|word| is_of(refused, word))
}

/// Returns true if a word of a short text says that something was not done.
pub(crate) fn says_not_done(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| TABLE.words.not_done.iter().any(|known| known == word))
}

/// Lines of a report in tags that may say that something was done.
const TAGGED_LINES: usize = 4;

/// Returns true if the first line of `text` says that something was done, and nothing that it was not; where that is only a tag, the
/// first line with words in tags.
pub(crate) fn says_done(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let is_tag = first.starts_with('<') && first.ends_with('>') && !first.contains(' ');
    let tagged = || text.lines().skip(1).take(TAGGED_LINES).map(without_tags);
    if is_tag {
        tagged().any(line_says_done) && !tagged().any(says_not_done)
    } else {
        line_says_done(first)
    }
}

/// The text between the first tag of a line and the next one.
fn without_tags(line: &str) -> &str {
    let text = line.split_once('>').map_or(line, |(_, text)| text);
    text.split_once("</").map_or(text, |(text, _)| text)
}

fn line_says_done(line: &str) -> bool {
    if line.len() > MAX_DONE {
        return false;
    }
    let line = line.to_ascii_lowercase();
    // A path is one word, whatever names are in it.
    let words = || {
        let words = line.split_whitespace();
        words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let any = |of: &[String]| words().any(|word| of.iter().any(|known| known == word));
    any(&TABLE.words.done) && !any(&TABLE.words.not_done)
}

#[cfg(test)]
mod tests {
    use super::super::reading::kind_of;
    use super::*;

    #[test]
    fn every_text_of_the_table_is_known_by_its_example() {
        let table: ErrorTable = toml::from_str(include_str!("errors.toml")).unwrap();
        assert!(table.text.len() > 30);
        for row in &table.text {
            assert!(row.literal().is_some(), "{row:?}");
            let regex = row.line.as_ref().map(LazyPattern::regex);
            assert!(regex.is_none_or(|regex| regex.is_some()), "{row:?}");
            let found = |line: &str| line.contains(row.literal().unwrap()) && row.is_in(bare(line));
            assert!(found(&row.example), "{row:?}");
            let call = row.call.as_deref().unwrap_or_default();
            assert!(
                lines(&LiteralHits::read(&row.example), call).next().is_some(),
                "{row:?}"
            );
            if let Some(line) = &row.counterexample {
                assert_eq!(kind_of(line), None, "{row:?}");
            }
        }
    }

    #[test]
    fn only_what_says_so_is_done() {
        for text in [
            "The file /a/not/b.py has been edited. Here's the result",
            "File created successfully at: /a/b.py",
            "Wrote 5 bytes to c\nnot more",
            "ok",
            "success: true",
            "<file_write_result>\n<path>a.ts</path>\n<operation>modified</operation>\n</file_write_result>",
        ] {
            assert!(says_done(text), "{text}");
        }
        for text in [
            "",
            "Permission denied: /etc/app.conf",
            "The file was not created",
            "No changes written",
            "7: x",
            "success: false",
            "<file_write_result>\n<path>a.ts</path>\n<operation>not modified</operation>\n</file_write_result>",
            "<result>\n<draft>saved</draft>\n<error>write failed: disk full</error>\n</result>",
        ] {
            assert!(!says_done(text), "{text}");
        }
    }
}
