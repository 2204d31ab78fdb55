//! The tables of what must go and what must stay (`must_go.jsonl`, `must_stay.jsonl`): `{m40}` and the like stand for 40
//! characters as machines make them.

use std::collections::BTreeSet;

use super::rules::{Class, TOKENS};
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
fn every_row_of_the_table_is_found_wherever_it_stands() {
    for token in &TOKENS {
        let of = |length: usize| match token.class {
            Class::Hex => hex(length),
            Class::Upper => mix(length).to_uppercase(),
            Class::Digit => "1234567890".chars().cycle().take(length).collect(),
            _ => mix(length),
        };
        for length in [token.min, (token.min + 30).min(token.max)] {
            let secret = format!("{}{}", token.prefix, of(length));
            for (before, after) in [
                ("", ""),
                ("key ", "."),
                ("\\n", "\\n"),
                ("\x1b[0;32m", "\x1b[0m"),
                ("%3D", "&x"),
            ] {
                let text = format!("{before}{secret}{after}");
                let expected = format!("{before}[REDACTED:{}]{after}", token.kind);
                assert_eq!(redact(&text).0, expected, "{text}");
            }
        }
    }
}

#[test]
fn sixty_vendors_and_more_are_known() {
    let vendors: BTreeSet<_> = TOKENS
        .iter()
        .filter_map(|token| token.kind.split('-').next())
        .collect();
    assert!(vendors.len() >= 60, "{}", vendors.len());
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
