//! Sentences in the turns of people and of the assistant: lines of prose without code and boilerplate, ended in the scripts that mark it.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::events::line::{cleaned_line, is_fence, lines_of, without_bullet};

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

/// The lines of a text that are prose: no fenced code (`with_code` says where it stood), no comments of a template, no bare
/// tags, no data.
pub(super) fn prose_lines(text: &str, with_code: bool) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    let mut in_fence = false;
    let mut in_comment = false;
    let comment_end = LastEnd::new(text, "-->");
    for raw in lines_of(text) {
        let trimmed = raw.trim_ascii();
        if is_fence(trimmed) {
            in_fence = !in_fence;
            match lines.last_mut() {
                Some(last) if in_fence && with_code => {
                    let last = last.to_mut();
                    last.push(' ');
                    last.push_str(CODE);
                }
                None if in_fence && with_code => lines.push(Cow::Borrowed(CODE)),
                _ => {}
            }
            continue;
        }
        // What is never closed takes nothing away.
        let at = (raw.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        in_comment |= trimmed.starts_with("<!--") && comment_end.is_after(at);
        let was_comment = in_comment;
        in_comment = in_comment && !trimmed.contains("-->");
        if in_fence || was_comment || trimmed.is_empty() || is_bare_tag(trimmed) {
            continue;
        }
        let line = match cleaned_line(trimmed) {
            Cow::Borrowed(line) => Cow::Borrowed(without_bullet(line)),
            Cow::Owned(line) => Cow::Owned(without_bullet(&line).to_owned()),
        };
        if line.contains(char::is_alphabetic) {
            lines.push(line);
        }
    }
    lines
}

/// The byte offset of the last closing mark in a text, searched for on first use.
struct LastEnd<'t> {
    text: &'t str,
    end: &'static str,
    found: OnceCell<Option<usize>>,
}

impl<'t> LastEnd<'t> {
    fn new(text: &'t str, end: &'static str) -> Self {
        let found = OnceCell::new();
        Self { text, end, found }
    }

    fn is_after(&self, at: usize) -> bool {
        let (text, end) = (self.text.as_bytes(), self.end.as_bytes());
        let found = self.found.get_or_init(|| memchr::memmem::rfind(text, end));
        found.is_some_and(|found| found >= at)
    }
}

fn is_bare_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
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
