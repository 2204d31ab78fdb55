//! The caches that a thread keeps for the encoders it used last.

use std::cell::Cell;

use super::cache::PieceCache;
use crate::tokens::memo::Memo;

/// Number of encoders that a thread keeps caches for. A run has one tokenizer, at most two.
const MOST: usize = 4;

/// The caches of a thread for one encoder: under 2 MB.
#[derive(Default)]
pub struct ThreadCaches {
    /// Costs of pieces.
    pub pieces: PieceCache,
    /// Costs of whole texts.
    pub texts: Memo,
}

thread_local! {
    /// Caches by number of the encoder, the last used at the end.
    static KEPT: Cell<Vec<(u64, Box<ThreadCaches>)>> = const { Cell::new(Vec::new()) };
}

/// Takes this thread's caches for the encoder of this number; they are to be put back with [`put`].
#[allow(clippy::unnecessary_box_returns, reason = "it goes back into a list as it is")]
pub fn take(encoder: u64) -> Box<ThreadCaches> {
    let find = |cell: &Cell<Vec<(u64, Box<ThreadCaches>)>>| {
        let mut all = cell.take();
        let index = all.iter().position(|(number, _)| *number == encoder);
        let found = index.map(|index| all.remove(index).1);
        cell.set(all);
        found
    };
    // A thread that is ending may have dropped its caches: it then counts with empty ones.
    KEPT.try_with(find).ok().flatten().unwrap_or_default()
}

/// Puts back the caches that [`take`] returned.
pub fn put(encoder: u64, kept: Box<ThreadCaches>) {
    let put = |cell: &Cell<Vec<(u64, Box<ThreadCaches>)>>| {
        let mut all = cell.take();
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push((encoder, kept));
        cell.set(all);
    };
    KEPT.try_with(put).ok();
}
