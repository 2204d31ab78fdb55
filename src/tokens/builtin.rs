//! The encodings that are built into the program.

use std::sync::{Arc, OnceLock};

use memchr::memmem;

use super::bpe::{Encoder, OWN_ENGINE, PieceCounter, Vocabulary};
use super::encodings::Encoding;
use super::{TokenCounter, TokenizerError, TokenizerIdentity};

/// The common start of all special tokens.
const SPECIAL_START: &str = "<|";

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
        let encoder = Vocabulary::laid_out(self.layout)
            .ok_or_else(|| "the built-in vocabulary is damaged".to_owned())
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
    fn count_with(&self, text: &str, pieces: &mut PieceCounter<'_>) -> usize {
        let mut tokens = 0;
        // The text not yet counted, and the offset in it to search the next special token from.
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
