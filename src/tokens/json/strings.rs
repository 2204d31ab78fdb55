//! The strings of a vocabulary, indexed by text: borrowed from the file where it has them unescaped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use xxhash_rust::xxh3::xxh3_128;

/// A string of a file, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
pub struct BorrowedText<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The number of a string: its position in the file.
pub type Number = u32;

/// An empty slot: its number would be one too large.
const EMPTY: u128 = u128::MAX;
/// The bits of a slot that hold the number.
const NUMBER: u128 = Number::MAX as u128;

/// The strings of a vocabulary with their ids.
pub struct Strings<'a> {
    texts: Vec<Cow<'a, str>>,
    ids: Vec<u32>,
    /// The upper 96 bits of a hash and the number of its string; open addressing, at most half full. Two strings with
    /// the same 96 bits and the same slot are assumed not to occur: the texts are not compared, which would take most
    /// of the time.
    slots: Vec<u128>,
}

impl<'a> Strings<'a> {
    /// Builds the index from the strings in order; `None` if two are equal.
    fn new(texts: Vec<Cow<'a, str>>, ids: Vec<u32>) -> Option<Self> {
        u32::try_from(texts.len()).ok()?;
        let mut strings = Self {
            slots: vec![EMPTY; (texts.len().max(16) * 2).next_power_of_two()],
            texts,
            ids,
        };
        for number in 0..strings.texts.len() {
            let hash = xxh3_128(strings.texts.get(number)?.as_bytes());
            let mut index = hash as usize & (strings.slots.len() - 1);
            while let Some(slot) = strings.slots.get(index).filter(|slot| **slot != EMPTY) {
                if (slot ^ hash) & !NUMBER == 0 {
                    return None;
                }
                index = (index + 1) & (strings.slots.len() - 1);
            }
            *strings.slots.get_mut(index)? = hash & !NUMBER | number as u128;
        }
        Some(strings)
    }

    /// The number of `text`, if it is one of the strings.
    #[inline]
    pub fn find(&self, text: &str) -> Option<Number> {
        let hash = xxh3_128(text.as_bytes());
        let mut index = hash as usize & (self.slots.len() - 1);
        while let Some(slot) = self.slots.get(index).filter(|slot| **slot != EMPTY) {
            if (slot ^ hash) & !NUMBER == 0 {
                return Some(*slot as Number);
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// The string of a number.
    #[inline]
    pub fn get(&self, number: Number) -> Option<&str> {
        self.texts.get(number as usize).map(AsRef::as_ref)
    }

    /// The id that the file assigns to the string of a number.
    pub fn id(&self, number: Number) -> Option<u32> {
        self.ids.get(number as usize).copied()
    }

    /// All strings, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(AsRef::as_ref)
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns true if no two strings have the same id.
    pub fn has_distinct_ids(&self) -> bool {
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        ids.windows(2).all(|pair| pair.first() != pair.last())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Strings<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Strings<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut texts, mut ids) = (Vec::with_capacity(1 << 17), Vec::with_capacity(1 << 17));
                while let Some((BorrowedText(text), id)) = map.next_entry::<BorrowedText<'de>, u32>()? {
                    texts.push(text);
                    ids.push(id);
                }
                Strings::new(texts, ids).ok_or_else(|| serde::de::Error::custom("a string comes twice"))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_by_their_text() {
        let strings: Strings<'_> = serde_json::from_str(r#"{"a": 3, "\u0120b": 1, "\"": 7, "": 9}"#).unwrap();
        for (number, text) in ["a", "Ġb", "\"", ""].into_iter().enumerate() {
            assert_eq!(strings.find(text), Some(number as Number));
        }
        assert_eq!(strings.find("b"), None);
        assert_eq!(strings.id(2), Some(7));
        assert!(strings.has_distinct_ids());
    }

    #[test]
    fn a_string_that_comes_twice_is_refused() {
        assert!(serde_json::from_str::<Strings<'_>>(r#"{"a": 3, "\u0061": 1}"#).is_err());
        let strings: Strings<'_> = serde_json::from_str(r#"{"a": 3, "b": 3}"#).unwrap();
        assert!(!strings.has_distinct_ids());
    }
}
