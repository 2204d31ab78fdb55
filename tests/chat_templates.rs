//! Chats rendered by templates, ours and those of the field, against what Python gave for them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use trajfit::tokens::chat_template::ChatTemplate;

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

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/chat_templates")
}

fn read(name: &str) -> String {
    fs::read_to_string(fixtures().join(name)).unwrap()
}

fn chats() -> Vec<Chat> {
    let text = read("chats.jsonl");
    text.split_terminator('\n')
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A folder with a tokenizer of nothing but special tokens, those of the script that made the expectations.
fn bare_tokenizer() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let special = r#"{"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": "<unk>", "pad_token": "<pad>"}"#;
    fs::write(folder.path().join("tokenizer_config.json"), special).unwrap();
    fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    folder
}

fn render(template: &ChatTemplate, chat: &Chat) -> String {
    let tools = chat.tools.as_deref().map(RawValue::get);
    template
        .render(chat.messages.get(), tools)
        .unwrap_or_else(|refusal| format!("!{refusal}"))
}

/// What stands for a long text.
fn digest(text: &str) -> String {
    if text.starts_with('!') {
        return text.to_owned();
    }
    let sum: String = Sha256::digest(text.as_bytes())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{} {sum}", text.chars().count())
}

/// Where Python's engine fails, ours must, in whatever words.
fn is_same(expected: &str, text: &str) -> bool {
    expected == text || (expected == "!" && text.starts_with('!'))
}

#[test]
fn explore() {
    let folder = bare_tokenizer();
    let tokenizer = folder.path().to_str().unwrap();
    let chats = chats();
    let expected: Expected<BTreeMap<String, String>> = serde_json::from_str(&read("expected.json")).unwrap();
    let mut bad = 0;
    let mut n = 0;
    for (name, texts) in &expected.templates {
        let template = ChatTemplate::load(fixtures().join(name).to_str().unwrap(), tokenizer).unwrap();
        for chat in &chats {
            n += 1;
            let text = render(&template, chat);
            let want = &texts[&chat.name];
            if !is_same(want, &text) {
                bad += 1;
                println!("OWN {name} / {}\n  want {want:?}\n  got  {text:?}", chat.name);
            }
        }
    }
    println!("own: {bad} of {n} differ");
    let snippets: Snippets = serde_json::from_str(&read("expected_snippets.json")).unwrap();
    let data = read("snippets.txt").lines().next().unwrap().to_owned();
    let messages = format!("[{{\"role\": \"user\", \"content\": \"\", \"data\": {data}}}]");
    let mut bad = 0;
    for (snippet, want) in &snippets.snippets {
        let path = folder.path().join("x.jinja");
        fs::write(&path, format!("{{%- set d = messages[0].data -%}}{snippet}")).unwrap();
        let text = match ChatTemplate::load(path.to_str().unwrap(), tokenizer) {
            Ok(template) => template
                .render(&messages, None)
                .unwrap_or_else(|e| format!("!{e}")),
            Err(error) => format!("!{error}"),
        };
        if !is_same(want, &text) {
            bad += 1;
            println!("SNIPPET {snippet}\n  want {want:?}\n  got  {text:?}");
        }
    }
    println!("snippets: {bad} of {} differ", snippets.snippets.len());
    let real: Expected<Real> = serde_json::from_str(&read("expected_real.json")).unwrap();
    let (mut bad, mut n, mut failing) = (0, 0, 0);
    for (name, real) in &real.templates {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        let template = match name.strip_prefix("tokenizers/") {
            Some(rest) => ChatTemplate::load("auto", target.join("tokenizers").join(rest).to_str().unwrap()),
            None => ChatTemplate::load(target.join("templates").join(name).to_str().unwrap(), tokenizer),
        };
        let template = match template {
            Ok(t) => t,
            Err(e) => {
                println!("REAL {name}: {e}");
                bad += chats.len();
                continue;
            }
        };
        for (chat, want) in chats.iter().zip(&real.chats) {
            n += 1;
            let text = render(&template, chat);
            if !is_same(want, &digest(&text)) {
                bad += 1;
                if want.starts_with('!') {
                    failing += 1;
                }
                println!(
                    "REAL {name} / {}\n  want {want:?}\n  got  {} {:?}",
                    chat.name,
                    digest(&text),
                    text
                );
            }
        }
        let _ = &real.sha256;
    }
    println!("real: {bad} of {n} differ, {failing} where python refuses");
}
