//! The probe of an engine before it is used: a text with many difficult cases must get the reference's count.
//!
//! The reference takes half a second and more to load a large file, too long for a program that reads one small file.
//! But its count of one given text depends on few of the file's tokens: those that are part of a piece of that text.
//! With only these, and the rest of the file unchanged, it loads in some milliseconds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};
use tokenizers::models::bpe::BPE;
use tokenizers::{
    ModelWrapper, NormalizedString, Normalizer as _, OffsetReferential, OffsetType, PreTokenizedString,
    PreTokenizer as _, Tokenizer,
};

/// A text with everything that split patterns and normalizers distinguish, in many scripts. Its pieces are short.
pub const TEXT: &str = "Don't you'LL we'ſ I'm HTTPServer fooBar x1 1234567 3.14 // == --> (a, b); \"q\"\r\n\r\n\tif x:\n    y  \n \
     Größe déjà vu cafe\u{301} źdźbło Việt Проверка файла Σφάλμα 文件已经，第十二行。ファイル か\u{3099}ー 파일을 \
     \u{1112}\u{1161}\u{11ab} تم تعديل ٣٤٥ फ़ाइल क्ष แก้ไข ² Ⅷ 〇1 ⺀ 𝐀 👩\u{200d}👩\u{200d}👧 \u{fe0f}\u{a0}\u{2028}\u{3000}\u{0} end";

/// Number of a file's added tokens that the text contains, from each end of their list.
const ADDED: usize = 8;

/// Maximum length of tokens that are part of a piece of the text, in characters of the vocabulary.
const LONGEST: usize = 48;

/// The probe text followed by some of these added tokens, between words and side by side.
pub fn text(added: &[&str]) -> String {
    let mut text = TEXT.to_owned();
    let last = added.iter().skip(ADDED).rev().take(ADDED);
    for token in added.iter().take(ADDED).chain(last) {
        text.push_str(token);
        text.push_str(" a");
        text.push_str(token);
    }
    text
}

/// The reference's count of `text`; `None` if it has none. `recipe` is the file without its vocabulary and merges,
/// `has` returns true if a string is in the vocabulary, and `merges` returns those of the file's merges that are
/// between the given strings.
pub fn expected(
    text: &str,
    mut recipe: Value,
    has: impl Fn(&str) -> bool,
    merges: impl FnOnce(&FxHashSet<String>) -> Vec<(String, String)>,
) -> Option<usize> {
    let mut model = recipe.get("model")?.as_object()?.clone();
    recipe.as_object_mut()?.insert(
        "model".to_owned(),
        json!({"type": "BPE", "vocab": {}, "merges": []}),
    );
    let mut tokenizer = Tokenizer::from_bytes(recipe.to_string()).ok()?;
    tokenizer.with_truncation(None).ok()?;
    tokenizer.with_padding(None);
    let mut needed = FxHashSet::default();
    for part in [text, TEXT, "a", " a"] {
        needed_for(&tokenizer, part, &has, &mut needed)?;
    }
    // The tokens that stand for bytes and for unknown characters.
    let unknown = model.get("unk_token").and_then(Value::as_str).map(str::to_owned);
    let bytes = (0..=255_u8).map(|byte| format!("<0x{byte:02X}>"));
    needed.extend(bytes.chain(unknown).filter(|token| has(token)));
    model.insert("merges".to_owned(), serde_json::to_value(merges(&needed)).ok()?);
    let vocabulary: Map<String, Value> = needed.into_iter().zip((0..).map(Value::from)).collect();
    model.insert("vocab".to_owned(), Value::Object(vocabulary));
    let model: BPE = serde_json::from_str(&Value::Object(model).to_string()).ok()?;
    tokenizer.with_model(ModelWrapper::BPE(model));
    // The library panics on some texts, if added tokens that strip white space stand beside others.
    let encoded = catch_unwind(AssertUnwindSafe(|| tokenizer.encode_fast(text, false)));
    Some(encoded.ok()?.ok()?.len())
}

/// Adds the tokens that may occur in `text`: all strings of the vocabulary that are part of its pieces.
fn needed_for(
    tokenizer: &Tokenizer,
    text: &str,
    has: impl Fn(&str) -> bool,
    needed: &mut FxHashSet<String>,
) -> Option<()> {
    let mut normalized = NormalizedString::from(text);
    if let Some(normalizer) = tokenizer.get_normalizer() {
        normalizer.normalize(&mut normalized).ok()?;
    }
    let mut pieces = PreTokenizedString::from(normalized);
    if let Some(splits) = tokenizer.get_pre_tokenizer() {
        splits.pre_tokenize(&mut pieces).ok()?;
    }
    for (piece, _, _) in pieces.get_splits(OffsetReferential::Normalized, OffsetType::Byte) {
        let starts: Vec<usize> = piece
            .char_indices()
            .map(|(at, _)| at)
            .chain([piece.len()])
            .collect();
        for (first, start) in starts.iter().enumerate() {
            for end in starts.iter().skip(first + 1).take(LONGEST) {
                let part = piece.get(*start..*end)?;
                if has(part) && !needed.contains(part) {
                    needed.insert(part.to_owned());
                }
            }
        }
    }
    Some(())
}
