//! The built-in encodings: names, vocabularies, split patterns and special tokens.

use super::bpe::Pattern;

/// The names of the built-in encodings, the default first.
pub const BUILT_IN: [&str; 2] = ["o200k_base", "cl100k_base"];

/// The fixed data of a built-in encoding.
pub(super) struct Encoding {
    pub(super) name: &'static str,
    /// SHA-256 of the `.tiktoken` file that the vocabulary was made from.
    pub(super) sha256: &'static str,
    /// The vocabulary, as `build.rs` lays it out; `assets/README.md` names its source.
    pub(super) layout: &'static [u8],
    pub(super) pattern: Pattern,
    /// Special tokens with their numbers, as in tiktoken's registry. None is a prefix of another.
    pub(super) special_tokens: &'static [(&'static str, u32)],
}

/// GPT-4o and later.
pub(super) static O200K_BASE: Encoding = Encoding {
    name: "o200k_base",
    sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    layout: include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")),
    pattern: Pattern::O200k,
    special_tokens: &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
};

/// GPT-3.5 and GPT-4.
pub(super) static CL100K_BASE: Encoding = Encoding {
    name: "cl100k_base",
    sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    layout: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")),
    pattern: Pattern::Cl100k,
    special_tokens: &[
        ("<|endoftext|>", 100_257),
        ("<|fim_prefix|>", 100_258),
        ("<|fim_middle|>", 100_259),
        ("<|fim_suffix|>", 100_260),
        ("<|endofprompt|>", 100_276),
    ],
};
