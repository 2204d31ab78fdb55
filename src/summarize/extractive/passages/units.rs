//! The places to cut a text: line ends and, in long lines, ends of fields and sentences.

use crate::knowledge::phrases::{Kinds, PhraseKind};

/// Bytes of a line of data that is not cut, and of a sentence.
const LONG: usize = 200;
const LONG_SENTENCE: usize = 1_000;

/// Bytes of the shortest part of a line.
const SHORT: usize = 40;

/// The separators that data is cut behind, the best first.
const FIELDS: [&str; 5] = ["\\n", "}, ", ", ", ",", " "];

/// The end of a sentence of scripts that have no spaces.
const FULL_STOP: &str = "。";

/// The ends of the units of `text`, in bytes, ascending; the last one is the end of the text.
pub(super) fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(text.len() / 40 + 1);
    let mut start = 0;
    let line_ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    for end in line_ends.chain([text.len()]) {
        // Looked for once a line, however many units it has.
        let line = text.get(start..end).filter(|line| line.len() > SHORT);
        let last_mark = line.and_then(last_mark).map(|at| start + at);
        while end - start > SHORT {
            let is_marked = last_mark.is_some_and(|mark| mark >= start);
            start += part(text.get(start..end).unwrap_or_default(), is_marked);
            ends.push(start);
        }
        if end > start {
            ends.push(end);
        }
        start = end;
    }
    ends
}

/// If a quotation may begin with `unit`, which stands after `before`: not within an object of data, and not, where it was said, with
/// a sentence that refers to the one before it in its paragraph.
pub(super) fn may_begin(before: &str, unit: &str, is_said: bool) -> bool {
    if is_said && !before.is_empty() && !before.ends_with('\n') {
        let kinds = Kinds::of(unit.trim_start());
        if kinds.has(PhraseKind::Leaning) {
            return false;
        }
    }
    let is_line = before.is_empty() || before.ends_with(['\n', '}', ']']) || before.ends_with("\\n");
    let is_object = before.ends_with("}, ") || before.ends_with("},") || before.ends_with("], ");
    is_line
        || is_object
        || !(is_data(unit)
            || is_data(
                before
                    .get(before.len().saturating_sub(LONG)..)
                    .unwrap_or_default(),
            ))
}

/// If a text is made of fields.
fn is_data(text: &str) -> bool {
    text.starts_with(['{', '[']) || last_mark(text).is_some()
}

/// The place of the last mark of a field in a text: the end of a key, or a line end within a string.
fn last_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let follows = |at: usize, end: &[u8]| bytes.get(at + 1..).is_some_and(|rest| rest.starts_with(end));
    memchr::memchr2_iter(b'"', b'\\', bytes)
        .rev()
        .find(|at| match bytes.get(*at) {
            Some(b'"') => follows(*at, b": "),
            _ => follows(*at, b"n"),
        })
}

/// The bytes of the first part of a line, with a mark of a field in it or without: a sentence, or some fields; all of it if it
/// need not be cut.
fn part(line: &str, is_marked: bool) -> usize {
    if is_marked || line.starts_with(['{', '[']) {
        return part_of_data(line);
    }
    let beyond = line.ceil_char_boundary(SHORT);
    // Longer sentences are cut as data is.
    let longest = line.floor_char_boundary(LONG_SENTENCE);
    let rest = line.get(beyond..longest).unwrap_or_default();
    let bytes = rest.as_bytes();
    let stops = memchr::memchr3_iter(b'.', b'!', b'?', bytes);
    let stop = stops
        .map(|at| at + 1)
        .find(|next| bytes.get(*next) == Some(&b' '))
        .map(|space| space + 1);
    let full_stop = if rest.is_ascii() {
        None
    } else {
        rest.find(FULL_STOP)
    };
    let full_stop = full_stop.map(|at| at + FULL_STOP.len());
    let end = stop.into_iter().chain(full_stop).min();
    let end = end.map_or(line.len(), |end| beyond + end);
    if end <= LONG_SENTENCE {
        end
    } else {
        part_of_data(line)
    }
}

fn part_of_data(line: &str) -> usize {
    if line.len() <= LONG {
        return line.len();
    }
    let limit = line.floor_char_boundary(LONG);
    let head = line.as_bytes().get(..limit).unwrap_or_default();
    // The last of each separator.
    let mut cuts = [None; FIELDS.len()];
    for end in (SHORT..=limit).rev() {
        if !matches!(head.get(end - 1), Some(b'n' | b' ' | b',')) {
            continue;
        }
        let before = head.get(..end).unwrap_or_default();
        for (cut, separator) in cuts.iter_mut().zip(FIELDS) {
            if cut.is_none() && before.ends_with(separator.as_bytes()) {
                *cut = Some(end);
            }
        }
        if cuts[0].is_some() {
            break;
        }
    }
    let cut = cuts.into_iter().flatten().next();
    // A word is not cut, however long.
    cut.unwrap_or_else(|| {
        line.get(limit..)
            .and_then(|rest| rest.find(' '))
            .map_or(line.len(), |space| limit + space + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<&str> {
        let mut start = 0;
        let cut = |end| {
            let unit = &text[start..end];
            start = end;
            unit
        };
        ends(text).into_iter().map(cut).collect()
    }

    #[test]
    fn what_was_said_is_not_quoted_from_a_sentence_that_leans_on_the_one_before() {
        for (before, unit, expected) in [
            ("The stimulus was paid with loans. ", "This led to debts.", false),
            ("项目带来了压力。", "这导致了债务。", false),
            ("The stimulus was paid with loans. ", "Ageing adds to it.", true),
            ("The stimulus was paid with loans.\n", "This led to debts.", true),
            ("", "This led to debts.", true),
        ] {
            assert_eq!(may_begin(before, unit, true), expected, "{before}{unit}");
            assert!(may_begin(before, unit, false), "{before}{unit}");
        }
    }

    #[test]
    fn lines_are_cut_between_sentences_and_long_ones_of_data_between_fields() {
        assert_eq!(units("one\ntwo\n\nthree"), ["one\n", "two\n", "\n", "three"]);
        assert_eq!(units("one\n"), ["one\n"]);
        assert!(units("").is_empty());
        let long = r#"{"name": "a name of some length", "city": "a city"}, "#.repeat(9);
        let parts = units(&long);
        assert_eq!(parts.concat(), long);
        assert!(
            parts
                .iter()
                .all(|part| part.len() <= LONG && part.ends_with("}, ")),
            "{parts:?}"
        );
        let prose =
            "The reader keeps its order in all of the cases. Is that so? It is, as the test shows.\nYes.";
        assert_eq!(
            units(prose),
            [
                "The reader keeps its order in all of the cases. ",
                "Is that so? It is, as the test shows.\n",
                "Yes."
            ]
        );
        // In one line of eight megabytes all of it is not searched again for each unit.
        let line = "cp old.py new.py; ".repeat(450_000);
        let parts = units(&line);
        assert!(parts.iter().all(|part| part.len() <= LONG_SENTENCE));
        assert_eq!(parts.concat(), line);
        let unbroken = "x".repeat(999);
        assert_eq!(
            units(&[&unbroken, " end"].concat()),
            [[&unbroken, " "].concat(), "end".to_owned()]
        );
    }
}
