//! The split pattern of `cl100k_base`, by hand.
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)
//! |[^\r\n\p{L}\p{N}]?\p{L}+
//! |\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```

use super::classes::{LETTER, LOWER, NUMBER, UPPER};
use super::scan::Scan;

/// The end of the piece that starts at `start`, which is before the end of the text.
#[inline]
pub fn piece_end(scan: &Scan<'_>, start: usize) -> usize {
    if let Some(end) = scan.contraction(start) {
        return end;
    }
    let (class, length) = scan.class(start);
    if class & LETTER != 0 {
        return letters(scan, start);
    }
    if Scan::leads(class) && scan.class(start + length).0 & LETTER != 0 {
        return letters(scan, start + length);
    }
    if class == NUMBER {
        return scan.numbers(start);
    }
    match scan.spaced_symbols(start) {
        Some(mut end) => {
            while matches!(scan.byte(end), Some(b'\r' | b'\n')) {
                end += 1;
            }
            end
        }
        None => scan.white_space(start),
    }
}

/// `\p{L}+` from `start`.
#[inline]
fn letters(scan: &Scan<'_>, start: usize) -> usize {
    let end = if scan.ascii(start) & (UPPER | LOWER) == 0 {
        start
    } else {
        scan.alphabetic_run(start)
    };
    if scan.is_wide(end) {
        scan.run(end, LETTER)
    } else {
        end
    }
}
