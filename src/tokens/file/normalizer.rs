//! A limit on the growth of a text in a file's normalizer; other parts of a file lengthen a text only a few times.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Maximum factor by which a normalizer's replacements may lengthen a text. Common normalizers have 3.
const MOST: u64 = 64;

/// Refuses a file whose normalizer could lengthen a text too much.
pub fn check(file: &Value) -> Result<(), String> {
    let times = file.get("normalizer").map_or(1, growth);
    if times > MOST {
        return Err(format!(
            "its normalizer may make {times} bytes of one, and at most {MOST} are taken"
        ));
    }
    let longest = file.get("normalizer").map_or(0, longest_of_table);
    if longest > MOST {
        return Err(format!(
            "its normalizer may make {longest} bytes of a character, and at most {MOST} are taken"
        ));
    }
    Ok(())
}

/// The steps of a normalizer.
fn steps(normalizer: &Value) -> impl Iterator<Item = &Value> {
    let steps = normalizer.get("normalizers").and_then(Value::as_array);
    steps.into_iter().flatten()
}

/// Bytes of the longest replacement of a character in a table of `SentencePiece`: the trie, whose length comes first,
/// is followed by these texts, each with a zero after it.
fn longest_of_table(normalizer: &Value) -> u64 {
    let within = steps(normalizer).map(longest_of_table).max().unwrap_or_default();
    let table = normalizer.get("precompiled_charsmap").and_then(Value::as_str);
    let table = table
        .and_then(|table| STANDARD.decode(table).ok())
        .unwrap_or_default();
    let texts = table.split_first_chunk::<4>().and_then(|(trie, rest)| {
        let trie = usize::try_from(u32::from_le_bytes(*trie)).ok()?;
        rest.get(trie..)
    });
    let texts = texts.unwrap_or_default().split(|byte| *byte == 0);
    let longest = texts.map(<[u8]>::len).max().unwrap_or_default();
    within.max(longest as u64)
}

/// Maximum bytes that a normalizer makes of one by replacing, or by prepending to each text between special tokens.
fn growth(normalizer: &Value) -> u64 {
    let length = |value: Option<&Value>| value.and_then(Value::as_str).map_or(0, str::len) as u64;
    if normalizer.get("normalizers").is_some() {
        return steps(normalizer).map(growth).fold(1, u64::saturating_mul);
    }
    if normalizer.get("prepend").is_some() {
        return length(normalizer.get("prepend")) + 1;
    }
    let Some(content) = normalizer.get("content") else {
        return 1;
    };
    let pattern = normalizer.get("pattern");
    match length(pattern.and_then(|pattern| pattern.get("String"))) {
        // A regular expression may match between all bytes.
        0 => length(Some(content)) + 1,
        bytes => length(Some(content)).div_ceil(bytes).max(1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn normalizers_of_the_field_are_taken_and_those_that_flood_are_not() {
        let of = |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
        let sequence = |steps: Vec<Value>| json!({"normalizer": {"type": "Sequence", "normalizers": steps}});
        let spaces = of(json!({"String": " "}), "\u{2581}");
        let runs = of(json!({"Regex": " {2,}"}), "\u{2581}");
        let quotes = of(json!({"String": "``"}), "\"");
        let nfkd = json!({"type": "NFKD"});
        for file in [
            json!({}),
            json!({"normalizer": null}),
            sequence(vec![json!({"type": "Prepend", "prepend": "\u{2581}"}), spaces]),
            sequence(vec![quotes.clone(), quotes, nfkd, runs]),
        ] {
            assert_eq!(check(&file), Ok(()), "{file}");
        }
        let long = "a".repeat(1000);
        let doubled = || of(json!({"String": "a"}), "aaaa");
        for file in [
            json!({"normalizer": of(json!({"String": "a"}), &long)}),
            json!({"normalizer": of(json!({"Regex": ""}), &long)}),
            // The prefix is added to each text between two special tokens.
            json!({"normalizer": {"type": "Prepend", "prepend": long.clone()}}),
            sequence(vec![json!({"type": "Prepend", "prepend": long.clone()})]),
            sequence(vec![doubled(), doubled(), doubled(), doubled()]),
        ] {
            assert!(
                check(&file).is_err_and(|error| error.contains("bytes of one")),
                "{file}"
            );
        }
    }

    #[test]
    fn tables_of_the_field_are_taken_and_those_that_flood_are_not() {
        let table = |longest: usize| {
            let mut bytes = 8_u32.to_le_bytes().to_vec();
            bytes.extend([1; 8]);
            bytes.extend(format!("a\0{}\0bc\0", "x".repeat(longest)).into_bytes());
            let table = json!({"type": "Precompiled", "precompiled_charsmap": STANDARD.encode(bytes)});
            json!({"normalizer": {"type": "Sequence", "normalizers": [table]}})
        };
        // The longest in Unicode's own tables has 33 bytes.
        assert_eq!(check(&table(33)), Ok(()));
        assert!(check(&table(1000)).is_err_and(|error| error.contains("bytes of a character")));
        let broken = json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA////"}});
        assert_eq!(check(&broken), Ok(()));
    }
}
