//! Reads turns of any form as messages: calls and answers in fields, parts and texts.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::OutputForm;
use super::losses::{Loss, Losses};
use super::message::{ConvertedCall, Message, Text, ToolAnswer};
use super::stays::stays;
use super::tagged::{answers_in, calls_in};
use crate::trajectory::json::fields::fields;
use crate::trajectory::json::members::{Member, members};
use crate::trajectory::parse::calls::raw_calls;
use crate::trajectory::parse::in_parts::in_parts;
use crate::trajectory::parse::parts::{Part, part_of, parts, result_content};
use crate::trajectory::parse::raw_call::{RawCall, raw_call};
use crate::trajectory::{Format, IMAGE_MARKER, Role, TURN_KEYS, Turn, json};
use serde_json::value::RawValue;

/// Keys of a turn that are read here beside those of all formats; all others are copied.
const MORE_TURN_KEYS: [&str; 2] = ["toolCallId", "toolName"];

/// Keys of parts and calls that are read, or carry no content: cache marks, list indexes.
const PART_KEYS: [&str; 18] = [
    "type",
    "text",
    "thinking",
    "reasoning",
    "refusal",
    "id",
    "index",
    "name",
    "function",
    "input",
    "arguments",
    "args",
    "content",
    "output",
    "tool_use_id",
    "call_id",
    "cache_control",
    "tool_call_id",
];

/// Types of parts that are calls which a tool's turn answers.
const CALLS: [&str; 3] = ["\"tool_use\"", "\"toolCall\"", "\"function_call\""];

/// Types of parts that are thoughts.
const THOUGHTS: [&str; 2] = ["\"thinking\"", "\"reasoning\""];

/// The content of a turn, by kind.
#[derive(Default)]
struct MessageContent<'a> {
    texts: Vec<Text<'a>>,
    thoughts: Vec<Text<'a>>,
    calls: Vec<ConvertedCall<'a>>,
}

/// Reads a turn as messages: its own, preceded by the tool results in a person's turn.
pub(super) fn read<'a>(turn: &Turn<'a>, target: OutputForm, losses: &mut Losses) -> Vec<Message<'a>> {
    let speaker = turn.speaker();
    let mut message = Message {
        turn: turn.text,
        stays: stays(turn, target),
        role: speaker,
        role_name: turn.role_name().unwrap_or("\"\""),
        content: Text::EMPTY,
        reasoning: None,
        calls: Vec::new(),
        answers: Vec::new(),
        extras: Vec::new(),
    };
    if message.stays {
        if target.form == Format::Messages {
            message.calls = raw_calls(turn)
                .into_iter()
                .filter_map(|call| call_of(call, None))
                .collect();
            if speaker == Role::Tool {
                message.answers.push(ToolAnswer {
                    id: own_id(turn, &mut Losses::default()),
                    name: turn.name().map(Cow::Borrowed),
                    content: Text::EMPTY,
                    in_envelopes: false,
                });
            }
        }
        return vec![message];
    }
    message.extras = extras(turn, speaker, losses);
    if matches!(speaker, Role::Human | Role::Tool)
        && let Some(found) = in_parts(turn).filter(|found| !found.results.is_empty())
    {
        let answers = found
            .results
            .iter()
            .map(|result| answer_in(result, losses))
            .collect();
        let mut content = MessageContent::default();
        for part in found.said {
            said(part, None, &mut content, losses);
        }
        let text = Text::joined(content.texts, losses);
        return beside_answers(message, answers, text);
    }
    match speaker {
        Role::Tool => message.answers = answers_of(turn, target, losses),
        _ => read_said(turn, target, &mut message, losses),
    }
    vec![message]
}

/// Returns answers as a tool's message and the text beside them as a separate message, which has the other fields.
fn beside_answers<'a>(
    message: Message<'a>,
    answers: Vec<ToolAnswer<'a>>,
    said: Text<'a>,
) -> Vec<Message<'a>> {
    let says_something = !said.is_empty();
    let answering = Message {
        role: Role::Tool,
        role_name: "\"tool\"",
        answers,
        extras: if says_something {
            Vec::new()
        } else {
            message.extras.clone()
        },
        ..message.clone()
    };
    let speaking = Message {
        role: Role::Human,
        role_name: if message.role == Role::Tool {
            "\"user\""
        } else {
            message.role_name
        },
        content: said,
        ..message
    };
    let speaking = says_something.then_some(speaking);
    std::iter::once(answering).chain(speaking).collect()
}

