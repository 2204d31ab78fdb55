//! A scanner for the split pattern of `cl100k_base` and its variants.
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)
//! |[^\r\n\p{L}\p{N}]?\p{L}+
//! |\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Qwen 2 to 3 has `\p{N}` alone; Qwen 3.5 also has `[\p{L}\p{M}]+` for words and `[^\s\p{L}\p{M}\p{N}]+` for symbols.

use super::classes::{ClassSet, LETTER, LOWER, MARK, NUMBER, OTHER, UPPER};
use super::scan::TextScan;

/// The end of the piece that starts at `start`, which is before the end of the text. Up to `DIGITS` numbers are a
/// piece; with `MARKS`, marks count as letters.
#[inline]
pub fn piece_end<const DIGITS: usize, const MARKS: bool>(scan: &TextScan<'_>, start: usize) -> usize {
    let (word, symbols) = if MARKS {
        (LETTER | MARK, OTHER)
    } else {
        (LETTER, OTHER | MARK)
    };
    if let Some(end) = scan.contraction(start) {
        return end;
    }
    let (class, length) = scan.class(start);
    if class & word != 0 {
        return letters(scan, start, word);
    }
    if TextScan::leads(class) && scan.class(start + length).0 & word != 0 {
        return letters(scan, start + length, word);
    }
    if class == NUMBER {
        return scan.numbers(start, DIGITS);
    }
    match scan.spaced_run(start, symbols) {
        Some(end) => scan.newlines(end),
        None => scan.white_space(start),
    }
}

/// The end of the run of `word` characters from `start`.
#[inline]
fn letters(scan: &TextScan<'_>, start: usize, word: ClassSet) -> usize {
    let end = if scan.ascii(start) & (UPPER | LOWER) == 0 {
        start
    } else {
        scan.alphabetic_run(start)
    };
    if scan.is_wide(end) {
        scan.run(end, word)
    } else {
        end
    }
}
