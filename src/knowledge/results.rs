//! Results: lines that say what came of a call, and answers that show a page or a document.

use std::sync::LazyLock;

use serde::Deserialize;

use super::found::LiteralHits;
use super::pattern::LazyPattern;
use super::table::LineTable;

/// The sort of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResultKind {
    /// It was done.
    Done,
    /// So many were found.
    Hits,
    /// The title of a page: errors that stand in it are none of the call's.
    Page,
    /// The address of a page.
    Address,
    /// A page's remark on the action before it.
    Alert,
    /// A remark beside the result: a notice, a warning of an installer.
    Aside,
    /// It is not told here: the answer was taken out, or comes later.
    Untold,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultTable {
    /// Words in names of tools that show pages or documents.
    reading: Vec<String>,
    /// Names of fields that say how an answer was made.
    bookkeeping: Vec<String>,
    run_ids: Vec<String>,
    result: Vec<ResultRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultRow {
    kind: ResultKind,
    holds: String,
    /// The line; what the group `say` holds is told, or all of it.
    line: LazyPattern,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    example: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    says: String,
}

static TABLE: LazyLock<ResultTable> = LazyLock::new(|| super::table(include_str!("results.toml")));

/// The literals of all rows.
pub(super) fn literals() -> impl Iterator<Item = (LineTable, usize, &'static str)> {
    let rows = TABLE.result.iter().enumerate();
    rows.map(|(number, row)| (LineTable::Results, number, row.holds.as_str()))
}

/// The literals of rows that matter in what was read: what such a text says that it did is none of the call's.
pub(super) fn literals_of_reading() -> impl Iterator<Item = (LineTable, usize, &'static str)> {
    literals().filter(|(_, row, _)| {
        TABLE
            .result
            .get(*row)
            .is_some_and(|row| row.kind != ResultKind::Done)
    })
}

/// Returns true if the name of a tool says that it shows pages or documents.
pub(crate) fn shows_documents(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    let mut words = tool.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| TABLE.reading.iter().any(|reading| reading == word))
}

/// Returns true if a field of this name says how an answer was made, and not what it holds.
pub(crate) fn is_bookkeeping(field: &str) -> bool {
    TABLE.bookkeeping.iter().any(|name| name == field)
}

/// Returns true if a field of this name holds the id of a run, which says nothing of what came back.
pub(crate) fn is_run_id(field: &str) -> bool {
    TABLE.run_ids.iter().any(|name| name == field)
}

/// The results that the lines of a text tell, in their order.
pub(crate) fn results<'t>(found: &LiteralHits<'t>) -> impl Iterator<Item = (ResultKind, &'t str)> {
    found.of(LineTable::Results).filter_map(|(row, hit)| {
        let row = TABLE.result.get(row)?;
        let found = row.line.all(hit.line()).next()?;
        let said = found.named("say").unwrap_or_else(|| found.whole());
        Some((row.kind, said.trim()))
    })
}

/// The remark of a page on the action before it, wherever it stands.
pub(crate) fn alert(page: &str) -> Option<&str> {
    let mut rows = TABLE.result.iter().filter(|row| row.kind == ResultKind::Alert);
    rows.find_map(|row| {
        let mut found = memchr::memmem::find_iter(page.as_bytes(), row.holds.as_bytes()).take(MAX_ALERTS);
        found.find_map(|at| {
            let start = page.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
            let line = page.get(start..)?.lines().next()?;
            let said = row.line.all(line).next()?.named("say")?.trim();
            (!said.is_empty()).then_some(said)
        })
    })
}

/// Alerts of a page that are looked at.
const MAX_ALERTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_is_known_by_its_example() {
        let table: ResultTable = toml::from_str(include_str!("results.toml")).unwrap();
        assert!(table.result.len() > 10);
        for row in &table.result {
            let told: Vec<(ResultKind, &str)> = results(&LiteralHits::read(&row.example)).collect();
            assert!(told.contains(&(row.kind, row.says.as_str())), "{row:?}: {told:?}");
        }
    }
}
