//! Counting with the tokenizer of a file.

mod normalizer;
mod reference;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use super::bpe::OWN_ENGINE;
use super::check::{Difference, SampleCheck};
use super::hex::hex;
use super::json::JsonTokenizer;
use super::ranks::{self, RankTokenizer, SplitPattern};
use super::special;
use super::{TokenCounter, TokenizerError, TokenizerIdentity};
use reference::{REFERENCE_ENGINE, Reference, TokenizerForm};

/// Counts with the own engine if it supports the file, else with the reference.
pub struct FileCounter {
    identity: TokenizerIdentity,
    engine: TokenizerEngine,
    reference: Reference,
    check: SampleCheck,
    /// The engine that was replaced by the reference, and the difference that it was replaced for.
    replaced: Option<ReplacedEngine>,
    /// Number of texts that no engine could count.
    refused: AtomicU64,
    special_tokens: Vec<String>,
}

/// The name of an engine that was replaced, and the difference found in its counts.
type ReplacedEngine = (&'static str, Difference);

/// The engine to count with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// The fastest one that supports the file.
    Fastest,
    /// The reference.
    Reference,
}

enum TokenizerEngine {
    Own(Box<JsonTokenizer>),
    Ranks(Box<RankTokenizer>),
    Reference,
}

impl FileCounter {
    /// Loads the file at `path`, a `tokenizer.json` or ranks; `name` is the user's name for it, and `pattern` the split
    /// pattern if the user gave one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or no engine supports it.
    pub fn load(
        name: &str,
        path: &Path,
        pattern: Option<&'static SplitPattern>,
        choice: EngineChoice,
    ) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
        let bytes = fs::read(path).map_err(|source| TokenizerError::Read {
            path: path.to_owned(),
            source,
        })?;
        if pattern.is_some() || ranks::looks_like_ranks(&bytes) || ranks::is_named_so(path) {
            return Self::load_ranks(name, path, &bytes, pattern, choice);
        }
        let broken = |reason: String| TokenizerError::Broken {
            path: path.to_owned(),
            reason,
        };
        let (engine, sha256) = thread::scope(|scope| {
            // Hashing takes as long as reading.
            let sum = scope.spawn(|| hex(&Sha256::digest(&bytes)));
            (engine(&bytes, choice), sum.join())
        });
        let (engine, replaced) = engine.map_err(broken)?;
        let sha256 = sha256.map_err(|_| broken("it cannot be read".to_owned()))?;
        let reference = match engine {
            TokenizerEngine::Reference => Reference::load(&bytes, &TokenizerForm::Json).map_err(broken)?,
            _ => Reference::later(path, &sha256, TokenizerForm::Json),
        };
        let identity = TokenizerIdentity {
            name: name.to_owned(),
            sha256,
            engine: engine.name().to_owned(),
        };
        Ok(Self::arc(
            identity,
            engine,
            reference,
            replaced,
            special::of_json(&bytes),
        ))
    }

    fn load_ranks(
        name: &str,
        path: &Path,
        bytes: &[u8],
        pattern: Option<&'static SplitPattern>,
        choice: EngineChoice,
    ) -> Result<Arc<dyn TokenCounter>, TokenizerError> {
        let broken = |reason: String| TokenizerError::BrokenRanks {
            path: path.to_owned(),
            reason,
        };
        let sha256 = hex(&Sha256::digest(bytes));
        let known = ranks::by_sum(&sha256);
        let pattern = pattern.or(known.as_ref().map(|known| known.pattern));
        // Errors in the file are reported before an unknown pattern.
        let tokens = ranks::tokens(bytes).map_err(broken)?;
        let pattern = pattern.ok_or_else(|| TokenizerError::UnknownRanks {
            path: path.to_owned(),
        })?;
        let known = known.filter(|known| known.pattern.name == pattern.name);
        let known = known.map(|known| known.special).unwrap_or_default();
        let special = ranks::special_tokens(path, tokens.len(), pattern, known).map_err(broken)?;
        let (engine, replaced) = match choice {
            EngineChoice::Reference => (TokenizerEngine::Reference, None),
            EngineChoice::Fastest => {
                let own = RankTokenizer::new(&tokens, pattern, &special).map_err(broken)?;
                let (text, theirs) = ranks::expected(&tokens, pattern, &special);
                let difference = Difference::between(&text, own.count(&text), theirs);
                unless_replaced(TokenizerEngine::Ranks(Box::new(own)), difference)
            }
        };
        // Settings that are not in the file are part of the engine's identity.
        let sum = xxh3_64(special.join("\0").as_bytes());
        let identity = TokenizerIdentity {
            name: name.to_owned(),
            engine: format!(
                "{}, split as {}, special tokens {sum:016x}",
                engine.name(),
                pattern.name
            ),
            sha256,
        };
        let special_tokens = special.clone();
        let form = TokenizerForm::Ranks { pattern, special };
        let reference = match engine {
            TokenizerEngine::Reference => Reference::load(bytes, &form).map_err(broken)?,
            _ => Reference::later(path, &identity.sha256, form),
        };
        Ok(Self::arc(identity, engine, reference, replaced, special_tokens))
    }

    fn arc(
        identity: TokenizerIdentity,
        engine: TokenizerEngine,
        reference: Reference,
        replaced: Option<ReplacedEngine>,
        special_tokens: Vec<String>,
    ) -> Arc<dyn TokenCounter> {
        Arc::new(Self {
            identity,
            engine,
            reference,
            check: SampleCheck::default(),
            replaced,
            refused: AtomicU64::new(0),
            special_tokens,
        })
    }
}

