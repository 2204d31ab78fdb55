//! The reference of tests and benchmarks: the `tokenizers` library with our own ranks.

use std::collections::HashMap;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::normalizer::SplitDelimiterBehavior;
use tokenizers::{
    AddedToken, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _, Tokenizer,
};

/// How `cl100k_base` splits, as in tiktoken's `openai_public.py`; it has possessive quantifiers, which change nothing here.
pub const CL100K_BASE_PATTERN: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// How `o200k_base` splits.
pub const O200K_BASE_PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// The reference of one encoding.
pub struct Oracle {
    tokenizer: Tokenizer,
    split: Split,
}

impl Oracle {
    /// Builds the reference from all tokens in rank order, a split pattern and the special tokens.
    pub fn new(tokens: &[Vec<u8>], pattern: &str, special_tokens: &[&str]) -> Self {
        let ranks: HashMap<&[u8], u32> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
        let characters = byte_characters();
        let text = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| characters[usize::from(*byte)])
                .collect::<String>()
        };
        let vocabulary: Vocab = tokens.iter().map(|token| text(token)).zip(0..).collect();
        let merges = tokens.iter().filter(|token| token.len() > 1).map(|token| {
            let (left, right) = halves(&ranks, token);
            (text(left), text(right))
        });
        let builder = BPE::builder().vocab_and_merges(vocabulary, merges.collect());
        let mut tokenizer = Tokenizer::new(builder.ignore_merges(true).build().unwrap());
        let split = SplitPattern::Regex(pattern.to_owned());
        let split = Split::new(split, SplitDelimiterBehavior::Isolated, false).unwrap();
        let bytes = ByteLevel::new(false, true, false);
        tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![split.clone().into(), bytes.into()])));
        let special = special_tokens.iter().map(|token| AddedToken::from(*token, true));
        tokenizer.add_special_tokens(special.collect::<Vec<_>>()).unwrap();
        Self { tokenizer, split }
    }

    /// The number of tokens of `text`.
    pub fn count(&self, text: &str) -> usize {
        self.tokenizer.encode_fast(text, false).unwrap().len()
    }

    /// The byte offsets at which the pieces of `text` end; special tokens are ignored.
    pub fn piece_ends(&self, text: &str) -> Vec<usize> {
        let mut pieces = PreTokenizedString::from(text);
        self.split.pre_tokenize(&mut pieces).unwrap();
        let pieces = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
        pieces
            .into_iter()
            .map(|(_, (_, end), _)| end)
            .filter(|end| *end > 0)
            .collect()
    }
}

/// All tokens of a vocabulary in the binary form described in `assets/README.md`, in rank order.
pub fn tokens(file: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = file[4..260].iter().map(|byte| vec![*byte]).collect();
    for pair in file[260..].chunks_exact(5) {
        let pair = u64::from_le_bytes([pair[0], pair[1], pair[2], pair[3], pair[4], 0, 0, 0]);
        tokens.push(
            [
                &tokens[pair as usize & 0xf_ffff][..],
                &tokens[pair as usize >> 20],
            ]
            .concat(),
        );
    }
    tokens
}

/// The two tokens that the merges of lower rank leave of a token.
fn halves<'t>(ranks: &HashMap<&[u8], u32>, token: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let mut starts: Vec<usize> = (0..=token.len()).collect();
    while starts.len() > 3 {
        let pairs = starts.windows(3).enumerate();
        let ranked = pairs.filter_map(|(index, pair)| Some((ranks.get(&token[pair[0]..pair[2]])?, index)));
        let (_, index) = ranked.min().unwrap();
        starts.remove(index + 1);
    }
    token.split_at(starts[1])
}

/// The character that a byte-level vocabulary uses for each byte, as in GPT-2.
fn byte_characters() -> Vec<char> {
    let mut beyond = 256..;
    (0..=255_u8)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => char::from_u32(beyond.next().unwrap()).unwrap(),
        })
        .collect()
}
