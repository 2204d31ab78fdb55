//! Prints the chosen lines under their headings, within the budget exactly.

use super::candidate::Section;
use super::rank::Chosen;
use crate::summarize::marker::{SUMMARY_MARKER, with_marker};
use crate::tokens::TokenCounter;

/// The summary of `lines` in at most `most` tokens, `kept_free` of them left for what comes after, and its tokens; the least
/// telling lines go until it fits.
pub(super) fn rendered(
    lines: &mut Vec<Chosen>,
    most: usize,
    kept_free: usize,
    counter: &dyn TokenCounter,
) -> (String, usize) {
    let room = most.saturating_sub(kept_free);
    loop {
        let body = printed(lines);
        let text = with_marker(&body);
        // The line after the marker is there, and of the body nothing was taken off but its last line end.
        let is_whole = text.len() == SUMMARY_MARKER.len() + body.len();
        let sum = if is_whole { sum(lines, counter) } else { None };
        let tokens = sum.unwrap_or_else(|| counter.count(&text));
        debug_assert_eq!(tokens, counter.count(&text), "a line costs something else");
        if tokens <= room || lines.is_empty() {
            return (text, tokens);
        }
        drop_least(lines, tokens - room);
    }
}

fn printed(lines: &[Chosen]) -> String {
    let length: usize = lines.iter().map(|line| line.candidate.text.len() + 3).sum();
    let mut body = String::with_capacity(length + 256);
    let mut section: Option<Section> = None;
    for line in lines {
        if is_under_new_heading(&mut section, line) {
            body.push_str(line.candidate.section.label());
            body.push('\n');
        }
        body.push_str("- ");
        body.push_str(&line.candidate.text);
        body.push('\n');
    }
    body
}

fn is_under_new_heading(last: &mut Option<Section>, line: &Chosen) -> bool {
    let section = Some(line.candidate.section);
    std::mem::replace(last, section) != section
}

/// The cost of the lines under the marker and their headings in tokens, if no counted line has to be counted again.
fn sum(lines: &[Chosen], counter: &dyn TokenCounter) -> Option<usize> {
    let last = lines.last().filter(|_| counter.counts_by_line())?;
    let mut line = String::with_capacity(last.candidate.text.len() + 2);
    let mut count = |pieces: [&str; 2]| {
        line.clear();
        line.extend(pieces);
        counter.count(&line)
    };
    let mut tokens = count([SUMMARY_MARKER, "\n"]);
    let mut section: Option<Section> = None;
    for line in lines {
        if is_under_new_heading(&mut section, line) {
            tokens += count([line.candidate.section.label(), "\n"]);
        }
        tokens += line.cost;
    }
    // No line end follows the last one.
    Some(tokens - last.cost + count(["- ", &last.candidate.text]))
}

/// The tokens of lines with their headings.
pub(super) fn tokens(lines: &[Chosen], counter: &dyn TokenCounter) -> usize {
    let mut section: Option<Section> = None;
    let mut tokens = 0;
    for line in lines {
        if is_under_new_heading(&mut section, line) {
            tokens += counter.count(line.candidate.section.label()) + 1;
        }
        tokens += line.cost;
    }
    tokens
}

/// Drops the lines worth least per token until they make up `excess` tokens.
fn drop_least(lines: &mut Vec<Chosen>, excess: usize) {
    let mut freed = 0;
    while freed < excess {
        let Some(least) = lines
            .iter()
            .enumerate()
            .min_by_key(|(_, line)| line.density)
            .map(|(index, _)| index)
        else {
            return;
        };
        freed += lines.remove(least).cost;
    }
}
