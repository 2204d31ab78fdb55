//! One line of a summary: cleaned of what must not reach a training text, and cut only between words.

use std::borrow::Cow;

use super::control::{escape_length, is_invisible};
use crate::compress::anchors::is_spaceless;
use crate::trajectory::{END_MARKER, SUMMARY_MARKER};

/// Tags that a chat template, a parser of tool calls or this program would take for its own.
pub(crate) const RESERVED: [&str; 8] = [
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
    SUMMARY_MARKER,
    END_MARKER,
];

/// `text` as one line: no control characters, no ANSI escapes, no invisible marks, no reserved tags, single spaces.
pub(crate) fn cleaned(text: &str) -> String {
    cleaned_line(text).into_owned()
}

/// As [`cleaned`], borrowed where there is nothing to clean.
pub(crate) fn cleaned_line(text: &str) -> Cow<'_, str> {
    if let Some(clean) = clean(text) {
        return Cow::Borrowed(clean);
    }
    let mut line = with_single_spaces(text);
    if !marks(&line).any(|at| has_to_go(&line, at)) {
        return Cow::Owned(line);
    }
    let mut is_changed = false;
    while let Some(tag) = reserved_in(&line) {
        let is_mark = tag.starts_with('[');
        line = line.replace(tag, if is_mark { " " } else { GONE });
        is_changed = true;
    }
    if has(&line, "<|") {
        line = without_special_tokens(&line);
        is_changed = true;
    }
    if has(&line, "```") {
        line = line.replace("```", " ");
        is_changed = true;
    }
    if is_changed {
        line = with_placeholders(&line);
    }
    Cow::Owned(line)
}

/// Placeholder of a removed tag until the line is whole; no cleaned line holds it otherwise.
const GONE: &str = " \u{1} ";

/// Replacement of a tag in the middle of a line: without it the sentence could say something else.
const PLACEHOLDER: &str = "(tag)";

/// `line` with single spaces, and a placeholder for tags that were taken out between words.
fn with_placeholders(line: &str) -> String {
    let mut told = String::with_capacity(line.len());
    let mut is_gone = false;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        if word == GONE.trim_matches(' ') {
            is_gone = true;
            continue;
        }
        if !told.is_empty() {
            told.push(' ');
            if is_gone {
                told.push_str(PLACEHOLDER);
                // A mark that ends a sentence stays right behind it.
                if !matches!(word, "." | "," | ";" | ":" | "!" | "?") {
                    told.push(' ');
                }
            }
        }
        told.push_str(word);
        is_gone = false;
    }
    told
}

/// `text` without escapes, control characters and invisible marks, one space for any run of blanks and none at its ends.
fn with_single_spaces(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut line = String::with_capacity(text.len());
    // What is kept is copied in runs; the one at hand begins at `from`.
    let (mut from, mut at) = (0, 0);
    let mut after_blank = true;
    loop {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'!'..=b'~' => after_blank = false,
                b' ' if !after_blank => after_blank = true,
                _ => break,
            }
            at += 1;
        }
        let run = text.get(from..at).unwrap_or_default();
        let Some((c, next)) = text.get(at..).and_then(|rest| {
            let c = rest.chars().next()?;
            Some((c, at + c.len_utf8()))
        }) else {
            line.push_str(run);
            break;
        };
        if c == '\u{1b}' {
            line.push_str(run);
            from = next + escape_length(text.get(next..).unwrap_or_default());
        } else if c.is_whitespace() || c.is_control() {
            line.push_str(run);
            if !after_blank {
                line.push(' ');
            }
            after_blank = true;
            from = next;
        } else if is_invisible(c) {
            line.push_str(run);
            from = next;
        } else {
            after_blank = false;
        }
        at = next.max(from);
    }
    line.truncate(line.trim_end().len());
    line
}

/// The places where something may stand in `line` that has to go.
fn marks(line: &str) -> impl Iterator<Item = usize> {
    memchr::memchr3_iter(b'<', b'[', b'`', line.as_bytes())
}

