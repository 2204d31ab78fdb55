//! One turn, as the spans of its fields; nothing is decoded until somebody asks.

use std::borrow::Cow;

use super::{Role, json};

/// One message of a trajectory. Every field is the JSON text as written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Turn<'a> {
    /// The whole turn.
    pub text: &'a str,
    /// Who speaks; `Other` where the turn does not say so in a string. A person's turn that is nothing but results of tools is a
    /// tool's.
    pub role: Role,
    /// The role as the data set writes it, quotes included.
    pub role_name: Option<&'a str>,
    /// The keys that this turn uses for speaker and text: `from` and `value`, `role` and `content`, or a mixture.
    pub keys: (&'static str, &'static str),
    /// `value` or `content`.
    pub content: Option<&'a str>,
    /// `reasoning_content`, `reasoning` or `thinking`.
    pub reasoning: Option<&'a str>,
    /// `tool_calls`.
    pub tool_calls: Option<&'a str>,
    /// The older `function_call`.
    pub function_call: Option<&'a str>,
    /// `tool_call_id`, or `tool_call_ids` as a list.
    pub tool_call_id: Option<&'a str>,
    /// `name`: the tool's, in a tool turn.
    pub name: Option<&'a str>,
    /// Not an object with a role, or a field given twice: it counts by its text, and is never summarized or altered.
    pub opaque: bool,
}

/// What a turn is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'p> {
    /// A text, decoded.
    Text(&'p str),
    /// An image, which costs a flat number of tokens and never its base64.
    Image,
}

impl Turn<'_> {
    /// Whose turn it is by the name of its role: the person's, where it holds nothing but results of tools.
    pub(super) fn speaker(&self) -> Role {
        match (self.role, self.role_name) {
            (Role::Tool, Some(name)) => Role::from_name(&json::decode(name).0),
            (role, _) => role,
        }
    }

    /// Whether it is charged for one string, its content, and nothing else.
    pub fn is_one_string(&self) -> bool {
        let others = [self.reasoning, self.tool_calls, self.function_call];
        !self.opaque && others == [None; 3] && self.content.is_some_and(|content| content.starts_with('"'))
    }

    /// Whether the turn is text and nothing else, so that quoting its text loses nothing.
    pub fn is_plain_text(&self) -> bool {
        let text_only = |content: &str| match super::parts::parts(content) {
            Some(parts) => parts
                .iter()
                .all(|part| matches!(part, super::parts::Part::Text(_))),
            None => content.starts_with('"'),
        };
        !self.opaque && self.content.is_some_and(text_only)
    }

    /// The last text of its content, decoded as well as can be; nothing where there is none.
    pub fn last_text(&self) -> Option<Cow<'_, str>> {
        let content = self.content.filter(|_| !self.opaque)?;
        let text = match super::parts::parts(content) {
            None => content,
            Some(parts) => parts.into_iter().rev().find_map(|part| match part {
                super::parts::Part::Text(text) => Some(text),
                _ => None,
            })?,
        };
        text.starts_with('"').then(|| json::decode(text).0)
    }

    /// The images among its parts.
    pub fn images(&self) -> usize {
        let content = self
            .content
            .filter(|_| !self.opaque)
            .and_then(super::parts::parts);
        let parts = content.unwrap_or_default();
        let images = parts
            .iter()
            .filter(|part| matches!(part, super::parts::Part::Image));
        images.count()
    }

    /// The images that a tool brought back: those of a turn that says nothing else.
    pub fn images_of_tools(&self) -> usize {
        if super::in_parts::in_parts(self).is_some() {
            0
        } else {
            self.images()
        }
    }

    /// Hands every piece that the turn is charged for to `charge`, in order. Returns whether all of it could be decoded;
    /// what could not is charged as well as can be. `scratch` is a buffer to reuse; it holds the last text that had escapes.
    pub fn pieces(&self, scratch: &mut String, mut charge: impl FnMut(Piece<'_>)) -> bool {
        if self.opaque {
            charge(Piece::Text(self.text));
            return true;
        }
        let mut exact = true;
        if let Some(content) = self.content {
            exact &= content_pieces(content, scratch, &mut charge);
        }
        if let Some(reasoning) = self.reasoning {
            exact &= value_piece(reasoning, scratch, &mut charge);
        }
        for call in super::calls::raw_calls(self) {
            for field in [call.name, call.arguments].into_iter().flatten() {
                exact &= value_piece(field, scratch, &mut charge);
            }
        }
        exact
    }
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

fn content_pieces(content: &str, scratch: &mut String, charge: &mut impl FnMut(Piece<'_>)) -> bool {
    let Some(parts) = super::parts::parts(content) else {
        return value_piece(content, scratch, charge);
    };
    let mut exact = true;
    for part in parts {
        match part {
            super::parts::Part::Text(text) | super::parts::Part::Other(text) => {
                exact &= value_piece(text, scratch, charge);
            }
            super::parts::Part::Image => charge(Piece::Image),
        }
    }
    exact
}
