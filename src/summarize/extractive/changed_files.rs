//! The files that were changed and that no other line of the summary names, in one line.

use super::call_line::CallLine;
use super::candidate::{Candidate, Section};
use super::quoted::call_of;
use super::rank::{self, Chosen};
use crate::events::event::Event;
use crate::events::files::end_states::EndStates;
use crate::events::outcome::status::{CallStatus, Outcome};
use crate::events::read_back::target_of_line;
use crate::events::shell::{Step, Touch};
use crate::events::target::Effect;
use crate::events::tools::{Verb, Verbs};
use crate::summarize::footer::{list_of_changes, listed_changes};
use crate::tokens::TokenCounter;

/// Stands before the number of files that the line has no room for.
const AND: &str = ", and ";

/// Stands before the line where other lines tell changed files as well.
const ALSO: &str = "also ";

/// The changed files that no line names, the latest first, as far as they fit into `most` tokens.
pub(super) fn unnamed(
    files: &EndStates,
    lines: &[Chosen],
    most: usize,
    counter: &dyn TokenCounter,
) -> Option<Chosen> {
    let mut names: Vec<&str> = files.changed();
    if names.is_empty() {
        return None;
    }
    let edits: Vec<&str> = lines.iter().filter_map(|line| edit_of(&line.candidate)).collect();
    let changed = names.len();
    names.retain(|name| !edits.iter().any(|edit| names_file(edit, name)));
    let all = names.len();
    let also = if all < changed { ALSO } else { "" };
    while !names.is_empty() {
        let more = match all - names.len() {
            0 => String::new(),
            more => format!("{AND}{more} more"),
        };
        let text = [also, &list_of_changes(&names), &more].concat();
        let cost = rank::cost(&text, &mut String::new(), counter);
        if cost <= most {
            return Some(Chosen {
                candidate: Candidate {
                    section: Section::Files,
                    order: 0,
                    text,
                    value: 0.0,
                },
                cost,
                density: u64::MAX,
                held: Vec::new(),
            });
        }
        // Halved, so that long lists are counted a few times only.
        names.truncate(names.len() / 2);
    }
    None
}

/// The line of an edit that a candidate tells, or has as its heading.
fn edit_of(candidate: &Candidate) -> Option<&str> {
    if !matches!(candidate.section, Section::Calls | Section::Recent) {
        return None;
    }
    let heading = candidate.text.lines().next().unwrap_or_default();
    let call = call_of(heading.trim_end_matches(':'))?;
    let CallLine { label, writes, .. } = CallLine::of(call);
    let tool = label.split([' ', ':', '(']).next().unwrap_or_default();
    let verb = Verbs::of(tool).first();
    let is_edit = matches!(verb, Some(Verb::Create | Verb::Change | Verb::Remove));
    let changes = || target_of_line(label).is_some_and(|target| target.effect == Effect::Modify);
    (is_edit || writes.is_some() || changes()).then_some(call)
}

/// If a text names a file, and not one whose name only ends or begins like it.
fn names_file(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at + name.len()..).unwrap_or_default();
        let begins = !before.ends_with(|c: char| is_of_name(c) && c != '/');
        begins && !behind.trim_end_matches('.').starts_with(is_of_name)
    })
}

/// The changes of the files that a line lists, the latest first, as one event.
pub(super) fn changes(line: &str, number: usize) -> Event {
    let mut touches: Vec<Touch> = listed_changes(line.strip_prefix(ALSO).unwrap_or(line))
        .iter()
        .map(|file| Touch::of(Step::Write, file))
        .collect();
    touches.reverse();
    Event {
        number,
        touches,
        is_answered: true,
        times: 1,
        outcome: Outcome {
            status: CallStatus::Ok,
            ..Outcome::default()
        },
        ..Event::default()
    }
}
