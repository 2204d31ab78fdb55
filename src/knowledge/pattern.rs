//! Patterns of the tables: a literal that finds the lines worth a look, and a regular expression for these.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
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

/// Finds the lines that hold literals of a table's rows.
#[derive(Debug)]
pub(crate) struct Literals {
    automaton: Option<AhoCorasick>,
    /// The rows of each literal.
    rows: Vec<Vec<usize>>,
    /// True if one literal may stand in another: both are found then.
    may_overlap: bool,
}

impl Literals {
    /// Literals with the numbers of their rows. Where none overlaps another (`may_overlap`), whole outputs are searched fast.
    pub fn new<'l>(literals: impl Iterator<Item = (usize, &'l str)>, may_overlap: bool) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for (row, literal) in literals {
            if let Some(known) = texts.iter().position(|text| *text == literal) {
                rows.get_mut(known).into_iter().for_each(|rows| rows.push(row));
            } else {
                texts.push(literal);
                rows.push(vec![row]);
            }
        }
        Self {
            automaton: AhoCorasick::new(texts).ok(),
            rows,
            may_overlap,
        }
    }

    /// Rows whose literals stand in `text`, with the lines that hold them, in the order of the lines.
    pub fn lines<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        let bytes = text.as_bytes();
        let automaton = || self.automaton.iter();
        let overlapping = automaton().filter(|_| self.may_overlap);
        let overlapping = overlapping.flat_map(move |automaton| automaton.find_overlapping_iter(text));
        let apart = automaton().filter(|_| !self.may_overlap);
        let apart = apart.flat_map(move |automaton| automaton.find_iter(text));
        overlapping.chain(apart).flat_map(move |found| {
            let line = || {
                let before = bytes.get(..found.start())?;
                let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
                let end = memchr::memchr(b'\n', bytes.get(found.end()..)?);
                text.get(start..end.map_or(bytes.len(), |at| found.end() + at))
            };
            let line = line().unwrap_or_default();
            let rows = self.rows.get(found.pattern().as_usize()).into_iter().flatten();
            rows.map(move |row| (*row, line))
        })
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
