//! Texts that must be redacted and texts that must stay (`must_go.jsonl`, `must_stay.jsonl`): `{m40}` and the like
//! stand for 40 characters as machines make them.

use super::tests::{hex, mix};
use super::*;

/// A text with its placeholders filled in: `m` mixed, `u` upper case, `l` lower case, `h` hexadecimal.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let made = after.split_once('}').and_then(|(inner, behind)| {
            let length = inner.get(1..)?.parse().ok()?;
            let made = match inner.get(..1)? {
                "m" => mix(length),
                "u" => mix(length).to_uppercase(),
                "l" => mix(length).to_lowercase(),
                "h" => hex(length),
                _ => return None,
            };
            Some((made, behind))
        });
        if let Some((made, behind)) = made {
            filled.push_str(&made);
            rest = behind;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

#[test]
fn what_stands_in_transcripts_is_redacted() {
    for line in include_str!("must_go.jsonl").lines() {
        let (text, expected): (String, String) = serde_json::from_str(line).unwrap();
        let text = filled(&text);
        let (once, _) = redact(&text);
        assert_eq!(once, filled(&expected), "{text}");
        assert_eq!(redact(&once).1, 0, "twice: {once}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for line in include_str!("must_stay.jsonl").lines() {
        let text = filled(&serde_json::from_str::<String>(line).unwrap());
        assert_eq!(redact(&text), (Cow::Borrowed(text.as_str()), 0), "{text}");
    }
}
