//! The special tokens that templates may use: `bos_token` and the like, from the files beside a tokenizer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use minijinja::Value;
use serde_json::Value as Json;

/// Fields that hold more tokens by name.
const NAMED: [&str; 2] = ["extra_special_tokens", "model_specific_special_tokens"];

/// The special tokens of a tokenizer's folder, from `tokenizer_config.json` or else from `special_tokens_map.json`.
pub fn special_tokens(folder: &Path) -> Vec<(String, Value)> {
    let mut tokens = BTreeMap::new();
    for file in ["tokenizer_config.json", "special_tokens_map.json"] {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let fields: Json = serde_json::from_str(&text).unwrap_or_default();
        for (name, value) in fields.as_object().into_iter().flatten() {
            if name.ends_with("_token") {
                add(&mut tokens, name, value);
            } else if NAMED.contains(&name.as_str()) {
                for (name, value) in value.as_object().into_iter().flatten() {
                    add(&mut tokens, name, value);
                }
            }
        }
    }
    tokens.into_iter().collect()
}

/// Adds a token, which is a text or an object with one.
fn add(tokens: &mut BTreeMap<String, Value>, name: &str, value: &Json) {
    let token = value.as_str().or_else(|| value.get("content")?.as_str());
    if let Some(token) = token {
        tokens
            .entry(name.to_owned())
            .or_insert_with(|| Value::from(token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_texts_or_objects_and_the_configuration_s_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "tokenizer_config.json",
            r#"{"bos_token": {"content": "<s>"}, "add_bos_token": true, "pad_token": null,
                "image_token": "<image>", "extra_special_tokens": {"think_start": "<think>"}, "token": "x"}"#,
        );
        write(
            "special_tokens_map.json",
            r#"{"bos_token": "<other>", "pad_token": "<pad>"}"#,
        );
        let tokens = special_tokens(folder.path());
        let tokens: Vec<(&str, &str)> = tokens
            .iter()
            .map(|(name, token)| (name.as_str(), token.as_str().unwrap()))
            .collect();
        let expected = [
            ("bos_token", "<s>"),
            ("image_token", "<image>"),
            ("pad_token", "<pad>"),
            ("think_start", "<think>"),
        ];
        assert_eq!(tokens, expected);
    }
}
