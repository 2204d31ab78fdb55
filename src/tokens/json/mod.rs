//! BPE tokenizers of `tokenizer.json` files, counted by the own encoders.
//!
//! Only files in which every part is known exactly are accepted: a supported split pattern, form C or no normalizer,
//! and plain merging of bytes; or `▁` for spaces, no split, plain merging of characters, and bytes for other
//! characters. All other files are left to another engine.

mod merges;
mod model;
mod recipe;
mod strings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::added::{AddedToken, AddedTokens};
use super::bpe::{Encoder, Pattern, PieceCounter, SPACE};
use super::check::Difference;
use super::{nfc, probe};
use model::{AddedEntry, MergeModel};

pub use model::byte_characters;
pub use recipe::{CL100K, O200K};

/// The tokenizer of a file, without a name.
pub struct JsonTokenizer {
    encoder: Encoder,
    /// Added tokens searched for in the original text.
    raw: AddedTokens,
    /// Added tokens searched for in the normalized text.
    normalized: AddedTokens,
    normalization: Normalization,
    /// The difference from the reference's count of the probe text, if there is one.
    difference: Option<Difference>,
}

/// The initial symbols of a file's texts before merging.
enum SymbolKind {
    Bytes { pattern: Pattern, composes: bool },
    Characters { prepends: bool },
}

impl SymbolKind {
    fn of(normalizer: &Value, pre_tokenizer: &Value) -> Option<Self> {
        if let Some(prepends) = recipe::spaces(normalizer) {
            return recipe::splits_at_spaces_only(pre_tokenizer).then_some(Self::Characters { prepends });
        }
        Some(Self::Bytes {
            composes: recipe::composes(normalizer)?,
            pattern: recipe::pattern(pre_tokenizer)?,
        })
    }

    fn normalization(&self) -> Normalization {
        match self {
            Self::Bytes { composes: true, .. } => Normalization::Composed,
            Self::Bytes { .. } => Normalization::None,
            Self::Characters { prepends: true } => Normalization::SpaceBefore,
            Self::Characters { .. } => Normalization::Spaces,
        }
    }
}

/// The first change of a text. Spaces need no `▁`, since the encoder of characters treats them alike.
#[derive(Clone, Copy)]
enum Normalization {
    None,
    Composed,
    Spaces,
    SpaceBefore,
}

impl Normalization {
    fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::None | Self::Spaces => Cow::Borrowed(text),
            Self::Composed => nfc::compose(text),
            Self::SpaceBefore if text.is_empty() => Cow::Borrowed(text),
            Self::SpaceBefore => Cow::Owned(format!(" {text}")),
        }
    }

    /// Returns true if a space remains white space: `▁` is not, so no added token strips it.
    fn keeps_spaces(self) -> bool {
        matches!(self, Self::None | Self::Composed)
    }

    /// An added token in the form of normalized texts; `None` if it could not be found there reliably.
    fn of_token(self, token: String) -> Option<String> {
        match self {
            Self::None => Some(token),
            Self::Composed => Some(nfc::compose(&token).into_owned()),
            Self::Spaces => (!token.contains([' ', SPACE])).then_some(token),
            Self::SpaceBefore => None,
        }
    }
}

/// The parts of a file that affect counts.
#[derive(Deserialize)]
struct File<'a> {
    version: Option<String>,
    #[serde(default)]
    added_tokens: Vec<AddedEntry>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(borrow)]
    model: MergeModel<'a>,
}

impl JsonTokenizer {
    /// Reads the bytes of a file; `None` if any part of it is not supported.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let file: File<'_> = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        if file.version.is_some_and(|version| version != "1.0") || !recipe::adds_nothing(&file.post_processor)
        {
            return None;
        }
        let kind = SymbolKind::of(&file.normalizer, &file.pre_tokenizer)?;
        let normalization = kind.normalization();
        let added: Vec<&str> = file
            .added_tokens
            .iter()
            .map(|entry| entry.content.as_str())
            .collect();
        let text = probe::text(&added);
        let recipe = json!({
            "version": "1.0", "normalizer": &file.normalizer, "pre_tokenizer": &file.pre_tokenizer,
            "post_processor": &file.post_processor, "model": file.model.recipe(),
            "added_tokens": file.added_tokens.iter().zip(0..).map(AddedEntry::with_id).collect::<Vec<_>>(),
        });
        let (mut raw, mut normalized) = (Vec::new(), Vec::new());
        for entry in file.model.distinct(file.added_tokens)? {
            if entry.single_word {
                return None;
            }
            let mut content = entry.content;
            if entry.normalized {
                if (entry.lstrip || entry.rstrip) && !normalization.keeps_spaces() {
                    return None;
                }
                content = normalization.of_token(content)?;
            }
            let list = if entry.normalized {
                &mut normalized
            } else {
                &mut raw
            };
            if list.iter().any(|known: &AddedToken| known.content == content) {
                return None;
            }
            list.push(AddedToken {
                content,
                strips_left: entry.lstrip,
                strips_right: entry.rstrip,
            });
        }
        let mut tokenizer = Self {
            encoder: match kind {
                SymbolKind::Bytes { pattern, .. } => file.model.encoder(pattern)?,
                SymbolKind::Characters { .. } => file.model.character_encoder()?,
            },
            raw: AddedTokens::new(raw)?,
            normalized: AddedTokens::new(normalized)?,
            normalization,
            difference: None,
        };
        let theirs = probe::expected(
            &text,
            recipe,
            |token| file.model.has(token),
            |tokens| file.model.merges_of(tokens),
        );
        tokenizer.difference = Difference::between(&text, tokenizer.count(&text), theirs);
        Some(tokenizer)
    }

    /// The difference from the reference's count of the probe text, if there is one: this tokenizer must not be used
    /// then.
    pub fn difference(&self) -> Option<Difference> {
        self.difference
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str) -> usize {
        let tokens = self
            .encoder
            .count_text(text, |pieces| self.count_with(text, pieces));
        #[cfg(test)]
        let tokens = tokens + TOO_MANY.get();
        tokens
    }

    fn count_with(&self, text: &str, pieces: &mut PieceCounter<'_>) -> usize {
        self.raw.count(text, |part| {
            let part = self.normalization.of(part);
            self.normalized.count(&part, |part| pieces.count(part))
        })
    }
}

#[cfg(test)]
thread_local! {
    /// Tokens that a test adds to counts of the own engine, to make them wrong.
    pub static TOO_MANY: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
