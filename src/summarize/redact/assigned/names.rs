//! The table of names that mean a secret (`names.csv`), and what may stand around such a word in a longer name.

use crate::summarize::redact::alphabet::Alphabet;
use crate::summarize::redact::value::shape::begins_word;
use crate::summarize::redact::value::word_lists::{ENGLISH_ENDS, KEY_OWNERS, NAME_TAILS, PLAIN_KEYS};

const TABLE: &str = include_str!("names.csv");

/// Longest name.
const MAX_NAME: usize = 48;

/// Longest rest of a name after its word.
const MAX_TAIL: usize = 24;

/// A word that means a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The word, in lower case.
    pub word: &'static str,
    /// The form of its values.
    pub value: Values,
    place: NamePosition,
    /// Name of the kind in the marker.
    pub kind: &'static str,
}

/// The form of the values of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Chosen by a person.
    Password,
    /// Made by a machine, or chosen by a person with care.
    Secret,
    /// Made by a machine.
    Machine,
    /// Twelve words and more.
    Phrase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePosition {
    /// Anywhere in a name.
    Any,
    /// As a word of its own in it.
    Word,
    /// As a word of its own, if it is given its value as a field is, and not in a sentence.
    Field,
    /// As a word of its own, or at the end of a longer word: `SSHPASS`.
    End,
    /// At the end of the name of a variable of the environment.
    Variable,
    /// In a name that is all upper or all lower case: `sessionId` is what programs name their runs by.
    Session,
}

/// All names; rows that cannot be read are left out.
pub fn names() -> impl Iterator<Item = Name> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut fields = line.split(',');
        let (word, value, place, kind) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let value = match value {
            "password" => Values::Password,
            "secret" => Values::Secret,
            "machine" => Values::Machine,
            "phrase" => Values::Phrase,
            _ => return None,
        };
        let place = match place {
            "any" => NamePosition::Any,
            "word" => NamePosition::Word,
            "field" => NamePosition::Field,
            "end" => NamePosition::End,
            "variable" => NamePosition::Variable,
            "session" => NamePosition::Session,
            _ => return None,
        };
        Some(Name {
            word,
            value,
            place,
            kind,
        })
    })
}

/// A name in a text that means a secret.
#[derive(Debug, Clone, Copy)]
pub struct FoundName {
    /// The place where it begins.
    pub start: usize,
    /// The place where its word begins.
    pub word: usize,
    /// The place where it ends.
    pub end: usize,
    /// It is the name of a variable of the environment.
    pub is_variable: bool,
}

impl Name {
    /// Returns true if sentences may state values of it.
    pub fn is_told(&self) -> bool {
        !matches!(self.place, NamePosition::Field | NamePosition::End)
    }

    /// Returns true if it is a word of its own in a name.
    pub fn is_part(&self) -> bool {
        matches!(self.place, NamePosition::Word | NamePosition::Field)
    }

    /// The whole name around the word, where that still means a secret.
    pub fn around(&self, text: &str, word: std::ops::Range<usize>) -> Option<FoundName> {
        let bytes = text.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
        let mut end = word.end;
        while Alphabet::Url.holds(byte(end)) && end < word.end + MAX_TAIL {
            end += 1;
        }
        let tail = text.get(word.end..end)?;
        let is_ascii = self.word.is_ascii();
        if is_ascii && !is_tail(tail) {
            return None;
        }
        let start = name_start(bytes, word.start);
        let name = text.get(start..end)?;
        let is_upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        let is_variable = name.bytes().all(is_upper) && name.bytes().any(|b| b.is_ascii_uppercase());
        let before = text.get(start..word.start)?;
        let fits = match self.place {
            NamePosition::Any => true,
            NamePosition::Word | NamePosition::Field | NamePosition::End => {
                let is_hump = byte(word.start).is_ascii_uppercase()
                    && byte(word.start.saturating_sub(1)).is_ascii_lowercase();
                let ends_part = before.ends_with(['_', '-']);
                let is_apart = is_hump || ends_part || begins_word(text, word.start);
                // Elsewhere only what is given a value right there is a name.
                let ends_word = self.place == NamePosition::End
                    && tail.is_empty()
                    && (matches!(byte(end), b'=' | b':') || text.get(end..).is_some_and(is_literal_behind))
                    && !ENGLISH_ENDS
                        .iter()
                        .any(|ended| name.to_ascii_lowercase().ends_with(ended));
                is_apart || ends_word
            }
            NamePosition::Variable => {
                let last = before.rsplit(['_', '-']).next().unwrap_or_default();
                if (is_variable || name.starts_with("--")) && self.word != "_pat" {
                    let before = before.to_ascii_uppercase();
                    !PLAIN_KEYS.iter().any(|plain| before.ends_with(plain))
                } else {
                    KEY_OWNERS.iter().any(|owner| last.eq_ignore_ascii_case(owner))
                }
            }
            NamePosition::Session => {
                let session = text.get(word.clone())?;
                session.bytes().all(|b| b.is_ascii_uppercase())
                    || session.bytes().all(|b| b.is_ascii_lowercase())
            }
        };
        fits.then_some(FoundName {
            start,
            word: word.start,
            end: if is_ascii { end } else { word.end },
            is_variable,
        })
    }
}

/// Returns true if a literal is assigned: ` = "x"`.
fn is_literal_behind(rest: &str) -> bool {
    [" = \"", " = '"].iter().any(|sign| rest.starts_with(sign))
}

/// Returns true if all that follows the word leaves its meaning.
fn is_tail(tail: &str) -> bool {
    tail.split(['_', '-']).all(|part| {
        part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())
            || NAME_TAILS.iter().any(|known| part.eq_ignore_ascii_case(known))
            || (part.eq_ignore_ascii_case("s") && tail.len() == 1)
    })
}

/// Returns where the name begins that has the word at `at`.
fn name_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    let length = before
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|byte| Alphabet::Url.holds(**byte))
        .count();
    // The letter of an escape is no part of the name.
    let start = at - length;
    let escaped = start > 0
        && length > 0
        && bytes.get(start - 1) == Some(&b'\\')
        && matches!(bytes.get(start), Some(b'n' | b't' | b'r'));
    // Nor is the end of a terminal's colour.
    let coloured = bytes
        .get(start..at)
        .and_then(|name| colour_end(bytes, start, name));
    coloured.unwrap_or(start + usize::from(escaped))
}

/// Returns where the name begins after the colour that stands right before it.
fn colour_end(bytes: &[u8], start: usize, name: &[u8]) -> Option<usize> {
    let before = bytes.get(start.saturating_sub(8)..start)?;
    let opens = before.ends_with(b"[") || before.ends_with(b";");
    let length = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_escape = memchr::memmem::rfind(before, b"[").is_some_and(|at| {
        let head = before.get(..at).unwrap_or_default();
        head.ends_with(b"\x1b")
            || head.ends_with(b"u001b")
            || head.ends_with(b"033")
            || head.ends_with(b"x1b")
            || head.ends_with(b"\\e")
    });
    (opens && is_escape && name.get(length) == Some(&b'm')).then_some(start + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        assert_eq!(names().count(), TABLE.lines().count() - 1);
        let mut words: Vec<_> = names().map(|name| name.word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), names().count(), "a word stands there twice");
    }
}
