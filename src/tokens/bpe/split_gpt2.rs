//! A scanner for the split pattern of GPT-2.
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```
//!
//! Cohere's files (Command R, Aya) first split off every number as a piece of its own, then split the text between.

use super::classes::{LETTER, MARK, NUMBER, OTHER};
use super::scan::TextScan;

/// The end of the piece that starts at `start`, which is before the end of the text. With `DIGITS_APART`, every number
/// is a piece, and the text before it is split as if it ended there.
#[inline]
pub fn piece_end<const DIGITS_APART: bool>(scan: &TextScan<'_>, start: usize) -> usize {
    if scan.byte(start) == Some(b'\'') {
        match (scan.byte(start + 1), scan.byte(start + 2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => return start + 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => return start + 3,
            _ => {}
        }
    }
    let head = start + usize::from(scan.byte(start) == Some(b' '));
    let (class, length) = scan.class(head);
    if !DIGITS_APART || class != NUMBER {
        for set in [LETTER, NUMBER, OTHER | MARK] {
            if class & set != 0 {
                return scan.run(head, set);
            }
        }
    } else if head == start {
        return start + length;
    }
    let run = scan.white_run(start);
    let is_last = run.end == scan.bytes.len() || (DIGITS_APART && scan.class(run.end).0 == NUMBER);
    if is_last { run.end } else { run.but_last(start) }
}
