//! The `tokenizers` library: what every other engine is to agree with, and what counts where none can.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The library, with its version.
pub const REFERENCE_ENGINE: &str = "tokenizers 0.23.2";

/// A tokenizer of the library that is set up when it is first needed: that takes half a second.
pub struct Reference {
    /// The file, packed (zstd): it may be changed or gone by then.
    file: Vec<u8>,
    /// Nothing in it if the library refuses the file.
    tokenizer: OnceLock<Option<tokenizers::Tokenizer>>,
}

impl Reference {
    /// Of a file that is to be loaded later if at all.
    pub fn later(bytes: &[u8]) -> Self {
        // Level 1: a fourth of the file's size, in a fraction of the time that loading takes.
        let file = zstd::encode_all(bytes, 1).unwrap_or_default();
        Self {
            file,
            tokenizer: OnceLock::new(),
        }
    }

    /// Loads a file.
    ///
    /// # Errors
    ///
    /// What the library says if it refuses the file.
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        Ok(Self {
            file: Vec::new(),
            tokenizer: OnceLock::from(Some(load(bytes)?)),
        })
    }

    /// The number of tokens of `text`; nothing if the library refuses the file or the text.
    pub fn count(&self, text: &str) -> Option<usize> {
        let set_up = || load(&zstd::decode_all(self.file.as_slice()).ok()?).ok();
        let tokenizer = self.tokenizer.get_or_init(set_up).as_ref()?;
        let encoded = catch_unwind(AssertUnwindSafe(|| tokenizer.encode_fast(text, false)));
        Some(encoded.ok()?.ok()?.len())
    }
}

fn load(bytes: &[u8]) -> Result<tokenizers::Tokenizer, String> {
    let loaded = catch_unwind(|| tokenizers::Tokenizer::from_bytes(bytes));
    let mut tokenizer = loaded
        .map_err(|_| "it cannot be loaded".to_owned())?
        .map_err(|error| error.to_string())?;
    tokenizer
        .with_truncation(None)
        .map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}
