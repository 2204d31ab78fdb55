//! Chat templates of a few lines, fitters that count by them, a run in which the model thinks, and one whose steps have names.

use std::sync::Arc;

use serde_json::json;
use trajfit::internals::fit::{CountMode, FitSettings, Fitter};
use trajfit::internals::tokens::chat_template::ChatTemplate;

use super::fitter;

/// In the manner of models that think: what was thought before the last thing that a person said is dropped.
pub const THINKING: &str = "\
{%- set ns = namespace(last=-1) %}
{%- for message in messages %}
{%- if message.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' and message.reasoning_content and loop.index0 > ns.last %}
{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}
{%- endif %}
{%- if message.content is string %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}";

/// In the manner of models that know two roles, in turns.
pub const STRICT: &str = "\
{%- for message in messages if message.role != 'system' %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- message.role + ': ' + message.content + '\\n' }}
{%- endfor %}";

pub fn template(text: &str) -> Arc<ChatTemplate> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat_template.jinja");
    std::fs::write(&path, text).unwrap();
    ChatTemplate::load(path.to_str().unwrap(), "o200k_base").unwrap()
}

pub fn rendered_fitter(text: &str, settings: FitSettings) -> Fitter {
    Fitter {
        template: Some(template(text)),
        ..fitter(FitSettings {
            count: CountMode::Rendered,
            ..settings
        })
    }
}

pub fn words(count: usize, word: &str) -> String {
    vec![word; count].join(" ")
}

/// One question, and steps in which the model thinks, calls a tool and reads its answer.
pub fn thinking_run(steps: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": "Please mend the build."}),
    ];
    for step in 0..steps {
        let id = format!("call_{step}");
        messages.push(json!({
            "role": "assistant", "content": format!("Step {step}."), "reasoning_content": words(30, "thinking"),
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "run", "arguments": "{\"step\": 1}"}}],
        }));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": words(60, "output")}));
    }
    messages
        .push(json!({"role": "assistant", "content": "Done.", "reasoning_content": words(20, "finally")}));
    json!({"messages": messages}).to_string()
}

/// A run of steps, each with a word of its own in its call and its answer.
pub fn named_steps(steps: usize) -> String {
    let mut turns =
        vec![r#"{"role": "user", "content": "Mend the parser in src/base_start.rs."}"#.to_owned()];
    for step in 0..steps {
        let filler = format!("a line of src/read_{step}.rs and of tests/case_{step}.rs that says no more; ")
            .repeat(12);
        turns.push(format!(
            r#"{{"role": "assistant", "content": "Now src/made_{step}.rs.", "tool_calls": [{{"id": "c{step}", "type": "function", "function": {{"name": "bash", "arguments": "{{\"command\": \"cat src/read_{step}.rs\"}}"}}}}]}}"#
        ));
        turns.push(format!(
            r#"{{"role": "tool", "tool_call_id": "c{step}", "content": "{filler}"}}"#
        ));
    }
    format!(r#"{{"id": 7, "messages": [{}]}}"#, turns.join(", "))
}
