//! Byte-pair encoders that only count: hand-written scanners split a text into pieces, which are looked up or merged.

mod cache;
mod characters;
mod classes;
mod kept;
mod key;
mod merge;
mod pattern;
mod rank_file;
#[cfg(test)]
mod ranks_asset;
mod scan;
mod split_cl100k;
mod split_deepseek;
mod split_gpt2;
mod split_o200k;
mod vocabulary;
mod whole;

use std::sync::atomic::{AtomicU64, Ordering};

use cache::PieceCache;
use classes::Classes;
use key::PieceKey;
use pattern::WithScanner;
use scan::TextScan;
use whole::WholePieces;

pub use characters::{Characters, SPACE};
pub use pattern::Pattern;
pub use vocabulary::{NO_TOKEN, Rank, TokenMerge, Vocabulary};

/// The name and version of the own encoder.
pub const OWN_ENGINE: &str = concat!("trajfit bpe ", env!("CARGO_PKG_VERSION"));

/// An alphabet and a vocabulary: a tokenizer without its added tokens.
pub struct Encoder {
    alphabet: SymbolAlphabet,
    vocabulary: Vocabulary,
    /// The key of this encoder in the caches of threads, unique within the process.
    number: u64,
}

/// The initial symbols that are merged, and the way texts are split.
enum SymbolAlphabet {
    Bytes(Box<ByteAlphabet>),
    Characters(Box<Characters>),
}

/// Bytes, split into pieces by a pattern.
struct ByteAlphabet {
    pattern: Pattern,
    classes: Classes,
    /// Pieces that cost one token even if merges do not make it.
    whole: WholePieces,
}

impl Encoder {
    /// An encoder that merges bytes, of a split pattern and a vocabulary.
    pub fn new(pattern: Pattern, vocabulary: Vocabulary) -> Result<Self, String> {
        let bytes = ByteAlphabet {
            pattern,
            classes: pattern.classes()?,
            whole: WholePieces::default(),
        };
        Ok(Self::with_alphabet(
            SymbolAlphabet::Bytes(Box::new(bytes)),
            vocabulary,
        ))
    }

    /// An encoder that merges characters.
    pub fn of_characters(characters: Characters, vocabulary: Vocabulary) -> Self {
        Self::with_alphabet(SymbolAlphabet::Characters(Box::new(characters)), vocabulary)
    }

    fn with_alphabet(alphabet: SymbolAlphabet, vocabulary: Vocabulary) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            alphabet,
            vocabulary,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Makes each of these pieces, at most `most`, cost one token, whatever its merges. Only for encoders of bytes.
    pub fn with_whole_pieces(mut self, pieces: impl Iterator<Item = Box<[u8]>>, most: usize) -> Self {
        if let SymbolAlphabet::Bytes(bytes) = &mut self.alphabet {
            bytes.whole = WholePieces::new(pieces, most);
        }
        self
    }

    /// The number of tokens of `text`, which `count` computes from the counts of its parts. A long text that this
    /// thread counted recently is looked up instead.
    pub fn count_text(&self, text: &str, count: impl FnOnce(&mut PieceCounter<'_>) -> usize) -> usize {
        let mut kept = kept::take(self.number);
        let tokens = kept.texts.get(text, || {
            count(&mut PieceCounter {
                encoder: self,
                cache: &mut kept.pieces,
            })
        });
        kept::put(self.number, kept);
        tokens
    }

    /// The split pattern; none for an encoder of characters.
    #[cfg(test)]
    pub fn pattern(&self) -> Option<Pattern> {
        match &self.alphabet {
            SymbolAlphabet::Bytes(bytes) => Some(bytes.pattern),
            SymbolAlphabet::Characters(_) => None,
        }
    }
}

impl ByteAlphabet {
    #[inline]
    fn count_piece(&self, piece: &[u8], vocabulary: &Vocabulary) -> usize {
        let tokens = merge::count(vocabulary, piece);
        if tokens > 1 && self.whole.has(piece) {
            return 1;
        }
        tokens
    }
}

/// Counts texts, and caches the costs of their pieces.
pub struct PieceCounter<'c> {
    encoder: &'c Encoder,
    cache: &'c mut PieceCache,
}

impl PieceCounter<'_> {
    /// The number of tokens of `text`, which contains no added token.
    pub fn count(&mut self, text: &str) -> usize {
        let Encoder {
            alphabet, vocabulary, ..
        } = self.encoder;
        match alphabet {
            SymbolAlphabet::Bytes(alphabet) => alphabet.pattern.with_scanner(CountPieces {
                scan: TextScan::new(text, &alphabet.classes),
                alphabet,
                vocabulary,
                cache: self.cache,
            }),
            SymbolAlphabet::Characters(characters) => characters.count(text, vocabulary, self.cache),
        }
    }
}

struct CountPieces<'p> {
    scan: TextScan<'p>,
    alphabet: &'p ByteAlphabet,
    vocabulary: &'p Vocabulary,
    cache: &'p mut PieceCache,
}

impl WithScanner for CountPieces<'_> {
    type Output = usize;

    #[inline]
    fn run(self, piece_end: impl Fn(&TextScan<'_>, usize) -> usize) -> usize {
        let count = |piece: &[u8]| self.alphabet.count_piece(piece, self.vocabulary);
        let bytes = self.scan.bytes;
        let mut tokens = 0;
        let mut start = 0;
        while start < bytes.len() {
            let end = piece_end(&self.scan, start);
            let piece = bytes.get(start..end).unwrap_or_default();
            tokens += match (end - start, PieceKey::new(bytes, start, end - start)) {
                // Digits and line ends: a single byte has nothing to merge.
                (1, _) => 1,
                (_, Some(key)) => self.cache.get(key, || count(piece)),
                (_, None) => self.cache.get_long(piece, || count(piece)),
            };
            start = end;
        }
        tokens
    }
}
