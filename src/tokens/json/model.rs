//! The model of a file, if it is plain byte-pair encoding of bytes or characters.

use std::collections::HashSet;
use std::fmt;

use rustc_hash::FxHashSet;
use serde::de::{Deserialize, DeserializeSeed as _, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::merges::{Merges, StringMerge};
use super::strings::Strings;
use crate::tokens::bpe::{Characters, Encoder, NO_TOKEN, Pattern, Rank, TokenMerge, Vocabulary};

/// Number of byte values; the single bytes are the first tokens.
const BYTES: usize = 256;

/// A model that only merges.
pub struct MergeModel<'a> {
    strings: Strings<'a>,
    merges: Vec<StringMerge>,
    /// A piece that is in the vocabulary costs one token, whatever its merges.
    ignores_merges: bool,
    /// An unknown character costs its bytes.
    falls_back_to_bytes: bool,
    /// Adjacent unknown characters cost one token together.
    fuses_unknown: bool,
    /// The unknown token.
    unknown: Option<String>,
}

impl MergeModel<'_> {
    /// The added tokens that are not empty. `None` if one would replace another: they are identified by their ids,
    /// which are those of the vocabulary or follow it.
    pub fn distinct(&self, tokens: Vec<AddedEntry>) -> Option<Vec<AddedEntry>> {
        let mut next_id = u32::try_from(self.strings.len()).ok()?;
        let (mut ids, mut kept, mut contents) = (HashSet::new(), Vec::new(), HashSet::new());
        for token in tokens.into_iter().filter(|token| !token.content.is_empty()) {
            let known = self.strings.find(&token.content);
            let id = known
                .and_then(|number| self.strings.id(number))
                .unwrap_or_else(|| {
                    next_id += 1;
                    next_id - 1
                });
            if !ids.insert(id) || !contents.insert(token.content.clone()) {
                return None;
            }
            kept.push(token);
        }
        Some(kept)
    }

    /// The model's part of the file without its vocabulary and merges.
    pub fn recipe(&self) -> Value {
        json!({
            "type": "BPE", "ignore_merges": self.ignores_merges, "byte_fallback": self.falls_back_to_bytes,
            "fuse_unk": self.fuses_unknown, "unk_token": self.unknown,
        })
    }

    /// Returns true if the vocabulary contains this string.
    pub fn has(&self, token: &str) -> bool {
        self.strings.find(token).is_some()
    }

    /// The merges between these strings that make one of them, in order.
    pub fn merges_of(&self, tokens: &FxHashSet<String>) -> Vec<(String, String)> {
        let mut is_meant = vec![false; self.strings.len()];
        for number in tokens.iter().filter_map(|token| self.strings.find(token)) {
            if let Some(place) = is_meant.get_mut(number as usize) {
                *place = true;
            }
        }
        let is_meant = |number: u32| is_meant.get(number as usize) == Some(&true);
        let text = |number: u32| self.strings.get(number).map(str::to_owned);
        self.merges
            .iter()
            .filter(|merge| [merge.made, merge.left, merge.right].into_iter().all(is_meant))
            .filter_map(|merge| Some((text(merge.left)?, text(merge.right)?)))
            .collect()
    }

    /// The encoder of this model if its characters stand for bytes; `None` if the vocabulary lacks one of them.
    pub fn encoder(&self, pattern: Pattern) -> Option<Encoder> {
        if self.falls_back_to_bytes || self.fuses_unknown {
            return None;
        }
        let characters = byte_characters();
        let mut tokens = vec![NO_TOKEN; self.strings.len()];
        for (byte, character) in (0..).zip(characters) {
            let number = self.strings.find(character.encode_utf8(&mut [0; 4]))?;
            *tokens.get_mut(number as usize)? = byte;
        }
        let vocabulary = self.vocabulary(&mut tokens, BYTES as Rank)?;
        let encoder = Encoder::new(pattern, vocabulary).ok()?;
        if !self.ignores_merges {
            return Some(encoder);
        }
        let mut byte_of = [None; 2 * BYTES];
        for (byte, character) in (0_u8..=255).zip(characters) {
            *byte_of.get_mut(character as usize)? = Some(byte);
        }
        let bytes = |text: &str| {
            text.chars()
                .map(|character| byte_of.get(character as usize).copied().flatten())
                .collect()
        };
        Some(encoder.with_whole_pieces(self.strings.iter().filter_map(bytes), self.strings.len()))
    }

    /// The encoder of this model if it merges characters with byte fallback for all others; `None` if it does not.
    pub fn character_encoder(&self) -> Option<Encoder> {
        if !self.falls_back_to_bytes || self.ignores_merges {
            return None;
        }
        let mut is_byte = vec![false; self.strings.len()];
        for byte in 0..=u8::MAX {
            match self.strings.find(&format!("<0x{byte:02X}>")) {
                Some(number) => *is_byte.get_mut(number as usize)? = true,
                // Gemma 2 has no token for the byte of a tab, and needs none, since the tab character is a token.
                None if byte.is_ascii() && self.has(char::from(byte).encode_utf8(&mut [0; 4])) => {}
                None => return None,
            }
        }
        let merges_bytes = |merge: &StringMerge| {
            let parts = [merge.left, merge.right];
            parts
                .iter()
                .any(|part| is_byte.get(*part as usize) == Some(&true))
        };
        if self.merges.iter().any(merges_bytes) {
            return None;
        }
        // Characters come first, then the results of merges, each at the first merge that makes it.
        let mut tokens = vec![NO_TOKEN; self.strings.len()];
        let mut characters = Vec::new();
        let mut next = BYTES as Rank;
        for (token, text) in tokens.iter_mut().zip(self.strings.iter()) {
            let mut all = text.chars();
            if let (Some(character), None) = (all.next(), all.next()) {
                characters.push((character, next));
                *token = next;
                next += 1;
            }
        }
        let vocabulary = self.vocabulary(&mut tokens, next)?;
        let characters = Characters::new(characters.into_iter(), self.strings.iter())?;
        Some(Encoder::of_characters(characters, vocabulary))
    }

    /// The merges, ranked from `first`. `tokens` holds the tokens that no merge makes; the others are added to it.
    fn vocabulary(&self, tokens: &mut [Rank], first: Rank) -> Option<Vocabulary> {
        // A token has the number of the first merge that makes it.
        for (rank, merge) in (first..).zip(&self.merges) {
            let token = tokens.get_mut(merge.made as usize)?;
            *token = rank.min(*token);
        }
        let token = |number: u32| tokens.get(number as usize).copied().unwrap_or(NO_TOKEN);
        let in_tokens = |(rank, merge): (Rank, &StringMerge)| TokenMerge {
            left: token(merge.left),
            right: token(merge.right),
            rank,
            made: token(merge.made),
        };
        let merges: Vec<TokenMerge> = (first..).zip(&self.merges).map(in_tokens).collect();
        let bytes: Vec<Rank> = (0..BYTES as Rank).collect();
        Vocabulary::new(bytes.first_chunk()?, &merges)
    }
}