fn has_to_go(line: &str, at: usize) -> bool {
    let rest = line.get(at..).unwrap_or_default();
    match rest.as_bytes() {
        [b'`', ..] => rest.starts_with("```"),
        [b'<', b'|', ..] => true,
        [b'<', ..] | [b'[', b'C' | b'E', ..] => RESERVED.iter().any(|tag| rest.starts_with(tag)),
        _ => false,
    }
}

/// The first of the reserved tags that stands in `line`.
fn reserved_in(line: &str) -> Option<&'static str> {
    RESERVED.into_iter().find(|tag| line.contains(*tag))
}

fn has(line: &str, mark: &str) -> bool {
    memchr::memmem::find(line.as_bytes(), mark.as_bytes()).is_some()
}

/// `text` without blanks around it, where it is printable ASCII with nothing in it that has to be cleaned.
fn clean(text: &str) -> Option<&str> {
    let text = text.trim_matches(' ');
    let mut found = LineScan::default();
    let mut rest = text.as_bytes();
    // Pieces of one length, each with the first byte of the next one, so that compilers look at many bytes at once.
    while let Some((piece, _)) = rest.split_first_chunk::<PIECE>() {
        found.note(piece);
        rest = rest.get(PIECE - 1..).unwrap_or_default();
    }
    let mut last = [b'x'; PIECE];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    found.note(&last);
    if found.is_dirty {
        return None;
    }
    (!found.is_marked || !marks(text).any(|at| has_to_go(text, at))).then_some(text)
}

/// Bytes looked at at once.
const PIECE: usize = 33;

/// The contents of a line.
#[derive(Default)]
struct LineScan {
    /// Something that is no printable ASCII, or two blanks.
    is_dirty: bool,
    /// It holds the start of something that may have to be removed.
    is_marked: bool,
}

impl LineScan {
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "without branches, compilers look at sixteen bytes and more at once"
    )]
    fn note(&mut self, piece: &[u8; PIECE]) {
        let (mut is_dirty, mut is_marked) = (false, false);
        let pairs = piece.iter().zip(piece.get(1..).unwrap_or_default());
        for (byte, next) in pairs {
            is_dirty |= !matches!(byte, b' '..=b'~') | ((*byte == b' ') & (*next == b' '));
            is_marked |= matches!(byte, b'<' | b'[' | b'`');
        }
        self.is_dirty |= is_dirty;
        self.is_marked |= is_marked;
    }
}

/// `line` without list bullets, heading marks and quote marks in front.
pub(crate) fn without_bullet(line: &str) -> &str {
    let bare = line.trim_start_matches(['#', '>', '*', '-', '•', ' ']);
    // A flag (`--all`) or bold text keeps its marks.
    if line.starts_with("--") || line.starts_with("**") {
        line
    } else {
        bare
    }
}

/// `line` in at most `most` characters, cut between words; `None` where its first word is longer than that.
pub(crate) fn shortened(line: &str, most: usize) -> Option<Cow<'_, str>> {
    let Some(limit) = place_of(line, most) else {
        return Some(Cow::Borrowed(line));
    };
    let head = line.get(..limit)?;
    let cut = head
        .char_indices()
        .rev()
        .find(|(at, c)| ends_word(head, line, *at, *c))
        .map(|(at, c)| if c == ' ' { at } else { at + c.len_utf8() })?;
    let head = without_little_words(balanced(line.get(..cut)?));
    (!head.is_empty()).then(|| Cow::Owned(format!("{head} …")))
}

/// The byte offset of the character with this index, if there is one.
pub(crate) fn place_of(text: &str, count: usize) -> Option<usize> {
    // No more bytes are no more characters.
    let head = text.as_bytes().get(..=count)?;
    if head.is_ascii() {
        return Some(count);
    }
    text.char_indices().nth(count).map(|(at, _)| at)
}

/// Words that say nothing at the end of a line that was cut.
const LITTLE_WORDS: [&str; 29] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "for", "from", "has", "have", "if", "in",
    "is", "it", "its", "of", "on", "or", "that", "the", "to", "was", "were", "which", "with",
];

