//! A scanner for the split pattern of `o200k_base` and its variants.
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n/]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Mistral's Tekken has no contractions, and `\p{N}` alone. Kimi K2 has `[\p{Han}]+` first, no Han in words, and
//! `[\r\n]*` after symbols.

use super::classes::{
    ASCII, BLANK, CASELESS, ClassSet, HAN, LETTER, LOWER, MARK, NONE, NUMBER, OTHER, UPPER,
};
use super::scan::TextScan;

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
const OPENING: ClassSet = UPPER | CASELESS | MARK;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
const CLOSING: ClassSet = LOWER | CASELESS | MARK;

/// The end of the piece that starts at `start`, which is before the end of the text. Up to `DIGITS` numbers are a
/// piece; `KIMI` selects Kimi's variant.
#[inline]
pub fn piece_end<const DIGITS: usize, const CONTRACTIONS: bool, const KIMI: bool>(
    scan: &TextScan<'_>,
    start: usize,
) -> usize {
    let class = scan.ascii(start);
    if class & (UPPER | LOWER) != 0 {
        return ascii_word::<CONTRACTIONS>(scan, start)
            .unwrap_or_else(|| general::<DIGITS, CONTRACTIONS, KIMI>(scan, start));
    }
    if class & (BLANK | OTHER) != 0 {
        let next = scan.ascii(start + 1);
        if next & (UPPER | LOWER) != 0 {
            return ascii_word::<CONTRACTIONS>(scan, start + 1)
                .unwrap_or_else(|| general::<DIGITS, CONTRACTIONS, KIMI>(scan, start));
        }
        if next != NONE {
            return not_a_word::<DIGITS, KIMI>(scan, start, class);
        }
    }
    general::<DIGITS, CONTRACTIONS, KIMI>(scan, start)
}

/// The end of a word of ASCII letters from `start` with its contraction; `None` if letters beyond ASCII may continue
/// the word.
#[inline]
fn ascii_word<const CONTRACTIONS: bool>(scan: &TextScan<'_>, start: usize) -> Option<usize> {
    let mut capitals = start;
    while scan.ascii(capitals) == UPPER {
        capitals += 1;
    }
    let end = scan.lower_run(capitals);
    match scan.byte(end) {
        None => Some(end),
        Some(b'\'') if CONTRACTIONS => Some(scan.contraction(end).unwrap_or(end)),
        Some(byte) => (ASCII[usize::from(byte)] != NONE).then_some(end),
    }
}

/// The end of any piece, of any characters.
fn general<const DIGITS: usize, const CONTRACTIONS: bool, const KIMI: bool>(
    scan: &TextScan<'_>,
    start: usize,
) -> usize {
    let (class, length) = scan.class(start);
    if KIMI && class & HAN != 0 {
        return scan.run(start, HAN);
    }
    let word = if class & LETTER != 0 {
        closed_word(scan, start).or_else(|| open_word(scan, start))
    } else if class == MARK {
        // A mark is first tried as the character before a word, then as the start of one.
        closed_word(scan, start + length).or_else(|| closed_word(scan, start))
    } else if TextScan::leads(class) {
        closed_word(scan, start + length).or_else(|| open_word(scan, start + length))
    } else {
        None
    };
    match word {
        Some(end) if CONTRACTIONS => scan.contraction(end).unwrap_or(end),
        Some(end) => end,
        None => not_a_word::<DIGITS, KIMI>(scan, start, class),
    }
}

/// `OPENING*CLOSING+`. Without a lower-case letter after the opening run, the run is shortened until a character that
/// is in both classes can close the word.
fn closed_word(scan: &TextScan<'_>, start: usize) -> Option<usize> {
    let mut at = start;
    let mut closed = None;
    loop {
        let (class, length) = scan.class(at);
        if class == LOWER {
            return Some(scan.run(at, CLOSING));
        }
        if class & OPENING == 0 {
            return closed;
        }
        at += length;
        if class != UPPER {
            closed = Some(at);
        }
    }
}

/// `OPENING+CLOSING*`, if [`closed_word`] found nothing: capitals only.
fn open_word(scan: &TextScan<'_>, start: usize) -> Option<usize> {
    let end = scan.run(start, OPENING);
    (end > start).then_some(end)
}

/// The alternatives after the words, for a first character of `class`.
#[inline]
fn not_a_word<const DIGITS: usize, const KIMI: bool>(
    scan: &TextScan<'_>,
    start: usize,
    class: ClassSet,
) -> usize {
    if class == NUMBER {
        return scan.numbers(start, DIGITS);
    }
    match scan.spaced_run(start, OTHER | MARK) {
        Some(mut end) => {
            while matches!(scan.byte(end), Some(b'\r' | b'\n')) || !KIMI && scan.byte(end) == Some(b'/') {
                end += 1;
            }
            end
        }
        None => scan.white_space(start),
    }
}
