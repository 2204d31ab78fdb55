//! A scanner for the split patterns of `DeepSeek` V3: three, each applied to the pieces of the one before.
//!
//! ```text
//! \p{N}{1,3}
//! [一-龥\u3040-ゟ゠-ヿ]+
//! [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+
//! |[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
//! | ?[\p{P}\p{S}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Text that the third pattern does not match stays together as one piece. Numbers, and runs of the second pattern, are
//! borders that no match of the third crosses.

use super::classes::{BLANK, ClassSet, Classes, NEWLINE, NUMBER, SPACE};
use super::scan::TextScan;

/// `[\p{L}\p{M}]`.
const WORD: ClassSet = 1;
/// `[\p{P}\p{S}]`.
const SYMBOL: ClassSet = 2;
/// All others: controls, unassigned code points.
const CONTROL: ClassSet = 4;
/// The characters of the second pattern; a bit in addition to their class.
const HAN: ClassSet = 8;

const ASCII: [ClassSet; 128] = ascii();

const fn ascii() -> [ClassSet; 128] {
    let mut table = [CONTROL; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'A'..=b'Z' | b'a'..=b'z' => WORD,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => BLANK,
            b'!'..=b'~' => SYMBOL,
            _ => CONTROL,
        };
        byte += 1;
    }
    table
}

/// The classes of these patterns.
pub fn classes() -> Result<Classes, String> {
    Classes::of_patterns(
        &[
            (r"[\p{L}\p{M}]", WORD),
            (r"[\p{P}\p{S}]", SYMBOL),
            (r"\p{N}", NUMBER),
            (r"[\s--[\r\n]]", BLANK),
            (r"[\r\n]", NEWLINE),
            // Those characters of the second pattern that have no other class.
            (r"[[\u4e00-\u9fa5\u3040-\u30ff]&&[\p{C}]]", CONTROL),
            (r"[\u4e00-\u9fa5\u3040-\u30ff]", HAN),
        ],
        CONTROL,
    )
}

/// The end of the piece that starts at `start`, which is before the end of the text.
#[inline]
pub fn piece_end(scan: &TextScan<'_>, start: usize) -> usize {
    let (class, length) = class(scan, start);
    if class == NUMBER {
        return numbers(scan, start);
    }
    match matched(scan, start, class, length) {
        Some(end) => end,
        None => unmatched(scan, start + length, class & HAN),
    }
}

#[inline]
fn class(scan: &TextScan<'_>, at: usize) -> (ClassSet, usize) {
    match scan.byte(at) {
        None => (0, 0),
        Some(first) => match ASCII.get(usize::from(first)) {
            Some(class) => (*class, 1),
            None => scan.wide_class(first, at),
        },
    }
}

/// `\p{N}{1,3}` from `at`: the end of the match.
#[inline]
fn numbers(scan: &TextScan<'_>, mut at: usize) -> usize {
    for _ in 0..3 {
        let (class, length) = class(scan, at);
        if class != NUMBER {
            break;
        }
        at += length;
    }
    at
}

/// The end of the third pattern's match at `start`, where a character of this class and length stands that is not a
/// number; `None` if it does not match.
#[inline]
fn matched(scan: &TextScan<'_>, start: usize, class: ClassSet, length: usize) -> Option<usize> {
    let han = class & HAN;
    if class & WORD != 0 {
        return Some(run(scan, start, WORD, han));
    }
    let next = start + length;
    if class == SYMBOL && length == 1 && scan.byte(next).is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return Some(scan.alphabetic_run(next));
    }
    if class & (BLANK | CONTROL) != 0 {
        let (follower, _) = self::class(scan, next);
        if follower & WORD != 0 && follower & HAN == han {
            return Some(run(scan, next, WORD, han));
        }
    }
    let symbols = if scan.byte(start) == Some(b' ') {
        next
    } else {
        start
    };
    let end = run(scan, symbols, SYMBOL, han);
    if end > symbols {
        return Some(if han == 0 { scan.newlines(end) } else { end });
    }
    (class & SPACE != 0).then(|| white_space(scan, start))
}

/// The end of the run from `at` of characters of class `set`, all of the second pattern or none.
#[inline]
fn run(scan: &TextScan<'_>, mut at: usize, set: ClassSet, han: ClassSet) -> usize {
    if set == WORD && han == 0 {
        at = scan.alphabetic_run(at);
    }
    loop {
        let (class, length) = class(scan, at);
        if class != set | han {
            return at;
        }
        at += length;
    }
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+` from `start`: the end of the match. A border ends it as the end of the text does.
#[inline]
fn white_space(scan: &TextScan<'_>, start: usize) -> usize {
    let run = scan.white_run(start);
    let (after, _) = class(scan, run.end);
    match run.after_newline {
        Some(end) => end,
        None if after == 0 || after == NUMBER || after & HAN != 0 => run.end,
        None => run.but_last(start),
    }
}

/// The end of the text from `at` that no pattern matches.
fn unmatched(scan: &TextScan<'_>, mut at: usize, han: ClassSet) -> usize {
    loop {
        let (class, length) = class(scan, at);
        if class == 0 || class == NUMBER || class & HAN != han || matched(scan, at, class, length).is_some() {
            return at;
        }
        at += length;
    }
}
