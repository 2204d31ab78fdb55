//! Byte-level BPE tokenizers of `tokenizer.json` files, counted by the own encoder.
//!
//! Only files are taken of which every part is known to the letter: a split pattern that there is a
//! scanner for, form C or no normalizer, plain byte-pair merging. All else is left to another engine.

mod merges;
mod model;
mod recipe;
mod strings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::added::{AddedToken, AddedTokens};
use super::bpe::{Encoder, Pattern, Pieces};
use super::check::Difference;
use super::{nfc, probe};
use model::Model;

pub use model::byte_characters;
pub use recipe::{CL100K, O200K};

/// A tokenizer of a file, without a name.
pub struct JsonTokenizer {
    encoder: Encoder,
    /// Looked for in the text as it is.
    raw: AddedTokens,
    /// Looked for after normalizing.
    normalized: AddedTokens,
    composes: bool,
    /// What the reference says that the probe text costs, if it is not what this tokenizer says.
    difference: Option<Difference>,
}

/// The parts of a file that counting depends on.
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
    model: Model<'a>,
}

/// An added token of a file.
#[derive(Deserialize, Serialize)]
#[allow(clippy::struct_excessive_bools)]
struct AddedEntry {
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
}

impl AddedEntry {
    /// As a file has it. Which number it is, and whether it is special, changes no count.
    fn with_id((entry, id): (&Self, usize)) -> Value {
        let mut value = json!(entry);
        value["id"] = id.into();
        value["special"] = false.into();
        value
    }
}

impl JsonTokenizer {
    /// From the bytes of a file; nothing if any part of it is not known.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let file: File<'_> = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        if file.version.is_some_and(|version| version != "1.0") || !recipe::adds_nothing(&file.post_processor)
        {
            return None;
        }
        let composes = recipe::composes(&file.normalizer)?;
        let pattern: Pattern = recipe::pattern(&file.pre_tokenizer)?;
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
            if entry.normalized && composes {
                content = nfc::compose(&content).into_owned();
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
            encoder: file.model.encoder(pattern)?,
            raw: AddedTokens::new(raw)?,
            normalized: AddedTokens::new(normalized)?,
            composes,
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

    /// What the reference says that the probe text costs, if it is not what this tokenizer says: it is not
    /// to count then.
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

    fn count_with(&self, text: &str, pieces: &mut Pieces<'_>) -> usize {
        self.raw.count(text, |part| {
            if self.composes {
                let part = nfc::compose(part);
                self.normalized.count(&part, |part| pieces.count(part))
            } else {
                self.normalized.count(part, |part| pieces.count(part))
            }
        })
    }
}

#[cfg(test)]
thread_local! {
    /// How wrong a test wants the own engine to be.
    pub static TOO_MANY: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
