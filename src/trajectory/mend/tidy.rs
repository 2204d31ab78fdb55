//! Tidies a trajectory: valid turns that chat templates and trainers refuse nevertheless.

use std::borrow::Cow;
use std::fmt;

use super::{MendedTurn, written};
use crate::trajectory::edit::apply;
use crate::trajectory::json::members::{Member, members};
use crate::trajectory::json::{decode, escape_into, quoted};
use crate::trajectory::parse::parts::{Part, parts, text_part};
use crate::trajectory::structure::faults::write_kinds;
use crate::trajectory::{Edit, Format, Record, Role, Turn, new_turn};

/// The text of the human turn inserted before an assistant that speaks first.
pub const NO_REQUEST: &str = "[no request was recorded]";

/// The text before instructions that became a human turn.
pub const SYSTEM_MESSAGE: &str = "[system message]";

/// Changes that are made only on request, since they lose data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Contents of text parts only become strings; other fields of the parts are dropped.
    pub join_text_parts: bool,
    /// Turns after the last assistant turn are dropped.
    pub end_with_assistant: bool,
}

/// Number of changes of shape, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TidyCounts {
    /// Contents that were null, empty lists or absent, and became empty strings.
    pub missing_content: usize,
    /// Role names that the format does not have, replaced by the one that it has.
    pub role_name: usize,
    /// Contents of text parts that became strings.
    pub text_parts: usize,
    /// System turns that came after the first turn of another role.
    pub late_system: usize,
    /// Human turns inserted before an assistant's first turn.
    pub first_assistant: usize,
    /// Turns dropped after the last assistant turn.
    pub cut_turns: usize,
}

impl TidyCounts {
    fn kinds(&self) -> [(&'static str, usize); 6] {
        [
            ("missing_content", self.missing_content),
            ("role_name", self.role_name),
            ("text_parts", self.text_parts),
            ("late_system", self.late_system),
            ("first_assistant", self.first_assistant),
            ("cut_turns", self.cut_turns),
        ]
    }

    /// Returns the number of all changes.
    pub fn total(&self) -> usize {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Adds other counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.missing_content += other.missing_content;
        self.role_name += other.role_name;
        self.text_parts += other.text_parts;
        self.late_system += other.late_system;
        self.first_assistant += other.first_assistant;
        self.cut_turns += other.cut_turns;
    }
}

/// Formats as `missing_content:2 late_system:1`; empty if there are none.
impl fmt::Display for TidyCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_kinds(self.kinds(), formatter)
    }
}

/// Tidies a record; `None` if there is nothing to change.
pub(super) fn tidy(record: &Record<'_>, wishes: Wishes) -> Option<(String, TidyCounts)> {
    let mut shapes = TidyCounts::default();
    let (mut front, mut rest): (Vec<MendedTurn<'_>>, Vec<MendedTurn<'_>>) = (Vec::new(), Vec::new());
    let turns = record.turns.iter().enumerate();
    let opening = turns
        .clone()
        .take_while(|(_, turn)| turn.role == Role::System)
        .count();
    let first_assistant = record.turns.iter().position(|turn| turn.role == Role::Assistant);
    for (place, turn) in turns {
        let is_late = turn.role == Role::System && place >= opening;
        // Before the assistant's first turn, instructions mean the same at any position.
        let moves = is_late && first_assistant.is_none_or(|first| place < first);
        let edits = edits(record, turn, is_late && !moves, wishes, &mut shapes);
        let text = if edits.is_empty() {
            Cow::Borrowed(turn.text)
        } else {
            Cow::Owned(apply(turn.text, edits))
        };
        shapes.late_system += usize::from(moves);
        let part = if moves || place < opening {
            &mut front
        } else {
            &mut rest
        };
        part.push(MendedTurn {
            text,
            place: Some(place),
        });
    }
    if wishes.end_with_assistant
        && let Some(last) = record.turns.iter().rposition(|turn| turn.role == Role::Assistant)
    {
        let before = rest.len();
        rest.retain(|item| item.place.is_some_and(|place| place <= last));
        shapes.cut_turns += before - rest.len();
    }
    if first_assistant.is_some() && rest.first().is_some_and(|first| first.place == first_assistant) {
        front.push(MendedTurn {
            text: Cow::Owned(new_turn(record, NO_REQUEST)),
            place: None,
        });
        shapes.first_assistant = 1;
    }
    let items = [front, rest].into_iter().flatten().collect::<Vec<_>>();
    (shapes.total() > 0).then(|| Some((written(record, &items)?, shapes)))?
}

