//! Long texts cut in the middle, at line ends, with the lines that tell of errors kept.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The share of the room that the beginning takes, and the share of the end; the rest is for lines that tell of errors.
const HEAD: f64 = 0.55;
const TAIL: f64 = 0.25;

/// Words that make a line worth keeping from the part left out.
const TELLING: [&str; 7] = [
    "error",
    "fail",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "denied",
];

/// Lines kept from the part left out, at most.
const MAX_TELLING: usize = 12;

/// `text` in about `room` bytes: its beginning and its end, in whole lines if possible, else in whole words, and
/// between them a note of what was left out, with its lines about errors.
pub fn shortened(text: &str, room: usize) -> Cow<'_, str> {
    if text.len() <= room {
        return Cow::Borrowed(text);
    }
    let head_end = end_of_head(text, (room as f64 * HEAD) as usize);
    let tail_start = start_of_tail(text, text.len() - (room as f64 * TAIL) as usize).max(head_end);
    let head = text.get(..head_end).unwrap_or_default();
    let middle = text.get(head_end..tail_start).unwrap_or_default();
    let tail = text.get(tail_start..).unwrap_or_default();
    let telling_room = room.saturating_sub(head.len() + tail.len());
    let telling = telling_lines(middle, telling_room);
    let kept: usize = telling.iter().map(|line| line.chars().count()).sum();
    let left_out = middle.chars().count() - kept;
    let mut short = String::with_capacity(room + 64);
    short.push_str(head.trim_end());
    // Writing to a String cannot fail.
    if telling.is_empty() {
        let _ = writeln!(short, "\n[… {left_out} characters left out …]");
    } else {
        let _ = writeln!(
            short,
            "\n[… {left_out} characters left out; of them these lines:]"
        );
        for line in telling {
            short.push_str(line.trim());
            short.push('\n');
        }
        short.push_str("[…]\n");
    }
    short.push_str(tail.trim_start_matches(['\n', '\r']));
    Cow::Owned(short)
}

/// The end of a head of about `wanted` bytes: after a line in its last half, else after a word.
fn end_of_head(text: &str, wanted: usize) -> usize {
    let end = floor(text, wanted);
    let part = text.get(..end).unwrap_or_default();
    let least = end / 2;
    let line = part.rfind('\n').filter(|at| *at >= least);
    let word = || part.rfind(char::is_whitespace).filter(|at| *at >= least);
    line.or_else(word).unwrap_or(end)
}

/// The beginning of a tail at about byte `wanted`: at a line in its first half, else at a word.
fn start_of_tail(text: &str, wanted: usize) -> usize {
    let start = floor(text, wanted);
    let part = text.get(start..).unwrap_or_default();
    let most = part.len() / 2;
    let line = part.find('\n').filter(|at| *at <= most);
    let word = || part.find(char::is_whitespace).filter(|at| *at <= most);
    start + line.or_else(word).unwrap_or(0)
}

/// The lines of `middle` that tell of errors, in their order; the last ones are kept first.
fn telling_lines(middle: &str, room: usize) -> Vec<&str> {
    let mut left = room;
    let mut lines: Vec<&str> = Vec::new();
    for line in middle.lines().rev() {
        if lines.len() == MAX_TELLING || left == 0 {
            break;
        }
        if line.len() < left && line.len() < 400 && is_telling(line) {
            left -= line.len();
            lines.push(line);
        }
    }
    lines.reverse();
    lines
}

fn is_telling(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    TELLING.iter().any(|word| lower.contains(word))
}

/// The last start of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        let lines = (0..count).map(|n| format!("line {n} of the output\n"));
        lines.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_text_that_fits_is_what_it_was() {
        assert!(matches!(shortened("short", 5), Cow::Borrowed("short")));
    }

    #[test]
    fn both_ends_stay_in_whole_lines_and_what_is_left_out_is_told() {
        let text = lines(200);
        let short = shortened(&text, 1000);
        assert!(short.len() < 1100);
        assert!(short.starts_with("line 0 of the output\n") && short.ends_with("line 199 of the output\n"));
        assert!(short.contains("characters left out …]"));
        assert!(
            short
                .lines()
                .all(|line| line.starts_with('[') || line.ends_with("of the output"))
        );
    }

    #[test]
    fn lines_that_tell_of_errors_survive() {
        let text = format!("{}error: no such table: users\n{}", lines(100), lines(100));
        let short = shortened(&text, 1000);
        assert!(
            short.contains("these lines:]\nerror: no such table: users\n[…]"),
            "{short}"
        );
    }

    #[test]
    fn a_text_without_lines_is_cut_between_words_and_one_without_words_between_characters() {
        let words = "several words in a row ".repeat(100);
        let short = shortened(&words, 300);
        let is_word = |word: &str| ["several", "words", "in", "a", "row"].contains(&word);
        let outside = short.lines().filter(|line| !line.starts_with('['));
        assert!(outside.flat_map(str::split_whitespace).all(is_word), "{short}");
        let solid = "é".repeat(2000);
        assert!(shortened(&solid, 301).len() < 400);
    }
}
