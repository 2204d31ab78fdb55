//! A turn decoded: its text, tool calls and tool responses, free of JSON and of the format it came in.

use std::borrow::Cow;

use super::Role;

/// What a turn says, for those who read it: summarizers, anchors, reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnView<'a> {
    /// Place in the trajectory, from 0.
    pub index: usize,
    /// Who speaks.
    pub role: Role,
    /// Prose of the turn, reasoning included, without the tool calls and tool responses that are listed below.
    pub text: Cow<'a, str>,
    /// What an assistant turn asks of tools, in order.
    pub calls: Vec<ToolCall<'a>>,
    /// What a tool turn brings back, in order; several where the format packs parallel answers in one turn. A person's turn has
    /// those that stand among the parts of what is said.
    pub responses: Vec<ToolResponse<'a>>,
}

/// One tool call of an assistant turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The id that its response refers to, where the format has ids.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name; empty where it could not be read.
    pub name: Cow<'a, str>,
    /// The arguments as JSON text (an object as a rule; whatever was written otherwise).
    pub arguments: Cow<'a, str>,
}

/// One answer of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolResponse<'a> {
    /// The id of the call that it answers, where the format has ids.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name, where the turn says it.
    pub name: Option<Cow<'a, str>>,
    /// What came back, decoded; JSON text where it was no string.
    pub content: Cow<'a, str>,
    /// Whether the record says that it is an error: `is_error`, `isError`.
    pub is_error: Option<bool>,
    /// The exit code that the record says beside the content: `details.exitCode`.
    pub exit_code: Option<i32>,
}

impl TurnView<'_> {
    /// The same, borrowing from nothing.
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

    /// Every text of the turn that an identifier may stand in: prose, arguments, responses.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_ref())
            .chain(self.calls.iter().map(|call| call.arguments.as_ref()))
            .chain(self.responses.iter().map(|response| response.content.as_ref()))
    }
}
