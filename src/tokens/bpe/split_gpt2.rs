//! The split pattern of GPT-2, by hand.
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```

use super::classes::{LETTER, MARK, NUMBER, OTHER};
use super::scan::Scan;

/// The end of the piece that starts at `start`, which is before the end of the text.
#[inline]
pub fn piece_end(scan: &Scan<'_>, start: usize) -> usize {
    if scan.byte(start) == Some(b'\'') {
        match (scan.byte(start + 1), scan.byte(start + 2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => return start + 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => return start + 3,
            _ => {}
        }
    }
    let head = start + usize::from(scan.byte(start) == Some(b' '));
    let (class, _) = scan.class(head);
    for set in [LETTER, NUMBER, OTHER | MARK] {
        if class & set != 0 {
            return scan.run(head, set);
        }
    }
    let run = scan.white_run(start);
    if run.end == scan.bytes.len() {
        run.end
    } else {
        run.but_last(start)
    }
}
