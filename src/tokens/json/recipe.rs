//! The steps that a file applies to a text before its model, if all of them are known.

use serde_json::{Map, Value};

use crate::tokens::bpe::{Pattern, SPACE};

/// The split pattern of `cl100k_base`.
pub const CL100K: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The split pattern of `o200k_base`.
pub const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DEEPSEEK_V3: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
];

/// Returns true if a normalizer applies form C, false if it changes nothing; `None` for another one.
pub fn composes(normalizer: &Value) -> Option<bool> {
    if normalizer.is_null() {
        return Some(false);
    }
    let (kind, fields) = typed(normalizer)?;
    match kind {
        "NFC" => Some(true),
        "Sequence" => fields
            .get("normalizers")?
            .as_array()?
            .iter()
            .try_fold(false, |composed, normalizer| {
                Some(composed | composes(normalizer)?)
            }),
        _ => None,
    }
}

/// For a normalizer that writes `▁` for spaces: true if it also puts `▁` before a text; `None` for another normalizer.
pub fn spaces(normalizer: &Value) -> Option<bool> {
    let (kind, fields) = typed(normalizer)?;
    let space = |name: &str| fields.get(name).is_some_and(|text| *text == SPACE.to_string());
    match kind {
        "Replace" => (space("content") && is_space(fields)).then_some(false),
        "Sequence" => match fields.get("normalizers")?.as_array()?.as_slice() {
            [one] => spaces(one),
            [first, second] => {
                let (kind, fields) = typed(first)?;
                let prepends = kind == "Prepend"
                    && fields
                        .get("prepend")
                        .is_some_and(|text| *text == SPACE.to_string())
                    && !spaces(second)?;
                prepends.then_some(true)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if a pre-tokenizer splits at spaces or not at all.
pub fn splits_at_spaces_only(pre_tokenizer: &Value) -> bool {
    pre_tokenizer.is_null()
        || typed(pre_tokenizer).is_some_and(|(kind, fields)| {
            kind == "Split" && is_space(fields) && fields.get("invert") == Some(&Value::Bool(false))
        })
}

/// Returns true if a part's pattern is a space.
fn is_space(fields: &Map<String, Value>) -> bool {
    let pattern = fields.get("pattern").and_then(Value::as_object);
    pattern.is_some_and(|pattern| pattern.len() == 1 && pattern.get("String").is_some_and(|text| text == " "))
}

/// The split pattern of a pre-tokenizer that ends in bytes; `None` for another one.
pub fn pattern(pre_tokenizer: &Value) -> Option<Pattern> {
    let (kind, fields) = typed(pre_tokenizer)?;
    if kind == "ByteLevel" {
        return (splits_itself(fields)?).then_some(Pattern::Gpt2);
    }
    let parts = fields
        .get("pretokenizers")
        .filter(|_| kind == "Sequence")?
        .as_array()?;
    let (bytes, splits) = parts.split_last()?;
    let (kind, fields) = typed(bytes)?;
    if kind != "ByteLevel" {
        return None;
    }
    if splits_itself(fields)? {
        let [one] = splits else { return None };
        return takes_digits_apart(one).then_some(Pattern::Gpt2DigitsApart);
    }
    match splits {
        [one] => {
            let (pattern, _) = split(one)?;
            [
                (CL100K, Pattern::Cl100k),
                (QWEN2, Pattern::Qwen2),
                (QWEN35, Pattern::Qwen35),
                (O200K, Pattern::O200k),
                (TEKKEN, Pattern::Tekken),
            ]
            .into_iter()
            .find_map(|(known, name)| (pattern == known).then_some(name))
        }
        [_, _, _] => {
            // Later patterns split the text between the matches, so it must be kept.
            let known = splits.iter().zip(DEEPSEEK_V3);
            let is_known = |(part, known)| split(part) == Some((known, true));
            known.into_iter().all(is_known).then_some(Pattern::DeepSeekV3)
        }
        _ => None,
    }
}

/// Returns true if a post-processor adds nothing to a text when no special tokens are requested.
pub fn adds_nothing(post_processor: &Value) -> bool {
    if post_processor.is_null() {
        return true;
    }
    let Some((kind, fields)) = typed(post_processor) else {
        return false;
    };
    match kind {
        "ByteLevel" => true,
        "Sequence" => fields
            .get("processors")
            .and_then(Value::as_array)
            .is_some_and(|parts| parts.iter().all(adds_nothing)),
        "TemplateProcessing" => {
            let parts = fields.get("single").and_then(Value::as_array);
            let is_text = |part: &&Value| part.pointer("/Sequence/id").is_some_and(|id| id == "A");
            let is_special = |part: &Value| part.get("SpecialToken").is_some();
            parts.is_some_and(|parts| {
                parts.iter().filter(is_text).count() == 1
                    && parts.iter().all(|part| is_text(&part) || is_special(part))
            })
        }
        _ => false,
    }
}

/// The type of a part and its fields.
fn typed(part: &Value) -> Option<(&str, &Map<String, Value>)> {
    let fields = part.as_object()?;
    Some((fields.get("type")?.as_str()?, fields))
}

/// Returns true if a `ByteLevel` splits by its own pattern; `None` if it puts a space before the text.
fn splits_itself(fields: &Map<String, Value>) -> Option<bool> {
    if fields.get("add_prefix_space")?.as_bool()? {
        return None;
    }
    match fields.get("use_regex") {
        None => Some(true),
        Some(value) => value.as_bool(),
    }
}

/// Returns true if a part makes every digit a piece.
fn takes_digits_apart(part: &Value) -> bool {
    typed(part).is_some_and(|(kind, fields)| {
        kind == "Digits" && fields.get("individual_digits") == Some(&Value::Bool(true))
    })
}

/// The pattern of a `Split` whose matches are pieces, and true if the text between them is kept.
fn split(part: &Value) -> Option<(&str, bool)> {
    let (kind, fields) = typed(part)?;
    let pattern = fields.get("pattern").filter(|_| kind == "Split")?.as_object()?;
    let regex = pattern.get("Regex").filter(|_| pattern.len() == 1)?.as_str()?;
    let is_inverted = fields.get("invert")?.as_bool()?;
    match (fields.get("behavior")?.as_str()?, is_inverted) {
        ("Isolated", _) => Some((regex, true)),
        ("Removed", true) => Some((regex, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn split_by(pattern: &str, behavior: &str, invert: bool) -> Value {
        json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert})
    }

    fn sequence(mut splits: Vec<Value>) -> Value {
        splits.push(
            json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}),
        );
        json!({"type": "Sequence", "pretokenizers": splits})
    }

    #[test]
    fn a_pattern_is_known_by_every_letter() {
        assert_eq!(
            pattern(&sequence(vec![split_by(QWEN2, "Isolated", false)])),
            Some(Pattern::Qwen2)
        );
        assert_eq!(
            pattern(&sequence(vec![split_by(O200K, "Removed", true)])),
            Some(Pattern::O200k)
        );
        assert_eq!(pattern(&sequence(vec![split_by(O200K, "Removed", false)])), None);
        assert_eq!(
            pattern(&sequence(vec![split_by(O200K, "MergedWithNext", false)])),
            None
        );
        assert_eq!(
            pattern(&sequence(vec![split_by(&format!("{O200K} "), "Isolated", false)])),
            None
        );
        assert_eq!(pattern(&sequence(vec![])), None);
        assert_eq!(pattern(&Value::Null), None);
    }

    #[test]
    fn the_three_patterns_are_known_in_their_order_and_only_if_they_keep_the_rest() {
        let splits = DEEPSEEK_V3
            .map(|pattern| split_by(pattern, "Isolated", false))
            .to_vec();
        assert_eq!(pattern(&sequence(splits.clone())), Some(Pattern::DeepSeekV3));
        assert_eq!(pattern(&sequence(splits.into_iter().rev().collect())), None);
        let splits = DEEPSEEK_V3
            .map(|pattern| split_by(pattern, "Removed", true))
            .to_vec();
        assert_eq!(pattern(&sequence(splits)), None);
    }

    #[test]
    fn a_byte_level_splits_by_itself_unless_it_says_no() {
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true});
        assert_eq!(pattern(&bytes), Some(Pattern::Gpt2));
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true});
        assert_eq!(pattern(&bytes), None);
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
        assert_eq!(pattern(&bytes), None);
    }

    #[test]
    fn other_normalizers_are_refused() {
        assert_eq!(composes(&Value::Null), Some(false));
        assert_eq!(composes(&json!({"type": "NFC"})), Some(true));
        assert_eq!(
            composes(&json!({"type": "Sequence", "normalizers": []})),
            Some(false)
        );
        assert_eq!(
            composes(&json!({"type": "Sequence", "normalizers": [{"type": "NFC"}]})),
            Some(true)
        );
        assert_eq!(composes(&json!({"type": "NFKC"})), None);
        assert_eq!(
            composes(&json!({"type": "Sequence", "normalizers": [{"type": "Lowercase"}]})),
            None
        );
    }

    #[test]
    fn a_template_is_to_have_the_text_once() {
        let template = |single: Value| json!({"type": "TemplateProcessing", "single": single});
        let text = json!({"Sequence": {"id": "A", "type_id": 0}});
        let special = json!({"SpecialToken": {"id": "<s>", "type_id": 0}});
        assert!(adds_nothing(&template(json!([special, text]))));
        assert!(!adds_nothing(&template(json!([text, text]))));
        assert!(!adds_nothing(&template(json!([special]))));
        assert!(!adds_nothing(&json!({"type": "RobertaProcessing"})));
        assert!(adds_nothing(&Value::Null));
    }
}
