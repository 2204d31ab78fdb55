//! Calls and answers in texts: `<tool_call>` blocks, bare calls, and `<tool_response>` envelopes.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::losses::{Loss, Losses};
use super::message::{ConvertedCall, Message, Text, ToolAnswer};
use crate::trajectory::json::fields::fields;
use crate::trajectory::json::members::{Member, members};
use crate::trajectory::parse::raw_call::{RawCall, raw_call};
use crate::trajectory::view::decode::{tagged_calls_of, tagged_responses, whole_calls, whole_responses};
use crate::trajectory::{Format, json};

/// Moves the calls in an assistant's text to `calls`, if all of them can be read. If `is_call`, the whole text is
/// calls.
pub(super) fn calls_in(message: &mut Message<'_>, is_call: bool, losses: &mut Losses) {
    if let Text::Literal(literal) = &message.content
        && !is_call
        && !literal.contains("tool_call")
    {
        return;
    }
    let text = message.content.decoded(losses).into_owned();
    let found = if is_call { bare(&text) } else { None };
    if let Some(calls) = found {
        message.calls = calls;
        message.content = Text::EMPTY;
        return;
    }
    let inner = tagged_calls_of(&text);
    let calls: Vec<Option<ConvertedCall<'static>>> = inner
        .into_iter()
        .map(|block| owned(text.get(block)?.trim()))
        .collect();
    let unread = calls.iter().filter(|call| call.is_none()).count();
    if unread > 0 || calls.is_empty() {
        losses.add(Loss::UnreadCall, unread.max(usize::from(is_call)));
        return;
    }
    let (said, is_in_order) = around(&text, &whole_calls(&text));
    if !is_in_order {
        losses.note(Loss::TextOrder);
    }
    message.calls = calls.into_iter().flatten().collect();
    message.content = Text::Made(said);
}

/// Returns the text around blocks, without the line end before the first, and true if it all precedes the blocks.
fn around(text: &str, blocks: &[std::ops::Range<usize>]) -> (String, bool) {
    let first = blocks.first().map_or(text.len(), |block| block.start);
    let before = text.get(..first).unwrap_or_default();
    let mut said = before.strip_suffix('\n').unwrap_or(before).to_owned();
    let mut later = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let end = blocks.get(index + 1).map_or(text.len(), |next| next.start);
        let between = text.get(block.end..end).unwrap_or_default().trim();
        if !between.is_empty() {
            if !later.is_empty() {
                later.push('\n');
            }
            later.push_str(between);
        }
    }
    let is_in_order = later.is_empty();
    if !is_in_order && !said.is_empty() {
        said.push('\n');
    }
    said.push_str(&later);
    (said, is_in_order)
}

/// Returns the calls that make up a text: one, or a list of them.
fn bare(text: &str) -> Option<Vec<ConvertedCall<'static>>> {
    let text = text.trim();
    let elements: Vec<&RawValue> = if text.starts_with('[') {
        serde_json::from_str(text).ok()?
    } else {
        vec![serde_json::from_str(text).ok()?]
    };
    let calls: Option<Vec<_>> = elements.iter().map(|element| owned(element.get())).collect();
    calls.filter(|calls| !calls.is_empty())
}

/// Returns the call that a text is; `None` if it cannot be read as one.
fn owned(text: &str) -> Option<ConvertedCall<'static>> {
    let RawCall { id, name, arguments } = raw_call(text);
    serde_json::from_str::<&RawValue>(text).ok()?;
    let name = name.filter(|name| name.starts_with('"'))?.to_owned();
    // The arguments may contain the closing tag, escaped so that it does not end the block.
    let arguments = arguments
        .unwrap_or("{}")
        .replace("<\\/tool_call>", "</tool_call>");
    Some(ConvertedCall {
        element: None,
        id: id.map(|id| Cow::Owned(id.to_owned())),
        name: Cow::Owned(name),
        arguments: Cow::Owned(arguments),
    })
}

/// Returns the answers in the envelopes of a tool's text; `None` if it has none, or text beside them. For `ShareGPT`
/// they stay together.
pub(super) fn answers_in<'a>(
    text: &Text<'a>,
    form: Format,
    losses: &mut Losses,
) -> Option<Vec<ToolAnswer<'a>>> {
    let decoded = text.decoded(losses);
    let inner = tagged_responses(&decoded);
    if inner.is_empty() || !around(&decoded, &whole_responses(&decoded)).0.trim().is_empty() {
        return None;
    }
    if form == Format::ShareGpt {
        return Some(vec![ToolAnswer {
            id: None,
            name: None,
            content: text.clone(),
            in_envelopes: true,
        }]);
    }
    let answers = inner
        .into_iter()
        .map(|block| answer(decoded.get(block).unwrap_or_default().trim()));
    Some(answers.collect())
}

/// Returns the answer in an envelope. If it has more fields than id, name and content, all of it is the content.
fn answer(block: &str) -> ToolAnswer<'static> {
    const KEYS: [&str; 3] = ["tool_call_id", "name", "content"];
    let known = |member: &Member<'_>| KEYS.iter().any(|key| member.is(key));
    let own = |value: Option<&str>| value.map(|value| Cow::Owned(value.to_owned()));
    let read = fields(block, &KEYS).map(|fields| fields.values);
    let (id, name, content) = match read {
        Ok([id, name, Some(content)]) => {
            let is_whole = members(block).iter().all(known);
            (
                own(id),
                own(name.filter(|name| name.starts_with('"'))),
                if is_whole { content } else { block },
            )
        }
        _ => (None, None, block),
    };
    let text = if content.starts_with('"') && serde_json::from_str::<&RawValue>(content).is_ok() {
        json::decode(content).0.into_owned()
    } else {
        content.to_owned()
    };
    ToolAnswer {
        id,
        name,
        content: Text::Made(text),
        in_envelopes: false,
    }
}
