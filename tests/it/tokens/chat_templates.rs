//! Chats rendered by templates, ours and those of the field, against what Python's `apply_chat_template` gave for them.
//!
//! The expectations are made by `scripts/make_chat_expectations.py`. Templates of the field are those that
//! `scripts/fetch-templates.sh` and `scripts/fetch-tokenizers.sh` fetch into `target/`, or into the folders that
//! `TRAJFIT_TEMPLATES` and `TRAJFIT_TOKENIZERS` name; what is not there is skipped, and a line says so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::fetched::{fetched, part_of};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use trajfit::internals::tokens::chat_template::{ChatTemplate, TemplateError};
use trajfit::internals::trajectory::{self, TemplateArguments};

/// A line of `chats.jsonl`.
#[derive(Deserialize)]
struct Chat {
    name: String,
    messages: Box<RawValue>,
    tools: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Expected<T> {
    templates: BTreeMap<String, T>,
}

#[derive(Deserialize)]
struct Real {
    sha256: String,
    chats: Vec<String>,
}

#[derive(Deserialize)]
struct Snippets {
    snippets: Vec<(String, String)>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixtures() -> PathBuf {
    root().join("fixtures/chat_templates")
}

fn read(name: &str) -> String {
    fs::read_to_string(fixtures().join(name)).unwrap()
}

fn chats() -> Vec<Chat> {
    let text = read("chats.jsonl");
    let lines = text.split_terminator('\n');
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A tokenizer of nothing but special tokens, those of the script that made the expectations.
struct Bare(TempDir);

impl Bare {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let special = r#"{"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": "<unk>", "pad_token": "<pad>"}"#;
        fs::write(folder.path().join("tokenizer_config.json"), special).unwrap();
        fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
        Self(folder)
    }

    fn load(&self, template: &Path) -> Result<Arc<ChatTemplate>, TemplateError> {
        ChatTemplate::load(template.to_str().unwrap(), self.0.path().to_str().unwrap())
    }

    fn compile(&self, source: &str) -> Result<Arc<ChatTemplate>, TemplateError> {
        let path = self.0.path().join("template.jinja");
        fs::write(&path, source).unwrap();
        self.load(&path)
    }
}

fn render(template: &ChatTemplate, chat: &Chat) -> String {
    let tools = chat.tools.as_deref().map(RawValue::get);
    let text = template.render(chat.messages.get(), tools);
    text.unwrap_or_else(|refusal| format!("!{refusal}"))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What stands for a long text.
fn digest(text: &str) -> String {
    if text.starts_with('!') {
        return text.to_owned();
    }
    let sum = sha256(text.as_bytes());
    format!("{} {}", text.chars().count(), &sum[..16])
}

/// Where Python's engine fails, ours must, in whatever words.
fn is_same(expected: &str, text: &str) -> bool {
    expected == text || (expected == "!" && text.starts_with('!'))
}

#[test]
fn our_templates_render_as_python_renders_them() {
    let bare = Bare::new();
    let expected: Expected<BTreeMap<String, String>> = serde_json::from_str(&read("expected.json")).unwrap();
    assert_eq!(expected.templates.len(), 6);
    for (name, texts) in &expected.templates {
        let template = bare.load(&fixtures().join(name)).unwrap();
        for chat in chats() {
            let (text, wanted) = (render(&template, &chat), &texts[&chat.name]);
            assert!(
                is_same(wanted, &text),
                "{name}, {}:\n{text}\ninstead of\n{wanted}",
                chat.name
            );
        }
    }
}

#[test]
fn what_templates_are_made_of_means_what_it_means_in_python() {
    let bare = Bare::new();
    let snippets = read("snippets.txt");
    let data = snippets.lines().next().unwrap();
    let messages = format!(r#"[{{"role": "user", "content": "", "data": {data}}}]"#);
    let expected: Snippets = serde_json::from_str(&read("expected_snippets.json")).unwrap();
    assert_eq!(expected.snippets.len(), snippets.lines().count() - 1);
    for (snippet, wanted) in &expected.snippets {
        let template = bare.compile(&format!("{{%- set d = messages[0].data -%}}{snippet}"));
        let text = match template {
            Ok(template) => template
                .render(&messages, None)
                .unwrap_or_else(|refusal| format!("!{refusal}")),
            Err(error) => format!("!{error}"),
        };
        assert!(
            is_same(wanted, &text),
            "{snippet}\n{text:?}\ninstead of\n{wanted:?}"
        );
    }
}

#[test]
fn templates_of_the_field_render_as_python_renders_them() {
    let bare = Bare::new();
    let folders = (
        fetched("TRAJFIT_TEMPLATES", "templates"),
        fetched("TRAJFIT_TOKENIZERS", "tokenizers"),
    );
    let chats = chats();
    let expected: Expected<Real> = serde_json::from_str(&read("expected_real.json")).unwrap();
    for (name, real) in &expected.templates {
        let (source, template) = match (name.strip_prefix("tokenizers/"), &folders) {
            (Some(name), (_, Some(folder))) => {
                let (name, part) = name.split_once('#').unwrap_or((name, ""));
                let folder = folder.join(name);
                let config = folder.join("tokenizer_config.json");
                let template = match part {
                    "" => ChatTemplate::load("auto", folder.to_str().unwrap()),
                    part => bare.compile(&part_of(&config, part)),
                };
                (config, template)
            }
            (None, (Some(folder), _)) => (folder.join(name), bare.load(&folder.join(name))),
            _ => continue,
        };
        let sum = sha256(&fs::read(&source).unwrap());
        assert_eq!(
            sum,
            real.sha256,
            "{} is not the version of the expectations",
            source.display()
        );
        let template = template.unwrap();
        assert_eq!(real.chats.len(), chats.len());
        for (chat, wanted) in chats.iter().zip(&real.chats) {
            let text = render(&template, chat);
            assert!(
                is_same(wanted, &digest(&text)),
                "{name}, {}: not {wanted}:\n{text}",
                chat.name
            );
        }
    }
}

/// The text of a record as a template renders it.
fn rendered(record: &str, template: &ChatTemplate) -> String {
    let record = trajectory::parse(record.as_bytes(), None).unwrap();
    let chat = trajectory::chat(&record, TemplateArguments::Parsed).unwrap();
    template.render(&chat.messages, chat.tools.as_deref()).unwrap()
}

#[test]
fn a_record_of_either_format_renders_as_the_same_chat() {
    let bare = Bare::new();
    let sharegpt = r#"{"system": "Be brief.", "tools": "[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]",
        "conversations": [{"from": "human", "value": "Hi"},
        {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1.50}}"},
        {"from": "observation", "value": "7"}, {"from": "gpt", "value": "Seven."}]}"#;
    let messages = r#"{"tools": [{"type": "function", "function": {"name": "f"}}],
        "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.50}"}}]},
        {"role": "function", "content": "7"}, {"role": "assistant", "content": "Seven."}]}"#;
    for name in [
        "chatml_tools.jinja",
        "header_bos.jinja",
        "parts.jinja",
        "thinking.jinja",
    ] {
        let template = bare.load(&fixtures().join(name)).unwrap();
        assert_eq!(
            rendered(sharegpt, &template),
            rendered(messages, &template),
            "{name}"
        );
    }
}