/// The character that a byte-level vocabulary uses for each byte, as in GPT-2; all are less than U+0200.
pub fn byte_characters() -> [char; BYTES] {
    let mut beyond = '\u{100}'..;
    let mut byte = 0_u8;
    [(); BYTES].map(|()| {
        let character = match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => beyond.next().unwrap_or_default(),
        };
        byte = byte.wrapping_add(1);
        character
    })
}

impl<'de: 'a, 'a> Deserialize<'de> for MergeModel<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ModelFields)
    }
}

struct ModelFields;

impl<'de> Visitor<'de> for ModelFields {
    type Value = MergeModel<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a BPE model")
    }

    /// Stops at the first unexpected field: the vocabulary, which is long, comes last.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let other = || A::Error::custom("another kind of model");
        let (mut is_bpe, mut ignores_merges) = (false, false);
        let (mut falls_back_to_bytes, mut fuses_unknown, mut unknown) = (false, false, None);
        let (mut strings, mut merges): (Option<Strings<'de>>, _) = (None, None);
        // Merges that come before the vocabulary, for example because keys are sorted.
        let mut early_merges = None;
        while let Some(key) = map.next_key::<String>()? {
            let is_plain = match key.as_str() {
                "type" => {
                    is_bpe = map.next_value::<String>()? == "BPE";
                    is_bpe
                }
                "dropout" => map.next_value::<Option<IgnoredAny>>()?.is_none(),
                // Every byte has a token, so no character is unknown.
                "unk_token" => {
                    unknown = map.next_value::<Option<String>>()?;
                    true
                }
                "continuing_subword_prefix" | "end_of_word_suffix" => map
                    .next_value::<Option<String>>()?
                    .is_none_or(|affix| affix.is_empty()),
                "fuse_unk" => {
                    fuses_unknown = map.next_value::<Option<bool>>()? == Some(true);
                    true
                }
                "byte_fallback" => {
                    falls_back_to_bytes = map.next_value::<Option<bool>>()? == Some(true);
                    true
                }
                "ignore_merges" => {
                    ignores_merges = map.next_value::<Option<bool>>()? == Some(true);
                    true
                }
                "vocab" if strings.is_none() => {
                    strings = Some(map.next_value()?);
                    true
                }
                "merges" if merges.is_none() && early_merges.is_none() => {
                    match &strings {
                        Some(strings) => merges = Some(map.next_value_seed(Merges(strings))?),
                        None => early_merges = Some(map.next_value::<&'de RawValue>()?),
                    }
                    true
                }
                _ => false,
            };
            if !is_plain {
                return Err(other());
            }
        }
        if let (Some(strings), Some(early)) = (&strings, early_merges) {
            let mut early = serde_json::Deserializer::from_str(early.get());
            merges = Some(Merges(strings).deserialize(&mut early).map_err(|_| other())?);
        }
        match (strings, merges) {
            (Some(strings), Some(merges)) if is_bpe && strings.has_distinct_ids() => Ok(MergeModel {
                strings,
                merges,
                ignores_merges,
                falls_back_to_bytes,
                fuses_unknown,
                unknown,
            }),
            _ => Err(other()),
        }
    }
}

/// An added token of a file.
#[derive(serde::Deserialize, serde::Serialize)]
#[allow(clippy::struct_excessive_bools)]
pub struct AddedEntry {
    pub content: String,
    pub single_word: bool,
    pub lstrip: bool,
    pub rstrip: bool,
    pub normalized: bool,
}

impl AddedEntry {
    /// The token as in a file. Its id, and whether it is special, affect no count.
    pub fn with_id((entry, id): (&Self, usize)) -> Value {
        let mut value = json!(entry);
        value["id"] = id.into();
        value["special"] = false.into();
        value
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    use super::*;

    #[test]
    fn the_characters_of_the_bytes_are_the_library_s() {
        let characters = byte_characters();
        assert_eq!(characters[usize::from(b' ')], 'Ġ');
        assert_eq!(characters[usize::from(b'\n')], 'Ċ');
        assert_eq!(characters[usize::from(b'a')], 'a');
        assert_eq!(
            BTreeSet::from(characters),
            ByteLevel::alphabet().into_iter().collect()
        );
    }
}