impl TokenizerEngine {
    fn name(&self) -> &'static str {
        match self {
            Self::Own(_) | Self::Ranks(_) => OWN_ENGINE,
            Self::Reference => REFERENCE_ENGINE,
        }
    }

    /// The number of tokens of `text`; `None` if the reference has to count it.
    fn count(&self, text: &str) -> Option<usize> {
        match self {
            Self::Own(own) => Some(own.count(text)),
            Self::Ranks(own) => Some(own.count(text)),
            Self::Reference => None,
        }
    }
}

impl TokenCounter for FileCounter {
    /// A text that no engine can count (if the vocabulary has no unknown token) counts as its number of bytes: an upper
    /// bound, so that no text is wrongly taken to fit.
    fn count(&self, text: &str) -> usize {
        let Some(tokens) = self.engine.count(text) else {
            return self.reference.count(text).unwrap_or_else(|| {
                self.refused.fetch_add(1, Ordering::Relaxed);
                text.len()
            });
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

    fn special_tokens(&self) -> Vec<String> {
        self.special_tokens.clone()
    }

    fn note(&self) -> Option<String> {
        let refused = self.refused.load(Ordering::Relaxed);
        if refused > 0 {
            return Some(format!(
                "{REFERENCE_ENGINE} refused to encode {refused} texts with this tokenizer, since it has no token for what is \
                 unknown: they were counted by their bytes, which is more than they cost"
            ));
        }
        if let Some((engine, difference)) = self.replaced {
            return Some(difference.note(engine, REFERENCE_ENGINE));
        }
        let note = self.check.note(self.engine.name(), REFERENCE_ENGINE)?;
        let name = &self.identity.name;
        Some(format!(
            "{note}; `--tokenizer reference:{name}` counts by {REFERENCE_ENGINE} alone"
        ))
    }
}

/// The engine for a file, and the one that it replaces, if any.
fn engine(bytes: &[u8], choice: EngineChoice) -> Result<(TokenizerEngine, Option<ReplacedEngine>), String> {
    let own = (choice == EngineChoice::Fastest).then(|| JsonTokenizer::read(bytes));
    if let Some(own) = own.flatten() {
        let difference = own.difference();
        return Ok(unless_replaced(TokenizerEngine::Own(Box::new(own)), difference));
    }
    let value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    normalizer::check(&value)?;
    Ok((TokenizerEngine::Reference, None))
}

/// The engine itself if there is no difference, else the reference.
fn unless_replaced(
    engine: TokenizerEngine,
    difference: Option<Difference>,
) -> (TokenizerEngine, Option<ReplacedEngine>) {
    match difference {
        None => (engine, None),
        Some(difference) => (TokenizerEngine::Reference, Some((engine.name(), difference))),
    }
}

#[cfg(test)]
mod tests;
