//! Calls and results among the parts of a content (`tool_use`, `tool_result`), separated from its other parts.

use std::borrow::Cow;

use memchr::memmem;
use rustc_hash::FxHashSet;

use super::content::{content_text, string_or_json, text_of_parts};
use super::parts::{Part, part_of, result_content};
use super::raw_call::{RawCall, raw_call};
use super::results::elements;
use crate::trajectory::json::fields::{elements_of, fields};
use crate::trajectory::{Role, ToolResponse, Turn};

/// The content of a turn, by kind of part.
#[derive(Debug, Default)]
pub(in crate::trajectory) struct InParts<'a> {
    /// The `tool_use` parts.
    pub calls: Vec<RawCall<'a>>,
    /// The `tool_result` parts, as JSON.
    pub results: Vec<&'a str>,
    /// All other parts.
    pub said: Vec<Part<'a>>,
}

impl<'a> InParts<'a> {
    /// Reads a content that contains calls of a kind.
    fn read_calls(&mut self, content: &'a str, kind: &str) {
        for part in calling_parts(content, kind) {
            match call_in(part, kind) {
                Some(call) => self.calls.push(call),
                None => self.said.push(part_of(part)),
            }
        }
    }

    /// Returns the text of the parts that are neither call nor result.
    pub fn text(&self) -> Cow<'a, str> {
        text_of_parts(&self.said)
    }
}

/// Returns the calls of an assistant's content, or the results of a tool's or a person's; `None` if there are none.
///
/// The content of a tool's turn with its own id is one answer, unless all of it is results with that id.
pub(in crate::trajectory) fn in_parts<'a>(turn: &Turn<'a>) -> Option<InParts<'a>> {
    let content = turn
        .content()
        .filter(|content| content.starts_with('[') && !turn.opaque)?;
    let mut found = InParts::default();
    match turn.role {
        Role::Assistant if turn.role_name() != Some("\"function_call\"") => {
            found.read_calls(content, "\"tool_use\"");
        }
        Role::Tool | Role::Human => {
            let elements = elements(content);
            let has_own = !elements.is_empty() && turn.speaker() == Role::Tool;
            let own = turn.tool_call_id().filter(|_| has_own).map(own_ids);
            for (part, id) in elements {
                match (id, &own) {
                    (Some(id), Some(own)) if !own.contains(id) => return None,
                    (Some(_), _) => found.results.push(part),
                    (None, Some(_)) => return None,
                    (None, None) => found.said.push(part_of(part)),
                }
            }
        }
        _ => {}
    }
    (!found.calls.is_empty() || !found.results.is_empty()).then_some(found)
}

/// Returns the `toolCall` parts of an assistant's content in pi's own sessions, which are read but not converted.
pub(in crate::trajectory) fn calls_of_pi<'a>(turn: &Turn<'a>) -> Option<InParts<'a>> {
    let is_list = |content: &&str| content.starts_with('[') && !turn.opaque && turn.role == Role::Assistant;
    let content = turn.content().filter(is_list)?;
    let mut found = InParts::default();
    found.read_calls(content, "\"toolCall\"");
    (!found.calls.is_empty()).then_some(found)
}

/// Returns the ids in a `tool_call_id`: one, or a list of them.
fn own_ids(ids: &str) -> FxHashSet<&str> {
    let ids = elements_of(ids).unwrap_or_else(|| vec![ids]);
    ids.into_iter().collect()
}

/// Returns the parts of a content as JSON; none if no part can be a call.
fn calling_parts<'a>(content: &'a str, kind: &str) -> Vec<&'a str> {
    if memmem::find(content.as_bytes(), kind.as_bytes()).is_none() {
        return Vec::new();
    }
    elements_of(content).unwrap_or_default()
}

/// Returns the call in a part, if it has an id that a result can name.
fn call_in<'a>(part: &'a str, kind: &str) -> Option<RawCall<'a>> {
    let [named, id] = fields(part, &["type", "id"]).ok()?.values;
    (named? == kind && id.is_some()).then(|| raw_call(part))
}

