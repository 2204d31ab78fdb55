//! A byte-pair encoder that only counts: split by hand-written scanners, look up, merge.

mod cache;
mod classes;
mod kept;
mod key;
mod merge;
mod pattern;
mod rank_file;
mod scan;
mod split_cl100k;
mod split_deepseek;
mod split_gpt2;
mod split_o200k;
mod vocabulary;
mod whole;

use std::sync::atomic::{AtomicU64, Ordering};

use cache::Cache;
use classes::Classes;
use key::Key;
use pattern::WithScanner;
use scan::Scan;
use whole::Whole;

pub use pattern::Pattern;
pub use vocabulary::{Merge, NO_TOKEN, Rank, Vocabulary};

/// A split pattern and a vocabulary: a tokenizer without its added tokens.
pub struct Encoder {
    pattern: Pattern,
    vocabulary: Vocabulary,
    classes: Classes,
    /// Pieces that cost one token even where no merges make it.
    whole: Whole,
    /// What the caches of threads know it by; no other encoder has it in the life of the program.
    number: u64,
}

impl Encoder {
    /// From a split pattern and a vocabulary.
    pub fn new(pattern: Pattern, vocabulary: Vocabulary) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            pattern,
            vocabulary,
            classes: pattern.classes()?,
            whole: Whole::default(),
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// Makes each of these pieces, at most `most`, cost one token, whatever its merges.
    pub fn with_whole_pieces(mut self, pieces: impl Iterator<Item = Box<[u8]>>, most: usize) -> Self {
        self.whole = Whole::new(pieces, most);
        self
    }

    /// The number of tokens of `text`: `count` gives it, by the counts of parts of the text. A long text
    /// that this thread has counted of late is known.
    pub fn count_text(&self, text: &str, count: impl FnOnce(&mut Pieces<'_>) -> usize) -> usize {
        let mut kept = kept::take(self.number);
        let tokens = kept.texts.get(text, || {
            count(&mut Pieces {
                encoder: self,
                cache: &mut kept.pieces,
            })
        });
        kept::put(self.number, kept);
        tokens
    }

    /// How texts are split.
    #[cfg(test)]
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    #[inline]
    fn count_piece(&self, piece: &[u8]) -> usize {
        let tokens = merge::count(&self.vocabulary, piece);
        if tokens > 1 && self.whole.has(piece) {
            return 1;
        }
        tokens
    }
}

/// Counts texts, and remembers their pieces.
pub struct Pieces<'c> {
    encoder: &'c Encoder,
    cache: &'c mut Cache,
}

impl Pieces<'_> {
    /// The number of tokens of `text`, of which no part is an added token.
    pub fn count(&mut self, text: &str) -> usize {
        self.encoder.pattern.with_scanner(CountPieces {
            scan: Scan::new(text, &self.encoder.classes),
            pieces: self,
        })
    }
}

struct CountPieces<'p, 'c, 't> {
    scan: Scan<'t>,
    pieces: &'p mut Pieces<'c>,
}

impl WithScanner for CountPieces<'_, '_, '_> {
    type Output = usize;

    #[inline]
    fn run(self, piece_end: impl Fn(&Scan<'_>, usize) -> usize) -> usize {
        let Pieces { encoder, cache } = self.pieces;
        let bytes = self.scan.bytes;
        let mut tokens = 0;
        let mut start = 0;
        while start < bytes.len() {
            let end = piece_end(&self.scan, start);
            let piece = bytes.get(start..end).unwrap_or_default();
            tokens += match (end - start, Key::new(bytes, start, end - start)) {
                // Digits and line ends: there is nothing to merge in one byte.
                (1, _) => 1,
                (_, Some(key)) => cache.get(key, || encoder.count_piece(piece)),
                (_, None) => cache.get_long(piece, || encoder.count_piece(piece)),
            };
            start = end;
        }
        tokens
    }
}
