//! The literals of tables that one read of a text finds.

use super::pattern::{Hit, Literals};
use super::table::LineTable;

/// The literals that stand in a text, in its order.
#[derive(Debug, Default)]
pub(crate) struct LiteralHits<'t> {
    hits: Vec<Hit<'t>>,
    literals: Option<&'static Literals>,
}

impl<'t> LiteralHits<'t> {
    /// Those of `literals` in a text.
    pub(super) fn of_text(literals: &'static Literals, text: &'t str) -> Self {
        Self {
            hits: literals.all(text),
            literals: Some(literals),
        }
    }

    /// The rows of a table that have a literal in the text, with the lines.
    pub(super) fn of(&self, table: LineTable) -> impl Iterator<Item = (usize, Hit<'t>)> {
        let literals = self.literals;
        let rows = move |hit: &Hit<'t>| {
            let hit = *hit;
            let rows = literals
                .into_iter()
                .flat_map(move |literals| literals.rows_of(hit));
            rows.map(move |(table, row)| (*table, *row, hit))
        };
        let all = self.hits.iter().flat_map(rows);
        all.filter(move |(of, ..)| *of == table)
            .map(|(_, row, hit)| (row, hit))
    }
}
