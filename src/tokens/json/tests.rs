//! Files of every kind against the reference; `tests/it/tokens/exactness.rs` does the same with real ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _, Tokenizer};

use super::JsonTokenizer;
use crate::tokens::tests::run_texts;
use crate::tokens::{TokenCounter, load};

/// Fixtures that the own encoder supports.
const OWN: [&str; 11] = [
    "qwen",
    "qwen35",
    "llama3",
    "deepseek",
    "gpt_oss",
    "gpt4o",
    "tekken",
    "gpt2",
    "command_r",
    "sentencepiece",
    "gemma2",
];
/// Fixtures that it leaves to other engines.
const OTHERS: [&str; 2] = ["unigram", "word_piece"];

/// A tokenizer and that of the reference, from the same file.
struct Both {
    name: String,
    own: std::sync::Arc<dyn TokenCounter>,
    reference: Tokenizer,
}

impl Both {
    fn fixture(name: &str) -> Self {
        Self::load(&fixture(name))
    }

    fn load(path: &Path) -> Self {
        let mut reference = Tokenizer::from_file(path).unwrap();
        reference.with_truncation(None).unwrap();
        reference.with_padding(None);
        let name = path.display().to_string();
        let own = load(&name).unwrap();
        Self { name, own, reference }
    }

    fn check(&self, text: &str) {
        let (ours, theirs) = (
            self.own.count(text),
            self.reference.encode_fast(text, false).unwrap().len(),
        );
        assert!(ours == theirs, "{}: {ours}, not {theirs}: {text:?}", self.name);
    }
}

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tokenizers");
    folder.join(format!("{name}.json"))
}

/// Calls `check` with `cases` texts of few parts, always the same ones.
fn texts(cases: u32, check: impl Fn(&str)) {
    let parts = "a The file test Don't 's 'LL 'ſ we've HTTPServer fooBar x1 12 1234 . , () {} == // -- __ \" ' Größe \
                 déjà cafe\u{301} café e\u{301}\u{323} źdźbło Проверка файла 文件已经修改 测试测试 十二 ファイル か\u{3099} \u{3040} ゠・ー \
                 파일을 \u{1100}\u{1161}\u{11a8} تم تعديل شغّل फ़ाइल फ\u{93c} क् แก้ไข Σφάλμα 👩\u{200d}👩 \u{fe0f} 😀 ² Ⅷ ٣ 𝐀 \u{301} \
                 \u{0} \u{7f} \u{200b} \u{feff} \u{378} \u{e000} Donaudampfschiff xyzzyq <think> <tool_call> </tool_call> \
                 <tool_call><think> <tool_ call> <|im_start|> <|im_end|> <|endoftext|> <| |> <|EOT|> <|start|> <｜begin▁of▁sentence｜> \
                 <mask> <end> <start_of_turn> <unk> <0x0A> [UNK] [SEP] ▁ \u{2126} \u{212b}";
    let spaces = [
        " ", " ", " ", "  ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "\u{a0}", "\u{85}", "\u{2028}",
        "\u{3000}", "\u{b}",
    ];
    let part = select(parts.split(' ').chain(spaces).collect::<Vec<_>>());
    run_texts(cases, 12, part, check);
}

#[test]
fn every_kind_costs_what_the_reference_says() {
    for name in OWN.into_iter().chain(OTHERS) {
        let both = Both::fixture(name);
        texts(1000, |text| both.check(text));
        for length in [1, 2, 15, 16, 17, 63, 64, 65, 300, 1000] {
            for unit in [
                "a", "ab", " ", "\n", "=", "A", "中", "e\u{301}", "\u{301}", "0", "👩", "\u{0}", "xyzzyq",
            ] {
                let run = unit.repeat(length);
                both.check(&run);
                both.check(&format!("x{run}x"));
            }
        }
    }
}

#[test]
fn known_kinds_have_the_own_engine_and_others_do_not() {
    let is_own = |name: &str| JsonTokenizer::read(&fs::read(fixture(name)).unwrap()).is_some();
    assert!(OWN.into_iter().all(is_own));
    assert!(!OTHERS.into_iter().any(is_own));
}

