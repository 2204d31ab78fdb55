//! One read of a text for the literals of all tables.

use std::sync::LazyLock;

use super::pattern::{Hit, Literals};
use super::{errors, results, runners};

/// A table of lines that outputs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Errors,
    Results,
    Runners,
    Compilers,
}

static LITERALS: LazyLock<Literals> = LazyLock::new(|| {
    let runners = runners::literals();
    Literals::new(errors::literals().chain(results::literals()).chain(runners))
});

/// The literals of all tables that stand in a text, in its order.
#[derive(Debug, Default)]
pub(crate) struct Found<'t>(Vec<Hit<'t>>);

impl<'t> Found<'t> {
    /// Reads a text.
    pub fn read(text: &'t str) -> Self {
        Self(LITERALS.all(text))
    }

    /// The rows of a table that have a literal in the text, with the lines.
    pub(super) fn of(&self, table: Table) -> impl Iterator<Item = (usize, Hit<'t>)> {
        let rows = |hit: &Hit<'t>| {
            let (hit, rows) = (*hit, LITERALS.rows_of(*hit).iter());
            rows.map(move |(table, row)| (*table, *row, hit))
        };
        let all = self.0.iter().flat_map(rows);
        all.filter(move |(of, ..)| *of == table)
            .map(|(_, row, hit)| (row, hit))
    }
}
