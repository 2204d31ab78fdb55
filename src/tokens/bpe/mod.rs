//! A byte-pair encoder that only counts: split by hand-written scanners, look up, merge.

mod cache;
mod classes;
mod key;
mod merge;
mod scan;
mod split_cl100k;
mod split_o200k;
mod vocabulary;

use std::cell::Cell;

use cache::Cache;
use classes::Classes;
use key::Key;
use scan::Scan;
use vocabulary::Vocabulary;

/// The split patterns, each with its place among the caches of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// That of `cl100k_base`.
    Cl100k = 0,
    /// That of `o200k_base`.
    O200k = 1,
}

impl Pattern {
    /// The end of the piece that starts at `start`, which is before the end of the text.
    #[cfg(test)]
    fn piece_end(self, scan: &Scan<'_>, start: usize) -> usize {
        match self {
            Self::Cl100k => split_cl100k::piece_end(scan, start),
            Self::O200k => split_o200k::piece_end(scan, start),
        }
    }

    /// Where the pieces of `text` end.
    #[cfg(test)]
    pub fn piece_ends(self, text: &str) -> Vec<usize> {
        static CLASSES: std::sync::LazyLock<Classes> = std::sync::LazyLock::new(|| Classes::new().unwrap());
        let scan = Scan::new(text, &CLASSES);
        let next = |start: &usize| (*start < text.len()).then(|| self.piece_end(&scan, *start));
        std::iter::successors(next(&0), next).collect()
    }
}

thread_local! {
    static CACHES: [Cell<Option<Box<Cache>>>; 2] = const { [Cell::new(None), Cell::new(None)] };
}

/// An encoding without its special tokens.
pub struct Encoder {
    pattern: Pattern,
    vocabulary: Vocabulary,
    classes: Classes,
}

impl Encoder {
    /// From a vocabulary in the form that `assets/README.md` describes. There is to be one vocabulary
    /// for a pattern: threads remember pieces by the pattern.
    pub fn new(pattern: Pattern, file: &'static [u8]) -> Result<Self, String> {
        Ok(Self {
            pattern,
            vocabulary: Vocabulary::new(file)?,
            classes: Classes::new()?,
        })
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str) -> usize {
        let take = |caches: &[Cell<Option<Box<Cache>>>; 2]| caches.get(self.pattern as usize)?.take();
        // A thread that is ending may have dropped its caches: it then counts with a fresh one.
        let kept = CACHES.try_with(take).ok().flatten();
        let mut cache = kept.unwrap_or_else(|| Box::new(Cache::new()));
        let scan = Scan::new(text, &self.classes);
        let tokens = match self.pattern {
            Pattern::Cl100k => self.count_pieces(&scan, &mut cache, split_cl100k::piece_end),
            Pattern::O200k => self.count_pieces(&scan, &mut cache, split_o200k::piece_end),
        };
        let put = |caches: &[Cell<Option<Box<Cache>>>; 2]| {
            if let Some(kept) = caches.get(self.pattern as usize) {
                kept.set(Some(cache));
            }
        };
        CACHES.try_with(put).ok();
        tokens
    }

    #[inline]
    fn count_pieces(
        &self,
        scan: &Scan<'_>,
        cache: &mut Cache,
        piece_end: impl Fn(&Scan<'_>, usize) -> usize,
    ) -> usize {
        let bytes = scan.bytes;
        let mut tokens = 0;
        let mut start = 0;
        while start < bytes.len() {
            let end = piece_end(scan, start);
            let piece = bytes.get(start..end).unwrap_or_default();
            tokens += match Key::new(bytes, start, end - start) {
                Some(key) => cache.get(key, || merge::count(&self.vocabulary, piece)),
                None => cache.get_long(piece, || merge::count(&self.vocabulary, piece)),
            };
            start = end;
        }
        tokens
    }
}
