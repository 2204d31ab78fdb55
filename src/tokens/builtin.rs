//! The encodings that are built into the program.

use std::sync::{Arc, OnceLock};

use memchr::memmem;

use super::bpe::{Encoder, Pattern, Pieces, Vocabulary};
use super::{TokenCounter, TokenizerError, TokenizerIdentity};

/// The vocabulary of `o200k_base`; `assets/README.md` says where it is from.
pub(super) static O200K_RANKS: &[u8] = include_bytes!("../../assets/o200k_base.ranks");
/// The vocabulary of `cl100k_base`.
pub(super) static CL100K_RANKS: &[u8] = include_bytes!("../../assets/cl100k_base.ranks");

/// The code that counts: the own encoder.
pub(super) const OWN_ENGINE: &str = concat!("trajfit bpe ", env!("CARGO_PKG_VERSION"));

/// How every special token starts.
const SPECIAL_START: &str = "<|";

/// What is fixed about a built-in encoding.
pub(super) struct Encoding {
    pub(super) name: &'static str,
    /// Of the `.tiktoken` file that the vocabulary was made from.
    pub(super) sha256: &'static str,
    pub(super) ranks: &'static [u8],
    pub(super) pattern: Pattern,
    /// With their numbers, as tiktoken's registry has them. None is the start of another.
    pub(super) special_tokens: &'static [(&'static str, u32)],
}

/// GPT-4o and later.
pub(super) static O200K_BASE: Encoding = Encoding {
    name: "o200k_base",
    sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ranks: O200K_RANKS,
    pattern: Pattern::O200k,
    special_tokens: &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
};

/// GPT-3.5 and GPT-4.
pub(super) static CL100K_BASE: Encoding = Encoding {
    name: "cl100k_base",
    sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ranks: CL100K_RANKS,
    pattern: Pattern::Cl100k,
    special_tokens: &[
        ("<|endoftext|>", 100_257),
        ("<|fim_prefix|>", 100_258),
        ("<|fim_middle|>", 100_259),
        ("<|fim_suffix|>", 100_260),
        ("<|endofprompt|>", 100_276),
    ],
};

/// A built-in encoding, ready to count.
struct BuiltIn {
    encoding: &'static Encoding,
    encoder: Encoder,
    special_start: memmem::Finder<'static>,
    identity: TokenizerIdentity,
}

impl Encoding {
    /// The counter of this encoding; it is set up once in the life of the program.
    pub(super) fn counter(&'static self) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
        static SET_UP: [OnceLock<Arc<BuiltIn>>; 2] = [OnceLock::new(), OnceLock::new()];
        let cell = SET_UP.get(self.pattern as usize);
        if let Some(counter) = cell.and_then(OnceLock::get) {
            return Ok(counter.clone());
        }
        let counter = Arc::new(self.set_up()?);
        Ok(match cell {
            Some(cell) => cell.get_or_init(|| counter).clone(),
            None => counter,
        })
    }

    fn set_up(&'static self) -> Result<BuiltIn, TokenizerError> {
        let encoder = Vocabulary::built_in(self.ranks)
            .and_then(|vocabulary| Encoder::new(self.pattern, vocabulary))
            .map_err(|reason| TokenizerError::BuiltIn {
                name: self.name,
                reason,
            })?;
        Ok(BuiltIn {
            encoding: self,
            encoder,
            special_start: memmem::Finder::new(SPECIAL_START),
            identity: TokenizerIdentity {
                name: self.name.to_owned(),
                sha256: self.sha256.to_owned(),
                engine: OWN_ENGINE.to_owned(),
            },
        })
    }
}

impl BuiltIn {
    fn count_with(&self, text: &str, pieces: &mut Pieces<'_>) -> usize {
        let mut tokens = 0;
        // Not yet counted, and where the next special token may start in it.
        let mut rest = text;
        let mut from = 0;
        while let Some(found) = rest
            .get(from..)
            .and_then(|tail| self.special_start.find(tail.as_bytes()))
        {
            let (before, tail) = rest.split_at(from + found);
            let special = self
                .encoding
                .special_tokens
                .iter()
                .find_map(|(token, _)| tail.strip_prefix(token));
            if let Some(after) = special {
                tokens += pieces.count(before) + 1;
                rest = after;
                from = 0;
            } else {
                from += found + SPECIAL_START.len();
            }
        }
        tokens + pieces.count(rest)
    }
}

impl TokenCounter for BuiltIn {
    fn count(&self, text: &str) -> usize {
        self.encoder
            .count_text(text, |pieces| self.count_with(text, pieces))
    }

    fn identity(&self) -> &TokenizerIdentity {
        &self.identity
    }

    fn special_tokens(&self) -> Vec<String> {
        let tokens = self.encoding.special_tokens.iter();
        tokens.map(|(token, _)| (*token).to_owned()).collect()
    }

    /// In both patterns a line end is the last of its piece, unless white space follows or, in `o200k_base`, a slash.
    fn counts_by_line(&self) -> bool {
        true
    }
}
