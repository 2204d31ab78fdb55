//! The named split patterns, and the rank files that are known by their SHA-256.

use crate::tokens::bpe::Pattern;
use crate::tokens::encodings::{CL100K_BASE, O200K_BASE};
use crate::tokens::json::{CL100K, O200K};

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const KIMI: &str = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The SHA-256 of Kimi K2's `tiktoken.model`, which later models of that family share.
const KIMI_SUM: &str = "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103";

/// A named split pattern.
#[derive(Debug)]
pub struct SplitPattern {
    /// The name.
    pub name: &'static str,
    /// The scanner for it.
    pub pattern: Pattern,
    /// The regular expression for the reference.
    pub regex: &'static str,
    /// Number of special tokens after the ranks, named or not: the model's own class calls an unnamed one
    /// `<|reserved_token_ID|>`.
    pub reserved: usize,
}

/// The names of all patterns.
pub const NAMES: [&str; 4] = ["o200k_base", "cl100k_base", "kimi_k2", "gpt2"];

static PATTERNS: [SplitPattern; 4] = [
    SplitPattern {
        name: "o200k_base",
        pattern: Pattern::O200k,
        regex: O200K,
        reserved: 0,
    },
    SplitPattern {
        name: "cl100k_base",
        pattern: Pattern::Cl100k,
        regex: CL100K,
        reserved: 0,
    },
    SplitPattern {
        name: "kimi_k2",
        pattern: Pattern::Kimi,
        regex: KIMI,
        reserved: 256,
    },
    SplitPattern {
        name: "gpt2",
        pattern: Pattern::Gpt2,
        regex: GPT2,
        reserved: 0,
    },
];

/// The pattern of this name.
pub fn by_name(name: &str) -> Option<&'static SplitPattern> {
    PATTERNS.iter().find(|pattern| pattern.name == name)
}

/// The tokenizer data of a rank file that is known by its SHA-256.
pub struct KnownRanks {
    /// The split pattern.
    pub pattern: &'static SplitPattern,
    /// The special tokens that belong to it.
    pub special: Vec<String>,
}

/// The data of the file with this SHA-256, if it is known.
pub fn by_sum(sha256: &str) -> Option<KnownRanks> {
    if sha256 == KIMI_SUM {
        return Some(KnownRanks {
            pattern: by_name("kimi_k2")?,
            special: Vec::new(),
        });
    }
    let encoding = [&O200K_BASE, &CL100K_BASE]
        .into_iter()
        .find(|encoding| encoding.sha256 == sha256)?;
    let special = encoding.special_tokens.iter();
    Some(KnownRanks {
        pattern: by_name(encoding.name)?,
        special: special.map(|(token, _)| (*token).to_owned()).collect(),
    })
}
