//! Measures one record: tokens of its turns, by role, and of the chat that a template renders.

use std::sync::Arc;

use super::TurnCounter;
use super::rendered::Rendered;
use crate::metrics::{Measure, Parts};
use crate::tokens::TokenCounter;
use crate::tokens::chat_template::ChatTemplate;
use crate::trajectory::{self, Format, ParseError, Record, Role, TemplateArguments};

/// Measures records.
pub struct Measurer {
    /// The user's tokenizer.
    pub counter: Arc<dyn TokenCounter>,
    /// The chat template of the model to be trained, where rendered counts are wanted.
    pub template: Option<Arc<ChatTemplate>>,
    /// The form in which the template gets the arguments of tool calls.
    pub template_arguments: TemplateArguments,
    /// The tokens charged for an image.
    pub image_tokens: usize,
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
}

impl Measurer {
    /// Measures one record, given as the bytes of one JSON object. The pipeline fills in its line.
    pub fn measure(&self, bytes: &[u8]) -> Result<Measure, ParseError> {
        let record = trajectory::parse(bytes, self.format)?;
        let mut counter = TurnCounter::new(self.counter.as_ref(), self.image_tokens);
        let system = counter.extra(&record) as u64;
        let mut parts = Parts {
            system,
            tools: counter.tools(&record) as u64,
            ..Parts::default()
        };
        let mut tokens = system;
        let mut turn_tokens = Vec::with_capacity(record.turns.len());
        for turn in &record.turns {
            let cost = counter.turn(turn).tokens() as u64;
            tokens += cost;
            *part_of(&mut parts, turn.role) += cost;
            turn_tokens.push(cost);
        }
        let id = record.id.map(|id| trajectory::json::decode(id).0.into_owned());
        Ok(Measure {
            line: 0,
            id: id.unwrap_or_default(),
            format: record.format.name(),
            tokens,
            rendered: self.rendered(&record),
            turn_tokens,
            parts,
        })
    }

    /// Returns the tokens as the chat template renders the record, or the reason of its refusal; `None` without one.
    fn rendered(&self, record: &Record<'_>) -> Option<Result<u64, String>> {
        let template = self.template.as_deref()?;
        let (arguments, images) = (self.template_arguments, self.image_tokens);
        let rendered = Rendered::of(record, template, arguments, self.counter.as_ref(), images);
        Some(rendered.map(|rendered| rendered.tokens as u64))
    }
}

fn part_of(parts: &mut Parts, role: Role) -> &mut u64 {
    match role {
        Role::System => &mut parts.system,
        Role::Human => &mut parts.human,
        Role::Assistant => &mut parts.assistant,
        Role::Tool => &mut parts.tool_output,
        Role::Other => &mut parts.other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::words::WordCounter;

    fn measure(record: &str) -> Result<Measure, ParseError> {
        let measurer = Measurer {
            counter: Arc::new(WordCounter::new()),
            template: None,
            template_arguments: TemplateArguments::AsWritten,
            image_tokens: 100,
            format: None,
        };
        measurer.measure(record.as_bytes())
    }

    #[test]
    fn every_token_belongs_to_a_part_and_tools_are_beside_the_sum() {
        let record = r#"{"id": 7, "system": "be brief now", "tools": [ {"name": "f"} ], "messages": [
            {"role": "system", "content": "one"}, {"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "a b"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{ }"}}]},
            {"role": "tool", "content": "x y z"}, {"role": "critic", "content": "hm"}]}"#;
        let measure = measure(record).unwrap();
        let expected = Parts {
            system: 4,
            tools: 4,
            tool_output: 3,
            assistant: 3,
            human: 102,
            other: 1,
        };
        assert_eq!(measure.parts, expected);
        assert_eq!(measure.turn_tokens, [1, 102, 3, 3, 1]);
        assert_eq!(
            (measure.tokens, measure.id.as_str(), measure.format),
            (113, "7", "messages")
        );
        assert_eq!(measure.rendered, None);
    }

    #[test]
    fn tools_written_as_a_string_cost_what_the_string_says() {
        let record = r#"{"tools": "[ {\"name\": \"f\"} ]", "conversations": []}"#;
        assert_eq!(measure(record).unwrap().parts.tools, 4);
        assert_eq!(
            measure(r#"{"tools": null, "conversations": []}"#)
                .unwrap()
                .parts
                .tools,
            0
        );
    }

    #[test]
    fn what_holds_no_trajectory_is_an_error() {
        assert_eq!(measure(r#"{"text": "a b"}"#).unwrap_err().code(), "no_trajectory");
        let deep = format!(
            r#"{{"tools": {}{}, "conversations": []}}"#,
            "[".repeat(300),
            "]".repeat(300)
        );
        assert_eq!(measure(&deep).unwrap_err(), ParseError::TooDeep);
    }
}
