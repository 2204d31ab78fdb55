//! One turn, as the spans of its fields; nothing is decoded until somebody asks.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::calls::{RawCall, raw_call, raw_calls};
use super::parts::{Part, parts, result_content};
use super::{Role, json};

/// One message of a trajectory. Every field is the JSON text as written. There may be millions in a record, so fields are kept
/// as places of 32 bits, and those that few turns have stand apart.
#[derive(Debug, Clone, Default)]
pub struct Turn<'a> {
    /// The whole turn.
    pub text: &'a str,
    /// Who speaks; `Other` where the turn does not say so in a string. A person's turn that is nothing but results of tools is a
    /// tool's.
    pub role: Role,
    /// Not an object with a role, or a field given twice: it counts by its text, and is never summarized or altered.
    pub opaque: bool,
    keys: Keys,
    role_name: Place,
    content: Place,
    others: Option<Box<Others>>,
}

/// The fields that are neither role nor content.
#[derive(Debug, Clone, Copy, Default)]
struct Others {
    reasoning: Place,
    tool_calls: Place,
    function_call: Place,
    tool_call_id: Place,
    name: Place,
}

/// Where a field's text lies in its turn's; an end of 0 where there is none.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    start: u32,
    end: u32,
}

/// The keys that a turn uses for speaker and text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keys {
    /// `from`, or else `role`.
    pub from: bool,
    /// `value`, or else `content`.
    pub value: bool,
}

/// The fields of a turn, each a part of its text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TurnFields<'a> {
    pub role_name: Option<&'a str>,
    pub content: Option<&'a str>,
    pub reasoning: Option<&'a str>,
    pub tool_calls: Option<&'a str>,
    pub function_call: Option<&'a str>,
    pub tool_call_id: Option<&'a str>,
    pub name: Option<&'a str>,
}

impl<'a> Turn<'a> {
    /// A turn of these fields; an opaque one where its text is longer than places can tell.
    pub(super) fn new(text: &'a str, role: Role, keys: Keys, fields: TurnFields<'a>) -> Self {
        let TurnFields {
            role_name,
            content,
            reasoning,
            tool_calls,
            function_call,
            tool_call_id,
            name,
        } = fields;
        if u32::try_from(text.len()).is_err() {
            return Self::opaque(text);
        }
        let place = |field: Option<&str>| {
            let Some(field) = field else {
                return Place::default();
            };
            let start = (field.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            Place {
                start: start as u32,
                end: (start + field.len()) as u32,
            }
        };
        let others = [reasoning, tool_calls, function_call, tool_call_id, name];
        let others = others.iter().any(Option::is_some).then(|| {
            Box::new(Others {
                reasoning: place(reasoning),
                tool_calls: place(tool_calls),
                function_call: place(function_call),
                tool_call_id: place(tool_call_id),
                name: place(name),
            })
        });
        Self {
            text,
            role,
            opaque: false,
            keys,
            role_name: place(role_name),
            content: place(content),
            others,
        }
    }

    /// A turn that counts by its text.
    pub(super) fn opaque(text: &'a str) -> Self {
        Self {
            text,
            opaque: true,
            ..Self::default()
        }
    }

    #[inline]
    fn field(&self, Place { start, end }: Place) -> Option<&'a str> {
        self.text.get(start as usize..end as usize).filter(|_| end > 0)
    }

    /// The role as the data set writes it, quotes included.
    pub fn role_name(&self) -> Option<&'a str> {
        self.field(self.role_name)
    }

    /// `value` or `content`.
    pub fn content(&self) -> Option<&'a str> {
        self.field(self.content)
    }

    /// `reasoning_content`, `reasoning` or `thinking`.
    pub fn reasoning(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.reasoning)
    }

    /// `tool_calls`.
    pub fn tool_calls(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.tool_calls)
    }

    /// The older `function_call`.
    pub fn function_call(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.function_call)
    }

    /// `tool_call_id`, or `tool_call_ids` as a list.
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.tool_call_id)
    }

    /// `name`: the tool's, in a tool turn.
    pub fn name(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.name)
    }

    /// The keys that this turn uses for speaker and text: `from` and `value`, `role` and `content`, or a mixture.
    pub fn keys(&self) -> (&'static str, &'static str) {
        let Keys { from, value } = self.keys;
        (
            if from { "from" } else { "role" },
            if value { "value" } else { "content" },
        )
    }
}

