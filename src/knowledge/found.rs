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

/// Those that matter in what was read.
static OF_READING: LazyLock<Literals> = LazyLock::new(|| Literals::new(results::literals_of_reading()));

/// The literals of all tables that stand in a text, in its order.
#[derive(Debug, Default)]
pub(crate) struct Found<'t> {
    hits: Vec<Hit<'t>>,
    is_reading: bool,
}

impl<'t> Found<'t> {
    /// Reads a text.
    pub fn read(text: &'t str) -> Self {
        Self {
            hits: LITERALS.all(text),
            is_reading: false,
        }
    }

    /// Reads a text that was only to be shown: of all tables what says that it is a page or what a search found.
    pub fn read_shown(text: &'t str) -> Self {
        Self {
            hits: OF_READING.all(text),
            is_reading: true,
        }
    }

    /// The rows of a table that have a literal in the text, with the lines.
    pub(super) fn of(&self, table: Table) -> impl Iterator<Item = (usize, Hit<'t>)> {
        let literals = if self.is_reading { &OF_READING } else { &LITERALS };
        let rows = |hit: &Hit<'t>| {
            let (hit, rows) = (*hit, literals.rows_of(*hit).iter());
            rows.map(move |(table, row)| (*table, *row, hit))
        };
        let all = self.hits.iter().flat_map(rows);
        all.filter(move |(of, ..)| *of == table)
            .map(|(_, row, hit)| (row, hit))
    }
}
