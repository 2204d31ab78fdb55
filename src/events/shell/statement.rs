//! A statement of a shell command: what runs as one, with its words, files and document.

use std::ops::Range;

use super::path::last_step;
use super::programs::{Does, FoundProgram, ProgramRow, known, name_of};
use super::step::Touch;
use super::word::{StatementEnd, Word};

/// A program with its words, which run as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    pub words: Vec<Word>,
    /// Files that its output goes to.
    pub written: Vec<Word>,
    /// Files that its input comes from.
    pub read: Vec<Word>,
    /// Text that its input comes from.
    pub document: String,
    /// Its byte range in the command, without here-documents.
    pub span: Range<usize>,
    /// Its end.
    pub end: StatementEnd,
    /// It stands in a word of another statement, or in the command of a shell that another one starts.
    pub is_nested: bool,
    /// The directory that it runs in, as far as the command says.
    pub directory: String,
    /// The program it runs, past those that only run another one.
    pub found: Option<FoundProgram>,
    /// Its steps on files, in order.
    pub touches: Vec<Touch>,
}

impl Statement {
    /// The effect of the program, its name, and the words after its subcommand.
    pub fn program(&self) -> Option<(Does, &str, &[Word])> {
        let found = self.found?;
        let name = last_step(&self.words.get(found.at)?.text);
        let words = self
            .words
            .get(found.at + 1 + found.subcommand..)
            .unwrap_or_default();
        Some((found.does, name, words))
    }

    /// The row of its program in the table.
    pub fn row(&self) -> Option<&'static ProgramRow> {
        let found = self.found?;
        let name = name_of(&self.words.get(found.at)?.text);
        if found.subcommand == 0 {
            return known(name);
        }
        known(&[name, " ", &self.words.get(found.at + 1)?.text].concat())
    }

    pub fn does(&self) -> Does {
        self.found.map_or(Does::Aside, |found| found.does)
    }
}
