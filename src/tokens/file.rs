//! Counting with the tokenizer that a `tokenizer.json` describes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use sha2::{Digest, Sha256};

use super::builtin::OWN_ENGINE;
use super::check::Check;
use super::json::JsonTokenizer;
use super::reference::{REFERENCE_ENGINE, Reference};
use super::{TokenCounter, TokenizerError, TokenizerIdentity};

const FAST_ENGINE: &str = "fastokens 0.3.5";

/// The fastest engine that takes the file: the own one, then `fastokens`, then the reference.
pub struct FileCounter {
    identity: TokenizerIdentity,
    engine: Engine,
    reference: Reference,
    check: Check,
}

/// Which engine is to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The fastest that takes the file.
    Fastest,
    /// The reference.
    Reference,
}

enum Engine {
    Own(Box<JsonTokenizer>),
    Fast(Box<fastokens::Tokenizer>),
    Reference,
}

impl FileCounter {
    /// Loads the file at `path`; `name` is what the user called it.
    ///
    /// # Errors
    ///
    /// It cannot be read, or no engine takes it.
    pub fn load(name: &str, path: &Path, choice: Choice) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
        let bytes = fs::read(path).map_err(|source| TokenizerError::Read {
            path: path.to_owned(),
            source,
        })?;
        let broken = |reason: String| TokenizerError::Broken {
            path: path.to_owned(),
            reason,
        };
        let (engine, aside) = thread::scope(|scope| {
            // The sum and the copy take as long as the reading.
            let aside = scope.spawn(|| (hex(&Sha256::digest(&bytes)), Reference::later(&bytes)));
            (engine(&bytes, choice), aside.join())
        });
        let engine = engine.map_err(broken)?;
        let (sha256, mut reference) = aside.map_err(|_| broken("it cannot be read".to_owned()))?;
        if matches!(engine, Engine::Reference) {
            reference = Reference::load(&bytes).map_err(broken)?;
        }
        let identity = TokenizerIdentity {
            name: name.to_owned(),
            sha256,
            engine: engine.name().to_owned(),
        };
        Ok(Arc::new(Self {
            identity,
            engine,
            reference,
            check: Check::default(),
        }))
    }
}

impl Engine {
    fn name(&self) -> &'static str {
        match self {
            Self::Own(_) => OWN_ENGINE,
            Self::Fast(_) => FAST_ENGINE,
            Self::Reference => REFERENCE_ENGINE,
        }
    }

    /// The number of tokens of `text`; nothing if it is the reference that has to say it.
    fn count(&self, text: &str) -> Option<usize> {
        match self {
            Self::Own(own) => Some(own.count(text)),
            Self::Fast(fast) => {
                let encoded = catch_unwind(AssertUnwindSafe(|| fast.encode(text)));
                Some(encoded.ok()?.ok()?.len())
            }
            Self::Reference => None,
        }
    }
}

impl TokenCounter for FileCounter {
    /// A text that both engines refuse (a vocabulary without a token for the unknown) counts by its
    /// bytes: more than it can cost, so that nothing is taken to fit that does not.
    fn count(&self, text: &str) -> usize {
        let Some(tokens) = self.engine.count(text) else {
            return self.reference.count(text).unwrap_or(text.len());
        };
        let (ours, reference) = (
            |text: &str| self.engine.count(text),
            |text: &str| self.reference.count(text),
        );
        self.check.see(text, tokens, ours, reference);
        tokens
    }

    fn identity(&self) -> &TokenizerIdentity {
        &self.identity
    }

    fn note(&self) -> Option<String> {
        let note = self.check.note(self.engine.name(), REFERENCE_ENGINE)?;
        let name = &self.identity.name;
        Some(format!(
            "{note}; `--tokenizer reference:{name}` counts by {REFERENCE_ENGINE} alone"
        ))
    }
}

/// The engine for a file.
fn engine(bytes: &[u8], choice: Choice) -> Result<Engine, String> {
    if choice == Choice::Reference {
        return Ok(Engine::Reference);
    }
    if let Some(own) = JsonTokenizer::read(bytes) {
        return Ok(Engine::Own(Box::new(own)));
    }
    let value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(match fast_engine(value) {
        Some(fast) => Engine::Fast(Box::new(fast)),
        None => Engine::Reference,
    })
}

