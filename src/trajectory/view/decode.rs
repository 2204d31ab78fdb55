//! Decodes a turn to a [`TurnView`]: strings, tool calls and tool responses of any format.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::calls::all_calls;
use crate::trajectory::parse::content::{content_text, string_or_json};
use crate::trajectory::parse::in_parts::{calls_of_pi, in_parts, response_in};
use crate::trajectory::parse::raw_call::{RawCall, raw_call};
use crate::trajectory::{Role, ToolCall, ToolResponse, Turn, TurnView};

/// Decodes the turn at `index`. An opaque turn's view is its JSON text.
pub fn view<'a>(turn: &Turn<'a>, index: usize) -> TurnView<'a> {
    view_with(turn, index, None)
}

/// Returns the views of all turns of a valid record.
#[cfg(test)]
pub(crate) fn views_of(record: &str) -> Vec<TurnView<'_>> {
    let record = crate::trajectory::parse(record.as_bytes(), None).unwrap();
    let turns = record.turns.iter().enumerate();
    turns.map(|(at, turn)| view(turn, at)).collect()
}

/// The same as [`view`], with a content that may be decoded already.
pub fn view_with<'a>(turn: &Turn<'a>, index: usize, content: Option<String>) -> TurnView<'a> {
    let mut view = TurnView::of_text(index, turn.role, "");
    if turn.opaque {
        view.text = Cow::Borrowed(turn.text);
        return view;
    }
    let found = in_parts(turn).or_else(|| calls_of_pi(turn));
    let content = match (&found, content) {
        (Some(found), _) => found.text(),
        (None, Some(content)) => Cow::Owned(content),
        (None, None) => turn.content().map_or(Cow::Borrowed(""), content_text),
    };
    view.calls = all_calls(turn, found.as_ref()).iter().map(call_view).collect();
    let calls_in_parts = found.as_ref().is_some_and(|found| !found.calls.is_empty());
    let results = found.map_or_else(Vec::new, |found| found.results);
    match turn.role {
        _ if !results.is_empty() => {
            view.text = content;
            view.responses = results.into_iter().map(response_in).collect();
        }
        Role::Tool => (view.text, view.responses) = responses(turn, content),
        Role::Assistant if turn.role_name() == Some("\"function_call\"") => {
            view.calls.extend(bare_calls(&content));
        }
        Role::Assistant => {
            view.text = if calls_in_parts {
                content
            } else {
                tagged_calls(content, &mut view.calls)
            };
            if let Some(reasoning) = turn.reasoning() {
                view.text = Cow::Owned(format!("{}\n{}", string_or_json(reasoning), view.text));
            }
        }
        _ => view.text = content,
    }
    view
}

fn call_view<'a>(call: &RawCall<'a>) -> ToolCall<'a> {
    ToolCall {
        id: call.id.map(string_or_json),
        name: call.name.map_or(Cow::Borrowed(""), string_or_json),
        arguments: call.arguments.map_or(Cow::Borrowed(""), string_or_json),
    }
}

fn owned_call(text: &str) -> ToolCall<'static> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    let (object, code) = with_code(text).map_or((text, None), |(object, code)| (object, Some(code)));
    let call = call_view(&raw_call(object));
    let arguments = code.map(|code| serde_json::json!({"code": code}).to_string());
    ToolCall {
        id: call.id.map(own),
        name: own(call.name),
        arguments: arguments.map_or_else(|| own(call.arguments), Cow::Owned),
    }
}

/// Returns the object of a call whose code stands behind it, as research agents of Tongyi write it, and the code:
/// `{"name": "PythonInterpreter", "arguments": {}}` and `<code>` with its end.
fn with_code(text: &str) -> Option<(&str, &str)> {
    let (object, rest) = text.trim().split_once("<code>")?;
    let code = rest.strip_suffix("</code>")?;
    let object = object.trim_end();
    (object.ends_with('}') && raw_call(object).name.is_some()).then(|| (object, code.trim_matches('\n')))
}

/// Returns the calls in a `ShareGPT` `function_call` turn: one call, or a list of them.
fn bare_calls(content: &str) -> Vec<ToolCall<'static>> {
    match serde_json::from_str::<Vec<&RawValue>>(content) {
        Ok(calls) => calls.iter().map(|call| owned_call(call.get())).collect(),
        Err(_) => vec![owned_call(content)],
    }
}

/// Moves the `<tool_call>` blocks of an assistant's text to `calls`, and returns the prose around them.
fn tagged_calls<'a>(text: Cow<'a, str>, calls: &mut Vec<ToolCall<'a>>) -> Cow<'a, str> {
    let blocks = tagged(&text, "<tool_call>", "</tool_call>");
    if blocks.is_empty() {
        return text;
    }
    let (mut prose, inner) = without_blocks(&text, &blocks);
    prose.truncate(prose.trim_end().len());
    for block in inner {
        calls.push(owned_call(block));
    }
    Cow::Owned(prose)
}

