//! `fastokens`, for byte-pair files that the own engine does not support.
//!
//! It loads more files than it counts exactly, so this module selects the files in which every part is known to be
//! counted as by the reference. The others are left to the reference, which is slower.

use std::panic::catch_unwind;

use serde_json::Value;

use crate::tokens::json::byte_characters;

/// The library, with its version.
pub const FAST_ENGINE: &str = "fastokens 0.3.5";

/// Scripts with the same name and the same letters in both engines.
const SCRIPTS: [&str; 4] = ["Han", "Hangul", "Hiragana", "Katakana"];

/// The engine for a file; `None` if it does not count it exactly. Only the file itself is read: a
/// `tokenizer_config.json` beside it would add tokens that the reference does not know.
pub fn load(file: Value) -> Option<fastokens::Tokenizer> {
    if !is_exact(&file) {
        return None;
    }
    let mut engine = catch_unwind(|| fastokens::Tokenizer::from_json(file))
        .ok()?
        .ok()?;
    engine.set_truncation(None);
    engine.set_padding(None);
    Some(engine)
}

/// Returns true if a file has no part that the engine is known to count differently.
fn is_exact(file: &Value) -> bool {
    let part = |name: &str| file.get(name).unwrap_or(&Value::Null);
    let patterns_are_plain = ["normalizer", "pre_tokenizer"]
        .into_iter()
        .all(|name| has_plain_patterns(part(name)));
    patterns_are_plain
        && merges_only(part("model"), part("pre_tokenizer"))
        && has_plain_tokens(part("added_tokens"))
}

/// Returns true if the model merges bytes, or characters with byte fallback for unknown ones. Other handling of unknown
/// characters, and affixes of words, are counted differently.
fn merges_only(model: &Value, pre_tokenizer: &Value) -> bool {
    let is_absent = |name: &str| match model.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    let has = |token: &str| {
        model
            .get("vocab")
            .is_some_and(|vocabulary| vocabulary.get(token).is_some())
    };
    let has_bytes = || {
        byte_characters()
            .iter()
            .all(|byte| has(byte.encode_utf8(&mut [0; 4])))
    };
    let falls_back = || {
        model.get("byte_fallback") == Some(&Value::Bool(true))
            && (0..=255_u8).all(|byte| has(&format!("<0x{byte:02X}>")))
    };
    ["dropout", "continuing_subword_prefix", "end_of_word_suffix"]
        .into_iter()
        .all(is_absent)
        && (ends_in_bytes(pre_tokenizer) && has_bytes() || falls_back())
}

/// Returns true if the last step of a pre-tokenizer maps bytes to characters.
fn ends_in_bytes(pre_tokenizer: &Value) -> bool {
    let steps = pre_tokenizer.get("pretokenizers").and_then(Value::as_array);
    let last = steps.map_or(Some(pre_tokenizer), |steps| steps.last());
    last.is_some_and(|last| last.get("type").is_some_and(|kind| kind == "ByteLevel"))
}

/// Returns true if no added token must be a whole word and, if one strips white space, none has white space at an end.
fn has_plain_tokens(tokens: &Value) -> bool {
    let tokens = || tokens.as_array().into_iter().flatten();
    let says = |token: &Value, name: &str| token.get(name) == Some(&Value::Bool(true));
    let strips = tokens().any(|token| says(token, "lstrip") || says(token, "rstrip"));
    let has_blanks = |token: &Value| {
        let content = token.get("content").and_then(Value::as_str).unwrap_or_default();
        content.trim().len() < content.len()
    };
    !tokens().any(|token| says(token, "single_word") || strips && has_blanks(token))
}

/// Returns true if all regular expressions in a part of a file mean the same to both engines.
fn has_plain_patterns(part: &Value) -> bool {
    match part {
        Value::Object(fields) => fields.iter().all(|(name, value)| match value {
            Value::String(pattern) if name == "Regex" => is_plain(pattern),
            value => has_plain_patterns(value),
        }),
        Value::Array(parts) => parts.iter().all(has_plain_patterns),
        _ => true,
    }
}

/// Returns true if Oniguruma (used by the reference) and other engines read a regular expression alike. Not so `\w` and
/// `\b`, for which Oniguruma counts `³` as part of a word, nor `$`, which matches at any line end there.
fn is_plain(pattern: &str) -> bool {
    let mut in_class = false;
    let mut before = ' ';
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        let next = rest.clone().next();
        match character {
            '\\' => match rest.next() {
                Some('p' | 'P') => match property(rest.as_str()) {
                    Some(after) => rest = after.chars(),
                    None => return false,
                },
                Some('s' | 'S' | 'r' | 'n' | 't' | 'd' | 'D') => {}
                Some(escaped) if escaped.is_ascii_punctuation() || escaped == ' ' => {}
                _ => return false,
            },
            '[' if in_class => return false,
            '[' => in_class = true,
            ']' => in_class = false,
            '&' if in_class && next == Some('&') => return false,
            '^' if before != '[' => return false,
            '$' if !in_class => return false,
            // A possessive quantifier in one engine, a repeated one in the other.
            '+' if !in_class && matches!(before, '+' | '*' | '?' | '}') => return false,
            '{' if !in_class && next == Some(',') => return false,
            '(' if !in_class && next == Some('?') => {
                let group = rest.as_str();
                if !["?:", "?=", "?!", "?i:"]
                    .iter()
                    .any(|known| group.starts_with(known))
                {
                    return false;
                }
                rest.next();
            }
            _ => {}
        }
        before = character;
    }
    true
}

/// The text after the `{…}` of a general category or a known script; `None` for other properties.
fn property(text: &str) -> Option<&str> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    (name.len() <= 2 || SCRIPTS.contains(&name)).then_some(after)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_that_engines_read_differently_are_told() {
        for plain in [
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+|[\p{Han}]+|\d",
        ] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in [
            r"\w+|[^\w\s]+",
            r"\d{1,3}(?=(?:\d{3})*\b)",
            r"\s+$",
            r"^\s+",
            r"[[:punct:]]",
            r"[\p{L}&&[^\p{Han}]]",
            r"\p{N}{1,3}+",
            r"\p{Punct}",
            r"a{,3}",
            r"(?<=a)b",
            r"(?m:a)",
            "\\",
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }

    #[test]
    fn added_tokens_that_may_take_one_another_s_white_space_are_told() {
        let token = |content: &str, single_word: bool, lstrip: bool| json!({"content": content, "single_word": single_word, "lstrip": lstrip});
        assert!(has_plain_tokens(&Value::Null));
        assert!(has_plain_tokens(&json!([
            token("<a>", false, true),
            token("b c", false, false)
        ])));
        assert!(has_plain_tokens(&json!([token("  ", false, false)])));
        assert!(!has_plain_tokens(&json!([token("<a>", true, false)])));
        assert!(!has_plain_tokens(&json!([
            token("<a>", false, true),
            token("\n\n", false, false)
        ])));
    }
}
