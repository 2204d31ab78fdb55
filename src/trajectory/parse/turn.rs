//! One turn, as the spans of its fields; text is decoded only on request.

use std::borrow::Cow;

use super::parts::{Part, parts, result_content};
use crate::trajectory::{Role, json};

/// One message of a trajectory. Every field is the JSON text as written. A record may have millions, so fields are kept
/// as 32-bit offsets, and rare ones apart.
#[derive(Debug, Clone, Default)]
pub struct Turn<'a> {
    /// The whole turn.
    pub text: &'a str,
    /// The role of the speaker; `Other` if the turn does not give it as a string. A person's turn of tool results only
    /// is a tool's.
    pub role: Role,
    /// The turn is no object with a role, or repeats a field: it counts by its text, and is never summarized or edited.
    pub opaque: bool,
    keys: TurnKeys,
    role_name: FieldSpan,
    content: FieldSpan,
    others: Option<Box<Others>>,
}

/// The fields that are neither role nor content.
#[derive(Debug, Clone, Copy, Default)]
struct Others {
    reasoning: FieldSpan,
    tool_calls: FieldSpan,
    function_call: FieldSpan,
    tool_call_id: FieldSpan,
    name: FieldSpan,
}

/// The byte range of a field in its turn's text; an end of 0 if there is none.
#[derive(Debug, Clone, Copy, Default)]
struct FieldSpan {
    start: u32,
    end: u32,
}

/// The keys that a turn uses for speaker and text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TurnKeys {
    /// True for `from`, false for `role`.
    pub from: bool,
    /// True for `value`, false for `content`.
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
    /// Returns a turn with these fields; an opaque one if its text is too long for 32-bit offsets.
    pub(super) fn new(text: &'a str, role: Role, keys: TurnKeys, fields: TurnFields<'a>) -> Self {
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
                return FieldSpan::default();
            };
            let start = (field.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            FieldSpan {
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

    /// Returns a turn that counts by its text.
    pub(super) fn opaque(text: &'a str) -> Self {
        Self {
            text,
            opaque: true,
            ..Self::default()
        }
    }

    /// Returns the turn at another place: `text` is its text there.
    pub fn moved_to<'t>(&self, text: &'t str) -> Turn<'t> {
        Turn {
            text,
            others: self.others.clone(),
            ..*self
        }
    }

    #[inline]
    fn field(&self, FieldSpan { start, end }: FieldSpan) -> Option<&'a str> {
        self.text.get(start as usize..end as usize).filter(|_| end > 0)
    }

    /// Returns the role as written in the data set, quotes included.
    pub fn role_name(&self) -> Option<&'a str> {
        self.field(self.role_name)
    }

    /// Returns `value` or `content`.
    pub fn content(&self) -> Option<&'a str> {
        self.field(self.content)
    }

    /// Returns `reasoning_content`, `reasoning` or `thinking`.
    pub fn reasoning(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.reasoning)
    }

    /// Returns `tool_calls`.
    pub fn tool_calls(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.tool_calls)
    }

    /// Returns the older `function_call`.
    pub fn function_call(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.function_call)
    }

    /// Returns `tool_call_id`, or `tool_call_ids` as a list.
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.tool_call_id)
    }

    /// Returns `name`: the tool's, in a tool turn.
    pub fn name(&self) -> Option<&'a str> {
        self.field(self.others.as_ref()?.name)
    }

    /// Returns the keys for speaker and text: `from` and `value`, `role` and `content`, or a mixture.
    pub fn keys(&self) -> (&'static str, &'static str) {
        let TurnKeys { from, value } = self.keys;
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

impl<'a> Turn<'a> {
    /// Returns the role by the turn's role name: a person's, even if it holds only tool results.
    pub fn speaker(&self) -> Role {
        match (self.role, self.role_name()) {
            (Role::Tool, Some(name)) => Role::from_name(&json::decode(name).0),
            (role, _) => role,
        }
    }

    /// Returns true if the turn is charged for one string, its content, and nothing else.
    pub fn is_one_string(&self) -> bool {
        let others = [self.reasoning(), self.tool_calls(), self.function_call()];
        !self.opaque && others == [None; 3] && self.content().is_some_and(|content| content.starts_with('"'))
    }

    /// Returns true if the turn is text only, so that quoting its text loses nothing.
    pub fn is_plain_text(&self) -> bool {
        let text_only = |content: &str| match parts(content) {
            Some(parts) => parts.iter().all(|part| matches!(part, Part::Text(_))),
            None => content.starts_with('"'),
        };
        !self.opaque && self.content().is_some_and(text_only)
    }

    /// Returns true if its content is a list of parts.
    pub fn is_in_parts(&self) -> bool {
        !self.opaque && self.content().is_some_and(|content| parts(content).is_some())
    }

    /// Returns the last text of its content as JSON; for tool results, that of the last result; `None` without one.
    pub(in crate::trajectory) fn last_literal(&self) -> Option<&'a str> {
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

    /// Returns the same, decoded as far as possible.
    pub fn last_text(&self) -> Option<Cow<'_, str>> {
        self.last_literal().map(|text| json::decode(text).0)
    }
}

/// Returns the last text or result of a content.
fn last_said(content: &str) -> Option<Part<'_>> {
    let Some(parts) = parts(content) else {
        return Some(Part::Text(content));
    };
    let is_said = |part: &Part<'_>| matches!(part, Part::Text(_) | Part::ToolResult(_));
    parts.into_iter().rev().find(is_said)
}