impl AsRef<str> for Turn<'_> {
    fn as_ref(&self) -> &str {
        self.text
    }
}

/// What a turn is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'p> {
    /// A text, decoded.
    Text(&'p str),
    /// An image, which costs a flat number of tokens and never its base64.
    Image,
}

impl<'a> Turn<'a> {
    /// Whose turn it is by the name of its role: the person's, where it holds nothing but results of tools.
    pub fn speaker(&self) -> Role {
        match (self.role, self.role_name()) {
            (Role::Tool, Some(name)) => Role::from_name(&json::decode(name).0),
            (role, _) => role,
        }
    }

    /// Whether it is charged for one string, its content, and nothing else.
    pub fn is_one_string(&self) -> bool {
        let others = [self.reasoning(), self.tool_calls(), self.function_call()];
        !self.opaque && others == [None; 3] && self.content().is_some_and(|content| content.starts_with('"'))
    }

    /// Whether the turn is text and nothing else, so that quoting its text loses nothing.
    pub fn is_plain_text(&self) -> bool {
        let text_only = |content: &str| match parts(content) {
            Some(parts) => parts.iter().all(|part| matches!(part, Part::Text(_))),
            None => content.starts_with('"'),
        };
        !self.opaque && self.content().is_some_and(text_only)
    }

    /// Whether its content is a list of parts.
    pub fn is_in_parts(&self) -> bool {
        !self.opaque && self.content().is_some_and(|content| parts(content).is_some())
    }

    /// The last text of its content, as JSON; of results of tools, the last text of the last result. Nothing where there is none.
    pub(super) fn last_literal(&self) -> Option<&'a str> {
        let content = self.content().filter(|_| !self.opaque)?;
        let literal = match last_said(content)? {
            Part::ToolResult(result) => match last_said(result_content(result)?)? {
                Part::Text(text) => text,
                _ => return None,
            },
            Part::Text(text) => text,
            _ => return None,
        };
        literal.starts_with('"').then_some(literal)
    }

    /// The same, decoded as well as can be.
    pub fn last_text(&self) -> Option<Cow<'_, str>> {
        self.last_literal().map(|text| json::decode(text).0)
    }

    /// The images among its parts, those in results of tools included.
    pub fn images(&self) -> usize {
        let content = self.content().filter(|_| !self.opaque);
        content.map_or(0, images_in)
    }

    /// The images that each of the turn's responses holds.
    pub fn images_of_responses(&self) -> Vec<usize> {
        match super::in_parts::in_parts(self) {
            Some(found) => {
                let contents = found.results.into_iter().map(result_content);
                contents.map(|content| content.map_or(0, images_in)).collect()
            }
            None => vec![self.images()],
        }
    }

    /// Returns whether the turn says nothing at all: no text, no thought, no call.
    pub fn is_empty(&self) -> bool {
        let is_blank = |content: &str| matches!(content, "null" | "\"\"") || is_empty_list(content);
        !self.opaque
            && self.content().is_none_or(is_blank)
            && self.reasoning().is_none_or(is_blank)
            && raw_calls(self).is_empty()
    }

    /// Hands every piece that the turn is charged for to `charge`, in order. Returns whether all of it could be decoded;
    /// what could not is charged as well as can be. `scratch` is a buffer to reuse; it holds the last text that had escapes.
    pub fn pieces(&self, scratch: &mut String, mut charge: impl FnMut(Piece<'_>)) -> bool {
        if self.opaque {
            charge(Piece::Text(self.text));
            return true;
        }
        let mut exact = true;
        let calls = raw_calls(self);
        if let Some(content) = self.content() {
            exact &= content_pieces(content, &calls, scratch, &mut charge);
        }
        if let Some(reasoning) = self.reasoning() {
            exact &= value_piece(reasoning, scratch, &mut charge);
        }
        for call in &calls {
            exact &= call_pieces(call, scratch, &mut charge);
        }
        exact
    }
}

