//! Scanner primitives shared by the split patterns: reading a text by character classes.

use super::classes::{ASCII, BLANK, ClassSet, Classes, LOWER, MARK, NEWLINE, NONE, NUMBER, OTHER, SPACE};

/// A text and the classes of its characters. All positions are byte offsets on character boundaries.
#[derive(Clone, Copy)]
pub struct TextScan<'t> {
    /// The bytes of a valid UTF-8 text.
    pub bytes: &'t [u8],
    classes: &'t Classes,
}

/// A run of white space.
pub struct WhiteRun {
    /// The end of the run.
    pub end: usize,
    /// The start of its last character.
    pub last: usize,
    /// The end of the last `\r` or `\n` in it.
    pub after_newline: Option<usize>,
}

impl WhiteRun {
    /// `\s+(?!\S)|\s+` for a run from `start` that other characters follow: the end of the match, which excludes the
    /// last character unless it is the only one.
    #[inline]
    pub fn but_last(&self, start: usize) -> usize {
        if self.last == start { self.end } else { self.last }
    }
}

impl<'t> TextScan<'t> {
    /// A scan of `text`.
    pub fn new(text: &'t str, classes: &'t Classes) -> Self {
        Self {
            bytes: text.as_bytes(),
            classes,
        }
    }

    /// The byte at `at`, if the text is that long.
    #[inline]
    pub fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The class of the character at `at` if it is ASCII, else [`NONE`].
    #[inline]
    pub fn ascii(&self, at: usize) -> ClassSet {
        self.byte(at).map_or(NONE, |byte| ASCII[usize::from(byte)])
    }

    /// Returns true if the character at `at` is not ASCII.
    #[inline]
    pub fn is_wide(&self, at: usize) -> bool {
        self.byte(at).is_some_and(|byte| byte >= 0x80)
    }

    /// The class of the character at `at` and its length in bytes; ([`NONE`], 0) at the end.
    #[inline]
    pub fn class(&self, at: usize) -> (ClassSet, usize) {
        let Some(first) = self.byte(at) else {
            return (NONE, 0);
        };
        if first < 0x80 {
            return (ASCII[usize::from(first)], 1);
        }
        self.wide_class(first, at)
    }

    /// The same for a character that is not ASCII, with `first` as its first byte.
    pub fn wide_class(&self, first: u8, at: usize) -> (ClassSet, usize) {
        let first = u32::from(first);
        let next = |distance| u32::from(self.byte(at + distance).unwrap_or_default() & 0x3f);
        let (code_point, length) = if first < 0xe0 {
            ((first & 0x1f) << 6 | next(1), 2)
        } else if first < 0xf0 {
            ((first & 0x0f) << 12 | next(1) << 6 | next(2), 3)
        } else {
            ((first & 0x07) << 18 | next(1) << 12 | next(2) << 6 | next(3), 4)
        };
        (self.classes.of(code_point), length)
    }

    /// The end of the longest run of characters of `set` from `at`.
    #[inline]
    pub fn run(&self, mut at: usize, set: ClassSet) -> usize {
        loop {
            let (class, length) = self.class(at);
            if class & set == 0 {
                return at;
            }
            at += length;
        }
    }

