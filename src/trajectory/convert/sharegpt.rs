//! Writes messages as `ShareGPT`: `from` and `value`, calls and answers as tagged JSON, all answers to a turn in one.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::ArgumentsForm;
use super::group::Group;
use super::losses::{Loss, Losses};
use super::message::{ConvertedCall, Message, ToolAnswer};
use super::stays::role_name;
use super::value::{ObjectBuilder, arguments_as};
use crate::trajectory::json::fields::fields;
use crate::trajectory::json::members::Member;
use crate::trajectory::parse::content::string_or_json;
use crate::trajectory::{Format, Role, json};

/// Writes a group: a turn, and one with its answers.
pub(super) fn write<'a>(
    mut group: Group<'a>,
    arguments: ArgumentsForm,
    turns: &mut Vec<Cow<'a, str>>,
    losses: &mut Losses,
) {
    group.sort_answers();
    let ids = group.kept_ids();
    losses.add(Loss::CallId, ids.lost);
    let Group { asking, answering } = group;
    if let Some(asking) = asking {
        turns.push(if asking.stays {
            Cow::Borrowed(asking.turn)
        } else {
            Cow::Owned(turn(
                &asking,
                &value(&asking, arguments, ids.needs_ids, losses),
                &asking.extras,
            ))
        });
    }
    let mut packed: Vec<Message<'a>> = Vec::new();
    for answering in answering {
        if answering.stays {
            pack(&packed, turns, losses);
            packed.clear();
            turns.push(Cow::Borrowed(answering.turn));
        } else {
            packed.push(answering);
        }
    }
    pack(&packed, turns, losses);
}

/// Packs answers of several messages into one turn, with the other fields of all; the first of a name counts.
fn pack(messages: &[Message<'_>], turns: &mut Vec<Cow<'_, str>>, losses: &mut Losses) {
    let answers = messages.iter().flat_map(|message| &message.answers);
    let envelopes: Vec<Cow<'_, str>> = answers.map(|answer| envelope(answer, losses)).collect();
    let Some(first) = messages.first() else { return };
    let mut extras: Vec<Member<'_>> = Vec::new();
    let mut kept: FxHashMap<&str, &str> = FxHashMap::default();
    for extra in messages.iter().flat_map(|message| &message.extras) {
        match kept.insert(extra.key, extra.value) {
            None => extras.push(*extra),
            Some(before) if before == extra.value => {}
            Some(before) => {
                kept.insert(extra.key, before);
                losses.note(Loss::TurnField);
            }
        }
    }
    turns.push(Cow::Owned(turn(first, &envelopes.join("\n"), &extras)));
}

fn turn(message: &Message<'_>, value: &str, extras: &[Member<'_>]) -> String {
    let mut turn = ObjectBuilder::default();
    turn.field(
        "\"from\"",
        role_name(Format::ShareGpt, message.role).unwrap_or(message.role_name),
    );
    turn.field("\"value\"", &value_literal(message, value));
    for extra in extras {
        turn.field(extra.key, extra.value);
    }
    turn.end()
}

/// Returns the value as a JSON string: the content's own literal if the turn has nothing else.
fn value_literal<'m>(message: &'m Message<'_>, value: &str) -> Cow<'m, str> {
    let is_content = message.calls.is_empty() && message.reasoning.is_none() && message.role != Role::Tool;
    if is_content {
        message.content.literal()
    } else {
        Cow::Owned(json::quoted(value))
    }
}

/// Returns the value of a turn: thoughts, text, calls.
fn value(message: &Message<'_>, arguments: ArgumentsForm, with_ids: bool, losses: &mut Losses) -> String {
    if message.calls.is_empty() && message.reasoning.is_none() {
        return String::new();
    }
    let mut value = String::new();
    if let Some((_, thought)) = &message.reasoning {
        let thought = string_or_json(thought);
        if !thought.is_empty() {
            value.extend(["<think>\n", thought.trim_matches('\n'), "\n</think>\n\n"]);
        }
    }
    let said = message.content.decoded(losses);
    if !message.calls.is_empty() && said.contains("<tool_call>") {
        losses.note(Loss::Markup);
    }
    value.push_str(&said);
    for call in &message.calls {
        if !value.is_empty() && !value.ends_with("</think>\n\n") {
            value.push('\n');
        }
        value.extend([
            "<tool_call>\n",
            &call_object(call, arguments, with_ids, losses),
            "\n</tool_call>",
        ]);
    }
    value
}

/// Returns a call as JSON that cannot contain the closing tag.
fn call_object(
    call: &ConvertedCall<'_>,
    arguments: ArgumentsForm,
    with_id: bool,
    losses: &mut Losses,
) -> String {
    let mut object = ObjectBuilder::default();
    if let Some(id) = call.id.as_deref().filter(|_| with_id) {
        object.field("\"id\"", id);
    }
    object.field("\"name\"", &call.name);
    object.field("\"arguments\"", &arguments_as(&call.arguments, arguments, losses));
    object.end().replace("</tool_call>", "<\\/tool_call>")
}

/// Returns an answer in its envelope: plain if without id and name and unambiguous, else as JSON without closing tag.
fn envelope<'m>(answer: &'m ToolAnswer<'_>, losses: &mut Losses) -> Cow<'m, str> {
    if answer.in_envelopes {
        return answer.content.decoded(losses);
    }
    let is_bare = answer.id.is_none() && answer.name.is_none();
    let text = is_bare.then(|| answer.content.decoded(&mut Losses::default()));
    if let Some(text) = text.filter(|text| stands_alone(text)) {
        return Cow::Owned(format!("<tool_response>\n{text}\n</tool_response>"));
    }
    let mut object = ObjectBuilder::default();
    for (key, value) in [("\"tool_call_id\"", &answer.id), ("\"name\"", &answer.name)] {
        if let Some(value) = value {
            object.field(key, value);
        }
    }
    object.field("\"content\"", &answer.content.literal());
    let object = object.end().replace("</tool_response>", "<\\/tool_response>");
    Cow::Owned(format!("<tool_response>\n{object}\n</tool_response>"))
}

/// Returns true if reading the text from an envelope gives the same text.
fn stands_alone(text: &str) -> bool {
    let is_object = || fields(text, &["content"]).is_ok_and(|read| read.values[0].is_some());
    text.trim() == text && !text.contains("</tool_response>") && !text.contains('\u{fffd}') && !is_object()
}
