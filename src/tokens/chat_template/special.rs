//! The special tokens that templates may name: `bos_token` and the like, from the files beside a tokenizer.

use std::fs;
use std::path::Path;

use minijinja::Value;
use serde_json::Value as Json;

/// Tokens that every tokenizer may name. Others count if they end as these do.
const STANDARD: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The tokens that a tokenizer's folder names, in `tokenizer_config.json` or else in `special_tokens_map.json`.
pub fn special_tokens(folder: &Path) -> Vec<(String, Value)> {
    let mut tokens: Vec<(String, Value)> = Vec::new();
    for file in ["tokenizer_config.json", "special_tokens_map.json"] {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let Ok(Json::Object(fields)) = serde_json::from_str(&text) else {
            continue;
        };
        for (name, value) in &fields {
            let is_token = STANDARD.contains(&name.as_str()) || name.ends_with("_token");
            let token = value.as_str().or_else(|| value.get("content")?.as_str());
            let known = tokens.iter().any(|(known, _)| known == name);
            if let (true, Some(token), false) = (is_token, token, known) {
                tokens.push((name.clone(), Value::from(token)));
            }
        }
    }
    tokens
}
