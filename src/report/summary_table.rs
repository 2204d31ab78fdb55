//! The text that ends a run: the results of the records, in a short table.

use std::fmt::Write as _;

use super::figures::{change, percent, thousands};
use super::run_figures::{RecordFigures, RunFigures};
use super::table::{Table, reasons};
use crate::metrics::BothCounts;

/// Number of files listed; the others are counted.
const FILES_SHOWN: usize = 8;

/// The table, at most 25 lines, a newline after each. It has no colours.
pub fn summary_table(figures: &RunFigures) -> String {
    let mut table = Table::default();
    records(&mut table, &figures.records);
    tokens(&mut table, figures);
    if let Some(both) = &figures.both_counts {
        both_counts(&mut table, both, figures);
    }
    let why = reasons(&figures.over_limit.reasons);
    table.row(
        &format!("Still over {}", thousands(figures.target_max_tokens)),
        &thousands(figures.over_limit.records),
        &if figures.is_estimate() {
            format!("an estimate  {why}")
        } else {
            why
        },
    );
    table.row("Degraded", &thousands(figures.degraded), &degraded(figures));
    if figures.summary_starved > 0 {
        let starved = "summaries had less room than the summary target: no more turns could be taken";
        table.row("Starved", &thousands(figures.summary_starved), starved);
    }
    if figures.masked_turns > 0 {
        let masked = "tool turns have a line in place of each long output";
        table.row("Masked", &thousands(figures.masked_turns), masked);
    }
    table.anchors(figures.anchors_held, figures.anchors_needed, "later");
    if figures.records_with_faults > 0 {
        let (faults, mended) = figures.faults;
        let what = if mended > 0 {
            "mended"
        } else {
            "reported: --sanitize mends what can be"
        };
        let note = if mended > 0 {
            format!(
                "records were broken, {} of {} faults {what}",
                thousands(mended),
                thousands(faults)
            )
        } else {
            format!("records are broken ({} faults), {what}", thousands(faults))
        };
        table.row("Structure", &thousands(figures.records_with_faults), &note);
    }
    if figures.mended_shapes > 0 {
        let note = format!(
            "records got the shape that trainers take ({} changes)",
            thousands(figures.mended_shapes)
        );
        table.row("Shape", &thousands(figures.records_with_mended_shapes), &note);
    }
    if figures.converted > 0 || figures.format_losses.1 > 0 {
        let note = match figures.format_losses {
            (_, 0) => "records were written in another form, without loss".to_owned(),
            (records, losses) => format!(
                "records were written in another form, which could not hold {} things of {} records: see format_loss_kinds",
                thousands(losses),
                thousands(records)
            ),
        };
        table.row("Converted", &thousands(figures.converted), &note);
    }
    requests(&mut table, figures);
    if figures.missing > 0 {
        let note = "answers: have the requests of the .missing.jsonl answered, then apply all with --force";
        table.row("Missing", &thousands(figures.missing), note);
    }
    table.time(figures.elapsed, figures.bytes_in);
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
    let placed = match reasons(&records.placements) {
        none if none.is_empty() => none,
        placements => format!("placed {placements}"),
    };
    let rows = [
        ("under target", records.under_target, String::new()),
        ("compressed", records.compressed, placed),
        ("kept", records.kept, reasons(&records.kept_reasons)),
        ("rejected", records.rejected, reasons(&records.rejected_reasons)),
        ("failed", records.failed, reasons(&records.failed_reasons)),
    ];
    let total = rows.iter().fold(0_u64, |total, row| total.saturating_add(row.1));
    table.row("Records", &thousands(total), "");
    for (status, count, why) in rows.into_iter().filter(|row| row.1 > 0) {
        let note = format!("{:>7}  {why}", percent(count, total));
        table.row(&format!("  {status}"), &thousands(count), &note);
    }
}

fn tokens(table: &mut Table, figures: &RunFigures) {
    let (before, after) = (figures.tokens_before, figures.tokens_after);
    let unit = match (&figures.both_counts, figures.is_rendered) {
        (None, _) => "Tokens",
        (Some(_), false) => "Values",
        (Some(_), true) => "Rendered",
    };
    table.row(&format!("{unit} before"), &thousands(before), "");
    let mut note = change(before, after);
    if figures.is_estimate() {
        note.push_str(", an estimate: each summary at its target size");
    }
    table.row(&format!("{unit} {}", figures.after()), &thousands(after), &note);
}

/// The note on records whose result is not what was asked for.
fn degraded(figures: &RunFigures) -> String {
    let compressed = figures.degraded_compressed;
    let left = figures.degraded.saturating_sub(compressed);
    match (compressed, left) {
        (0, 0) => String::new(),
        (_, 0) => "compressed, but not as asked: see the metrics".to_owned(),
        (0, _) => "not compressed as asked, but left as they were: see the metrics".to_owned(),
        _ => format!(
            "{} compressed, but not as asked; {} left as they were: see the metrics",
            thousands(compressed),
            thousands(left)
        ),
    }
}

/// Adds the requests made; in a dry run, those of a real one.
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
    if let Some(cost) = requests.cost {
        let _ = write!(note, " for {}${cost:.2}", if planned { "about " } else { "" });
    }
    if requests.failed > 0 {
        let _ = write!(note, "; {} failed", thousands(requests.failed));
    }
    if requests.cached > 0 {
        let _ = write!(note, "; {} summaries were known", thousands(requests.cached));
    }
    table.row("Requests", &thousands(requests.sent), &note);
}

/// Adds the tokens of rendered records in the count that the budget is not on, and the effects of the template.
fn both_counts(table: &mut Table, both: &BothCounts, figures: &RunFigures) {
    let values = [both.original_value_tokens, both.compressed_value_tokens];
    let rendered = [both.original_rendered_tokens, both.compressed_rendered_tokens];
    let (unit, others, base, tokens) = if figures.is_rendered {
        ("Values", "rendered", rendered, values)
    } else {
        ("Rendered", "by values", values, rendered)
    };
    let whens = ["before", figures.after()];
    for (when, (tokens, base)) in whens.iter().zip(tokens.iter().zip(base)) {
        let note = format!("{} against {} {others}", change(base, *tokens), thousands(base));
        table.row(&format!("{unit} {when}"), &thousands(*tokens), &note);
    }
    if both.refused > 0 {
        let note = if figures.is_rendered {
            let values = thousands(figures.uncounted_value_tokens);
            format!("records of {values} tokens by values, in no other sum: see the metrics")
        } else {
            "records: see the metrics".to_owned()
        };
        table.row("Template refuses", &thousands(both.refused), &note);
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
    let (shown, more) = figures.files.split_at(figures.files.len().min(FILES_SHOWN));
    table.files(label, shown);
    if !more.is_empty() {
        table.line("", &format!("and {} more", thousands(more.len() as u64)));
    }
    if figures.files.is_empty() {
        table.line(label, "no file");
    }
}

#[cfg(test)]
mod tests;
