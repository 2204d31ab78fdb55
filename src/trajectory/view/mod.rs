//! A decoded turn: its text, tool calls and tool responses, independent of JSON and of the format.

pub(super) mod decode;
pub(super) mod pieces;
pub(super) mod views;

use std::borrow::Cow;

use super::Role;

/// The content of a turn for its readers: summarizers, anchors, reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnView<'a> {
    /// The turn's index in the trajectory, from 0.
    pub index: usize,
    /// The role of the speaker.
    pub role: Role,
    /// The prose of the turn, reasoning included, without the tool calls and tool responses listed in the other fields.
    pub text: Cow<'a, str>,
    /// The tool calls of an assistant turn, in order.
    pub calls: Vec<ToolCall<'a>>,
    /// The outputs of a tool turn, in order; several if the format packs parallel answers in one turn. A person's turn
    /// has those among the parts of its content.
    pub responses: Vec<ToolResponse<'a>>,
}

/// One tool call of an assistant turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The id that its response refers to, where the format has ids.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name; empty where it could not be read.
    pub name: Cow<'a, str>,
    /// The arguments as JSON text (usually an object; otherwise as written).
    pub arguments: Cow<'a, str>,
}

/// One answer of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolResponse<'a> {
    /// The id of the call that it answers, where the format has ids.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name, if the turn gives it.
    pub name: Option<Cow<'a, str>>,
    /// The content, decoded; JSON text if it was no string.
    pub content: Cow<'a, str>,
    /// The error flag that the record gives: `is_error`, `isError`.
    pub is_error: Option<bool>,
    /// The exit code that the record gives beside the content: `details.exitCode`.
    pub exit_code: Option<i32>,
}

impl<'a> TurnView<'a> {
    /// A turn of prose alone.
    pub fn of_text(index: usize, role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            index,
            role,
            text: text.into(),
            calls: Vec::new(),
            responses: Vec::new(),
        }
    }

    /// Returns the same turn at another index, borrowing its texts.
    pub(super) fn borrowed(&self, index: usize) -> TurnView<'_> {
        let calls = self.calls.iter().map(|call| ToolCall {
            id: call.id.as_deref().map(Cow::Borrowed),
            name: Cow::Borrowed(&call.name),
            arguments: Cow::Borrowed(&call.arguments),
        });
        let responses = self.responses.iter().map(|response| ToolResponse {
            id: response.id.as_deref().map(Cow::Borrowed),
            name: response.name.as_deref().map(Cow::Borrowed),
            content: Cow::Borrowed(&response.content),
            is_error: response.is_error,
            exit_code: response.exit_code,
        });
        TurnView {
            index,
            role: self.role,
            text: Cow::Borrowed(&self.text),
            calls: calls.collect(),
            responses: responses.collect(),
        }
    }

    /// Returns the same, borrowing from nothing.
    pub fn into_owned(self) -> TurnView<'static> {
        let own = |text: Cow<'_, str>| -> Cow<'static, str> { Cow::Owned(text.into_owned()) };
        let call = |call: ToolCall<'_>| ToolCall {
            id: call.id.map(own),
            name: own(call.name),
            arguments: own(call.arguments),
        };
        let response = |response: ToolResponse<'_>| ToolResponse {
            id: response.id.map(own),
            name: response.name.map(own),
            content: own(response.content),
            is_error: response.is_error,
            exit_code: response.exit_code,
        };
        TurnView {
            index: self.index,
            role: self.role,
            text: own(self.text),
            calls: self.calls.into_iter().map(call).collect(),
            responses: self.responses.into_iter().map(response).collect(),
        }
    }

    /// Returns every text of the turn that may contain an identifier: prose, arguments, responses.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_ref())
            .chain(self.calls.iter().map(|call| call.arguments.as_ref()))
            .chain(self.responses.iter().map(|response| response.content.as_ref()))
    }
}
