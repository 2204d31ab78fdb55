//! A record as text: turn by turn, with its region, or beside its compressed record.

use std::fmt::Write;

use super::timeline::Timeline;
use crate::cli::terminal::cells::{Highlights, Page, clipped, columns};
use crate::cli::terminal::visible::one_line;
use crate::compress::alignment::Origin;
use crate::compress::anchors::PairScore;
use crate::fit::Explanation;
use crate::report::figures::thousands;
use crate::trajectory::Role;

/// A record to be shown.
pub struct Shown {
    /// File and line.
    pub place: String,
    /// Its id; empty if it has none.
    pub id: String,
    /// Role, tokens and text of each turn.
    pub turns: Vec<(Role, usize, String)>,
    /// Its top-level system text.
    pub system: Option<String>,
    /// The tokens of that text.
    pub extra_tokens: usize,
}

/// Indexes of two turns that stand beside each other.
type TurnPair = (Option<usize>, Option<usize>);

/// The record alone, with its region marked.
pub fn alone(shown: &Shown, explained: &Explanation, page: Page) -> String {
    let anchors = explained
        .anchors
        .iter()
        .map(|anchor| (anchor.text.as_str(), anchor.is_held));
    let highlights = Highlights::new(anchors.collect());
    let mut text = heading(shown, page);
    let region = explained.region.clone().or(explained.planned.clone());
    if let Some(system) = &shown.system {
        let title = format!(
            "system (top level)  {} tokens",
            thousands(shown.extra_tokens as u64)
        );
        section(
            &mut text,
            &page.paint(&title, "35"),
            "  ",
            &page.lines(system, page.width - 2, &highlights),
        );
    }
    for (index, (role, _, said)) in shown.turns.iter().enumerate() {
        let is_in_region = region.as_ref().is_some_and(|region| region.contains(&index));
        let gutter = if is_in_region { "│ " } else { "  " };
        let note = match &region {
            Some(region) if index == region.start => {
                format!(
                    "  region: turns {} to {}",
                    region.start,
                    region.end.saturating_sub(1)
                )
            }
            _ if explained.turns.get(index).is_some_and(|turn| turn.masked) => "  masked".to_owned(),
            _ => String::new(),
        };
        let title = page.paint(&title(shown, index), colour(*role));
        let body = page.lines(said, page.width - 2, &highlights);
        section(&mut text, &format!("{gutter}{title}{note}"), gutter, &body);
    }
    let verdict = format!("{} {}", explained.row.status.name(), explained.row.reason_text());
    let _ = writeln!(text, "compress: {}", one_line(verdict.trim_end()));
    text
}

/// The record, with its compactions between the turns.
pub fn replayed(shown: &Shown, timeline: &Timeline, page: Page) -> String {
    let highlights = Highlights::new(Vec::new());
    let mut text = heading(shown, page);
    for (index, (role, _, said)) in shown.turns.iter().enumerate() {
        for line in timeline.before_turn(index) {
            let _ = writeln!(text, "{}", page.paint(&format!("── {line}"), "1;32"));
        }
        let title = page.paint(&title(shown, index), colour(*role));
        let body = page.lines(said, page.width - 2, &highlights);
        section(&mut text, &format!("  {title}"), "  ", &body);
    }
    text
}

/// The record before and after: kept turns, removed ones (-), new ones (+).
pub fn beside(old: &Shown, new: &Shown, score: &PairScore, page: Page) -> String {
    let anchors = score
        .needed
        .iter()
        .map(|needed| (needed.text.as_str(), needed.is_held));
    let highlights = Highlights::new(anchors.collect());
    let mut text = if page.side_by_side {
        let half = (page.width - 3) / 2;
        let mut line = String::new();
        row(
            &mut line,
            &[clipped(&about(old), half)],
            &[clipped(&about(new), half)],
            half,
        );
        line
    } else {
        format!("before: {}\nafter:  {}\n", about(old), about(new))
    };
    text.push('\n');
    for (left, right) in pairings(old.turns.len(), &score.origins) {
        if page.side_by_side {
            let half = (page.width - 3) / 2;
            let cell = |shown: &Shown, turn: Option<usize>, mark: &str| {
                turn.map_or_else(Vec::new, |turn| cell(shown, turn, mark, half, page, &highlights))
            };
            let (gone, came) = marks(left, right, &score.origins);
            row(&mut text, &cell(old, left, gone), &cell(new, right, came), half);
            text.push('\n');
            continue;
        }
        let (gone, came) = marks(left, right, &score.origins);
        let mut stacked = |shown: &Shown, turn: usize, mark: &str| {
            for line in cell(shown, turn, mark, page.width, page, &highlights) {
                let _ = writeln!(text, "{line}");
            }
        };
        match (left, right) {
            // A turn that is the same on both sides is shown once.
            (_, Some(turn)) => stacked(new, turn, came),
            (Some(turn), None) => stacked(old, turn, gone),
            (None, None) => {}
        }
    }
    text.push_str(&legend(score, page));
    text
}

