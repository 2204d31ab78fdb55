//! `trajfit explain`: the decision about one record, step by step.

mod summary;

use std::fmt::Write;
use std::ops::Range;

use crate::cli::runs::one_record::OneRecordArgs;
use crate::cli::terminal::stdout;
use crate::cli::terminal::visible::one_line;
use crate::cli::{CliError, ExitStatus};
use crate::fit::{AnchorLine, Explanation, TurnLine};
use crate::report::{self, figures::thousands};

/// Explain how compress would treat one record, and why.
///
/// Walks through the decision: what the turns cost, what is protected, what must go, which turns are replaced, what the
/// summary may cost, and which identifiers it must hold. Summaries are made by the embedded summarizer, whatever the
/// configuration says: nothing is sent. The flags are those of compress that decide a plan.
///
/// With --unroll, what trajfit unroll would do: what the agent sends at each call, when its context is compacted, and what went
/// into each summary.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    record: OneRecordArgs,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// Maximum number of identifiers listed.
const LISTED: usize = 40;

/// The schema of the JSON, by name and number.
const SCHEMA: &str = "trajfit.explain/1";

/// The decision for programs.
#[derive(serde::Serialize)]
struct ExplanationJson<'e> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    explanation: &'e Explanation,
}

/// Runs the command.
pub fn run(args: ExplainArgs) -> Result<ExitStatus, CliError> {
    let record = args.record.read()?;
    if let Some(trigger) = record.unroll {
        let timeline = record.timeline(trigger)?;
        let answer = if args.json {
            timeline.json()
        } else {
            timeline.text()
        };
        stdout::print(answer.as_bytes())?;
        return Ok(ExitStatus::Done);
    }
    let explanation = record.explanation()?;
    let answer = if args.json {
        report::json(&ExplanationJson {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            explanation: &explanation,
        })
    } else {
        let place = format!("{}:{}", record.raw.source, record.raw.line);
        text(&explanation, &place)
    };
    stdout::print(answer.as_bytes())?;
    Ok(ExitStatus::Done)
}

fn text(explained: &Explanation, place: &str) -> String {
    let row = &explained.row;
    let mut text = String::new();
    let id = if row.id.is_empty() {
        String::new()
    } else {
        format!(", id {}", row.id)
    };
    let about = format!("{place}{id} ({}, {} turns)", row.format, explained.turns.len());
    let _ = writeln!(text, "{}\n", one_line(&about));
    groups(&mut text, explained);
    faults(&mut text, explained);
    let total = count(explained.total_tokens);
    let target = count(explained.target_tokens);
    let _ = writeln!(text, "\nTotal      {total} tokens; the target is {target}");
    if let Some(need) = explained.need_tokens {
        plan(&mut text, explained, need);
    }
    summary::tell(&mut text, explained);
    anchors(&mut text, &explained.anchors);
    let reason = if row.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", row.reason_text())
    };
    let verdict = format!("{}{reason}", row.status.name());
    let _ = writeln!(text, "Decision   {}", one_line(&verdict));
    text
}

/// A line for each group of turns, with the part of the trajectory it belongs to.
fn groups(text: &mut String, explained: &Explanation) {
    let _ = writeln!(text, "turns      part       tokens  who");
    let mut start = 0;
    while let Some(first) = explained.turns.get(start) {
        let rest = explained.turns.get(start + 1..).unwrap_or_default();
        let answers = rest
            .iter()
            .take_while(|turn| turn.answers == Some(first.index))
            .count();
        let group = explained.turns.get(start..=start + answers).unwrap_or_default();
        let tokens: usize = group.iter().map(|turn| turn.tokens).sum();
        let numbers = if answers == 0 {
            start.to_string()
        } else {
            format!("{start}-{}", start + answers)
        };
        let marks = marks(explained, group);
        let answered = if answers == 0 {
            String::new()
        } else {
            format!(" + {answers} tool")
        };
        let who = format!("{}{answered}{marks}", first.role);
        let _ = writeln!(
            text,
            "{numbers:<10} {:<10} {:>6}  {who}",
            group_part(explained, group),
            count(tokens)
        );
        start += answers + 1;
    }
    if explained.extra_tokens > 0 {
        let _ = writeln!(
            text,
            "{:<10} {:<10} {:>6}  top-level system text",
            "",
            "",
            count(explained.extra_tokens)
        );
    }
}

fn marks(explained: &Explanation, group: &[TurnLine]) -> &'static str {
    if group.iter().any(|turn| !turn.readable) {
        "  (cannot be read in full: never replaced)"
    } else if group.iter().any(|turn| explained.last_human == Some(turn.index)) {
        "  (last human turn: survives)"
    } else {
        ""
    }
}

/// The part that a group belongs to; masked if any of its outputs is.
fn group_part(explained: &Explanation, group: &[TurnLine]) -> &'static str {
    let parts = group.iter().map(|turn| part(explained, turn.index));
    let first = group.first().map_or("", |turn| part(explained, turn.index));
    if parts.into_iter().any(|part| part == "MASKED") {
        "MASKED"
    } else {
        first
    }
}