#[test]
fn a_template_without_end_is_a_refusal() {
    let bare = Bare::new();
    for source in [
        "{% for i in range(5000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(n) %}{% for x in [n] recursive %}{{ loop([x]) }}{% endfor %}{% endmacro %}{{ m(1) }}",
    ] {
        let template = bare.compile(source).unwrap();
        assert!(
            template
                .render(r#"[{"role": "user", "content": ""}]"#, None)
                .is_err(),
            "{source}"
        );
    }
}

#[test]
fn a_template_beyond_all_bounds_is_an_error_or_a_text() {
    let bare = Bare::new();
    let (many, deep) = (100_000, 2000);
    for source in [
        format!("{{{{ {}1{} }}}}", "(".repeat(many), ")".repeat(many)),
        format!("{{{{ {}1{} }}}}", "[".repeat(many), "]".repeat(many)),
        format!("{{{{ x{} }}}}", "[1:".repeat(many)),
        format!("{{{{ messages{} }}}}", "[0:]".repeat(deep)),
        "{% if x %}".repeat(many),
        "{{".repeat(many),
        "{%".repeat(many),
        "{% raw %}".repeat(many),
        format!("{{{{ {} }}}}", "not ".repeat(many)),
        format!("{{{{ {}1 }}}}", "-".repeat(many)),
    ] {
        if let Ok(template) = bare.compile(&source) {
            let _ = template.render(r#"[{"role": "user", "content": ""}]"#, None);
        }
    }
}

#[test]
fn values_that_hold_themselves_or_lie_deep_have_an_end() {
    let tower = "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}";
    let circle = "{% set ns = namespace() %}{% set ns.one = ns %}{% set ns.two = ns %}{{ ns }}";
    for (source, end) in [
        (format!("{tower}{{{{ ns.x }}}}"), "deeper"),
        (format!("{tower}{{{{ ns.x|tojson }}}}"), "deeper"),
        (circle.into(), "deeper"),
    ] {
        let template = Bare::new().compile(&source).unwrap();
        assert!(render(&template, &chats()[0]).contains(end), "{source}");
    }
}

#[test]
fn what_is_no_chat_is_a_refusal_that_says_why() {
    let template = Bare::new().load(&fixtures().join("chatml_tools.jinja")).unwrap();
    let refusal = |messages: &str, tools: Option<&str>| template.render(messages, tools).unwrap_err().message;
    assert_eq!(refusal("[]", None), "there is no message");
    assert_eq!(refusal("[7]", None), "a message is no object");
    assert_eq!(refusal("{}", None), "the messages are no list");
    assert_eq!(refusal("[{]", None), "the messages are no JSON");
    assert_eq!(refusal("[{}] x", None), "the messages are no JSON");
    assert_eq!(refusal("[{}]", Some("[1]")), "a tool is no object");
    let surrogate = r#"[{"role": "user", "content": "\ud800"}]"#;
    assert!(refusal(surrogate, None).contains("surrogate"));
    let deep = format!(
        r#"[{{"role": "user", "content": {}{}}}]"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(refusal(&deep, None), "the messages are nested too deep");
}

/// Any JSON that a message may hold, with the names that templates look for.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let name = || {
        prop::sample::select(vec![
            "role",
            "content",
            "type",
            "text",
            "function",
            "name",
            "arguments",
            "items",
            "x",
        ])
    };
    let text = prop::sample::select(vec![
        "",
        "user",
        "assistant",
        "tool",
        "system",
        "</think>",
        "é\u{200b}\n",
        "function",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        // What is read back must be exact, and serde_json's reader is for few digits only.
        any::<i32>().prop_map(|number| (f64::from(number) / 16.0).into()),
        text.prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((name(), inner), 0..5).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_chat_has_an_end(
        messages in prop::collection::vec(prop::collection::vec((prop::sample::select(
            vec!["role", "role", "content", "tool_calls", "reasoning_content", "name"]), json()), 0..5), 0..5),
        tools in prop::option::of(prop::collection::vec(json(), 0..3)),
    ) {
        let bare = Bare::new();
        let messages: Vec<serde_json::Map<String, serde_json::Value>> = messages
            .into_iter()
            .map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            .collect();
        let (messages, tools) = (serde_json::to_string(&messages).unwrap(), tools.map(|tools| serde_json::to_string(&tools).unwrap()));
        for name in ["chatml_tools", "header_bos", "parts", "schemas", "strict_alternation", "thinking"] {
            let template = bare.load(&fixtures().join(format!("{name}.jinja"))).unwrap();
            if let Err(refusal) = template.render(&messages, tools.as_deref()) {
                prop_assert_ne!(refusal.message, "the template engine failed", "{}", name);
            }
        }
    }

    #[test]
    fn json_comes_through_a_template_unchanged(value in json()) {
        let template = Bare::new().compile("{{ messages[0].x | tojson }}|{{ messages[0].x | tojson(indent=2) }}").unwrap();
        let text = template.render(&format!(r#"[{{"x": [{value}]}}]"#), None).unwrap();
        for text in text.split('|') {
            let back: serde_json::Value = serde_json::from_str(text).unwrap();
            prop_assert_eq!(&back[0], &value);
        }
    }

    #[test]
    fn any_bytes_are_a_chat_or_refused(text in r#"[\[\]{}",:\\u0-9a-e .tfn-]{0,40}"#) {
        let template = Bare::new().compile("{{ messages | tojson }}").unwrap();
        let _ = template.render(&text, Some(&text));
        let messages = format!("[{{\"x\": {text}}}]");
        let is_json = serde_json::from_str::<serde_json::Value>(&messages).is_ok();
        prop_assert!(!is_json || template.render(&messages, None).is_ok());
    }
}