/// Returns the edits of a turn, which becomes a person's if `becomes_human`.
fn edits(
    record: &Record<'_>,
    turn: &Turn<'_>,
    becomes_human: bool,
    wishes: Wishes,
    shapes: &mut TidyCounts,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let Some(name) = turn.role_name().filter(|_| !turn.opaque) else {
        return edits;
    };
    let name_wanted = if becomes_human {
        shapes.late_system += 1;
        Some(human_name(record, turn))
    } else {
        let wanted = canonical_name(record.format, turn, name);
        shapes.role_name += usize::from(wanted.is_some());
        wanted
    };
    edits.extend(name_wanted.map(|wanted| Edit {
        at: span(turn.text, name),
        text: wanted.to_owned(),
    }));
    let content = turn.content().filter(|content| *content != "[]");
    let joined = content.filter(|_| wishes.join_text_parts).and_then(joined);
    shapes.text_parts += usize::from(joined.is_some());
    shapes.missing_content += usize::from(content.is_none());
    let prefix = if becomes_human { SYSTEM_MESSAGE } else { "" };
    match (content, joined) {
        (None, _) => edits.push(with_content(turn, &quoted(prefix))),
        (Some(content), Some(joined)) => edits.push(Edit {
            at: span(turn.text, content),
            text: prefixed(&joined, prefix).unwrap_or(joined),
        }),
        (Some(content), None) => edits.extend(prefixed(content, prefix).map(|text| Edit {
            at: span(turn.text, content),
            text,
        })),
    }
    edits
}

/// Returns the record's role name for people.
fn human_name<'a>(record: &Record<'a>, turn: &Turn<'a>) -> &'a str {
    let human = record
        .turns
        .iter()
        .find(|turn| !turn.opaque && turn.speaker() == Role::Human);
    let usual = if turn.keys().0 == "from" {
        "\"human\""
    } else {
        "\"user\""
    };
    human.and_then(Turn::role_name).unwrap_or(usual)
}

/// Returns the format's name for a turn's role, if the turn has another; special names for calls and answers stay.
fn canonical_name(format: Format, turn: &Turn<'_>, name: &str) -> Option<&'static str> {
    let sharegpt = format == Format::ShareGpt;
    let (wanted, also) = match turn.speaker() {
        Role::System => ("\"system\"", ""),
        Role::Human if sharegpt => ("\"human\"", ""),
        Role::Human => ("\"user\"", ""),
        Role::Assistant if sharegpt => ("\"gpt\"", "\"function_call\""),
        Role::Assistant => ("\"assistant\"", ""),
        Role::Tool if sharegpt => ("\"tool\"", "\"observation\""),
        // Turns of this name answer the older calls.
        Role::Tool => ("\"tool\"", "\"function\""),
        Role::Other => return None,
    };
    let known = decode(name).0;
    let is = |other: &str| decode(other).0 == known;
    (!is(wanted) && !is(also)).then_some(wanted)
}

/// Returns the texts of a content of text parts only, as a JSON string.
fn joined(content: &str) -> Option<String> {
    let parts = parts(content)?;
    let literals: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Part::Text(literal) if literal.starts_with('"') => Some(*literal),
            _ => None,
        })
        .collect();
    match literals?.as_slice() {
        [literal] => Some((*literal).to_owned()),
        literals => {
            let texts: Vec<(Cow<'_, str>, bool)> = literals.iter().map(|literal| decode(literal)).collect();
            let all_exact = texts.iter().all(|(_, exact)| *exact);
            let texts: Vec<Cow<'_, str>> = texts.into_iter().map(|(text, _)| text).collect();
            all_exact.then(|| quoted(&texts.join("\n")))
        }
    }
}

/// Returns a content with a first line added; `None` if `prefix` is empty, or the content cannot take it.
fn prefixed(content: &str, prefix: &str) -> Option<String> {
    if prefix.is_empty() {
        return None;
    }
    if let Some(rest) = content.strip_prefix('"') {
        let mut literal = String::from("\"");
        escape_into(prefix, &mut literal);
        return Some(literal + "\\n" + rest);
    }
    let rest = content.strip_prefix('[').filter(|_| parts(content).is_some())?;
    Some(format!("[{}, {rest}", text_part(&quoted(prefix))))
}

/// Returns the edit that adds a content to a turn without one.
fn with_content(turn: &Turn<'_>, literal: &str) -> Edit {
    let (_, key) = turn.keys();
    let members = members(turn.text);
    let is_empty = |member: &&Member<'_>| member.is(key) && matches!(member.value, "null" | "[]");
    if let Some(member) = members.iter().find(is_empty) {
        return Edit {
            at: span(turn.text, member.value),
            text: literal.to_owned(),
        };
    }
    let end = members
        .last()
        .map_or(1, |member| span(turn.text, member.value).end);
    Edit {
        at: end..end,
        text: format!(", \"{key}\": {literal}"),
    }
}

fn span(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}