/// Returns the responses in a tool turn: the `<tool_response>` blocks of `ShareGPT`, with the text around them, or the
/// whole content.
fn responses<'a>(turn: &Turn<'a>, content: Cow<'a, str>) -> (Cow<'a, str>, Vec<ToolResponse<'a>>) {
    let blocks = tagged(&content, "<tool_response>", "</tool_response>");
    if blocks.is_empty() {
        let mut response = ToolResponse {
            id: turn.tool_call_id().map(|id| string_or_json(first_of(id))),
            name: turn.name().map(string_or_json),
            content,
            ..ToolResponse::default()
        };
        if turn.role_name() == Some("\"toolResult\"") {
            read_as_pi(turn, &mut response);
        }
        return (Cow::Borrowed(""), vec![response]);
    }
    let (prose, inner) = without_blocks(&content, &blocks);
    (Cow::Owned(prose), inner.into_iter().map(response).collect())
}

/// Reads the fields beside the content of a result of pi.
fn read_as_pi<'a>(turn: &Turn<'a>, response: &mut ToolResponse<'a>) {
    let Ok(found) = fields(turn.text, &["toolCallId", "toolName", "isError", "details"]) else {
        return;
    };
    let [id, name, is_error, details] = found.values;
    response.id = response.id.take().or(id.map(string_or_json));
    response.name = response.name.take().or(name.map(string_or_json));
    response.is_error = is_error.and_then(|is_error| is_error.parse().ok());
    let code = details.and_then(|details| fields(details, &["exitCode"]).ok()?.values[0]);
    response.exit_code = code.and_then(|code| code.parse().ok());
}

/// Returns the text around blocks, and the text in each.
fn without_blocks<'t>(text: &'t str, blocks: &[TaggedBlock]) -> (String, Vec<&'t str>) {
    let mut prose = String::new();
    let mut inner = Vec::with_capacity(blocks.len());
    let mut copied = 0;
    for block in blocks {
        prose.push_str(text.get(copied..block.outer.start).unwrap_or_default());
        copied = block.outer.end;
        inner.push(text.get(block.inner.clone()).unwrap_or_default().trim());
    }
    prose.push_str(text.get(copied..).unwrap_or_default());
    (prose, inner)
}

/// Returns the first element of a list of ids, or the id itself.
fn first_of(ids: &str) -> &str {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(ids);
    elements
        .ok()
        .and_then(|elements| elements.first().map(|first| first.get()))
        .unwrap_or(ids)
}

/// Returns the byte ranges inside a text's `<tool_response>` envelopes, blanks included.
pub(in crate::trajectory) fn tagged_responses(text: &str) -> Vec<std::ops::Range<usize>> {
    let blocks = tagged(text, "<tool_response>", "</tool_response>");
    blocks.into_iter().map(|block| block.inner).collect()
}

fn response(block: &str) -> ToolResponse<'static> {
    let own = |value: &str| Cow::Owned(string_or_json(value).into_owned());
    match fields(block, &["tool_call_id", "name", "content"]).map(|fields| fields.values) {
        Ok([id, name, Some(content)]) => ToolResponse {
            id: id.map(own),
            name: name.map(own),
            content: own(content),
            ..ToolResponse::default()
        },
        _ => ToolResponse {
            id: None,
            name: None,
            content: Cow::Owned(block.to_owned()),
            ..ToolResponse::default()
        },
    }
}

/// Returns the byte ranges inside a text's `<tool_call>` blocks.
pub(in crate::trajectory) fn tagged_calls_of(text: &str) -> Vec<std::ops::Range<usize>> {
    let blocks = tagged(text, "<tool_call>", "</tool_call>");
    blocks.into_iter().map(|block| block.inner).collect()
}

/// Returns the byte ranges of these blocks, tags included.
pub(in crate::trajectory) fn whole_calls(text: &str) -> Vec<std::ops::Range<usize>> {
    let blocks = tagged(text, "<tool_call>", "</tool_call>");
    blocks.into_iter().map(|block| block.outer).collect()
}

/// Returns the byte ranges of the envelopes, tags included.
pub(in crate::trajectory) fn whole_responses(text: &str) -> Vec<std::ops::Range<usize>> {
    let blocks = tagged(text, "<tool_response>", "</tool_response>");
    blocks.into_iter().map(|block| block.outer).collect()
}

struct TaggedBlock {
    /// The byte range with the tags.
    outer: std::ops::Range<usize>,
    /// The byte range between the tags.
    inner: std::ops::Range<usize>,
}

fn tagged(text: &str, open: &str, close: &str) -> Vec<TaggedBlock> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(start) =
        memchr::memmem::find(text.as_bytes().get(from..).unwrap_or_default(), open.as_bytes())
    {
        let outer_start = from + start;
        let inner_start = outer_start + open.len();
        let rest = text.as_bytes().get(inner_start..).unwrap_or_default();
        let Some(length) = memchr::memmem::find(rest, close.as_bytes()) else {
            break;
        };
        let inner_end = inner_start + length;
        from = inner_end + close.len();
        blocks.push(TaggedBlock {
            outer: outer_start..from,
            inner: inner_start..inner_end,
        });
    }
    blocks
}