/// The last text or result of a content.
fn last_said(content: &str) -> Option<Part<'_>> {
    let Some(parts) = parts(content) else {
        return Some(Part::Text(content));
    };
    let is_said = |part: &Part<'_>| matches!(part, Part::Text(_) | Part::ToolResult(_));
    parts.into_iter().rev().find(is_said)
}

fn is_empty_list(value: &str) -> bool {
    let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

/// A string is charged by its text, null not at all, anything else by its JSON text.
fn value_piece(value: &str, scratch: &mut String, charge: &mut impl FnMut(Piece<'_>)) -> bool {
    match value.as_bytes().first() {
        Some(b'"') => {
            let (text, exact) = json::decode_into(value, scratch);
            charge(Piece::Text(text));
            exact
        }
        Some(b'n') | None => true,
        Some(_) => {
            charge(Piece::Text(value));
            true
        }
    }
}

fn call_pieces(call: &RawCall<'_>, scratch: &mut String, charge: &mut impl FnMut(Piece<'_>)) -> bool {
    let mut exact = true;
    for field in [call.name, call.arguments].into_iter().flatten() {
        exact &= value_piece(field, scratch, charge);
    }
    exact
}

/// Charges the parts of a content as far as they are read. A call that has the id of one of `calls` is that call, written twice.
fn content_pieces(
    content: &str,
    calls: &[RawCall<'_>],
    scratch: &mut String,
    charge: &mut impl FnMut(Piece<'_>),
) -> bool {
    let Some(parts) = parts(content) else {
        return value_piece(content, scratch, charge);
    };
    let ids: FxHashSet<&str> = calls.iter().filter_map(|call| call.id).collect();
    let mut exact = true;
    for part in parts {
        exact &= match part {
            Part::Call(part) => {
                let call = raw_call(part);
                let is_written_twice = call.id.is_some_and(|id| ids.contains(id));
                is_written_twice || call_pieces(&call, scratch, charge)
            }
            Part::ToolResult(part) => result_pieces(part, scratch, charge),
            other => part_piece(other, scratch, charge),
        }
    }
    exact
}

/// Charges what a result brought back. A call or another result in it counts by its JSON text: nobody writes these, and
/// they could nest without end.
fn result_pieces(result: &str, scratch: &mut String, charge: &mut impl FnMut(Piece<'_>)) -> bool {
    let Some(content) = result_content(result) else {
        return true;
    };
    let Some(parts) = parts(content) else {
        return value_piece(content, scratch, charge);
    };
    let mut exact = true;
    for part in parts {
        exact &= part_piece(part, scratch, charge);
    }
    exact
}

fn part_piece(part: Part<'_>, scratch: &mut String, charge: &mut impl FnMut(Piece<'_>)) -> bool {
    match part {
        Part::Text(value) | Part::Value(value) | Part::Call(value) | Part::ToolResult(value) => {
            value_piece(value, scratch, charge)
        }
        Part::Image => {
            charge(Piece::Image);
            true
        }
        Part::Nothing => true,
    }
}

/// The images among the parts of a content, and in the results among them.
fn images_in(content: &str) -> usize {
    let images = |parts: Vec<Part<'_>>| parts.into_iter().filter(|part| *part == Part::Image).count();
    let of_part = |part: Part<'_>| match part {
        Part::Image => 1,
        Part::ToolResult(part) => result_content(part).and_then(parts).map_or(0, images),
        _ => 0,
    };
    let parts = parts(content).unwrap_or_default();
    parts.into_iter().map(of_part).sum()
}
