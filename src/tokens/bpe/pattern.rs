//! The known split patterns, and the scanner of each.

use super::classes::Classes;
use super::scan::TextScan;
use super::{split_cl100k, split_deepseek, split_gpt2, split_o200k};

/// A known split pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// `cl100k_base` and Llama 3.
    Cl100k = 0,
    /// `o200k_base` and gpt-oss.
    O200k = 1,
    /// Kimi K2.
    Kimi,
    /// Qwen 2, 2.5 and 3.
    Qwen2,
    /// Qwen 3.5.
    Qwen35,
    /// Mistral's Tekken.
    Tekken,
    /// GPT-2: the default of the `ByteLevel` pre-tokenizer.
    Gpt2,
    /// The same with every digit as a piece: Cohere's Command R and Aya.
    Gpt2DigitsApart,
    /// `DeepSeek` V3: three patterns, one after the other.
    DeepSeekV3,
}

/// A loop over pieces that is compiled for each scanner.
pub trait WithScanner {
    /// The result of the loop.
    type Output;

    /// Runs the loop; `piece_end` gives the end of the piece that starts at a place.
    fn run(self, piece_end: impl Fn(&TextScan<'_>, usize) -> usize) -> Self::Output;
}

impl Pattern {
    /// The classes of characters that the scanner needs.
    pub fn classes(self) -> Result<Classes, String> {
        match self {
            Self::DeepSeekV3 => split_deepseek::classes(),
            Self::Kimi => Classes::with_han_apart(),
            Self::Gpt2DigitsApart => Classes::with_digits(),
            _ => Classes::new(),
        }
    }

    /// Runs `user` with the scanner of this pattern.
    #[inline]
    pub fn with_scanner<U: WithScanner>(self, user: U) -> U::Output {
        match self {
            Self::Cl100k => user.run(split_cl100k::piece_end::<3, false>),
            Self::O200k => user.run(split_o200k::piece_end::<3, true, false>),
            Self::Kimi => user.run(split_o200k::piece_end::<3, true, true>),
            Self::Qwen2 => user.run(split_cl100k::piece_end::<1, false>),
            Self::Qwen35 => user.run(split_cl100k::piece_end::<1, true>),
            Self::Tekken => user.run(split_o200k::piece_end::<1, false, false>),
            Self::Gpt2 => user.run(split_gpt2::piece_end::<false>),
            Self::Gpt2DigitsApart => user.run(split_gpt2::piece_end::<true>),
            Self::DeepSeekV3 => user.run(split_deepseek::piece_end),
        }
    }

    /// The byte offsets at which the pieces of `text` end.
    #[cfg(test)]
    pub fn piece_ends(self, text: &str) -> Vec<usize> {
        use std::sync::LazyLock;

        struct Ends<'t>(&'t str, &'static Classes);

        impl WithScanner for Ends<'_> {
            type Output = Vec<usize>;

            fn run(self, piece_end: impl Fn(&TextScan<'_>, usize) -> usize) -> Vec<usize> {
                let scan = TextScan::new(self.0, self.1);
                let next = |start: &usize| (*start < self.0.len()).then(|| piece_end(&scan, *start));
                std::iter::successors(next(&0), next).collect()
            }
        }

        static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::new().unwrap());
        static DEEPSEEK: LazyLock<Classes> = LazyLock::new(|| split_deepseek::classes().unwrap());
        static KIMI: LazyLock<Classes> = LazyLock::new(|| Classes::with_han_apart().unwrap());
        static DIGITS: LazyLock<Classes> = LazyLock::new(|| Classes::with_digits().unwrap());
        let classes = match self {
            Self::DeepSeekV3 => &*DEEPSEEK,
            Self::Kimi => &*KIMI,
            Self::Gpt2DigitsApart => &*DIGITS,
            _ => &*CLASSES,
        };
        self.with_scanner(Ends(text, classes))
    }
}
