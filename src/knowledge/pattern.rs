//! Patterns of the tables: a literal that finds the lines worth a look, and a regular expression for these.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, PatternID};
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use super::table::LineTable;

/// A regular expression, compiled when it is first needed. `^` and `$` stand at the ends of lines; classes are those of ASCII,
/// which compile many times faster than those of Unicode.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct LazyPattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

/// A match in a text.
#[derive(Debug)]
pub(crate) struct Match<'t> {
    text: &'t str,
    groups: Captures<'t>,
}

impl<'t> Match<'t> {
    /// All of it.
    pub fn whole(&self) -> &'t str {
        self.groups
            .get(0)
            .and_then(|found| self.text.get(found.range()))
            .unwrap_or_default()
    }

    /// The part that a named group has.
    pub fn named(&self, group: &str) -> Option<&'t str> {
        self.text.get(self.groups.name(group)?.range())
    }

    /// The place behind it.
    pub fn end(&self) -> usize {
        self.groups.get(0).map_or(0, |found| found.end())
    }
}

impl From<String> for LazyPattern {
    fn from(source: String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }
}

impl LazyPattern {
    /// The compiled expression; `None` where it is none.
    pub fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.source);
            builder.multi_line(true).crlf(true).unicode(false).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Matches of this or another expression.
    pub fn or(&self, other: &Self) -> Self {
        format!("(?:{})|(?:{})", self.source, other.source).into()
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text.as_bytes()))
    }

    /// The text of every match.
    pub fn texts<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let regex = self.regex().into_iter();
        let found = regex.flat_map(move |regex| regex.find_iter(text.as_bytes()));
        found.filter_map(|found| text.get(found.range()))
    }

    /// Every match in a text, with its groups.
    pub fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        let regex = self.regex().into_iter();
        let found = regex.flat_map(move |regex| regex.captures_iter(text.as_bytes()));
        found.map(move |groups| Match { text, groups })
    }
}

/// Finds literals of tables, each with the rows that have it.
#[derive(Debug)]
pub(super) struct Literals {
    automaton: Option<AhoCorasick>,
    rows: Vec<Vec<(LineTable, usize)>>,
}

/// A line that holds a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit<'t> {
    literal: PatternID,
    text: &'t str,
    line: usize,
    start: usize,
    end: usize,
}

impl Literals {
    /// Literals with the tables and numbers of their rows.
    pub fn new<'l>(literals: impl Iterator<Item = (LineTable, usize, &'l str)>) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        let mut rows: Vec<Vec<(LineTable, usize)>> = Vec::new();
        for (table, row, literal) in literals {
            if let Some(known) = texts.iter().position(|text| *text == literal) {
                rows.get_mut(known)
                    .into_iter()
                    .for_each(|rows| rows.push((table, row)));
            } else {
                texts.push(literal);
                rows.push(vec![(table, row)]);
            }
        }
        let mut builder = AhoCorasick::builder();
        // A DFA reads texts hardly faster, and takes a fifth of a short run to build.
        builder.kind(Some(AhoCorasickKind::ContiguousNFA));
        Self {
            automaton: builder.build(texts).ok(),
            rows,
        }
    }

    /// The lines of `text` that hold literals, in their order, once for each literal.
    pub fn all<'t>(&self, text: &'t str) -> Vec<Hit<'t>> {
        let mut hits: Vec<Hit<'t>> = Vec::new();
        let mut note = |found| {
            let hit = Hit::of(text, found);
            let mut beside = hits.iter().rev().take_while(|other| other.line == hit.line);
            if !beside.any(|other| other.literal == hit.literal) {
                hits.push(hit);
            }
        };
        if let Some(automaton) = &self.automaton {
            automaton.find_overlapping_iter(text).for_each(&mut note);
        }
        hits
    }

    /// The rows that have the literal of a hit.
    pub fn rows_of(&self, hit: Hit<'_>) -> &[(LineTable, usize)] {
        self.rows.get(hit.literal.as_usize()).map_or(&[], Vec::as_slice)
    }
}

impl<'t> Hit<'t> {
    fn of(text: &'t str, found: aho_corasick::Match) -> Self {
        let before = text.as_bytes().get(..found.start()).unwrap_or_default();
        Self {
            literal: found.pattern(),
            text,
            line: memchr::memrchr(b'\n', before).map_or(0, |at| at + 1),
            start: found.start(),
            end: found.end(),
        }
    }

    /// The line.
    pub fn line(&self) -> &'t str {
        let after = self.text.as_bytes().get(self.end..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(self.text.len(), |at| self.end + at);
        self.text.get(self.line..end).unwrap_or_default()
    }

    /// Returns true if nothing but blanks and colours may stand before the literal in its line.
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
