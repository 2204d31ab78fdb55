//! The `tokenizers` library: the reference for every other engine, and the engine for files that no other supports.

use std::borrow::Cow;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::tokens::hex::hex;
use crate::tokens::ranks::{self, SplitPattern};

/// The library, with its version.
pub const REFERENCE_ENGINE: &str = "tokenizers 0.23.2";

/// The form of a file, and the data that belongs to it.
pub enum TokenizerForm {
    /// A `tokenizer.json`.
    Json,
    /// A rank file.
    Ranks {
        /// The split pattern.
        pattern: &'static SplitPattern,
        /// The special tokens.
        special: Vec<String>,
    },
}

/// A tokenizer of the library that is set up at its first use, which takes half a second or more.
pub struct Reference {
    source: Option<TokenizerSource>,
    /// The loaded tokenizer; `None` if the library refuses the file.
    tokenizer: OnceLock<Option<tokenizers::Tokenizer>>,
}

/// A file to be read again.
struct TokenizerSource {
    path: PathBuf,
    /// The SHA-256 at the first reading: the file may have changed since.
    sha256: String,
    form: TokenizerForm,
}

impl Reference {
    /// The reference for a file with this SHA-256, which is loaded at the first use.
    pub fn later(path: &Path, sha256: &str, form: TokenizerForm) -> Self {
        let source = TokenizerSource {
            path: path.to_owned(),
            sha256: sha256.to_owned(),
            form,
        };
        Self {
            source: Some(source),
            tokenizer: OnceLock::new(),
        }
    }

    /// Loads a file.
    ///
    /// # Errors
    ///
    /// The library refuses the file; the error is its message.
    pub fn load(bytes: &[u8], form: &TokenizerForm) -> Result<Self, String> {
        Ok(Self {
            source: None,
            tokenizer: OnceLock::from(Some(load(bytes, form)?)),
        })
    }

    /// The number of tokens of `text`; `None` if the library refuses the file or the text, or the file is missing or
    /// has changed.
    pub fn count(&self, text: &str) -> Option<usize> {
        let set_up = || self.source.as_ref()?.load();
        let tokenizer = self.tokenizer.get_or_init(set_up).as_ref()?;
        let encoded = catch_unwind(AssertUnwindSafe(|| tokenizer.encode_fast(text, false)));
        Some(encoded.ok()?.ok()?.len())
    }
}

impl TokenizerSource {
    fn load(&self) -> Option<tokenizers::Tokenizer> {
        let bytes = fs::read(&self.path).ok()?;
        if hex(&Sha256::digest(&bytes)) != self.sha256 {
            return None;
        }
        load(&bytes, &self.form).ok()
    }
}

fn load(bytes: &[u8], form: &TokenizerForm) -> Result<tokenizers::Tokenizer, String> {
    let json = match form {
        TokenizerForm::Json => Cow::Borrowed(bytes),
        TokenizerForm::Ranks { pattern, special } => {
            Cow::Owned(ranks::as_json(&ranks::tokens(bytes)?, pattern, special))
        }
    };
    let loaded = catch_unwind(|| tokenizers::Tokenizer::from_bytes(json.as_ref()));
    let mut tokenizer = loaded
        .map_err(|_| "it cannot be loaded".to_owned())?
        .map_err(|error| error.to_string())?;
    tokenizer
        .with_truncation(None)
        .map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    // Dropout of merges is for training a model: the count of a text would be random.
    if let tokenizers::ModelWrapper::BPE(model) = tokenizer.get_model()
        && model.dropout.is_some()
    {
        let mut model = model.clone();
        model.dropout = None;
        tokenizer.with_model(model);
    }
    Ok(tokenizer)
}