#[test]
fn every_known_pattern_splits_as_the_reference_does() {
    for name in OWN {
        let own = JsonTokenizer::read(&fs::read(fixture(name)).unwrap()).unwrap();
        let reference = Tokenizer::from_file(fixture(name)).unwrap();
        let Some(pattern) = own.encoder.pattern() else {
            continue;
        };
        let check = |text: &str| {
            let mut pieces = PreTokenizedString::from(text);
            reference
                .get_pre_tokenizer()
                .unwrap()
                .pre_tokenize(&mut pieces)
                .unwrap();
            let pieces = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
            let theirs: Vec<usize> = pieces
                .into_iter()
                .map(|(_, (_, end), _)| end)
                .filter(|end| *end > 0)
                .collect();
            assert_eq!(pattern.piece_ends(text), theirs, "{name}: {text:?}");
        };
        texts(1500, check);
        // DeepSeek has its own classes and Command R the library's digits, so all code points are tested; the classes
        // of the others are tested elsewhere. Of large uniform blocks and of planes without characters, one in 61.
        let is_uniform = |point: u32| matches!(point, 0x3500..0x4d00 | 0x4f00..0x9f00 | 0xad00..0xd700 | 0xe100..0xf800 | 0x1_fc00..);
        let step = |point: u32| {
            if is_uniform(point) {
                61
            } else if ["deepseek", "command_r"].contains(&name) {
                1
            } else {
                17
            }
        };
        let points: Vec<char> = (0..0x11_0000_u32)
            .filter(|point| point % step(*point) == 0)
            .filter_map(char::from_u32)
            .collect();
        for chunk in points.chunks(256) {
            let in_context = |point: &char| {
                format!("\n.{point}a{point}B{point}{point} {point}'s1{point}中{point}2  {point}\n")
            };
            check(&chunk.iter().map(in_context).collect::<String>());
        }
    }
}

