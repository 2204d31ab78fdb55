//! Cells of a CSV that a spreadsheet would run as formulas, made into text.

use super::Row;

/// The first characters of formulas; full-width forms are read as the plain ones.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The row with an apostrophe before each text that a spreadsheet would run.
pub fn quoted(row: &Row) -> Row {
    let mut row = row.clone();
    for cell in texts(&mut row) {
        if is_formula(cell) {
            cell.insert(0, '\'');
        }
    }
    row
}

/// The row as it was before [`quoted`].
pub fn unquoted(mut row: Row) -> Row {
    for cell in texts(&mut row) {
        let length = unquoted_text(cell).len();
        cell.drain(..cell.len() - length);
    }
    row
}

/// A text as it was before [`quoted`].
pub fn unquoted_text(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(cell) => text,
        _ => cell,
    }
}

fn texts(row: &mut Row) -> [&mut String; 5] {
    [
        &mut row.source,
        &mut row.id,
        &mut row.format,
        &mut row.reason_detail,
        &mut row.summarizer,
    ]
}

/// Returns true if a formula follows the apostrophes that a text begins with, so that one can be added and removed.
fn is_formula(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_quoted_and_comes_back_as_it_was() {
        for (id, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-2", "'-2"),
            ("\t=1", "'\t=1"),
            ("＝1", "'＝1"),
            ("'=1", "''=1"),
            ("a=1", "a=1"),
            ("'tis", "'tis"),
            ("", ""),
        ] {
            let row = Row {
                id: id.to_owned(),
                ..Row::default()
            };
            let safe = quoted(&row);
            assert_eq!(safe.id, cell);
            assert_eq!(unquoted(safe), row);
        }
    }
}