/// Reads the turn of any speaker but a tool.
fn read_said<'a>(turn: &Turn<'a>, target: OutputForm, message: &mut Message<'a>, losses: &mut Losses) {
    let is_assistant = message.role == Role::Assistant;
    let mut content = MessageContent::default();
    if let Some(written) = turn.content() {
        read_content(written, is_assistant, &mut content, losses);
    }
    message.calls = field_calls(turn, losses);
    let ids: FxHashSet<String> = message
        .calls
        .iter()
        .filter_map(|call| Some(call.id.as_deref()?.to_owned()))
        .collect();
    let is_new = |call: &ConvertedCall<'_>| call.id.as_deref().is_none_or(|id| !ids.contains(id));
    message.calls.extend(content.calls.into_iter().filter(is_new));
    message.content = Text::joined(content.texts, losses);
    message.reasoning = turn
        .reasoning()
        .and_then(|thought| Some((Cow::Borrowed(reasoning_key(turn)?), Cow::Borrowed(thought))));
    if message.reasoning.is_none() && !content.thoughts.is_empty() {
        let thoughts = Text::joined(content.thoughts, losses).literal().into_owned();
        message.reasoning = Some((Cow::Borrowed("\"reasoning_content\""), Cow::Owned(thoughts)));
    }
    let is_call = turn.role_name() == Some("\"function_call\"");
    if is_assistant && message.calls.is_empty() && (is_call || target.form == Format::Messages) {
        calls_in(message, is_call, losses);
    }
}

/// Returns the key of the thoughts that are read.
fn reasoning_key<'a>(turn: &Turn<'a>) -> Option<&'a str> {
    let thought = turn.reasoning()?;
    let members = members(turn.text);
    let holds = |member: &&Member<'_>| std::ptr::eq(member.value.as_ptr(), thought.as_ptr());
    members.iter().find(holds).map(|member| member.key)
}

fn read_content<'a>(
    written: &'a str,
    is_assistant: bool,
    content: &mut MessageContent<'a>,
    losses: &mut Losses,
) {
    if written.starts_with('"') {
        content.texts.push(Text::Literal(written));
    } else if parts(written).is_some() {
        let elements: Vec<&RawValue> = serde_json::from_str(written).unwrap_or_default();
        for element in elements {
            let element = element.get();
            said(
                part_of(element),
                Some(element).filter(|_| is_assistant),
                content,
                losses,
            );
            count_fields(element, losses);
        }
    } else if written != "[]" {
        content.texts.push(Text::Made(written.to_owned()));
    }
}

/// Adds a part to the content; `element` is its JSON if it is an assistant's.
fn said<'a>(part: Part<'a>, element: Option<&'a str>, content: &mut MessageContent<'a>, losses: &mut Losses) {
    let kind = element.and_then(|element| fields(element, &["type"]).ok()?.values[0]);
    let is_of = |kinds: &[&str]| kind.is_some_and(|kind| kinds.contains(&kind));
    match part {
        Part::Text(literal) => content.texts.push(Text::Literal(literal)),
        Part::Value(literal) if is_of(&THOUGHTS) && literal.starts_with('"') => {
            content.thoughts.push(Text::Literal(literal));
        }
        Part::Value(literal) if literal.starts_with('"') => content.texts.push(Text::Literal(literal)),
        Part::Call(call) if is_of(&CALLS) => match call_of(raw_call(call), None) {
            Some(call) => content.calls.push(call),
            None => unread(call, content, losses),
        },
        Part::Value(part) | Part::Call(part) | Part::ToolResult(part) => unread(part, content, losses),
        Part::Image => {
            losses.note(Loss::Image);
            content.texts.push(Text::Made(IMAGE_MARKER.to_owned()));
        }
        Part::Nothing => losses.note(Loss::Part),
    }
}

/// Adds a part that no other form has as JSON text.
fn unread<'a>(part: &'a str, content: &mut MessageContent<'a>, losses: &mut Losses) {
    losses.note(Loss::Part);
    content.texts.push(Text::Made(part.to_owned()));
}

/// Counts the fields of a part, or of a call, that are dropped although not empty.
fn count_fields(part: &str, losses: &mut Losses) {
    if matches!(part_of(part), Part::Image | Part::Nothing) {
        return;
    }
    let says = |member: &&Member<'_>| !matches!(member.value, "null" | "false" | "\"\"" | "[]" | "{}");
    let members = members(part);
    let left = members.iter().filter(says);
    let left = left.filter(|member| !PART_KEYS.iter().any(|key| member.is(key)));
    losses.add(Loss::PartField, left.count());
}

