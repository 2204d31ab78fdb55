//! What content parts cost: what a model reads of them, so that one conversation costs the same in every form.

use crate::support::structure::{chat, result, said, text, uses};
use crate::support::{counter, real_data};
use proptest::prelude::*;
use serde_json::{Value, json};
use trajfit::internals::fit::TurnCounter;

/// What the turns of a record cost.
fn tokens(record: &str) -> usize {
    let record = trajfit::internals::trajectory::parse(record.as_bytes(), None).unwrap();
    let counter = counter();
    let mut counter = TurnCounter::new(counter.as_ref(), 1500);
    record.turns.iter().map(|turn| counter.turn(turn).tokens()).sum()
}

/// A thought, a text, and commands with their outputs.
type Step = (String, String, Vec<(String, String)>);

/// One conversation: a person's words and the steps that follow.
struct Conversation<'c> {
    asked: &'c str,
    steps: &'c [Step],
}

impl Conversation<'_> {
    /// The record that has a turn for each of these.
    fn record(
        &self,
        said: impl Fn(&str) -> Value,
        step: impl Fn(usize, &str, &str, &[(String, String)]) -> Vec<Value>,
    ) -> Value {
        let steps = self.steps.iter().enumerate();
        let steps = steps.flat_map(|(number, (thought, text, calls))| step(number, thought, text, calls));
        chat(&std::iter::once(said(self.asked)).chain(steps).collect::<Vec<_>>())
    }

    /// Calls and results among the parts, as Claude Code writes them.
    fn in_parts(&self) -> Value {
        let cached = |mut part: Value| {
            part["cache_control"] = json!({"type": "ephemeral"});
            part
        };
        self.record(
            |asked| said("user", &[cached(text(asked))]),
            |number, thought, words, calls| {
                let id = |call: usize| format!("toolu_01MGqJNAucDoKPyZKrz{number}{call}");
                let mut parts = vec![
                    json!({"type": "thinking", "thinking": thought, "signature": "EqQCCkYICBgCKkD".repeat(20)}),
                    json!({"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix".repeat(20)}),
                    text(words),
                ];
                let places = calls.iter().enumerate();
                parts.extend(places.clone().map(|(call, (command, _))| cached(uses(&id(call), command))));
                let results = places.map(|(call, (_, output))| cached(result(&id(call), &json!([text(output)]))));
                vec![said("assistant", &parts), said("user", &results.collect::<Vec<_>>())]
            },
        )
    }

    /// Calls in fields, and a turn for each result.
    fn in_fields(&self) -> Value {
        self.record(
            |asked| json!({"role": "user", "content": asked}),
            |_, thought, words, calls| {
                let arguments = |command: &str| json!({"command": command}).to_string();
                let asked = calls.iter().map(
                    |(command, _)| json!({"id": "a", "function": {"name": "bash", "arguments": arguments(command)}}),
                );
                let asked: Vec<Value> = asked.collect();
                let turn = json!({"role": "assistant", "reasoning_content": thought, "content": words, "tool_calls": asked});
                let results = calls.iter().map(|(_, output)| json!({"role": "tool", "tool_call_id": "a", "content": output}));
                std::iter::once(turn).chain(results).collect()
            },
        )
    }

    /// As pi writes them.
    fn of_pi(&self) -> Value {
        self.record(
            |asked| said("user", &[text(asked)]),
            |number, thought, words, calls| {
                let id = |call: usize| format!("toolu_01MGqJNAucDoKPyZKrz{number}{call}");
                let mut parts = vec![
                    json!({"type": "thinking", "thinking": thought, "thinkingSignature": "EqQCCkYICBgCKkD".repeat(20)}),
                    text(words),
                ];
                parts.extend(calls.iter().enumerate().map(|(call, (command, _))| {
                    json!({"type": "toolCall", "id": id(call), "name": "bash", "arguments": {"command": command}, "partialJson": "{"})
                }));
                let results = calls.iter().enumerate().map(|(call, (_, output))| {
                    json!({"role": "toolResult", "toolCallId": id(call), "toolName": "bash", "content": [text(output)], "isError": false})
                });
                std::iter::once(said("assistant", &parts)).chain(results).collect()
            },
        )
    }

    /// Texts of the kinds of the Responses API, and its calls and outputs.
    fn of_responses(&self) -> Value {
        self.record(
            |asked| said("user", &[json!({"type": "input_text", "text": asked})]),
            |_, thought, words, calls| {
                let mut parts = vec![
                    json!({"type": "reasoning", "text": thought, "encrypted_content": "gAAAAAB".repeat(50)}),
                    json!({"type": "output_text", "text": words, "annotations": []}),
                ];
                parts.extend(calls.iter().map(|(command, _)| {
                    json!({"type": "function_call", "id": "fc_68", "call_id": "call_9", "name": "bash", "arguments": json!({"command": command}).to_string()})
                }));
                let results = calls.iter().map(|(_, output)| {
                    said("tool", &[json!({"type": "function_call_output", "call_id": "call_9", "output": output})])
                });
                std::iter::once(said("assistant", &parts)).chain(results).collect()
            },
        )
    }

    /// As tagged text, with what its syntax may cost.
    fn tagged(&self) -> (Value, usize) {
        let call = |command: &str| {
            format!(
                "\n<tool_call>\n{{\"name\": \"bash\", \"arguments\": {}}}\n</tool_call>",
                json!({"command": command})
            )
        };
        let response = |output: &str| format!("<tool_response>\n{output}\n</tool_response>");
        let mut turns = vec![json!({"from": "human", "value": self.asked})];
        let mut syntax = 0;
        for (thought, words, calls) in self.steps {
            let asked: String = calls.iter().map(|(command, _)| call(command)).collect();
            turns.push(
                json!({"from": "gpt", "value": format!("<think>\n{thought}\n</think>\n{words}{asked}")}),
            );
            turns.extend(
                calls
                    .iter()
                    .map(|(_, output)| json!({"from": "tool", "value": response(output)})),
            );
            let bare = "\n<tool_call>\n{\"name\": \"\", \"arguments\": }\n</tool_call><tool_response>\n\n</tool_response>";
            syntax += counter().count("<think>\n\n</think>\n") + calls.len() * counter().count(bare);
            // Where texts meet syntax a token may be cut in two.
            syntax += 4 + 6 * calls.len();
        }
        (json!({"conversations": turns}), syntax)
    }
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn one_conversation_costs_the_same_in_every_form(
        asked in "[a-zA-Z ,.é]{1,80}",
        steps in prop::collection::vec(
            ("[a-z ]{1,60}", "[a-zA-Z .]{1,60}", prop::collection::vec(("[a-z ./|\"-]{1,40}", "[a-z0-9 \n{}]{1,200}"), 1..4)),
            1..5,
        ),
    ) {
        let conversation = Conversation { asked: &asked, steps: &steps };
        let cost = tokens(&conversation.in_fields().to_string());
        for other in [conversation.in_parts(), conversation.of_pi(), conversation.of_responses()] {
            prop_assert_eq!(tokens(&other.to_string()), cost, "{}", other);
        }
        let (tagged, syntax) = conversation.tagged();
        let tagged = tokens(&tagged.to_string());
        prop_assert!((cost..=cost + syntax).contains(&tagged), "{tagged} of {cost} and {syntax}");
    }
}