/// `head` without the little words and punctuation at its end, unless these are all it has.
fn without_little_words(head: &str) -> &str {
    let trimmed = |text: &str| text.trim_end_matches([' ', ',', ';', ':', '(', '-']).len();
    let mut kept = head.get(..trimmed(head)).unwrap_or(head);
    while let Some((before, last)) = kept.rsplit_once(' ') {
        let before = before.get(..trimmed(before)).unwrap_or(before);
        if before.is_empty() || !LITTLE_WORDS.contains(&last) {
            break;
        }
        kept = before;
    }
    kept
}

/// Returns true if a cut right after `c` at `at` splits no word.
fn ends_word(head: &str, line: &str, at: usize, c: char) -> bool {
    if c == ' ' {
        return at > 0;
    }
    let after = at + c.len_utf8();
    let next = line.get(after..).and_then(|rest| rest.chars().next());
    if after == head.len() && next == Some(' ') {
        return true;
    }
    (is_spaceless(c) && next.is_none_or(is_spaceless)) || (c == ',' && matches!(next, Some('"' | '{' | '[')))
}

/// `head` without an opening backtick whose closing one was cut off.
fn balanced(head: &str) -> &str {
    if head.matches('`').count() % 2 == 1 {
        head.rfind('`').and_then(|at| head.get(..at)).unwrap_or(head)
    } else {
        head
    }
}

/// Letters and digits of a line that tells something.
const TELLING: usize = 6;

/// If a line tells something: a bracket stands everywhere.
pub(crate) fn is_telling(line: &str) -> bool {
    line.chars().filter(|sign| sign.is_alphanumeric()).count() >= TELLING
}

/// The lines of a text, as [`str::lines`] has them: faster where they are short.
pub(crate) fn lines_of(text: &str) -> impl Iterator<Item = &str> + Clone {
    let mut from = 0;
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    std::iter::from_fn(move || {
        let end = ends.next();
        let line = text.get(from..end.unwrap_or(text.len()))?;
        from = match end {
            Some(end) => end + 1,
            None if line.is_empty() => return None,
            None => text.len(),
        };
        Some(line.strip_suffix('\r').filter(|_| end.is_some()).unwrap_or(line))
    })
}

/// The same from the last one on.
pub(crate) fn last_lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    let mut ends = memchr::memrchr_iter(b'\n', whole.as_bytes());
    let mut to = (!text.is_empty()).then_some(whole.len());
    std::iter::from_fn(move || {
        let end = to?;
        to = ends.next();
        let line = whole.get(to.map_or(0, |newline| newline + 1)..end)?;
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

/// Returns true if a line opens or closes a block of code.
pub(crate) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// `line` without `<|im_end|>` and the like.
fn without_special_tokens(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("<|") {
        kept.push_str(before);
        rest = match after.split_once("|>") {
            Some((name, tail)) if name.len() <= 40 && !name.contains(' ') => {
                kept.push_str(GONE);
                tail
            }
            _ => {
                kept.push_str("< |");
                after
            }
        };
    }
    kept.push_str(rest);
    // Taking one out must not have made another.
    kept.replace("<|", "< |")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "\n\na\n\n", "a\nb\n\nc"] {
            let expected: Vec<&str> = text.lines().collect();
            assert_eq!(lines_of(text).collect::<Vec<_>>(), expected, "{text:?}");
            let mut last: Vec<&str> = last_lines(text).collect();
            last.reverse();
            assert_eq!(last, expected, "{text:?}");
        }
    }

    #[test]
    fn a_tag_between_words_leaves_a_placeholder() {
        for (text, expected) in [
            (
                "Use <|im_end|> and <tool_call> here, not </think>.",
                "Use (tag) and (tag) here, not (tag).",
            ),
            ("<think>all of it</think>", "all of it"),
            ("a<|im_end|><|im_start|>b", "a (tag) b"),
            ("a [CONTEXT SUMMARY]: b", "a b"),
            ("a <tool<tool_call>_call> b", "a <tool (tag) _call> b"),
        ] {
            assert_eq!(cleaned(text), expected);
            assert_eq!(cleaned(expected), expected);
        }
    }
}