/// A byte-level file with these merges, which may be in an order that no trainer produces.
fn with_merges(merges: &[(String, String)], more: &str) -> Vec<u8> {
    let mut state: Value = serde_json::from_slice(&fs::read(fixture("gpt2")).unwrap()).unwrap();
    let mut tokens: BTreeSet<String> = state["model"]["vocab"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    tokens.retain(|token| token.chars().count() == 1);
    for (left, right) in merges {
        tokens.extend([left.clone(), right.clone(), format!("{left}{right}")]);
    }
    tokens.extend(more.split_whitespace().map(str::to_owned));
    state["model"]["ignore_merges"] = Value::Bool(!more.is_empty());
    state["model"]["vocab"] = tokens.into_iter().zip(0..).collect();
    state["model"]["merges"] = serde_json::to_value(merges).unwrap();
    serde_json::to_vec(&state).unwrap()
}

#[test]
fn merges_in_any_order_are_made_in_that_order() {
    let token = select(vec![
        "a", "b", "c", "aa", "ab", "ba", "bc", "aab", "aba", "abab", "bca", "aaa", "aaaa", "cab",
    ]);
    let merge = (token.clone(), token).prop_map(|(left, right)| (left.to_owned(), right.to_owned()));
    let cases = (
        prop::collection::vec(merge, 1..40),
        any::<bool>(),
        "[abc]{0,80}",
        "[abc]{280,400}",
    );
    let config = Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(&cases, |(merges, ignores, short, long)| {
            let bytes = with_merges(&merges, if ignores { "abcabc cbacba aabbcc" } else { "" });
            let reference = Tokenizer::from_bytes(&bytes).unwrap();
            let own = JsonTokenizer::read(&bytes).unwrap();
            for text in [
                short.as_str(),
                &long,
                "abcabc",
                "cbacba",
                "aabbcc",
                "abababababab",
                "aaaaaaaaaaaaaaaaa",
            ] {
                for text in [
                    text,
                    text.get(1..).unwrap_or_default(),
                    text.get(..11).unwrap_or_default(),
                ] {
                    prop_assert_eq!(
                        own.count(text),
                        reference.encode_fast(text, false).unwrap().len(),
                        "{}",
                        text
                    );
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_is_not_known_to_the_letter_is_left_to_others() {
    let file: Value = serde_json::from_slice(&fs::read(fixture("qwen")).unwrap()).unwrap();
    let is_taken = |pointer: &str, value: Value| {
        let mut file = file.clone();
        *file.pointer_mut(pointer).unwrap() = value;
        JsonTokenizer::read(&serde_json::to_vec(&file).unwrap()).is_some()
    };
    assert!(is_taken("/version", "1.0".into()));
    assert!(!is_taken("/version", "2.0".into()));
    assert!(is_taken("/model/unk_token", "a".into()));
    for (pointer, value) in [
        ("/model/type", "WordPiece".into()),
        ("/model/dropout", 0.1.into()),
        ("/model/byte_fallback", true.into()),
        ("/model/end_of_word_suffix", "</w>".into()),
        ("/model/continuing_subword_prefix", "##".into()),
        ("/model/vocab/a", 3.into()),
        ("/model/merges/0", "no such".into()),
        ("/model/merges/0", Value::Null),
        ("/added_tokens/0/single_word", true.into()),
        ("/added_tokens/0/content", "<think>".into()),
        ("/normalizer/type", "NFKC".into()),
        ("/pre_tokenizer/pretokenizers/1/add_prefix_space", true.into()),
        ("/pre_tokenizer/pretokenizers/1/use_regex", true.into()),
        ("/pre_tokenizer/pretokenizers/0/pattern/Regex", "x".into()),
    ] {
        assert!(!is_taken(pointer, value), "{pointer}");
    }
    let mut without_a_byte = file.clone();
    without_a_byte["model"]["vocab"]
        .as_object_mut()
        .unwrap()
        .remove("Ā");
    assert!(JsonTokenizer::read(&serde_json::to_vec(&without_a_byte).unwrap()).is_none());
}

#[test]
fn a_space_before_every_text_is_counted() {
    let mut file: Value = serde_json::from_slice(&fs::read(fixture("sentencepiece")).unwrap()).unwrap();
    file["normalizer"] = serde_json::json!({"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]});
    file["pre_tokenizer"] = Value::Null;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    fs::write(&path, file.to_string()).unwrap();
    assert!(JsonTokenizer::read(file.to_string().as_bytes()).is_some());
    let both = Both::load(&path);
    both.check("");
    texts(1000, |text| both.check(text));
    // An added token that is searched for after normalizing could not be found at its place.
    file["added_tokens"][2]["normalized"] = true.into();
    assert!(JsonTokenizer::read(file.to_string().as_bytes()).is_none());
}

#[test]
fn characters_are_merged_by_the_own_engine_only_where_bytes_stand_for_all_others() {
    let file: Value = serde_json::from_slice(&fs::read(fixture("sentencepiece")).unwrap()).unwrap();
    let is_own = |change: &dyn Fn(&mut Value)| {
        let mut changed = file.clone();
        change(&mut changed);
        JsonTokenizer::read(changed.to_string().as_bytes()).is_some()
    };
    assert!(is_own(&|_| ()));
    assert!(!is_own(&|file| file["model"]["byte_fallback"] = false.into()));
    assert!(!is_own(&|file| file["model"]["ignore_merges"] = true.into()));
    assert!(!is_own(&|file| file["normalizer"]["content"] = "_".into()));
    assert!(!is_own(&|file| file["pre_tokenizer"]["invert"] = true.into()));
    assert!(!is_own(
        &|file| file["pre_tokenizer"] = serde_json::json!({"type": "Whitespace"})
    ));
    let without = |token: &str| {
        is_own(&|file| {
            file["model"]["vocab"].as_object_mut().unwrap().remove(token);
        })
    };
    // The byte of a character that is itself a token is not needed; no token stands for a tab.
    assert!(without("<0x41>") && !without("<0x09>") && !without("<0xC3>"));
}

/// A fixture with more added tokens: text, strips white space before, strips it after, is normalized.
fn with_added(name: &str, tokens: &[(&str, bool, bool, bool)]) -> (tempfile::TempDir, Both) {
    let mut file: Value = serde_json::from_slice(&fs::read(fixture(name)).unwrap()).unwrap();
    let added = file["added_tokens"].as_array_mut().unwrap();
    for (id, (content, lstrip, rstrip, normalized)) in (5000..).zip(tokens) {
        added.push(serde_json::json!({
            "id": id, "content": content, "single_word": false, "lstrip": lstrip, "rstrip": rstrip,
            "normalized": normalized, "special": false,
        }));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    fs::write(&path, file.to_string()).unwrap();
    let both = Both::load(&path);
    (folder, both)
}

#[test]
fn added_tokens_that_want_the_same_white_space_share_it_as_the_reference_has_it() {
    let (_folder, both) = with_added(
        "qwen",
        &[("\n\n", true, true, false), ("<r>", false, true, false)],
    );
    assert!(both.own.identity().engine.starts_with("trajfit"));
    for text in ["\n\n\n\n", "a\n\n\n\nb", "a \n\n b", "\n\n\n"] {
        both.check(text);
    }
}

#[test]
fn an_added_token_takes_no_white_space_where_spaces_are_written_otherwise() {
    let (_folder, both) = with_added(
        "sentencepiece",
        &[("<l>", true, false, true), ("<r>", false, true, true)],
    );
    for text in ["a <l> b", " <l>", "a<r>  b", "\n<l>\n<r>\n"] {
        both.check(text);
    }
}

#[test]
fn a_file_that_the_reference_panics_at_loads() {
    // The probe text contains both side by side.
    let tokens = [
        ("<r>", false, true, false),
        ("\n", true, false, false),
        (" ", true, false, false),
    ];
    let (_folder, both) = with_added("llama3", &tokens);
    assert_eq!(both.own.count("<r>"), 1);
}
