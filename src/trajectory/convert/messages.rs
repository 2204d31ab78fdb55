//! Writes messages as chat: `role` and `content`, calls in `tool_calls`, a turn for each answer.

use std::borrow::Cow;

use super::group::Group;
use super::losses::Losses;
use super::message::{ConvertedCall, Message, ToolAnswer};
use super::stays::{is_call, role_name};
use super::value::arguments_as;
use super::{ArgumentsForm, ObjectBuilder};
use crate::trajectory::Format;
use crate::trajectory::json::members::Member;

/// Writes a group as one turn per message.
pub(super) fn write<'a>(
    mut group: Group<'a>,
    arguments: ArgumentsForm,
    turns: &mut Vec<Cow<'a, str>>,
    losses: &mut Losses,
) {
    group.name_calls();
    if let Some(asking) = group.asking {
        turns.push(if asking.stays {
            Cow::Borrowed(asking.turn)
        } else {
            Cow::Owned(message(&asking, arguments, losses))
        });
    }
    for answering in group.answering {
        if answering.stays {
            turns.push(Cow::Borrowed(answering.turn));
            continue;
        }
        for (index, answer) in answering.answers.iter().enumerate() {
            let extras = if index == 0 {
                answering.extras.as_slice()
            } else {
                &[]
            };
            turns.push(Cow::Owned(answer_turn(answer, extras)));
        }
    }
}

fn message(message: &Message<'_>, arguments: ArgumentsForm, losses: &mut Losses) -> String {
    let mut turn = ObjectBuilder::default();
    turn.field(
        "\"role\"",
        role_name(Format::Messages, message.role).unwrap_or(message.role_name),
    );
    turn.field("\"content\"", &message.content.literal());
    if let Some((key, thought)) = &message.reasoning {
        turn.field(key, thought);
    }
    if !message.calls.is_empty() {
        let calls: Vec<Cow<'_, str>> = message
            .calls
            .iter()
            .map(|call| written_call(call, arguments, losses))
            .collect();
        turn.field("\"tool_calls\"", &format!("[{}]", calls.join(", ")));
    }
    for extra in &message.extras {
        turn.field(extra.key, extra.value);
    }
    turn.end()
}

fn written_call<'c>(
    call: &'c ConvertedCall<'_>,
    arguments: ArgumentsForm,
    losses: &mut Losses,
) -> Cow<'c, str> {
    if let Some(element) = call.element.filter(|element| is_call(element, arguments)) {
        return Cow::Borrowed(element);
    }
    let mut function = ObjectBuilder::default();
    function.field("\"name\"", &call.name);
    function.field("\"arguments\"", &arguments_as(&call.arguments, arguments, losses));
    let mut written = ObjectBuilder::default();
    if let Some(id) = &call.id {
        written.field("\"id\"", id);
    }
    written.field("\"type\"", "\"function\"");
    written.field("\"function\"", &function.end());
    Cow::Owned(written.end())
}

fn answer_turn(answer: &ToolAnswer<'_>, extras: &[Member<'_>]) -> String {
    let mut turn = ObjectBuilder::default();
    turn.field("\"role\"", "\"tool\"");
    for (key, value) in [("\"tool_call_id\"", &answer.id), ("\"name\"", &answer.name)] {
        if let Some(value) = value {
            turn.field(key, value);
        }
    }
    turn.field("\"content\"", &answer.content.literal());
    for extra in extras {
        turn.field(extra.key, extra.value);
    }
    turn.end()
}
