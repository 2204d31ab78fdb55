//! The text that ends a run: what became of the records, in a table that is understood at a glance.

use super::figures::{duration, megabytes, megabytes_per_second, percent, thousands};
use super::run_figures::{Reasons, RecordFigures, RunFigures};
use crate::metrics::BothCounts;

/// Reasons shown in a line; the totals file has them all.
const REASONS_SHOWN: usize = 3;

/// Files listed; the others are counted.
const FILES_SHOWN: usize = 8;

/// The table, at most 25 lines, a newline after each. It has no colour and knows no terminal.
pub fn summary_table(figures: &RunFigures) -> String {
    let mut table = Table::default();
    records(&mut table, &figures.records);
    tokens(&mut table, figures);
    if let Some(both) = &figures.both_counts {
        both_counts(&mut table, both);
    }
    table.row(
        &format!("Still over {}", thousands(figures.target_max_tokens)),
        &thousands(figures.over_limit.records),
        &reasons(&figures.over_limit.reasons),
    );
    let degraded = if figures.degraded > 0 {
        "compressed, but not as asked: see the metrics"
    } else {
        ""
    };
    table.row("Degraded", &thousands(figures.degraded), degraded);
    if figures.anchors_needed > 0 {
        let held = format!(
            "of {} identifiers that later turns rely on are held ({})",
            thousands(figures.anchors_needed),
            percent(figures.anchors_held, figures.anchors_needed)
        );
        table.row("Anchors", &thousands(figures.anchors_held), &held);
    }
    requests(&mut table, figures);
    let rate = megabytes_per_second(figures.bytes_in, figures.elapsed);
    table.row(
        "Time",
        &duration(figures.elapsed),
        &format!("{}, {rate:.1} MB/s", megabytes(figures.bytes_in)),
    );
    if let Some(dry_run) = figures.dry_run {
        let read = format!(
            "would be written, reading {} tokens",
            thousands(dry_run.tokens_to_read)
        );
        table.row("Summaries", &thousands(dry_run.summaries), &read);
    }
    files(&mut table, figures);
    table.text()
}

fn records(table: &mut Table, records: &RecordFigures) {
    let none = Reasons::new();
    let rows = [
        ("under target", records.under_target, &none),
        ("compressed", records.compressed, &none),
        ("kept", records.kept, &records.kept_reasons),
        ("rejected", records.rejected, &records.rejected_reasons),
        ("failed", records.failed, &records.failed_reasons),
    ];
    let total = rows.iter().fold(0_u64, |total, row| total.saturating_add(row.1));
    table.row("Records", &thousands(total), "");
    for (status, count, why) in rows.into_iter().filter(|row| row.1 > 0) {
        let note = format!("{:>7}  {}", percent(count, total), reasons(why));
        table.row(&format!("  {status}"), &thousands(count), &note);
    }
}

fn tokens(table: &mut Table, figures: &RunFigures) {
    let (before, after) = (figures.tokens_before, figures.tokens_after);
    table.row("Tokens before", &thousands(before), "");
    let change = if after <= before {
        format!("-{}", percent(before - after, before))
    } else {
        format!("+{}", percent(after - before, before))
    };
    let change = if after == before {
        "unchanged"
    } else {
        change.as_str()
    };
    let label = if figures.dry_run.is_some() {
        "Tokens planned"
    } else {
        "Tokens after"
    };
    table.row(label, &thousands(after), change);
}

/// What language models were asked, or would be.
fn requests(table: &mut Table, figures: &RunFigures) {
    let requests = &figures.requests;
    if requests.sent + requests.cached == 0 {
        return;
    }
    let (read, written) = (
        thousands(requests.prompt_tokens),
        thousands(requests.completion_tokens),
    );
    let planned = figures.dry_run.is_some();
    let mut note = if planned {
        format!("would read {read} tokens and write about {written}")
    } else {
        format!("read {read} tokens and wrote {written}")
    };
    if requests.failed > 0 {
        note.push_str(&format!("; {} failed", thousands(requests.failed)));
    }
    if requests.cached > 0 {
        note.push_str(&format!("; {} known already", thousands(requests.cached)));
    }
    table.row("Requests", &thousands(requests.sent), &note);
    if let Some(cost) = requests.cost {
        table.row("Cost", &format!("${cost:.2}"), if planned { "about" } else { "" });
    }
}

/// What the values and the rendered chats cost, and what the template did.
fn both_counts(table: &mut Table, both: &BothCounts) {
    let compared = |rendered: u64, values: u64| {
        let apart = rendered.abs_diff(values);
        let sign = if rendered < values { "-" } else { "+" };
        format!(
            "{sign}{} of {} by values",
            percent(apart, values),
            thousands(values)
        )
    };
    let (before, after) = (both.original_rendered_tokens, both.compressed_rendered_tokens);
    table.row(
        "Rendered before",
        &thousands(before),
        &compared(before, both.original_value_tokens),
    );
    table.row(
        "Rendered after",
        &thousands(after),
        &compared(after, both.compressed_value_tokens),
    );
    if both.refused > 0 {
        table.row(
            "Template refuses",
            &thousands(both.refused),
            "records: see the metrics",
        );
    }
    if both.records_with_changed_turns > 0 {
        let note = "compressed records have kept turns that it renders otherwise now";
        table.row(
            "Template changes",
            &thousands(both.records_with_changed_turns),
            note,
        );
    }
}

fn files(table: &mut Table, figures: &RunFigures) {
    let label = if figures.dry_run.is_some() {
        "Written (dry run)"
    } else {
        "Written"
    };
    for (index, file) in figures.files.iter().take(FILES_SHOWN).enumerate() {
        table.line(if index == 0 { label } else { "" }, &file.display().to_string());
    }
    let more = figures.files.len().saturating_sub(FILES_SHOWN);
    if more > 0 {
        table.line("", &format!("and {} more", thousands(more as u64)));
    }
    if figures.files.is_empty() {
        table.line(label, "nothing");
    }
}

fn reasons(reasons: &[(String, u64)]) -> String {
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

/// Labels to the left, numbers right-aligned, notes after them.
#[derive(Default)]
struct Table {
    rows: Vec<Row>,
}

enum Row {
    Figure(String, String, String),
    Line(String, String),
}

impl Table {
    fn row(&mut self, label: &str, number: &str, note: &str) {
        self.rows.push(Row::Figure(
            label.to_owned(),
            number.to_owned(),
            note.trim_end().to_owned(),
        ));
    }

    fn line(&mut self, label: &str, text: &str) {
        self.rows.push(Row::Line(label.to_owned(), text.to_owned()));
    }

    fn text(&self) -> String {
        let label_width = self
            .rows
            .iter()
            .map(|row| row.label().len())
            .max()
            .unwrap_or_default();
        let number_width = self.rows.iter().map(Row::number_width).max().unwrap_or_default();
        let mut text = String::new();
        for row in &self.rows {
            let line = match row {
                Row::Figure(label, number, note) => {
                    format!("{label:label_width$}  {number:>number_width$}  {note}")
                }
                Row::Line(label, rest) => format!("{label:label_width$}  {rest}"),
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

impl Row {
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

#[cfg(test)]
mod tests;
