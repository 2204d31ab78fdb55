//! The merges of a file, as pairs of strings or as strings with a space between the two parts.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::strings::{BorrowedText, Number, Strings};

/// A merge, by the numbers of its strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringMerge {
    /// The left string.
    pub left: Number,
    /// The right string.
    pub right: Number,
    /// The string that they make.
    pub made: Number,
}

/// Reads merges of these strings, in order.
pub struct Merges<'s, 'a>(pub &'s Strings<'a>);

impl<'de> DeserializeSeed<'de> for Merges<'_, '_> {
    type Value = Vec<StringMerge>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Merges<'_, '_> {
    type Value = Vec<StringMerge>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of merges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut merges = Vec::with_capacity(self.0.len());
        let mut one = OneMerge {
            strings: self.0,
            guess: 0,
            both: String::new(),
            form: None,
        };
        while let Some(merge) = list.next_element_seed(&mut one)? {
            merges.extend(merge);
        }
        Ok(merges)
    }
}

/// Reads one merge; `None` for a header line.
struct OneMerge<'s, 'a> {
    strings: &'s Strings<'a>,
    /// The string that the last merge made: the next one often makes the same string or the one after it.
    guess: Number,
    both: String,
    /// The form of merges: pairs if true, lines if false; `None` before the first one.
    form: Option<bool>,
}

impl OneMerge<'_, '_> {
    fn merge(&mut self, left: &str, right: &str) -> Option<StringMerge> {
        let is_both = |made: &Number| {
            let made = self.strings.get(*made);
            made.and_then(|made| made.strip_prefix(left)) == Some(right)
        };
        let guesses = [self.guess.saturating_add(1), self.guess];
        let made = if let Some(made) = guesses.into_iter().find(is_both) {
            made
        } else {
            self.both.clear();
            self.both.push_str(left);
            self.both.push_str(right);
            self.strings.find(&self.both)?
        };
        self.guess = made;
        let (left, right) = (self.strings.find(left)?, self.strings.find(right)?);
        // A merge with an empty part would make a token of itself.
        (left != made && right != made).then_some(StringMerge { left, right, made })
    }

    fn has_form<E: Error>(&mut self, is_pair: bool) -> Result<(), E> {
        if *self.form.get_or_insert(is_pair) == is_pair {
            Ok(())
        } else {
            Err(E::custom("merges of two forms"))
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut OneMerge<'_, '_> {
    type Value = Option<StringMerge>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut OneMerge<'_, '_> {
    type Value = Option<StringMerge>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a merge")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Self::Value, E> {
        self.has_form(false)?;
        if line.starts_with("#version") {
            return Ok(None);
        }
        let merge = line
            .split_once(' ')
            .filter(|(_, right)| !right.contains(' '))
            .and_then(|(left, right)| self.merge(left, right));
        merge
            .map(Some)
            .ok_or_else(|| E::custom("no merge of the vocabulary"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Self::Value, A::Error> {
        self.has_form(true)?;
        let left: Option<BorrowedText<'de>> = pair.next_element()?;
        let right: Option<BorrowedText<'de>> = pair.next_element()?;
        let merge = match (left, right, pair.next_element::<BorrowedText<'de>>()?) {
            (Some(left), Some(right), None) => self.merge(&left.0, &right.0),
            _ => None,
        };
        merge
            .map(Some)
            .ok_or_else(|| A::Error::custom("no merge of the vocabulary"))
    }
}
