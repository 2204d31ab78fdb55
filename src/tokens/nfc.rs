//! Composing texts (Unicode's form C) as the `tokenizers` library does, if they are not composed yet.

use std::borrow::Cow;
use std::sync::OnceLock;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// No earlier code point changes when a text is composed, whatever its neighbours.
const FIRST_COMBINING: char = '\u{300}';
/// The first UTF-8 byte of [`FIRST_COMBINING`]; those of later characters are not less.
const FIRST_COMBINING_BYTE: u8 = 0xcc;
/// No character from here on changes, or changes a character before it.
const SETTLED: char = '\u{30000}';

/// A bit for every code point that may change, or change a character before it. The tables are those of the crate that
/// the library composes with: another version of Unicode would compose differently.
struct Unsettled(Vec<u64>);

impl Unsettled {
    /// The table, made at the first use: most runs never need it.
    fn get() -> &'static Self {
        static TABLE: OnceLock<Unsettled> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut bits = vec![0; SETTLED as usize / 64];
            for character in FIRST_COMBINING..SETTLED {
                let is_settled = canonical_combining_class(character) == 0
                    && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes;
                let point = u32::from(character) as usize;
                if let Some(word) = bits.get_mut(point / 64).filter(|_| !is_settled) {
                    *word |= 1_u64 << (point % 64);
                }
            }
            Self(bits)
        })
    }

    #[inline]
    fn has(&self, character: char) -> bool {
        let point = u32::from(character) as usize;
        self.0
            .get(point / 64)
            .is_some_and(|word| word >> (point % 64) & 1 != 0)
    }
}

/// `text` in form C.
pub fn compose(text: &str) -> Cow<'_, str> {
    let Some(mut next) = beyond_first(text, 0) else {
        return Cow::Borrowed(text);
    };
    let unsettled = Unsettled::get();
    let mut composed = String::new();
    // The end in `text` of the part that was copied.
    let mut copied = 0;
    while let Some((before, rest)) = text.split_at_checked(next) {
        let mut characters = rest.chars();
        let is_settled = !characters
            .next()
            .is_some_and(|character| unsettled.has(character));
        let mut end = text.len() - characters.as_str().len();
        if !is_settled {
            // Composes it with the settled character before it, which it may combine with, up to the next settled one.
            let base = before.char_indices().next_back().map_or(0, |(at, _)| at);
            end += characters
                .as_str()
                .find(|character| !unsettled.has(character))
                .unwrap_or(characters.as_str().len());
            let span = text.get(base..end).unwrap_or_default();
            if !span.nfc().map(|(character, _)| character).eq(span.chars()) {
                composed.push_str(text.get(copied..base).unwrap_or_default());
                composed.extend(span.nfc().map(|(character, _)| character));
                copied = end;
            }
        }
        match beyond_first(text, end) {
            Some(found) => next = found,
            None => break,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    composed.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(composed)
}

/// The offset of the next character from `from` that may be [`FIRST_COMBINING`] or later.
#[inline]
fn beyond_first(text: &str, from: usize) -> Option<usize> {
    /// Number of bytes tested at once.
    const BLOCK: usize = 32;
    let is_beyond = |byte: &u8| *byte >= FIRST_COMBINING_BYTE;
    let mut at = from;
    let mut rest = text.as_bytes().get(from..)?;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(false, |any, byte| any | is_beyond(byte)) {
            break;
        }
        at += BLOCK;
        rest = after;
    }
    rest.iter().position(is_beyond).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE_POINTS: u32 = 0x11_0000;

    fn check(text: &str) {
        let whole: String = text.nfc().map(|(character, _)| character).collect();
        assert_eq!(compose(text), whole, "{text:?}");
    }

    #[test]
    fn every_character_is_composed_as_in_one_go() {
        let points: Vec<char> = (0..CODE_POINTS).filter_map(char::from_u32).collect();
        for points in points.chunks(64) {
            let mut text = String::new();
            for point in points {
                text.extend([
                    *point, 'a', *point, '\u{301}', *point, *point, '\u{323}', ' ', *point, '\u{1161}',
                    *point, '\u{3099}', *point, '\u{11a8}', '\u{0}',
                ]);
            }
            check(&text);
        }
    }

    #[test]
    fn marks_are_put_in_order_and_composed() {
        for text in [
            "",
            "e\u{301}",
            "\u{301}e",
            "\u{323}\u{301}",
            "\u{301}\u{323}",
            "a\u{301}\u{323}b",
            "ä\u{323}é",
            "\u{1100}\u{1161}\u{11a8}",
            "각\u{11a8}\u{301}",
            "क\u{93c} ड\u{93c}",
            "\u{212b}\u{2126}",
            "\u{344}\u{958}x\u{fb1d}",
            "か\u{3099}き゚",
        ] {
            check(text);
            check(&format!("中{text}中"));
            check(&text.repeat(3));
        }
        assert_eq!(compose("e\u{301}"), "é");
    }

    #[test]
    fn a_composed_text_is_not_copied() {
        for text in ["plain", "déjà vu", "中文 한국어 नमस्ते ไทย 👩‍👩‍👧"]
        {
            assert!(matches!(compose(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
