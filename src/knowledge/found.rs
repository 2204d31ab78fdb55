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
        Self(LITERALS.all(text).collect())
    }

    /// The hits of one table.
    pub(super) fn of(&self, table: Table) -> impl Iterator<Item = Hit<'t>> {
        self.0.iter().filter(move |hit| hit.table == table).copied()
    }
}