/// Returns the response in a `tool_result` part.
pub(in crate::trajectory) fn response_in(part: &str) -> ToolResponse<'_> {
    let [id, is_error] = fields(part, &["tool_use_id", "is_error"]).map_or([None; 2], |fields| fields.values);
    ToolResponse {
        is_error: is_error.and_then(|is_error| is_error.parse().ok()),
        id: id.map(string_or_json),
        name: None,
        content: result_content(part).map_or(Cow::Borrowed(""), content_text),
        ..ToolResponse::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::{turn_of, view};

    #[track_caller]
    fn found(turn: &str, calls: &[&str], results: usize, text: &str) {
        let turn = turn_of(turn).unwrap();
        let found = in_parts(&turn).unwrap_or_default();
        let ids: Vec<&str> = found.calls.iter().filter_map(|call| call.id).collect();
        assert_eq!((ids.as_slice(), found.results.len()), (calls, results));
        assert_eq!(found.text(), text);
    }

    #[test]
    fn calls_are_an_assistants_and_results_a_persons_or_a_tools() {
        let call = r#"[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"text","text":"\"tool_use\""}]"#;
        let result = r#"[{"type":"tool_result","tool_use_id":"1","content":"x"},{"type":"text","text":"a"}]"#;
        let turn = |role: &str, content: &str| format!(r#"{{"role":"{role}","content":{content}}}"#);
        found(&turn("assistant", call), &["\"1\""], 0, "a\n\"tool_use\"");
        found(&turn("user", result), &[], 1, "a");
        found(&turn("tool", result), &[], 1, "a");
        for (role, content) in [("user", call), ("assistant", result), ("system", result)] {
            found(&turn(role, content), &[], 0, "");
        }
        found(&turn("user", r#""tool_use_id""#), &[], 0, "");
    }

    #[test]
    fn parts_of_an_answer_with_an_id_of_its_own_are_that_answer() {
        let part = r#"{"type":"tool_result","tool_use_id":"1","content":"x"}"#;
        let turn = |id: &str, more: &str| {
            format!(r#"{{"role":"tool","tool_call_id":{id},"content":[{part}{more}]}}"#)
        };
        found(&turn("\"1\"", ""), &[], 1, "");
        found(&turn(r#"["1","2"]"#, ""), &[], 1, "");
        found(&turn("\"2\"", ""), &[], 0, "");
        found(&turn("\"1\"", r#",{"type":"text","text":"a"}"#), &[], 0, "");
        // A person's turn has no own id.
        found(&turn("\"2\"", "").replace("\"tool\"", "\"user\""), &[], 1, "");
    }

    #[test]
    fn what_the_record_says_beside_an_answer_is_read() {
        let part = r#"{"type":"tool_result","tool_use_id":"1","content":"x","is_error":true}"#;
        assert_eq!(response_in(part).is_error, Some(true));
        let turn = r#"{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"x"}],"details":{"exitCode":2},"isError":true}"#;
        let answered = view(&turn_of(turn).unwrap(), 0);
        let response = &answered.responses[0];
        assert_eq!(
            (response.id.as_deref(), response.name.as_deref()),
            (Some("1"), Some("bash"))
        );
        assert_eq!((response.is_error, response.exit_code), (Some(true), Some(2)));
        let call = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","id":"1","name":"f","arguments":{"b":1}}]}"#;
        let view = view(&turn_of(call).unwrap(), 0);
        assert_eq!(
            (view.text.as_ref(), view.calls[0].arguments.as_ref()),
            ("a", r#"{"b":1}"#)
        );
    }

    #[test]
    fn what_a_result_brings_back_is_text() {
        let content = |content: &str| {
            let part = format!(r#"{{"type":"tool_result","tool_use_id":"1"{content}}}"#);
            response_in(&part).content.into_owned()
        };
        assert_eq!(content(r#","content":"a\nb""#), "a\nb");
        let parts = r#","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]"#;
        assert_eq!(content(parts), "a\n[image]\nb");
        assert_eq!(
            (content("").as_str(), content(r#","content":null"#).as_str()),
            ("", "")
        );
    }
}
