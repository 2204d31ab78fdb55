//! One turn, as the spans of its fields; nothing is decoded until somebody asks.

use std::borrow::Cow;

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
}

/// The last text or result of a content.
fn last_said(content: &str) -> Option<Part<'_>> {
    let Some(parts) = parts(content) else {
        return Some(Part::Text(content));
    };
    let is_said = |part: &Part<'_>| matches!(part, Part::Text(_) | Part::ToolResult(_));
    parts.into_iter().rev().find(is_said)
}
