//! The key that a number stands under in an object: what the number is.

/// Bytes of a key that is told.
const MAX_KEY: usize = 32;

/// If an identifier tells nothing of what it is.
pub(super) fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-'))
}

/// The key of the member whose value begins at a byte of a text with objects: `"item_id": "7`, with its quotes escaped or not.
pub(super) fn key_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?.trim_end_matches(['"', '\'', '\\', '$']);
    let before = before.trim_end().strip_suffix(':')?;
    let quoted = before.trim_end();
    let name = quoted.strip_suffix(['"', '\''])?.trim_end_matches('\\');
    let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let start = name.rfind(|sign| !is_of_name(sign)).map_or(0, |at| at + 1);
    let key = name.get(start..)?;
    let is_opened = name.get(..start)?.ends_with(['"', '\'']);
    let is_key =
        is_opened && key.len() <= MAX_KEY && key.starts_with(|sign: char| sign.is_ascii_alphabetic());
    is_key.then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_its_key_says() {
        for (text, key) in [
            (r#"{"item_id": "42"}"#, Some("item_id")),
            (r#"{"price":42}"#, Some("price")),
            (r#"{\"item_id\": \"42\"}"#, Some("item_id")),
            ("{'price': 42}", Some("price")),
            (r#"{"total": "$42"}"#, Some("total")),
            (r#"{"ids": ["42"]}"#, None),
            (r#"{"42": {}}"#, None),
            (r#"{"1": 42}"#, None),
            (r#"{"the key": 42}"#, None),
            ("port: 42", None),
            ("42", None),
        ] {
            assert_eq!(key_before(text, text.find("42").unwrap()), key, "{text}");
        }
        assert!(is_number("232.49") && !is_number("W42"));
    }
}
