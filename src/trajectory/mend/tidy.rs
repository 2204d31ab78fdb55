//! The shape of a trajectory: turns that nothing is wrong with, and that chat templates and trainers refuse all the same.

use std::borrow::Cow;
use std::fmt;

use super::{Item, written};
use crate::trajectory::edit::{Edit, apply};
use crate::trajectory::faults::write_kinds;
use crate::trajectory::json::{decode, escape_into, quoted};
use crate::trajectory::members::{Member, members};
use crate::trajectory::parts::{Part, parts, text_part};
use crate::trajectory::{Format, Record, Role, Turn, new_turn};

/// What a person is made to say before an assistant that speaks first.
pub const NO_REQUEST: &str = "[no request was recorded]";

/// What a turn with instructions begins with that became a person's.
pub const SYSTEM_MESSAGE: &str = "[system message]";

/// What is brought into shape only on request: it loses something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Contents that are text parts and nothing else become strings; other fields of the parts go.
    pub join_text_parts: bool,
    /// What follows the last assistant turn goes.
    pub end_with_assistant: bool,
}

/// What was brought into shape, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Contents that were null, empty lists or absent, and are empty strings.
    pub missing_content: usize,
    /// Names of roles that their format does not have, and that stand for one that it has.
    pub role_name: usize,
    /// Contents of text parts that are strings.
    pub text_parts: usize,
    /// Turns with instructions that stood after the first turn of somebody else.
    pub late_system: usize,
    /// An assistant's first turn, which has a person's before it.
    pub first_assistant: usize,
    /// Turns after the last of the assistant that are gone.
    pub cut_turns: usize,
}

impl Shapes {
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

    /// All of them.
    pub fn total(&self) -> usize {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: &Self) {
        self.missing_content += other.missing_content;
        self.role_name += other.role_name;
        self.text_parts += other.text_parts;
        self.late_system += other.late_system;
        self.first_assistant += other.first_assistant;
        self.cut_turns += other.cut_turns;
    }
}

/// `missing_content:2 late_system:1`; empty where there is nothing.
impl fmt::Display for Shapes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_kinds(self.kinds(), formatter)
    }
}

/// Brings a record into shape; `None` where it is.
pub(super) fn tidy(record: &Record<'_>, wishes: Wishes) -> Option<(String, Shapes)> {
    let mut shapes = Shapes::default();
    let (mut front, mut rest): (Vec<Item<'_>>, Vec<Item<'_>>) = (Vec::new(), Vec::new());
    let turns = record.turns.iter().enumerate();
    let opening = turns
        .clone()
        .take_while(|(_, turn)| turn.role == Role::System)
        .count();
    let first_assistant = record.turns.iter().position(|turn| turn.role == Role::Assistant);
    for (place, turn) in turns {
        let is_late = turn.role == Role::System && place >= opening;
        // Before the assistant's first turn, instructions say the same wherever they stand.
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
        part.push(Item {
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
        front.push(Item {
            text: Cow::Owned(new_turn(record, NO_REQUEST)),
            place: None,
        });
        shapes.first_assistant = 1;
    }
    let items = [front, rest].into_iter().flatten().collect::<Vec<_>>();
    (shapes.total() > 0).then(|| Some((written(record, &items)?, shapes)))?
}

/// What is to be changed in a turn; it becomes a person's where it `becomes_human`.
fn edits(
    record: &Record<'_>,
    turn: &Turn<'_>,
    becomes_human: bool,
    wishes: Wishes,
    shapes: &mut Shapes,
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

/// The name that the record has for people.
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

/// The name that a turn's role has in the format, where it has another one; names of their own for calls and answers stay.
fn canonical_name(format: Format, turn: &Turn<'_>, name: &str) -> Option<&'static str> {
    let sharegpt = format == Format::ShareGpt;
    let (wanted, also) = match turn.speaker() {
        Role::System => ("\"system\"", ""),
        Role::Human if sharegpt => ("\"human\"", ""),
        Role::Human => ("\"user\"", ""),
        Role::Assistant if sharegpt => ("\"gpt\"", "\"function_call\""),
        Role::Assistant => ("\"assistant\"", ""),
        Role::Tool if sharegpt => ("\"tool\"", "\"observation\""),
        // The older calls are answered by turns of this name.
        Role::Tool => ("\"tool\"", "\"function\""),
        Role::Other => return None,
    };
    let known = decode(name).0;
    let is = |other: &str| decode(other).0 == known;
    (!is(wanted) && !is(also)).then_some(wanted)
}

/// The texts of a content that is text parts and nothing else, as a JSON string.
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

/// A content that says something first, on a line of its own; `None` where there is nothing to say, or no place for it.
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

/// The edit that gives a turn a content which has none.
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
