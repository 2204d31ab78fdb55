//! The character classes of the split patterns, as bits in a two-level table.

use regex_syntax::hir::{self, HirKind};
use rustc_hash::FxHashMap;

/// A set of classes, a bit for each.
pub type ClassSet = u16;

/// `\p{Lu}` and `\p{Lt}`: letters that can only start a word.
pub const UPPER: ClassSet = 1;
/// `\p{Ll}`: letters that can only continue a word.
pub const LOWER: ClassSet = 2;
/// `\p{Lm}` and `\p{Lo}`: letters without case, which can do both.
pub const CASELESS: ClassSet = 4;
/// `\p{M}`: marks. They are not `\p{L}`, but `o200k_base` allows them in words.
pub const MARK: ClassSet = 8;
/// `\p{N}`.
pub const NUMBER: ClassSet = 16;
/// `[\r\n]`.
pub const NEWLINE: ClassSet = 32;
/// `\s` without `[\r\n]`.
pub const BLANK: ClassSet = 64;
/// All others: punctuation, symbols, controls, unassigned code points.
pub const OTHER: ClassSet = 128;
/// `\p{Han}`, if a pattern uses it: Han letters have only this class, other Han characters have their own as well.
pub const HAN: ClassSet = 256;
/// No class: the end of the text, or (in [`ASCII`]) a byte that is not ASCII.
pub const NONE: ClassSet = 0;

/// `\p{L}`.
pub const LETTER: ClassSet = UPPER | LOWER | CASELESS;
/// `\s`.
pub const SPACE: ClassSet = NEWLINE | BLANK;

/// The class of each ASCII byte, [`NONE`] for bytes of longer characters.
pub const ASCII: [ClassSet; 256] = ascii();

const fn ascii() -> [ClassSet; 256] {
    let mut table = [NONE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => BLANK,
            _ => OTHER,
        };
        byte += 1;
    }
    table
}

const BLOCK: usize = 256;
const CODE_POINTS: usize = 0x11_0000;

/// The class of every code point: equal blocks of 256 are stored once (about 140 kB in all).
pub struct Classes {
    /// The index in `classes` of each code point's block, in blocks of 256.
    blocks: Vec<u16>,
    classes: Vec<ClassSet>,
}

impl Classes {
    /// The classes above, from the Unicode tables of `regex-syntax`, which the regex engine of the `tokenizers` library
    /// uses too.
    pub fn new() -> Result<Self, String> {
        Self::with_numbers(r"\p{N}")
    }

    /// The same, with numbers by the newer tables of Rust's standard library, which the library's `Digits` splits by.
    pub fn with_digits() -> Result<Self, String> {
        let digits: String = ('\0'..=char::MAX)
            .filter(|character| character.is_numeric())
            .collect();
        Self::with_numbers(&format!("[{digits}]"))
    }

    fn with_numbers(numbers: &str) -> Result<Self, String> {
        Self::of_patterns(
            &[
                (r"[\p{Lu}\p{Lt}]", UPPER),
                (r"\p{Ll}", LOWER),
                (r"[\p{Lm}\p{Lo}]", CASELESS),
                (r"\p{M}", MARK),
                (numbers, NUMBER),
                (r"[\s--[\r\n]]", BLANK),
                (r"[\r\n]", NEWLINE),
            ],
            OTHER,
        )
    }

    /// The same with [`HAN`] as a class.
    pub fn with_han_apart() -> Result<Self, String> {
        Self::of_patterns(
            &[
                (r"[[\p{Lu}\p{Lt}]--\p{Han}]", UPPER),
                (r"[\p{Ll}--\p{Han}]", LOWER),
                (r"[[\p{Lm}\p{Lo}]--\p{Han}]", CASELESS),
                (r"[\p{M}--\p{Han}]", MARK),
                (r"\p{N}", NUMBER),
                (r"[\s--[\r\n]]", BLANK),
                (r"[\r\n]", NEWLINE),
                (r"\p{Han}", HAN),
                (r"[\p{Han}--[\p{L}\p{N}]]", OTHER),
            ],
            OTHER,
        )
    }

    /// Gives the characters of each pattern the class beside it; all others get `rest`.
    pub fn of_patterns(patterns: &[(&str, ClassSet)], rest: ClassSet) -> Result<Self, String> {
        // Of most blocks no character is in a pattern.
        let mut written: Vec<Option<Box<[ClassSet; BLOCK]>>> = vec![None; CODE_POINTS / BLOCK];
        for (pattern, class) in patterns {
            let hir = regex_syntax::parse(pattern).map_err(|error| error.to_string())?;
            let HirKind::Class(hir::Class::Unicode(ranges)) = hir.kind() else {
                return Err(format!("{pattern} is not a class"));
            };
            for range in ranges.iter() {
                let (first, last) = (range.start() as usize, range.end() as usize);
                let blocks = written.get_mut(first / BLOCK..=last / BLOCK);
                for (block, start) in blocks
                    .into_iter()
                    .flatten()
                    .zip((first / BLOCK * BLOCK..).step_by(BLOCK))
                {
                    let end = (last - start).min(BLOCK - 1);
                    let block = block.get_or_insert_with(|| Box::new([NONE; BLOCK]));
                    let part = block.get_mut(first.saturating_sub(start)..=end);
                    part.into_iter().flatten().for_each(|bits| *bits |= class);
                }
            }
        }
        let mut seen = FxHashMap::default();
        let mut blocks = Vec::with_capacity(written.len());
        let mut classes: Vec<ClassSet> = Vec::new();
        for block in &written {
            let number = *seen.entry(block).or_insert_with(|| {
                let block = block.as_deref().unwrap_or(&[NONE; BLOCK]);
                let with_rest = block
                    .iter()
                    .map(|class| if *class == NONE { rest } else { *class });
                classes.extend(with_rest);
                (classes.len() / BLOCK - 1) as u16
            });
            blocks.push(number);
        }
        Ok(Self { blocks, classes })
    }

    /// The class of a code point.
    #[inline]
    pub fn of(&self, code_point: u32) -> ClassSet {
        let code_point = code_point as usize;
        let block = self.blocks.get(code_point / BLOCK).copied().unwrap_or_default();
        let index = usize::from(block) * BLOCK + code_point % BLOCK;
        self.classes.get(index).copied().unwrap_or(OTHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ascii_table_agrees_with_unicode() {
        let classes = Classes::new().unwrap();
        for byte in 0..128_u8 {
            assert_eq!(ASCII[usize::from(byte)], classes.of(u32::from(byte)), "{byte:#x}");
        }
    }

    #[test]
    fn letters_of_every_kind_have_their_class() {
        let classes = Classes::new().unwrap();
        for (character, class) in [
            ('Ä', UPPER),
            ('\u{1c5}', UPPER),
            ('ß', LOWER),
            ('ſ', LOWER),
            ('ʰ', CASELESS),
            ('中', CASELESS),
            ('\u{301}', MARK),
            ('٣', NUMBER),
            ('Ⅷ', NUMBER),
            ('\u{a0}', BLANK),
            ('\u{2028}', BLANK),
            ('\u{85}', BLANK),
            ('😀', OTHER),
            ('\u{200d}', OTHER),
            ('\u{10ffff}', OTHER),
        ] {
            assert_eq!(classes.of(u32::from(character)), class, "{character:?}");
        }
    }
}
