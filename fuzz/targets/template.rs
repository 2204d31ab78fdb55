//! Chat templates: any text gives a template that renders within its bounds, or an error.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trajfit::fuzzing::ChatTemplate;

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("trajfit-fuzz-{}.jinja", std::process::id())));

const MESSAGES: &str = r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": {"at": 1}}}]},
    {"role": "tool", "tool_call_id": "a", "content": "nothing"}, {"role": "assistant", "content": "So."}]"#;

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "look", "parameters": {}}}]"#;

fuzz_target!(|template: &str| {
    fs::write(&*FILE, template).expect("the file can be written");
    if let Ok(template) = ChatTemplate::load(&FILE.to_string_lossy(), "o200k_base") {
        let _ = template.render(MESSAGES, None);
        let _ = template.render(MESSAGES, Some(TOOLS));
    }
});
