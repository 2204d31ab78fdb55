//! Trajectories made up by proptest, in both formats and with what real ones come with.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The same cases on every run. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` explore others.
pub fn config() -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(seed.unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    }
}

/// One step of a made-up trajectory.
#[derive(Debug, Clone)]
pub enum Step {
    Human(String),
    Assistant(String),
    /// An assistant turn with calls, each with its answer; `answered` of them come back, `apart` in turns of their own.
    Calls {
        text: String,
        calls: Vec<(String, String)>,
        answered: usize,
        apart: bool,
    },
    /// A tool turn that nobody asked for.
    Orphan(String),
    Other(String),
}

/// A made-up record.
#[derive(Debug, Clone)]
pub struct Made {
    pub system: Option<String>,
    pub steps: Vec<Step>,
    pub sharegpt: bool,
    pub compact: bool,
    pub repeat_ids: bool,
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-z]{1,9}",
        1 => "/[a-z]{2,6}/[a-z_]{2,8}\\.(py|rs|md)",
        1 => "[A-Z]{2,3}[0-9]{3,5}",
        1 => "(漢字|данные|données|🙂|\\\\|\"q\"|\n|\t|<b>)",
    ];
    vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    let call = (
        prop_oneof![
            Just("read_file".to_owned()),
            Just("terminal".to_owned()),
            "[a-z]{3,8}"
        ],
        text(),
    );
    prop_oneof![
        2 => text().prop_map(Step::Human),
        2 => text().prop_map(Step::Assistant),
        6 => (text(), vec(call, 1..4), 0..5_usize, any::<bool>())
            .prop_map(|(text, calls, answered, apart)| Step::Calls { text, calls, answered, apart }),
        1 => text().prop_map(Step::Orphan),
        1 => text().prop_map(Step::Other),
    ]
}

/// Any record.
pub fn made() -> impl Strategy<Value = Made> {
    (
        proptest::option::of(text()),
        vec(step(), 0..16),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(system, steps, sharegpt, compact, repeat_ids)| Made {
            system,
            steps,
            sharegpt,
            compact,
            repeat_ids,
        })
}

impl Made {
    /// The record as a line of JSON.
    pub fn line(&self) -> String {
        let mut turns = Vec::new();
        if let Some(system) = &self.system {
            turns.push(self.turn("system", system));
        }
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                Step::Human(text) => turns.push(self.turn("human", text)),
                Step::Assistant(text) => turns.push(self.turn("gpt", text)),
                Step::Other(text) => turns.push(self.turn("exit", text)),
                Step::Orphan(text) => turns.push(self.answer(&[("stray".to_owned(), text.clone())])),
                Step::Calls {
                    text,
                    calls,
                    answered,
                    apart,
                } => self.calls(number, text, calls, *answered, *apart, &mut turns),
            }
        }
        let key = if self.sharegpt {
            "conversations"
        } else {
            "messages"
        };
        let record = json!({"id": "made-1", key: turns, "extra": {"nested": [1, 2.50, null]}, "big": 1e3});
        // Compact or spaced, as data sets are written.
        if self.compact {
            record.to_string()
        } else {
            spaced(&record)
        }
    }

    fn turn(&self, role: &str, text: &str) -> Value {
        if self.sharegpt {
            return json!({"from": role, "value": text});
        }
        let role = match role {
            "human" => "user",
            "gpt" => "assistant",
            role => role,
        };
        if text.len() % 7 == 3 {
            return json!({"role": role, "content": [{"type": "text", "text": text}]});
        }
        json!({"role": role, "content": text, "metadata": {"n": text.len()}})
    }

    fn calls(
        &self,
        number: usize,
        text: &str,
        calls: &[(String, String)],
        answered: usize,
        apart: bool,
        turns: &mut Vec<Value>,
    ) {
        let id = |call: usize| {
            if self.repeat_ids {
                format!("call_{call}")
            } else {
                format!("call_{number}_{call}")
            }
        };
        let answers: Vec<(String, String)> = calls
            .iter()
            .enumerate()
            .take(answered)
            .map(|(call, (_, text))| (id(call), text.clone()))
            .collect();
        if self.sharegpt {
            let blocks = calls.iter().map(|(name, text)| {
                format!(
                    "\n<tool_call>\n{}\n</tool_call>",
                    json!({"name": name, "arguments": {"command": text}})
                )
            });
            turns.push(self.turn("gpt", &format!("{text}{}", blocks.collect::<String>())));
        } else {
            let calls = calls.iter().enumerate().map(|(call, (name, text))| {
                json!({"id": id(call), "type": "function",
                    "function": {"name": name, "arguments": json!({"command": text}).to_string()}})
            });
            let content = if text.is_empty() {
                Value::Null
            } else {
                Value::from(text)
            };
            turns.push(
                json!({"role": "assistant", "content": content, "tool_calls": calls.collect::<Vec<_>>()}),
            );
        }
        if apart || !self.sharegpt {
            turns.extend(
                answers
                    .iter()
                    .map(|answer| self.answer(std::slice::from_ref(answer))),
            );
        } else if !answers.is_empty() {
            turns.push(self.answer(&answers));
        }
    }

    fn answer(&self, answers: &[(String, String)]) -> Value {
        if !self.sharegpt {
            let (id, text) = &answers[0];
            return json!({"role": "tool", "tool_call_id": id, "content": text});
        }
        let blocks = answers.iter().map(|(id, text)| {
            let response = json!({"tool_call_id": id, "name": "terminal", "content": text});
            format!("<tool_response>\n{}\n</tool_response>", spaced(&response))
        });
        self.turn("tool", &blocks.collect::<Vec<_>>().join("\n"))
    }
}

/// JSON with a space after each `:` and `,`, as Python writes it.
fn spaced(value: &Value) -> String {
    struct Spaced;
    impl serde_json::ser::Formatter for Spaced {
        fn begin_object_key<W: std::io::Write + ?Sized>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            if first { Ok(()) } else { writer.write_all(b", ") }
        }
        fn begin_object_value<W: std::io::Write + ?Sized>(&mut self, writer: &mut W) -> std::io::Result<()> {
            writer.write_all(b": ")
        }
        fn begin_array_value<W: std::io::Write + ?Sized>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            if first { Ok(()) } else { writer.write_all(b", ") }
        }
    }
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Spaced);
    serde::Serialize::serialize(value, &mut serializer).unwrap();
    String::from_utf8(text).unwrap()
}
