//! The special tokens of a `tokenizer.json`, read without the rest of the file.

use memchr::memmem;
use serde::Deserialize;

/// The name of the field that lists them.
const FIELD: &[u8] = b"\"added_tokens\"";

#[derive(Deserialize)]
struct AddedTokenEntry {
    content: String,
    #[serde(default)]
    special: bool,
}

/// The added tokens of a file that are special.
pub fn of_json(file: &[u8]) -> Vec<String> {
    let lists = memmem::find_iter(file, FIELD).filter_map(|at| {
        let rest = file.get(at + FIELD.len()..)?.trim_ascii_start();
        let list = rest.strip_prefix(b":")?;
        // The file after the list is not parsed.
        let mut lists = serde_json::Deserializer::from_slice(list).into_iter::<Vec<AddedTokenEntry>>();
        lists.next()?.ok()
    });
    let tokens = lists.flatten().filter(|token| token.special);
    tokens.map(|token| token.content).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_tokens_are_told_from_added_ones_and_from_words() {
        let file = br#"{"version": "1.0", "added_tokens" : [
            {"id": 0, "content": "<|im_end|>", "special": true, "lstrip": false},
            {"id": 1, "content": "<h1>", "special": false}, {"id": 2, "content": "x"}
        ], "model": {"vocab": {"\"added_tokens\"": 3, "a": 4}}}"#;
        assert_eq!(of_json(file), ["<|im_end|>"]);
        assert!(of_json(b"{\"added_tokens\": 7}").is_empty() && of_json(b"").is_empty());
    }
}
