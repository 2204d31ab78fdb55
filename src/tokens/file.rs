//! Counting with the tokenizer that a `tokenizer.json` describes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::{TokenCounter, TokenizerError, TokenizerIdentity};

const FAST_ENGINE: &str = "fastokens 0.3.5";
const REFERENCE_ENGINE: &str = "tokenizers 0.23.2";

/// The fast engine where it takes the file, and the reference for all else.
pub struct FileCounter {
    identity: TokenizerIdentity,
    fast: Option<fastokens::Tokenizer>,
    /// The file, packed (zstd): it may be changed or gone when the reference is first needed.
    file: Vec<u8>,
    /// Set up when it is first needed; nothing if it refuses what the fast engine took.
    reference: OnceLock<Option<tokenizers::Tokenizer>>,
}

impl FileCounter {
    /// Loads the file at `path`; `name` is what the user called it.
    ///
    /// # Errors
    ///
    /// It cannot be read, or neither engine takes it.
    pub fn load(name: &str, path: &Path) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
        let bytes = fs::read(path).map_err(|source| TokenizerError::Read {
            path: path.to_owned(),
            source,
        })?;
        let broken = |reason: String| TokenizerError::Broken {
            path: path.to_owned(),
            reason,
        };
        let value = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        let fast = fast_engine(value);
        let reference = OnceLock::new();
        if fast.is_none() {
            let engine = reference_engine(&bytes).map_err(broken)?;
            reference.set(Some(engine)).ok();
        }
        let file = if fast.is_some() { pack(&bytes) } else { Vec::new() };
        let engine = if fast.is_some() {
            FAST_ENGINE
        } else {
            REFERENCE_ENGINE
        };
        let identity = TokenizerIdentity {
            name: name.to_owned(),
            sha256: hex(&Sha256::digest(&bytes)),
            engine: engine.to_owned(),
        };
        Ok(Arc::new(Self {
            identity,
            fast,
            file,
            reference,
        }))
    }

    fn count_by_reference(&self, text: &str) -> Option<usize> {
        let load = || reference_engine(&zstd::decode_all(self.file.as_slice()).ok()?).ok();
        let reference = self.reference.get_or_init(load).as_ref()?;
        let encoded = catch_unwind(AssertUnwindSafe(|| reference.encode_fast(text, false)));
        Some(encoded.ok()?.ok()?.len())
    }
}

impl TokenCounter for FileCounter {
    /// A text that both engines refuse (a vocabulary without a token for the unknown) counts by its
    /// bytes: more than it can cost, so that nothing is taken to fit that does not.
    fn count(&self, text: &str) -> usize {
        let fast = self.fast.as_ref().and_then(|fast| {
            let encoded = catch_unwind(AssertUnwindSafe(|| fast.encode(text)));
            Some(encoded.ok()?.ok()?.len())
        });
        fast.or_else(|| self.count_by_reference(text))
            .unwrap_or(text.len())
    }

    fn identity(&self) -> &TokenizerIdentity {
        &self.identity
    }
}

/// The fast engine, if it takes the file. Only the file itself counts: a `tokenizer_config.json`
/// beside it would add tokens that the reference does not know.
fn fast_engine(value: serde_json::Value) -> Option<fastokens::Tokenizer> {
    let mut engine = catch_unwind(|| fastokens::Tokenizer::from_json(value))
        .ok()?
        .ok()?;
    engine.set_truncation(None);
    engine.set_padding(None);
    Some(engine)
}

fn reference_engine(bytes: &[u8]) -> Result<tokenizers::Tokenizer, String> {
    let loaded = catch_unwind(|| tokenizers::Tokenizer::from_bytes(bytes));
    let mut engine = loaded
        .map_err(|_| "it cannot be loaded".to_owned())?
        .map_err(|error| error.to_string())?;
    engine.with_truncation(None).map_err(|error| error.to_string())?;
    engine.with_padding(None);
    Ok(engine)
}

/// Level 1: a tenth of the file's size, for a hundredth of the time that the engine takes to load.
fn pack(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
