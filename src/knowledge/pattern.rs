//! Patterns of the tables: a literal that finds the lines worth a look, and a regular expression for these.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

/// A regular expression, compiled when it is first needed. `^` and `$` stand at the ends of lines.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for Pattern {
    fn from(source: String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }
}

impl Pattern {
    /// The compiled expression; `None` where it is none.
    pub fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.source);
            builder.multi_line(true).crlf(true).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Every match in a text.
    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.regex()
            .into_iter()
            .flat_map(move |regex| regex.captures_iter(text))
    }
}

/// Finds literals of tables, each with the row that it belongs to.
#[derive(Debug)]
pub(crate) struct Literals<R> {
    automaton: Option<AhoCorasick>,
    /// The rows of each literal.
    rows: Vec<Vec<R>>,
}

/// A literal in a text, and its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<'t, R> {
    pub row: R,
    text: &'t str,
    start: usize,
    end: usize,
}

impl<R: Copy> Literals<R> {
    /// Literals with their rows. Several rows may have one.
    pub fn new<'l>(literals: impl Iterator<Item = (R, &'l str)>) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        let mut rows: Vec<Vec<R>> = Vec::new();
        for (row, literal) in literals {
            if let Some(known) = texts.iter().position(|text| *text == literal) {
                rows.get_mut(known).into_iter().for_each(|rows| rows.push(row));
            } else {
                texts.push(literal);
                rows.push(vec![row]);
            }
        }
        Self {
            automaton: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .build(texts)
                .ok(),
            rows,
        }
    }

    /// Every literal in `text`, in the order in which they end.
    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Hit<'t, R>> {
        let automaton = self.automaton.iter();
        let found = automaton.flat_map(move |automaton| automaton.find_overlapping_iter(text));
        found.flat_map(move |found| self.hits(text, found))
    }

    /// The literals in `text`, faster where no literal stands in another.
    pub fn apart<'t>(&self, text: &'t str) -> impl Iterator<Item = Hit<'t, R>> {
        let automaton = self.automaton.iter();
        let found = automaton.flat_map(move |automaton| automaton.find_iter(text));
        found.flat_map(move |found| self.hits(text, found))
    }

    fn hits<'t>(&self, text: &'t str, found: aho_corasick::Match) -> impl Iterator<Item = Hit<'t, R>> {
        let rows = self.rows.get(found.pattern().as_usize()).into_iter().flatten();
        rows.map(move |row| Hit {
            row: *row,
            text,
            start: found.start(),
            end: found.end(),
        })
    }
}

impl<'t, R> Hit<'t, R> {
    /// The line that holds it.
    pub fn line(&self) -> &'t str {
        let bytes = self.text.as_bytes();
        let before = bytes.get(..self.start).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let after = bytes.get(self.end..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(bytes.len(), |at| self.end + at);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns true if nothing but blanks and colours may stand before it in its line.
    pub fn may_begin_line(&self) -> bool {
        let before = self
            .start
            .checked_sub(1)
            .and_then(|at| self.text.as_bytes().get(at));
        before.is_none_or(|byte| matches!(byte, b'm' | b'\t'..=b' ' | 0x80..))
    }
}

/// A line without blanks around it and without a terminal's colours before it.
pub(crate) fn bare(line: &str) -> &str {
    let mut line = line.trim();
    while let Some((_, rest)) = line.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
        line = rest.trim_start();
    }
    line
}