/// Returns the calls in fields. An unreadable call is returned without a name.
fn field_calls<'a>(turn: &Turn<'a>, losses: &mut Losses) -> Vec<ConvertedCall<'a>> {
    let mut calls = Vec::new();
    let list = turn.tool_calls().unwrap_or("[]");
    let elements: Result<Vec<&'a RawValue>, _> = serde_json::from_str(list);
    let elements: Vec<&'a str> = match elements {
        Ok(elements) => elements.into_iter().map(RawValue::get).collect(),
        Err(_) => vec![list],
    };
    for element in elements {
        count_fields(element, losses);
        calls.extend(call_of(raw_call(element), Some(element)));
    }
    if let Some(call) = turn.function_call().filter(|_| calls.is_empty()) {
        calls.extend(call_of(raw_call(call), None));
    }
    calls
}

fn call_of<'a>(raw: RawCall<'a>, element: Option<&'a str>) -> Option<ConvertedCall<'a>> {
    let name = raw.name.or(element.map(|_| "\"\""))?;
    Some(ConvertedCall {
        element,
        id: raw.id.map(Cow::Borrowed),
        name: if name.starts_with('"') {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(json::quoted(name))
        },
        arguments: Cow::Borrowed(raw.arguments.unwrap_or("{}")),
    })
}

/// Returns the answers of a tool's turn: its envelopes, or its content.
fn answers_of<'a>(turn: &Turn<'a>, target: OutputForm, losses: &mut Losses) -> Vec<ToolAnswer<'a>> {
    let mut content = MessageContent::default();
    if let Some(written) = turn.content() {
        read_content(written, false, &mut content, losses);
    }
    let text = Text::joined(content.texts, losses);
    let id = own_id(turn, losses);
    if id.is_none()
        && let Some(answers) = answers_in(&text, target.form, losses)
    {
        return answers;
    }
    let tool_name = fields(turn.text, &["toolName"])
        .ok()
        .and_then(|fields| fields.values[0]);
    let name = turn.name().or(tool_name).filter(|name| name.starts_with('"'));
    vec![ToolAnswer {
        id,
        name: name.map(Cow::Borrowed),
        content: text,
        in_envelopes: false,
    }]
}

/// Returns the id of the call that a tool's turn answers; the first of several.
fn own_id<'a>(turn: &Turn<'a>, losses: &mut Losses) -> Option<Cow<'a, str>> {
    let of_pi = || fields(turn.text, &["toolCallId"]).ok()?.values[0];
    let id = turn.tool_call_id().or_else(of_pi)?;
    let Ok(ids) = serde_json::from_str::<Vec<&'a RawValue>>(id) else {
        return Some(Cow::Borrowed(id));
    };
    losses.add(Loss::CallId, ids.len().saturating_sub(1));
    ids.first().map(|id| Cow::Borrowed(id.get()))
}

/// Returns the answer in a result part.
fn answer_in<'a>(part: &'a str, losses: &mut Losses) -> ToolAnswer<'a> {
    count_fields(part, losses);
    let [id] = fields(part, &["tool_use_id"]).map_or([None], |fields| fields.values);
    let mut content = MessageContent::default();
    if let Some(written) = result_content(part) {
        read_content(written, false, &mut content, losses);
    }
    ToolAnswer {
        id: id.map(Cow::Borrowed),
        name: None,
        content: Text::joined(content.texts, losses),
        in_envelopes: false,
    }
}

/// Returns the fields to be copied. Of two fields with the text, the one that is not read is lost.
fn extras<'a>(turn: &Turn<'a>, speaker: Role, losses: &mut Losses) -> Vec<Member<'a>> {
    let (_, text_key) = turn.keys();
    let members = members(turn.text);
    for member in &members {
        let is_other_text = (member.is("value") || member.is("content")) && !member.is(text_key);
        let is_other_thought = ["reasoning_content", "reasoning", "thinking"]
            .iter()
            .any(|key| member.is(key))
            && turn.reasoning().is_some_and(|read| read != member.value);
        if (is_other_text || is_other_thought) && !matches!(member.value, "null" | "\"\"") {
            losses.note(Loss::TurnField);
        }
    }
    let is_extra = |member: &Member<'a>| {
        let is_read = TURN_KEYS.iter().chain(&MORE_TURN_KEYS).any(|key| member.is(key));
        !is_read || (speaker != Role::Tool && member.is("name"))
    };
    members.into_iter().filter(is_extra).collect()
}
