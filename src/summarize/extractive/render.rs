//! Prints the chosen lines under their headings, within the budget exactly.

use super::candidate::Section;
use super::rank::Chosen;
use crate::summarize::marker::with_marker;
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
        let text = with_marker(&printed(lines));
        let tokens = counter.count(&text);
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
        if section != Some(line.candidate.section) {
            section = Some(line.candidate.section);
            body.push_str(line.candidate.section.label());
            body.push('\n');
        }
        body.push_str("- ");
        body.push_str(&line.candidate.text);
        body.push('\n');
    }
    body
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
