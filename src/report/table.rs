//! Plain tables: aligned columns, without lines and colours.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::figures::{duration, megabytes, megabytes_per_second, percent, thousands};

/// Number of reasons shown in a line; totals as JSON have them all.
const REASONS_SHOWN: usize = 3;

/// A table: labels to the left, numbers right-aligned, then notes.
#[derive(Default)]
pub struct Table {
    rows: Vec<TableRow>,
}

enum TableRow {
    Figure(String, String, String),
    Line(String, String),
}

impl Table {
    /// Adds a number, with a note after it.
    pub fn row(&mut self, label: &str, number: &str, note: &str) {
        self.rows.push(TableRow::Figure(
            label.to_owned(),
            number.to_owned(),
            note.trim_end().to_owned(),
        ));
    }

    /// Adds a text.
    pub fn line(&mut self, label: &str, text: &str) {
        self.rows.push(TableRow::Line(label.to_owned(), text.to_owned()));
    }

    /// Adds the time that a run took, and the speed at which it read its input.
    pub fn time(&mut self, elapsed: Duration, bytes: u64) {
        let rate = megabytes_per_second(bytes, elapsed);
        let read = format!("{}, {rate:.1} MB/s", megabytes(bytes));
        self.row("Time", &duration(elapsed), &read);
    }

    /// Adds the share of identifiers that summaries hold, of those that `relying` turns rely on.
    pub fn anchors(&mut self, held: u64, needed: u64, relying: &str) {
        if needed > 0 {
            let note = format!(
                "of {} identifiers that {relying} turns rely on are held ({})",
                thousands(needed),
                percent(held, needed)
            );
            self.row("Anchors", &thousands(held), &note);
        }
    }

    /// Adds files, a line each; the label stands before the first.
    pub fn files(&mut self, label: &str, files: &[PathBuf]) {
        for (index, file) in files.iter().enumerate() {
            self.line(if index == 0 { label } else { "" }, &file.display().to_string());
        }
    }

    /// The table, a newline after each row.
    pub fn text(&self) -> String {
        let label_width = self
            .rows
            .iter()
            .map(|row| row.label().len())
            .max()
            .unwrap_or_default();
        let number_width = self
            .rows
            .iter()
            .map(TableRow::number_width)
            .max()
            .unwrap_or_default();
        let mut text = String::new();
        for row in &self.rows {
            let line = match row {
                TableRow::Figure(label, number, note) => {
                    format!("{label:label_width$}  {number:>number_width$}  {note}")
                }
                TableRow::Line(label, rest) => format!("{label:label_width$}  {rest}"),
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

impl TableRow {
    fn label(&self) -> &str {
        match self {
            Self::Figure(label, ..) | Self::Line(label, _) => label,
        }
    }

    fn number_width(&self) -> usize {
        match self {
            Self::Figure(_, number, _) => number.len(),
            Self::Line(..) => 0,
        }
    }
}

/// Rows of cells in columns: the first to the left, the others, which are numbers, to the right.
pub fn columns(rows: &[Vec<String>]) -> String {
    let most = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..most).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a String cannot fail.
            let _ = if column == 0 {
                write!(line, "{cell:width$}")
            } else {
                write!(line, "  {cell:>width$}")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Reasons with their counts, the most frequent first.
pub fn reasons(reasons: &[(String, u64)]) -> String {
    let mut sorted: Vec<_> = reasons.iter().filter(|reason| reason.1 > 0).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut shown: Vec<String> = sorted
        .iter()
        .take(REASONS_SHOWN)
        .map(|(reason, count)| format!("{reason} {}", thousands(*count)))
        .collect();
    let others = sorted
        .iter()
        .skip(REASONS_SHOWN)
        .fold(0_u64, |sum, reason| sum.saturating_add(reason.1));
    if others > 0 {
        shown.push(format!("others {}", thousands(others)));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_under_one_another() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = columns(&[row(["", "values", "rendered"]), row(["p50", "7", "1,200"])]);
        assert_eq!(table, "     values  rendered\np50       7     1,200\n");
        assert_eq!(columns(&[]), "");
    }
}
