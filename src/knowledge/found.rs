//! One read of a text for the literals of all tables.

use std::sync::LazyLock;

use super::pattern::{Hit, Literals};
use super::{errors, results, runners};

/// A row of a table, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Error(usize),
    Result(usize),
    Runner(usize),
    Compiler(usize),
}

static LITERALS: LazyLock<Literals<Row>> = LazyLock::new(|| {
    let errors = errors::literals().map(|(row, text)| (Row::Error(row), text));
    let results = results::literals().map(|(row, text)| (Row::Result(row), text));
    let runners = runners::literals().map(|(row, text)| (Row::Runner(row), text));
    let compilers = runners::compiler_literals().map(|(row, text)| (Row::Compiler(row), text));
    Literals::new(errors.chain(results).chain(runners).chain(compilers))
});

/// The literals of all tables that stand in a text, in its order.
#[derive(Debug, Default)]
pub(crate) struct Found<'t>(Vec<Hit<'t, Row>>);

impl<'t> Found<'t> {
    /// Reads a text.
    pub fn read(text: &'t str) -> Self {
        Self(LITERALS.all(text).collect())
    }

    /// The hits whose rows `number` knows, with these numbers.
    pub fn of(&self, number: fn(Row) -> Option<usize>) -> impl Iterator<Item = (Hit<'t, Row>, usize)> {
        self.0
            .iter()
            .filter_map(move |hit| Some((*hit, number(hit.row)?)))
    }
}
