//! What a thread remembers for the encoders that it has used last.

use std::cell::Cell;

use super::cache::Cache;
use crate::tokens::memo::Memo;

/// How many encoders a thread remembers for. A run has one tokenizer, at most two.
const MOST: usize = 4;

/// What a thread remembers for one encoder: under 2 MB.
#[derive(Default)]
pub struct Kept {
    /// What pieces cost.
    pub pieces: Cache,
    /// What whole texts cost.
    pub texts: Memo,
}

thread_local! {
    /// By the number of the encoder, the one used last at the end.
    static KEPT: Cell<Vec<(u64, Box<Kept>)>> = const { Cell::new(Vec::new()) };
}

/// What this thread remembers for the encoder of this number; it is to be put back.
#[allow(clippy::unnecessary_box_returns, reason = "it goes back into a list as it is")]
pub fn take(encoder: u64) -> Box<Kept> {
    let find = |cell: &Cell<Vec<(u64, Box<Kept>)>>| {
        let mut all = cell.take();
        let index = all.iter().position(|(number, _)| *number == encoder);
        let found = index.map(|index| all.remove(index).1);
        cell.set(all);
        found
    };
    // A thread that is ending may have dropped it all: it then counts with a fresh one.
    KEPT.try_with(find).ok().flatten().unwrap_or_default()
}

/// Puts back what [`take`] gave.
pub fn put(encoder: u64, kept: Box<Kept>) {
    let put = |cell: &Cell<Vec<(u64, Box<Kept>)>>| {
        let mut all = cell.take();
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push((encoder, kept));
        cell.set(all);
    };
    KEPT.try_with(put).ok();
}
