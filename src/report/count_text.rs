//! The answer of `count` for people: totals, percentiles, a histogram, and the parts of the largest records.

use std::fmt::Write;
use std::time::Duration;

use super::count_report::CountReport;
use super::figures::{percent, printable, signed_percent, thousands};
use super::histogram::bars;
use super::survey_figures::RatioFigures;
use super::table::{Table, columns, reasons};
use crate::metrics::{Complaint, LargeRecord, Parts};

/// The text, a newline after each line. It has no colours.
pub fn count_text(report: &CountReport, elapsed: Duration, bytes_read: u64) -> String {
    let survey = &report.survey;
    let judged = judged_records(report);
    let mut table = Table::default();
    table.row("Records", &thousands(survey.records), "");
    table.row("Turns", &thousands(survey.turns), "");
    table.row("Tokens", &thousands(survey.tokens.total), "");
    if let Some(rendered) = &survey.rendered_tokens {
        let apart = survey.rendered_to_tokens.as_ref().map_or_else(String::new, apart);
        table.row("Tokens rendered", &thousands(rendered.total), &apart);
    }
    let limit = format!("Over {}", thousands(report.max_tokens));
    table.row(
        &limit,
        &thousands(report.over_max_tokens),
        &percent(report.over_max_tokens, judged),
    );
    if survey.unreadable.records > 0 {
        let codes = survey.unreadable.by_code.iter();
        let codes: Vec<_> = codes.map(|(code, count)| ((*code).to_owned(), *count)).collect();
        table.row(
            "Unreadable",
            &thousands(survey.unreadable.records),
            &reasons(&codes),
        );
    }
    if survey.refused.records > 0 {
        table.row(
            "Refused",
            &thousands(survey.refused.records),
            "by the chat template",
        );
    }
    table.time(elapsed, bytes_read);
    let mut text = table.text();
    if survey.records > 0 {
        let _ = write!(text, "\nTokens a record\n{}", percentiles(report));
        let _ = write!(
            text,
            "\nRecords by tokens\n{}",
            bars(&report.histogram, report.max_tokens)
        );
        let _ = write!(text, "\nWhat the tokens are\n{}", all_parts(&survey.parts));
    }
    if !report.largest.is_empty() {
        let _ = write!(text, "\nLargest\n{}", largest(report));
    }
    for (what, troubles) in [("Unreadable", &survey.unreadable), ("Refused", &survey.refused)] {
        if troubles.records > 0 {
            let _ = write!(
                text,
                "\n{what}\n{}",
                complaints(troubles.records, &troubles.first)
            );
        }
    }
    text
}

fn judged_records(report: &CountReport) -> u64 {
    report.histogram.iter().map(|bin| bin.records).sum()
}

/// The difference of the two counts.
fn apart(ratio: &RatioFigures) -> String {
    format!(
        "{} on the turns; by record {} to {}, median {}",
        signed_percent(ratio.total),
        signed_percent(ratio.min),
        signed_percent(ratio.max),
        signed_percent(ratio.p50)
    )
}

fn percentiles(report: &CountReport) -> String {
    let survey = &report.survey;
    let mut rows = Vec::new();
    if survey.rendered_tokens.is_some() {
        rows.push(["", "turns", "rendered"].map(str::to_owned).to_vec());
    }
    for name in ["min", "p50", "p90", "p95", "p99", "max"] {
        let mut row = vec![format!("  {name}"), thousands(survey.tokens.percentile(name))];
        if let Some(rendered) = &survey.rendered_tokens {
            row.push(thousands(rendered.percentile(name)));
        }
        rows.push(row);
    }
    columns(&rows)
}

/// The parts by their names, the largest first. Tools are no part of the sum.
fn named(parts: &Parts) -> Vec<(&'static str, u64)> {
    let mut named = vec![
        ("system prompt", parts.system),
        ("tool output", parts.tool_output),
        ("assistant", parts.assistant),
        ("human", parts.human),
        ("other roles", parts.other),
    ];
    named.retain(|(_, tokens)| *tokens > 0);
    named.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    named
}

fn all_parts(parts: &Parts) -> String {
    let named = named(parts);
    let total = named.iter().map(|(_, tokens)| tokens).sum();
    let mut rows: Vec<Vec<String>> = named
        .iter()
        .map(|(name, tokens)| vec![format!("  {name}"), thousands(*tokens), percent(*tokens, total)])
        .collect();
    if parts.tools > 0 {
        rows.push(vec!["  tools schema".to_owned(), thousands(parts.tools)]);
    }
    let mut text = columns(&rows);
    if parts.tools > 0 {
        text.truncate(text.trim_end().len());
        text.push_str("  beside the turns\n");
    }
    text
}

fn largest(report: &CountReport) -> String {
    let rows: Vec<Vec<String>> = report
        .largest
        .iter()
        .map(|record| {
            let mut row = vec![
                format!("  {}  {}", printable(&place(record)), printable(&record.id)),
                format!("{} tokens", thousands(record.tokens)),
            ];
            if report.survey.rendered_tokens.is_some() {
                let rendered = record.rendered_tokens.map(thousands);
                row.push(
                    rendered.map_or_else(|| "refused".to_owned(), |rendered| format!("{rendered} rendered")),
                );
            }
            row.push(format!("{} turns", thousands(record.turns)));
            row
        })
        .collect();
    let mut text = String::new();
    for (line, record) in columns(&rows).lines().zip(&report.largest) {
        let _ = writeln!(text, "{line}\n      {}", record_parts(record));
    }
    text
}

fn record_parts(record: &LargeRecord) -> String {
    let mut parts: Vec<String> = named(&record.parts)
        .iter()
        .map(|(name, tokens)| {
            format!(
                "{name} {} ({})",
                thousands(*tokens),
                percent(*tokens, record.tokens)
            )
        })
        .collect();
    if record.parts.tools > 0 {
        parts.push(format!(
            "beside them tools schema {}",
            thousands(record.parts.tools)
        ));
    }
    parts.join(", ")
}

/// `file:line`.
pub fn place(record: &LargeRecord) -> String {
    format!("{}:{}", record.source, record.line)
}

/// The first complaints, a line each: the place of its first record, and the number of its records.
pub fn complaints(records: u64, first: &[Complaint]) -> String {
    let mut text = String::new();
    for complaint in first {
        let (source, error) = (printable(&complaint.source), printable(&complaint.error));
        let _ = write!(text, "  {source}:{}: {}: {error}", complaint.line, complaint.code);
        let _ = match complaint.records {
            1 => writeln!(text),
            records => writeln!(text, " ({} records)", thousands(records)),
        };
    }
    let told: u64 = first.iter().map(|complaint| complaint.records).sum();
    let more = records.saturating_sub(told);
    if more > 0 {
        let _ = writeln!(text, "  and {} more", thousands(more));
    }
    text
}
