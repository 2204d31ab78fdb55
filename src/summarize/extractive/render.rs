//! Prints the chosen lines under their headings, within the budget exactly.

use super::candidate::Section;
use super::rank::Chosen;
use crate::summarize::marker::with_marker;
use crate::tokens::TokenCounter;

/// The summary of `lines` in at most `most` tokens, `kept_free` of them left for what comes after; the least telling lines
/// go until it fits.
pub(super) fn rendered(
    mut lines: Vec<Chosen>,
    most: usize,
    kept_free: usize,
    counter: &dyn TokenCounter,
) -> String {
    let room = most.saturating_sub(kept_free);
    loop {
        let text = with_marker(&printed(&lines));
        if lines.is_empty() {
            return text;
        }
        let excess = counter.count(&text).saturating_sub(room);
        if excess == 0 {
            return text;
        }
        drop_least(&mut lines, excess);
    }
}

fn printed(lines: &[Chosen]) -> String {
    let mut body = String::new();
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
