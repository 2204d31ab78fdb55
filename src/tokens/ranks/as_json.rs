//! Conversion of a rank file to an equivalent `tokenizer.json`, for the reference.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::known::SplitPattern;
use crate::tokens::json::byte_characters;
use crate::tokens::probe;

/// Maximum length of tokens that are part of a piece of the probe text, in bytes.
const LONGEST: usize = 48;

/// The file in which every pair that makes a token is a merge, in the order of the tokens, as written by the converter
/// of the `transformers` library.
pub fn as_json(tokens: &[Box<[u8]>], pattern: &SplitPattern, special: &[String]) -> Vec<u8> {
    let characters = byte_characters();
    let text = |bytes: &[u8]| -> String {
        let character = |byte: &u8| characters.get(usize::from(*byte));
        bytes.iter().filter_map(character).collect()
    };
    let ranks: FxHashMap<&[u8], usize> = tokens.iter().map(AsRef::as_ref).zip(0..).collect();
    let mut merges = Vec::new();
    for token in tokens {
        let splits = (1..token.len()).filter_map(|cut| token.split_at_checked(cut));
        let mut known: Vec<_> = splits
            .filter_map(|(left, right)| Some(((ranks.get(left)?, ranks.get(right)?), (left, right))))
            .collect();
        known.sort_unstable_by_key(|(ranks, _)| *ranks);
        merges.extend(
            known
                .into_iter()
                .map(|(_, (left, right))| json!([text(left), text(right)])),
        );
    }
    let vocabulary: Map<String, Value> = tokens
        .iter()
        .map(|token| text(token))
        .zip((0..).map(Value::from))
        .collect();
    let added = |(id, content): (usize, &String)| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    let file = json!({
        "version": "1.0",
        "added_tokens": (tokens.len()..).zip(special).map(added).collect::<Vec<_>>(),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern.regex}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        ]},
        "model": {"type": "BPE", "ignore_merges": true, "vocab": vocabulary, "merges": merges},
    });
    file.to_string().into_bytes()
}

/// The probe text, and the reference's count of it with only the tokens that are part of it.
pub fn expected(tokens: &[Box<[u8]>], pattern: &SplitPattern, special: &[String]) -> (String, Option<usize>) {
    let text = probe::text(&special.iter().map(String::as_str).collect::<Vec<_>>());
    let mut parts: FxHashSet<&[u8]> = FxHashSet::default();
    for start in 0..text.len() {
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        parts.extend((1..=LONGEST.min(rest.len())).filter_map(|length| rest.get(..length)));
    }
    let is_part = |token: &[u8]| token.len() == 1 || parts.contains(token);
    let few: Vec<Box<[u8]>> = tokens.iter().filter(|token| is_part(token)).cloned().collect();
    let reference = tokenizers::Tokenizer::from_bytes(as_json(&few, pattern, special)).ok();
    let tokens =
        reference.and_then(|reference| Some(reference.encode_fast(text.as_str(), false).ok()?.len()));
    (text, tokens)
}