/// The marks: `-` for a removed turn, `+` for a new one, `~` if it was extended or has another summary or none.
fn marks(left: Option<usize>, right: Option<usize>, origins: &[Origin]) -> (&'static str, &'static str) {
    let came = match right.and_then(|turn| origins.get(turn)) {
        Some(Origin::New) => "+ ",
        Some(Origin::Extended(_) | Origin::Updated(_)) => "~ ",
        _ => "  ",
    };
    let is_kept = left.is_some_and(|turn| origins.iter().any(|origin| origin.turn() == Some(turn)));
    (if is_kept { "  " } else { "- " }, came)
}

/// The turns in their order: kept ones beside each other; between these the removed ones, then the new ones.
fn pairings(old_turns: usize, origins: &[Origin]) -> Vec<TurnPair> {
    let mut pairs: Vec<TurnPair> = Vec::new();
    let (mut from, mut new) = (0, Vec::new());
    let flush = |pairs: &mut Vec<TurnPair>, gone: std::ops::Range<usize>, new: &mut Vec<usize>| {
        pairs.extend(gone.map(|turn| (Some(turn), None)));
        pairs.extend(new.drain(..).map(|turn| (None, Some(turn))));
    };
    for (index, origin) in origins.iter().enumerate() {
        match origin.turn() {
            Some(turn) => {
                flush(&mut pairs, from..turn, &mut new);
                pairs.push((Some(turn), Some(index)));
                from = turn + 1;
            }
            None => new.push(index),
        }
    }
    flush(&mut pairs, from..old_turns, &mut new);
    pairs
}

fn cell(
    shown: &Shown,
    turn: usize,
    mark: &str,
    width: usize,
    page: Page,
    highlights: &Highlights<'_>,
) -> Vec<String> {
    let Some((role, _, said)) = shown.turns.get(turn) else {
        return Vec::new();
    };
    let head = clipped(&title(shown, turn), width.saturating_sub(2));
    let sign = match mark {
        "- " => page.paint(mark, "31"),
        "+ " | "~ " => page.paint(mark, "32"),
        _ => mark.to_owned(),
    };
    let mut lines = vec![format!("{sign}{}", page.paint(&head, colour(*role)))];
    let body = page.lines(said, width.saturating_sub(4), highlights);
    lines.extend(body.into_iter().map(|line| format!("{sign}  {line}")));
    lines
}

/// Two cells beside each other, `half` columns each.
fn row(text: &mut String, left: &[String], right: &[String], half: usize) {
    for index in 0..left.len().max(right.len()) {
        let left = left.get(index).map_or("", String::as_str);
        let right = right.get(index).map_or("", String::as_str);
        let gap = " ".repeat(half.saturating_sub(columns(left)));
        let _ = writeln!(text, "{}", format!("{left}{gap} │ {right}").trim_end());
    }
}

fn section(text: &mut String, title: &str, gutter: &str, body: &[String]) {
    let _ = writeln!(text, "{title}");
    for line in body {
        let _ = writeln!(text, "{}", format!("{gutter}  {line}").trim_end());
    }
    let _ = writeln!(text, "{}", gutter.trim_end());
}

fn heading(shown: &Shown, page: Page) -> String {
    format!("{}\n\n", page.paint(&about(shown), "1"))
}

fn about(shown: &Shown) -> String {
    let tokens: usize = shown.turns.iter().map(|(_, tokens, _)| tokens).sum();
    let id = if shown.id.is_empty() {
        String::new()
    } else {
        format!(", id {}", shown.id)
    };
    let tokens = thousands((tokens + shown.extra_tokens) as u64);
    one_line(&format!(
        "{}{id}: {} turns, {tokens} tokens",
        shown.place,
        shown.turns.len()
    ))
}

fn title(shown: &Shown, turn: usize) -> String {
    shown
        .turns
        .get(turn)
        .map_or_else(String::new, |(role, tokens, _)| {
            let unit = if *tokens == 1 { "token" } else { "tokens" };
            format!("[{turn}] {}  {} {unit}", role.label(), thousands(*tokens as u64))
        })
}

fn colour(role: Role) -> &'static str {
    match role {
        Role::System => "35",
        Role::Human => "1;33",
        Role::Assistant => "1;36",
        Role::Tool => "34",
        Role::Other => "2",
    }
}

/// The meaning of the marks, and the identifiers by name.
fn legend(score: &PairScore, page: Page) -> String {
    let mut text = String::from("\n- gone, + new, ~ extended or updated");
    let needed = score.needed.len();
    if score.origins.iter().all(|origin| origin.turn().is_none()) {
        // Nothing was compared then: records without ids are found by their lines, and these may have moved.
        text.push_str("; no turn is the same in both: these may be two records, not one before and after\n");
        return text;
    }
    if needed == 0 {
        text.push_str("; no identifier that kept assistant turns rely on was told by gone turns only\n");
        return text;
    }
    let _ = writeln!(
        text,
        "; {} of {needed} identifiers that kept assistant turns rely on are held",
        score.held()
    );
    for (label, wanted, colour) in [("dangling", false, "1;31"), ("held", true, "32")] {
        let names = score.needed.iter().filter(|needed| needed.is_held == wanted);
        let names: Vec<String> = names.map(|needed| one_line(&needed.text)).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "{}: {}", page.paint(label, colour), names.join(", "));
        }
    }
    text
}