/// Writes the faults, and the changes before the plan.
fn faults(text: &mut String, explained: &Explanation) {
    let row = &explained.row;
    let faults = [
        ("orphan responses", row.orphan_responses),
        ("unanswered calls", row.unanswered_calls),
        ("repeated ids", row.repeated_ids),
        ("packed responses", row.packed_responses),
        ("neighbours of one role", row.same_role_neighbours),
    ];
    let found = faults.iter().filter(|(_, count)| *count > 0);
    let found: Vec<String> = found.map(|(name, count)| format!("{name} {count}")).collect();
    if row.mended_shapes > 0 {
        let _ = writeln!(
            text,
            "\nShape      {}: done before anything else, and the turns above are those after that",
            row.mended_kinds
        );
    }
    if row.converted {
        let losses = if row.format_losses > 0 {
            format!("; the form cannot hold {}", row.format_loss_kinds)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "\nForm       written in another form before anything else, and the turns above are those after that{losses}",
        );
    }
    if found.is_empty() {
        return;
    }
    let mended = if row.mended_faults > 0 {
        let count = row.mended_faults;
        format!("{count} mended before anything else, and the turns above are those after that")
    } else {
        "--sanitize mends what can be mended".to_owned()
    };
    let _ = writeln!(text, "\nFaults     {}; {mended}", found.join(", "));
}

fn part(explained: &Explanation, turn: usize) -> &'static str {
    let within = |range: &Option<Range<usize>>| range.as_ref().is_some_and(|range| range.contains(&turn));
    if within(&explained.region) {
        "REGION"
    } else if explained.turns.get(turn).is_some_and(|turn| turn.masked) {
        "MASKED"
    } else if turn < explained.compressible.start {
        "head"
    } else if turn >= explained.compressible.end {
        "tail"
    } else {
        "middle"
    }
}

fn plan(text: &mut String, explained: &Explanation, need: usize) {
    let sum = |range: Range<usize>| -> usize {
        explained
            .turns
            .get(range)
            .unwrap_or_default()
            .iter()
            .map(|turn| turn.tokens)
            .sum()
    };
    let Range { start, end } = explained.compressible.clone();
    let _ = writeln!(
        text,
        "Head       {}: {} tokens, protected",
        turns(&(0..start)),
        count(sum(0..start))
    );
    let tail = end..explained.turns.len();
    let _ = writeln!(
        text,
        "Tail       {}: {} tokens, protected",
        turns(&tail),
        count(sum(tail.clone()))
    );
    if explained.strategy != "summarize" {
        masks(text, explained, need);
        return;
    }
    let _ = writeln!(
        text,
        "Need       {} = total {} + notice {} + summary {} - target {}",
        count(need),
        count(explained.total_tokens),
        explained.notice_tokens,
        count(explained.summary_target_tokens),
        count(explained.target_tokens),
    );
    if let Some(planned) = &explained.planned {
        let _ = writeln!(
            text,
            "Plan       {}: {} tokens, the first whole groups that free what is needed",
            turns(planned),
            count(sum(planned.clone())),
        );
    } else {
        let middle = count(sum(start..end));
        let between = end - start;
        let _ = writeln!(
            text,
            "Plan       none: the {between} turns between head and tail cost {middle} tokens"
        );
    }
    if let Some(region) = explained
        .region
        .as_ref()
        .filter(|region| Some(*region) != explained.planned.as_ref())
    {
        let _ = writeln!(
            text,
            "Extended   to turn {}: the first summary was not enough",
            region.end.saturating_sub(1)
        );
    }
}

/// The turns of a range, by their numbers in the list.
fn turns(range: &Range<usize>) -> String {
    match range.len() {
        0 => "no turn".to_owned(),
        1 => format!("turn {}", range.start),
        _ => format!("turns {} to {}", range.start, range.end - 1),
    }
}

/// Writes the effect of masks, and the region if they were not enough.
fn masks(text: &mut String, explained: &Explanation, need: usize) {
    let (total, target) = (count(explained.total_tokens), count(explained.target_tokens));
    let _ = writeln!(
        text,
        "Need       {} = total {total} - target {target}",
        count(need)
    );
    let masked = explained.turns.iter().filter(|turn| turn.masked).count();
    let _ = writeln!(
        text,
        "Masks      {masked} of {} tool turns between head and tail hold masks instead of what they brought back",
        explained
            .turns
            .get(explained.compressible.clone())
            .unwrap_or_default()
            .iter()
            .filter(|turn| turn.role == "tool" || turn.masked)
            .count(),
    );
    if let Some(region) = &explained.region {
        let _ = writeln!(
            text,
            "Region     {}: {} tokens as they were; masks were not enough",
            turns(region),
            count(explained.region_tokens),
        );
    }
}

fn anchors(text: &mut String, anchors: &[AnchorLine]) {
    if anchors.is_empty() {
        return;
    }
    let held = anchors.iter().filter(|anchor| anchor.is_held).count();
    let _ = writeln!(
        text,
        "Anchors    {held} of {} identifiers that later turns rely on are held",
        anchors.len()
    );
    // Those that dangle come first, so that none of them is left out.
    let mut listed: Vec<&AnchorLine> = anchors.iter().collect();
    listed.sort_by_key(|anchor| anchor.is_held);
    for anchor in listed.iter().take(LISTED) {
        let state = if anchor.is_held { "held    " } else { "DANGLES " };
        let times = if anchor.uses == 1 {
            String::new()
        } else {
            format!(", {} times", anchor.uses)
        };
        let name = one_line(&anchor.text);
        let _ = writeln!(
            text,
            "  {state} {name}  (used in turn {}{times})",
            anchor.first_turn
        );
    }
    if listed.len() > LISTED {
        let _ = writeln!(text, "  and {} more", listed.len() - LISTED);
    }
}

fn count(number: usize) -> String {
    thousands(number as u64)
}
