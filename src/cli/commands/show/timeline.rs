//! The timeline of a trajectory, for `explain` and `show`: calls of the agent, and the compactions between them.

use std::fmt::Write;
use std::ops::Range;

use futures_util::FutureExt;

use crate::cli::CliError;
use crate::cli::commands::check::unrolled::file_name;
use crate::cli::runs::one_record::OneRecord;
use crate::cli::terminal::visible::one_line;
use crate::fit::{CompactionLine, Overlap, SummaryRecords, TimelineStretch, UnrollSettings};
use crate::report::{self, figures::thousands};

/// The form of the JSON, by name and number.
const SCHEMA: &str = "trajfit.timeline/1";

/// Column of what stands between calls.
const INDENT: &str = "            ";

/// The timeline of a record that is replayed with a trigger.
pub struct Timeline {
    stretches: Vec<TimelineStretch>,
    /// The first reason in the rows of its records; `None` where there is none.
    reason: Option<String>,
    place: String,
    max_tokens: usize,
    trigger_tokens: usize,
}

/// The timeline for programs.
#[derive(serde::Serialize)]
struct TimelineJson<'t> {
    schema: &'static str,
    version: &'static str,
    max_tokens: usize,
    trigger_tokens: usize,
    stretches: &'t [TimelineStretch],
}

impl OneRecord {
    /// The record replayed, as `trajfit unroll` would with this trigger.
    pub fn timeline(&self, trigger: f64) -> Result<Timeline, CliError> {
        let settings = UnrollSettings {
            trigger,
            max_turns: None,
            min_savings: 0.1,
            head_decay: false,
            overlap: Overlap::Tail,
            summary_records: SummaryRecords::None,
            hindsight: false,
            mark: None,
        };
        let place = format!("{}:{}", self.raw.source, self.raw.line);
        let name = format!("{}:{}", file_name(&self.raw.source), self.raw.line);
        let unrolled = self
            .fitter
            .unroll(&self.raw.bytes, &settings, &name)
            .now_or_never();
        // The embedded summarizer waits for nothing.
        let unrolled = unrolled.ok_or_else(|| CliError::stopped("a summary did not come"))?;
        let reasons = unrolled.rows.iter().map(crate::metrics::Row::reason_text);
        let reason = reasons.into_iter().find(|reason| !reason.is_empty());
        if unrolled.timeline.is_empty() {
            let why = reason.unwrap_or_default();
            return Err(
                CliError::usage(format!("cannot replay record ({}): {why}", one_line(&place)))
                    .with_help("--format names the format of the records; --line another record"),
            );
        }
        let max_tokens = self.fitter.settings.target_max_tokens;
        Ok(Timeline {
            stretches: unrolled.timeline,
            reason,
            place: format!("{place}, id {}", unrolled.trajectory),
            max_tokens,
            trigger_tokens: settings.trigger(max_tokens).tokens,
        })
    }
}

impl Timeline {
    /// The timeline as JSON.
    pub fn json(&self) -> String {
        report::json(&TimelineJson {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            max_tokens: self.max_tokens,
            trigger_tokens: self.trigger_tokens,
            stretches: &self.stretches,
        })
    }

    /// The timeline as text: a line for each call, and what each compaction did.
    pub fn text(&self) -> String {
        let (budget, trigger) = (number(self.max_tokens), number(self.trigger_tokens));
        let mut text = format!(
            "{}\n\nBudget      {budget} tokens; compacted before a step would go beyond {trigger}\n\n",
            one_line(&self.place)
        );
        let _ = writeln!(text, "turns       record   sends  cached");
        for (index, stretch) in self.stretches.iter().enumerate() {
            for line in stretch.compaction.iter().flat_map(CompactionLine::lines) {
                let _ = writeln!(text, "{INDENT}{line}");
            }
            for call in &stretch.calls {
                let _ = writeln!(
                    text,
                    "{:<12}{:>6}{:>8}{:>8}",
                    numbers(&call.turns),
                    index + 1,
                    number(call.prompt_tokens),
                    number(call.cached_tokens)
                );
            }
            let over = if stretch.is_over { ", over the budget" } else { "" };
            let _ = writeln!(
                text,
                "{INDENT}record {}: {} tokens{over}",
                index + 1,
                number(stretch.tokens)
            );
        }
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "\nReason      {}", one_line(reason));
        }
        text
    }

    /// The lines about the compaction and the record that begin before a turn; none where none begins there.
    pub fn before_turn(&self, turn: usize) -> Vec<String> {
        let begins =
            |stretch: &&TimelineStretch| stretch.calls.first().is_some_and(|call| call.turns.start == turn);
        let mut found = self.stretches.iter().enumerate();
        let found = found.find(|(_, stretch)| begins(stretch));
        found.map_or_else(Vec::new, |(index, stretch)| {
            let compacted = stretch.compaction.iter().flat_map(CompactionLine::lines);
            compacted
                .chain([format!("record {} begins", index + 1)])
                .collect()
        })
    }
}

impl CompactionLine {
    /// Returns the lines about the compaction: tokens, masks, summary.
    fn lines(&self) -> Vec<String> {
        let sizes = format!(
            "compacted: {} tokens with the next step become {}",
            number(self.tokens_before),
            number(self.tokens_after)
        );
        let replaced = &self.replaced;
        let mut lines = vec![sizes];
        if !replaced.masked.is_empty() {
            let turns: Vec<String> = replaced.masked.iter().map(ToString::to_string).collect();
            lines.push(format!("  masked: outputs of turns {}", turns.join(", ")));
        }
        if replaced.summary.is_some() {
            let earlier = replaced.earlier_summary.then(|| "the summary before".to_owned());
            let turns = replaced
                .turns
                .as_ref()
                .map(|turns| format!("turns {}", numbers(turns)));
            let sources: Vec<String> = earlier.into_iter().chain(turns).collect();
            let mut line = format!(
                "  summary: {} tokens of {}",
                number(self.summary_tokens),
                sources.join(" and ")
            );
            if self.anchors_needed > 0 {
                let (held, needed) = (self.anchors_held, self.anchors_needed);
                let _ = write!(line, "; {held} of {needed} identifiers held");
            }
            lines.push(line);
        }
        lines
    }
}

/// Returns the indexes of turns as text: `3`, `3-5`.
fn numbers(turns: &Range<usize>) -> String {
    match turns.len() {
        0 | 1 => turns.start.to_string(),
        _ => format!("{}-{}", turns.start, turns.end - 1),
    }
}

fn number(tokens: usize) -> String {
    thousands(tokens as u64)
}