    /// The end of the run of `a` to `z` from `at`.
    #[inline]
    pub fn lower_run(&self, mut at: usize) -> usize {
        while let Some(chunk) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let length = leading_lower(u64::from_le_bytes(*chunk));
            at += length;
            if length < 8 {
                return at;
            }
        }
        while self.ascii(at) == LOWER {
            at += 1;
        }
        at
    }

    /// The end of the run of `A` to `Z` and `a` to `z` from `at`.
    #[inline]
    pub fn alphabetic_run(&self, mut at: usize) -> usize {
        while let Some(chunk) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            // Folding the case moves no other byte into the range of letters.
            let length = leading_lower(u64::from_le_bytes(*chunk) | 0x2020_2020_2020_2020);
            at += length;
            if length < 8 {
                return at;
            }
        }
        while self.byte(at).is_some_and(|byte| byte.is_ascii_alphabetic()) {
            at += 1;
        }
        at
    }

    /// `\p{N}{1,MOST}` from `at`, where a number stands: the end of the match.
    #[inline]
    pub fn numbers(&self, mut at: usize, most: usize) -> usize {
        for _ in 0..most {
            let (class, length) = self.class(at);
            if class & NUMBER == 0 {
                break;
            }
            at += length;
        }
        at
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+` from `start`, where white space stands: the end of the match.
    #[inline]
    pub fn white_space(&self, start: usize) -> usize {
        let run = self.white_run(start);
        match run.after_newline {
            Some(end) => end,
            None if run.end == self.bytes.len() => run.end,
            None => run.but_last(start),
        }
    }

    /// The run of all white space from `start`.
    #[inline]
    pub fn white_run(&self, start: usize) -> WhiteRun {
        let mut at = start;
        let mut last = start;
        let mut after_newline = None;
        loop {
            if self.byte(at) == Some(b' ') {
                let end = self.blank_run(at);
                last = end - 1;
                at = end;
                continue;
            }
            let (class, length) = self.class(at);
            if class & SPACE == 0 {
                break;
            }
            last = at;
            at += length;
            if class == NEWLINE {
                after_newline = Some(at);
            }
        }
        WhiteRun {
            end: at,
            last,
            after_newline,
        }
    }

    /// The end of the run of U+0020 from `at`.
    #[inline]
    fn blank_run(&self, mut at: usize) -> usize {
        while let Some(chunk) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let others = u64::from_le_bytes(*chunk) ^ 0x2020_2020_2020_2020;
            if others != 0 {
                return at + others.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `at`: the end of the match, if there is one.
    #[inline]
    pub fn contraction(&self, at: usize) -> Option<usize> {
        if self.byte(at) != Some(b'\'') {
            return None;
        }
        match (self.byte(at + 1)? | 0x20, self.byte(at + 2)) {
            (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
            (b'r' | b'v', Some(b'e' | b'E')) | (b'l', Some(b'l' | b'L')) => Some(at + 3),
            // U+017F, the long s, is an `s` when case is ignored; 0xe5 is its first byte with 0x20 set.
            (0xe5, Some(0xbf)) if self.byte(at + 1) == Some(0xc5) => Some(at + 3),
            _ => None,
        }
    }

    /// ` ?[...]+` at `at` for the characters of `set`: the end of the match, if there is one.
    #[inline]
    pub fn spaced_run(&self, at: usize, set: ClassSet) -> Option<usize> {
        let start = at + usize::from(self.byte(at) == Some(b' '));
        let end = self.run(start, set);
        (end > start).then_some(end)
    }

    /// `[\r\n]*` from `at`: the end of the match.
    #[inline]
    pub fn newlines(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b'\r' | b'\n')) {
            at += 1;
        }
        at
    }

    /// Returns true if a character of class `class` may precede the letters of a word: `[^\r\n\p{L}\p{N}]`.
    #[inline]
    pub fn leads(class: ClassSet) -> bool {
        class & (BLANK | OTHER | MARK) != 0
    }
}

/// The number of bytes of `word`, from the lowest, that are `a` to `z` before the first that is not.
#[inline]
fn leading_lower(word: u64) -> usize {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const HIGH: u64 = !LOW;
    // Adding 0x80 - 'a' sets the high bit from `a` on, adding 0x80 - ('z' + 1) from `{` on.
    let from_a = (word & LOW) + 0x1f1f_1f1f_1f1f_1f1f;
    let beyond_z = (word & LOW) + 0x0505_0505_0505_0505;
    let lower = from_a & !beyond_z & !word & HIGH;
    (lower ^ HIGH).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_are_tested_at_once_as_one_by_one() {
        for byte in 0..=255_u8 {
            for position in 0..8 {
                let mut bytes = *b"azkmazkm";
                bytes[position] = byte;
                let expected = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
                assert_eq!(leading_lower(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
            }
        }
    }
}