/// `fastokens`, if it takes the file. Only the file itself counts: a `tokenizer_config.json` beside it
/// would add tokens that the reference does not know.
fn fast_engine(value: serde_json::Value) -> Option<fastokens::Tokenizer> {
    let mut engine = catch_unwind(|| fastokens::Tokenizer::from_json(value))
        .ok()?
        .ok()?;
    engine.set_truncation(None);
    engine.set_padding(None);
    Some(engine)
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use tokenizers::models::bpe::{BPE, Vocab};
    use tokenizers::models::wordpiece::WordPiece;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;
    use tokenizers::pre_tokenizers::whitespace::Whitespace;
    use tokenizers::{AddedToken, ModelWrapper, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

    use super::*;

    /// A vocabulary of the bytes and a few merges, which truncates to 3 and pads to 100.
    fn byte_level() -> Tokenizer {
        let mut alphabet: Vec<char> = ByteLevel::alphabet().into_iter().collect();
        alphabet.sort_unstable();
        let merges = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), ("Ġ", "w")];
        let merged = merges.iter().map(|(left, right)| format!("{left}{right}"));
        let vocabulary: Vocab = alphabet
            .iter()
            .map(char::to_string)
            .chain(merged)
            .zip(0..)
            .collect();
        let merges = merges.map(|(left, right)| (left.to_owned(), right.to_owned()));
        let model = BPE::builder()
            .vocab_and_merges(vocabulary, merges.to_vec())
            .build()
            .unwrap();
        let mut tokenizer = Tokenizer::new(ModelWrapper::BPE(model));
        tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
        with_traps(tokenizer)
    }

    /// A model that the fast engine does not have.
    fn word_piece() -> Tokenizer {
        let words = ["[UNK]", "hello", "wor", "##ld", "<", ">"];
        let vocabulary: Vocab = words.map(str::to_owned).into_iter().zip(0..).collect();
        let model = WordPiece::builder()
            .vocab(vocabulary)
            .unk_token("[UNK]".into())
            .build()
            .unwrap();
        let mut tokenizer = Tokenizer::new(ModelWrapper::WordPiece(model));
        tokenizer.with_pre_tokenizer(Some(Whitespace {}));
        with_traps(tokenizer)
    }

    fn with_traps(mut tokenizer: Tokenizer) -> Tokenizer {
        let truncation = TruncationParams {
            max_length: 3,
            ..TruncationParams::default()
        };
        let padding = PaddingParams {
            strategy: PaddingStrategy::Fixed(100),
            ..PaddingParams::default()
        };
        tokenizer.with_truncation(Some(truncation)).unwrap();
        tokenizer.with_padding(Some(padding));
        tokenizer
            .add_tokens([AddedToken::from("<tool_call>", false)])
            .unwrap();
        tokenizer
            .add_special_tokens([AddedToken::from("<|end|>", true)])
            .unwrap();
        tokenizer
    }

    fn load(tokenizer: &Tokenizer) -> Arc<dyn TokenCounter> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        tokenizer.save(&path, false).unwrap();
        // The file is gone when the counter is used: it is needed once only.
        FileCounter::load("mine", &path, Choice::Fastest).unwrap()
    }

    #[test]
    fn added_tokens_count_and_neither_truncation_nor_padding_does() {
        let counter = load(&byte_level());
        assert_eq!(counter.identity().engine, OWN_ENGINE);
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("hello world"), 1 + 5);
        assert_eq!(counter.count("hello<tool_call>hello<|end|>"), 4);
        assert_eq!(counter.count("\u{0}é"), 3);
    }

    #[test]
    fn what_the_fast_engine_refuses_is_counted_by_the_reference() {
        let counter = load(&word_piece());
        assert_eq!(counter.identity().engine, REFERENCE_ENGINE);
        assert_eq!(counter.count("hello world"), 3);
        assert_eq!(counter.count("hello <tool_call> hello hello hello<|end|>"), 6);
    }

    #[test]
    fn the_reference_can_be_set_up_when_the_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        byte_level().save(&path, false).unwrap();
        let reference = Reference::later(&fs::read(&path).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(reference.count("hello<tool_call> world"), Some(2 + 5));
    }

    #[test]
    fn the_identity_is_the_file_s() {
        let counter = load(&byte_level());
        let json = byte_level().to_string(false).unwrap();
        assert_eq!(counter.identity().name, "mine");
        assert_eq!(counter.identity().sha256, hex(&Sha256::digest(json.as_bytes())));
        assert_eq!(counter.identity().sha256.len(), 64);
    }
}
