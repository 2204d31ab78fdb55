//! The pieces of a turn that cost tokens: texts and images, in order.

use rustc_hash::FxHashSet;

use crate::trajectory::parse::calls::raw_calls;
use crate::trajectory::parse::in_parts::in_parts;
use crate::trajectory::parse::parts::{Part, parts, result_content};
use crate::trajectory::parse::raw_call::{RawCall, raw_call};
use crate::trajectory::{Turn, json};

/// A piece of a turn that costs tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'p> {
    /// A text, decoded.
    Text(&'p str),
    /// An image, which costs a flat number of tokens and never its base64.
    Image,
}

impl Turn<'_> {
    /// Returns the number of images among its parts, including those in tool results.
    pub fn images(&self) -> usize {
        let content = self.content().filter(|_| !self.opaque);
        content.map_or(0, images_in)
    }

    /// Returns the number of images in each of the turn's responses.
    pub fn images_of_responses(&self) -> Vec<usize> {
        match in_parts(self) {
            Some(found) => {
                let contents = found.results.into_iter().map(result_content);
                contents.map(|content| content.map_or(0, images_in)).collect()
            }
            None => vec![self.images()],
        }
    }

    /// Returns true if the turn has no content at all: no text, no thought, no call.
    pub fn is_empty(&self) -> bool {
        let is_blank = |content: &str| matches!(content, "null" | "\"\"") || is_empty_list(content);
        !self.opaque
            && self.content().is_none_or(is_blank)
            && self.reasoning().is_none_or(is_blank)
            && raw_calls(self).is_empty()
    }

    /// Calls `charge` for each piece that the turn is charged for, in order. Returns true if all could be decoded; the
    /// rest is approximated. `scratch` is a buffer to reuse, which then holds the last text that had escapes.
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

fn is_empty_list(value: &str) -> bool {
    let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

/// Charges a string by its text, null not at all, any other value by its JSON text.
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

/// Charges the parts of a content that are read. A call with the id of one of `calls` is the same call, written twice.
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

/// Charges the content of a result. A call or another result in it is charged by its JSON text: these do not occur in
/// practice, and could nest without end.
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

/// Returns the number of images among the parts of a content, and in the results among them.
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
