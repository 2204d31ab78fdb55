//! Rules on the content of turns: the kinds of content that a trainer takes, and its action on others.

use serde_json::Value;

use super::action::{Action, Class};
use super::findings::{FindingKind, TrainingOutcome};
use super::form::{CallsTreatment, FormRules};
use super::judged::{Judged, outcome};
use super::turn::{Content, TrainerTurn, has_broken_arguments, texts_of_parts, trimmed};
use super::verdict::Verdict;
use crate::trajectory::json;

/// Judges the content of one turn, and its calls.
pub fn judge_turn(turn: &Judged<'_>, fields: &TrainerTurn<'_>, rules: &FormRules, verdict: &mut Verdict) {
    let mut add = |kind, action: Action, loss, detail: &str| {
        if let Some(outcome) = outcome(action, loss) {
            verdict.add(turn.finding(kind, outcome, detail));
        }
    };
    let content = &rules.content;
    let takes_calls = rules.tool_calls != CallsTreatment::Ignore && fields.has_calls();
    match turn.content {
        Content::Null if takes_calls && is_answer(turn.class) => {
            add(FindingKind::NullContent, content.null_beside_calls, None, "");
        }
        Content::Null => add(FindingKind::NullContent, content.null, None, ""),
        Content::Parts(list) => {
            let (_, only_text) = texts_of_parts(list, "");
            let of_system = content
                .parts_of_system
                .filter(|_| turn.class == Some(Class::System));
            let action = of_system.unwrap_or(content.parts);
            let loses = action == Action::Empty || !(only_text || content.splits_parts);
            add(
                FindingKind::Parts,
                action,
                loses.then_some(TrainingOutcome::Lose),
                "",
            );
        }
        Content::Other => add(FindingKind::OtherContent, content.other, None, ""),
        Content::Text(text) => {
            if turn.class == Some(Class::Call) && !is_call(text, rules) {
                add(FindingKind::CallText, rules.call_text, None, "");
            }
        }
    }
    if fields.has_calls() {
        match rules.tool_calls {
            CallsTreatment::Keep => {}
            CallsTreatment::Ignore => add(
                FindingKind::CallsLost,
                Action::Ignore,
                Some(TrainingOutcome::Lose),
                "tool_calls",
            ),
            CallsTreatment::ReplaceText => {
                if matches!(turn.content, Content::Text(text) if !trimmed(text).is_empty()) {
                    add(
                        FindingKind::TextLost,
                        Action::Ignore,
                        Some(TrainingOutcome::Lose),
                        "text beside tool_calls",
                    );
                }
            }
        }
    }
    if let Some(calls) = fields
        .get("tool_calls")
        .filter(|_| rules.broken_arguments != Action::Keep)
    {
        let calls: Vec<Value> = serde_json::from_str(calls).unwrap_or_default();
        if calls.iter().any(has_broken_arguments) {
            add(FindingKind::BrokenArguments, rules.broken_arguments, None, "");
        }
    }
    if fields.get("function_call").is_some() {
        add(
            FindingKind::CallsLost,
            rules.function_call,
            Some(TrainingOutcome::Lose),
            "function_call",
        );
    }
    if rules.null_tool_calls == Action::EndsRun && fields.raw("tool_calls") == Some("null") {
        add(FindingKind::NullCalls, Action::EndsRun, None, "");
    }
    let has_id = fields
        .get("tool_call_id")
        .is_some_and(|id| id.starts_with('"') && id.len() > 2);
    if rules.tool_ids && turn.class == Some(Class::Tool) && !has_id {
        add(FindingKind::NoCallId, Action::EndsRun, None, "");
    }
    if rules.exact_keys && fields.count() != 2 {
        add(FindingKind::ExtraKeys, Action::EndsRun, None, "");
    }
}

fn is_answer(class: Option<Class>) -> bool {
    matches!(class, Some(Class::Assistant | Class::Call))
}

/// Returns true if a turn's text is a call or a list of calls, after any thinking and inside any tags.
fn is_call(literal: &str, rules: &FormRules) -> bool {
    let text = json::decode(literal).0;
    let text = text
        .rsplit_once("</think>")
        .map_or(text.as_ref(), |(_, rest)| rest)
        .trim();
    let inner = text
        .strip_prefix("<tool_call>")
        .and_then(|rest| rest.strip_suffix("</tool_call>"))
        .unwrap_or(text);
    let is_one = |call: &Value| {
        let is_read = rules.broken_arguments == Action::Keep || !has_broken_arguments(call);
        call.get("name").is_some() && call.get("arguments").is_some() && is_read
    };
    match serde_json::from_str::<Value>(inner.trim()) {
        Ok(Value::Array(calls)) => !calls.is_empty() && calls.iter().all(is_one),
        Ok(call) => is_one(&call),
        Err(_) => false,
    }
}
