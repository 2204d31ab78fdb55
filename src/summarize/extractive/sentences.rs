//! Boundaries of sentences, in the scripts that mark them.

/// Placeholder of fenced code in a person's request.
pub(super) const CODE: &str = "[code]";

/// The sentences of a line, their closing marks included.
pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let is_ascii = line.is_ascii();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = sentence_end(rest, is_ascii);
        let (sentence, tail) = rest.split_at_checked(end)?;
        rest = tail.trim_start();
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

fn sentence_end(text: &str, is_ascii: bool) -> usize {
    let bytes = text.as_bytes();
    // The last two are the first bytes of `。` and of `！` and `？`.
    let may_end = |byte: &u8| matches!(byte, b'.' | b'!' | b'?' | 0xE3 | 0xEF);
    let next_mark = |rest: &[u8]| {
        if is_ascii {
            memchr::memchr3(b'.', b'!', b'?', rest)
        } else {
            rest.iter().position(may_end)
        }
    };
    let mut from = 0;
    while let Some(at) = bytes
        .get(from..)
        .and_then(next_mark)
        .map(|distance| from + distance)
    {
        let is_before_blank = bytes.get(at + 1) == Some(&b' ');
        let ends = match bytes.get(at) {
            // Not after an initial or an abbreviation of one letter, and only before a space.
            Some(b'.') => is_before_blank && at > 0 && !is_abbreviated(text, at),
            Some(b'!' | b'?') => is_before_blank,
            _ if text
                .get(at..)
                .is_some_and(|rest| rest.starts_with(['。', '！', '？'])) =>
            {
                return at + 3;
            }
            _ => false,
        };
        if ends {
            return at + 1;
        }
        from = at + 1;
    }
    text.len()
}

fn is_abbreviated(text: &str, at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default();
    let before = head.chars().next_back().unwrap_or(' ');
    let blank = memchr::memrchr(b' ', head.as_bytes());
    let word = blank.and_then(|blank| head.get(blank + 1..)).unwrap_or(head);
    let word = word.trim_start_matches(['(', '[', '"', '\'', '“', '„']);
    !before.is_alphanumeric() && before != '`' && before != ')' && before != '"' && before != '\''
        || matches!(
            word,
            "e.g" | "E.g" | "i.e" | "I.e" | "etc" | "vs" | "Mr" | "Mrs" | "Dr" | "No" | "cf"
        )
        || word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphanumeric())
        // An ordinal: `am 21. März`.
        || word.len() == 2 && word.bytes().all(|b| b.is_ascii_digit())
}

/// A list item without its number.
pub(super) fn without_number(sentence: &str) -> &str {
    let rest = sentence.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(item) if rest.len() < sentence.len() => item.trim_start(),
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_mark_ends_them() {
        for (line, expected) in [
            (
                "Frist ist jetzt der 21. März. Bitte nur per Mail.",
                &["Frist ist jetzt der 21. März.", "Bitte nur per Mail."][..],
            ),
            (
                "It is e.g. here! Is it? Yes.",
                &["It is e.g. here!", "Is it?", "Yes."],
            ),
            (
                "Use no editor (e.g. vim, nano). E.g. sed will do.",
                &["Use no editor (e.g. vim, nano).", "E.g. sed will do."],
            ),
            ("端口是 9443。好的。", &["端口是 9443。", "好的。"]),
        ] {
            assert_eq!(sentences(line).collect::<Vec<_>>(), expected);
        }
    }
}