/// A turn of parts with its calls, thoughts and results in fields.
fn with_fields(turn: &Value) -> Vec<Value> {
    let texts = |content: &Value| match content.as_array() {
        Some(parts) => parts
            .iter()
            .map(|part| text(part["text"].as_str().unwrap()))
            .collect(),
        None => vec![text(content.as_str().unwrap_or_default())],
    };
    let mut new = json!({"role": turn["role"], "content": [], "tool_calls": []});
    let mut results = Vec::new();
    for part in turn["content"].as_array().into_iter().flatten() {
        match part["type"].as_str().unwrap() {
            "thinking" if new["reasoning_content"].is_null() => {
                new["reasoning_content"] = part["thinking"].clone();
            }
            "thinking" => {
                let thought = text(part["thinking"].as_str().unwrap());
                new["content"].as_array_mut().unwrap().push(thought);
            }
            "tool_use" | "toolCall" => {
                let arguments = part.get("input").unwrap_or(&part["arguments"]);
                let call = json!({"function": {"name": part["name"], "arguments": arguments}});
                new["tool_calls"].as_array_mut().unwrap().push(call);
            }
            "tool_result" => results.push(json!({"role": "tool", "content": texts(&part["content"])})),
            "text" => new["content"].as_array_mut().unwrap().push(part.clone()),
            other => panic!("{other}"),
        }
    }
    if new["content"] == json!([]) && turn["content"] != json!([]) {
        new["content"] = turn["content"].as_str().into();
    }
    results.insert(0, new);
    results
}

#[test]
fn real_sessions_cost_the_same_with_their_calls_in_fields() {
    let Some(folder) = real_data() else { return };
    for file in ["messages_claude_code.jsonl", "messages_pi_native.jsonl"] {
        let records = std::fs::read_to_string(folder.join(file)).unwrap();
        for record in records.lines() {
            let record: Value = serde_json::from_str(record).unwrap();
            let turns = record["messages"].as_array().unwrap();
            let fields = chat(&turns.iter().flat_map(with_fields).collect::<Vec<_>>());
            assert_eq!(
                tokens(&record.to_string()),
                tokens(&fields.to_string()),
                "{}",
                record["id"]
            );
        }
    }
}
