//! Files for every engine, with the difficult cases of real ones.

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::whitespace::Whitespace;
use tokenizers::{AddedToken, ModelWrapper, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use super::super::probe;
use super::*;

/// A byte-level vocabulary with a few merges, which truncates to 3 and pads to 100.
fn byte_level() -> Tokenizer {
    let mut alphabet: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    alphabet.sort_unstable();
    let merges = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), ("Ġ", "w")];
    let merged = merges.iter().map(|(left, right)| format!("{left}{right}"));
    let vocabulary: Vocab = alphabet
        .iter()
        .map(char::to_string)
        .chain(merged)
        .zip(0..)
        .collect();
    let merges = merges.map(|(left, right)| (left.to_owned(), right.to_owned()));
    let model = BPE::builder()
        .vocab_and_merges(vocabulary, merges.to_vec())
        .build()
        .unwrap();
    let mut tokenizer = Tokenizer::new(ModelWrapper::BPE(model));
    tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    with_traps(tokenizer)
}

/// A model that the own engine does not support.
fn word_piece() -> Tokenizer {
    let words = ["[UNK]", "hello", "wor", "##ld", "<", ">"];
    let vocabulary: Vocab = words.map(str::to_owned).into_iter().zip(0..).collect();
    let model = WordPiece::builder()
        .vocab(vocabulary)
        .unk_token("[UNK]".into())
        .build()
        .unwrap();
    let mut tokenizer = Tokenizer::new(ModelWrapper::WordPiece(model));
    tokenizer.with_pre_tokenizer(Some(Whitespace {}));
    with_traps(tokenizer)
}

fn with_traps(mut tokenizer: Tokenizer) -> Tokenizer {
    let truncation = TruncationParams {
        max_length: 3,
        ..TruncationParams::default()
    };
    let padding = PaddingParams {
        strategy: PaddingStrategy::Fixed(100),
        ..PaddingParams::default()
    };
    tokenizer.with_truncation(Some(truncation)).unwrap();
    tokenizer.with_padding(Some(padding));
    tokenizer
        .add_tokens([AddedToken::from("<tool_call>", false)])
        .unwrap();
    tokenizer
        .add_special_tokens([AddedToken::from("<|end|>", true)])
        .unwrap();
    tokenizer
}

fn load(tokenizer: &Tokenizer) -> Arc<dyn TokenCounter> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    tokenizer.save(&path, false).unwrap();
    // The file is deleted before the counter is used: it is needed only once.
    FileCounter::load("mine", &path, None, EngineChoice::Fastest).unwrap()
}

#[test]
fn added_tokens_count_and_neither_truncation_nor_padding_does() {
    let counter = load(&byte_level());
    assert_eq!(counter.identity().engine, OWN_ENGINE);
    assert_eq!(counter.count(""), 0);
    assert_eq!(counter.count("hello world"), 1 + 5);
    assert_eq!(counter.count("hello<tool_call>hello<|end|>"), 4);
    assert_eq!(counter.count("\u{0}é"), 3);
}

#[test]
fn what_the_own_engine_refuses_is_counted_by_the_reference() {
    let counter = load(&word_piece());
    assert_eq!(counter.identity().engine, REFERENCE_ENGINE);
    assert_eq!(counter.count("hello world"), 3);
    assert_eq!(counter.count("hello <tool_call> hello hello hello<|end|>"), 6);
    assert_eq!(counter.note(), None);
}

/// A fixture with a part of it changed, loaded.
fn changed(name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Arc<dyn TokenCounter> {
    let mut file = serde_json::from_slice(&fs::read(fixture(name)).unwrap()).unwrap();
    change(&mut file);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    fs::write(&path, file.to_string()).unwrap();
    FileCounter::load("mine", &path, None, EngineChoice::Fastest).unwrap()
}

#[test]
fn no_engine_takes_a_file_whose_normalizer_floods() {
    let long = "x".repeat(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    for tokenizer in [byte_level(), word_piece()] {
        for normalizer in [
            serde_json::json!({"type": "Replace", "pattern": {"String": "a"}, "content": long}),
            serde_json::json!({"type": "Prepend", "prepend": long}),
        ] {
            let mut file: serde_json::Value =
                serde_json::from_str(&tokenizer.to_string(false).unwrap()).unwrap();
            *file.get_mut("normalizer").unwrap() = normalizer;
            fs::write(&path, file.to_string()).unwrap();
            for choice in [EngineChoice::Fastest, EngineChoice::Reference] {
                let error = FileCounter::load("mine", &path, None, choice).err();
                let said = error.map(|error| error.to_string()).unwrap_or_default();
                assert!(said.contains("bytes of one, and at most 64 are taken"), "{said}");
            }
        }
    }
}

#[test]
fn files_with_parts_that_the_own_engine_does_not_know_are_counted_by_the_reference() {
    let pattern = "/pre_tokenizer/pretokenizers/0/pattern/Regex";
    for text in [
        r"\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"\w+|[^\w\s]+|\s+",
    ] {
        let counter = changed("qwen.json", |file| {
            *file.pointer_mut(pattern).unwrap() = text.into();
        });
        assert_eq!(counter.identity().engine, REFERENCE_ENGINE, "{text}");
    }
    // Characters that no token has are dropped, and their neighbours merge.
    let counter = changed("deepseek.json", |file| {
        file["pre_tokenizer"] = serde_json::json!({"type": "Digits", "individual_digits": true});
    });
    assert_eq!(counter.identity().engine, REFERENCE_ENGINE);
    assert_eq!(counter.count("i\u{2581}n"), counter.count("in"));
    let whole_words = changed("qwen.json", |file| {
        file["added_tokens"][0]["single_word"] = true.into();
    });
    assert_eq!(whole_words.identity().engine, REFERENCE_ENGINE);
}

#[test]
fn merges_are_left_out_by_chance_in_no_count() {
    let counter = changed("qwen.json", |file| file["model"]["dropout"] = 0.5.into());
    let text = "The quick test of the file";
    let plain = crate::tokens::load(&fixture("qwen.json")).unwrap();
    for _ in 0..20 {
        assert_eq!(counter.count(text), plain.count(text));
    }
    assert_eq!(counter.note(), None);
}

#[test]
fn texts_that_cannot_be_encoded_are_told() {
    let counter = changed("word_piece.json", |file| {
        file["model"]["unk_token"] = "[NONE]".into();
    });
    assert_eq!(counter.count("\u{10400}\u{10401}"), 8);
    let note = counter.note().unwrap();
    assert!(
        note.starts_with("tokenizers 0.23.2 refused to encode 1 texts"),
        "{note}"
    );
}

#[test]
fn the_reference_reads_the_file_again_unless_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    byte_level().save(&path, false).unwrap();
    let sha256 = hex(&Sha256::digest(fs::read(&path).unwrap()));
    let reference = || Reference::later(&path, &sha256, TokenizerForm::Json);
    assert_eq!(reference().count("hello<tool_call> world"), Some(2 + 5));
    word_piece().save(&path, false).unwrap();
    assert_eq!(reference().count("hello"), None);
    fs::remove_file(&path).unwrap();
    assert_eq!(reference().count("hello"), None);
}

#[test]
fn the_identity_is_the_file_s() {
    let counter = load(&byte_level());
    let json = byte_level().to_string(false).unwrap();
    assert_eq!(counter.identity().name, "mine");
    assert_eq!(counter.identity().sha256, hex(&Sha256::digest(json.as_bytes())));
    assert_eq!(counter.identity().sha256.len(), 64);
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/tokenizers/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_engine_that_counts_the_probe_otherwise_never_counts() {
    for (name, engine) in [("llama3.json", OWN_ENGINE), ("kimi#kimi_k2", OWN_ENGINE)] {
        let right = crate::tokens::load(&fixture(name)).unwrap();
        assert!(right.identity().engine.starts_with(engine));
        assert_eq!(right.note(), None);
        wrong_by(1);
        let replaced = crate::tokens::load(&fixture(name)).unwrap();
        let text = "The quick test, 文件\n<|eot_id|>";
        assert_eq!(
            replaced.count(text),
            right.count(text) - 1,
            "the right one is wrong now"
        );
        wrong_by(0);
        assert!(replaced.identity().engine.starts_with(REFERENCE_ENGINE));
        assert_ne!(
            replaced.identity(),
            right.identity(),
            "a run does not go on with another engine"
        );
        let note = replaced.note().unwrap();
        assert!(
            note.starts_with(&format!("{engine} and {REFERENCE_ENGINE} counted a probe of ")),
            "{note}"
        );
        assert!(
            note.ends_with("this run was counted by tokenizers 0.23.2, which is slow"),
            "{note}"
        );
    }
}

fn wrong_by(tokens: usize) {
    crate::tokens::json::TOO_MANY.set(tokens);
}

#[test]
fn a_probe_costs_with_few_tokens_what_it_costs_with_all() {
    for name in [
        "qwen",
        "qwen35",
        "llama3",
        "deepseek",
        "gpt_oss",
        "gpt4o",
        "tekken",
        "gpt2",
        "sentencepiece",
    ] {
        let bytes = fs::read(fixture(&format!("{name}.json"))).unwrap();
        let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let added = file["added_tokens"].as_array().into_iter().flatten();
        let added: Vec<&str> = added.filter_map(|token| token["content"].as_str()).collect();
        let text = probe::text(&added);
        let own = JsonTokenizer::read(&bytes).unwrap();
        // With few tokens the reference has counted the same.
        assert!(own.difference().is_none(), "{name}");
        let all = Reference::load(&bytes, &TokenizerForm::Json)
            .unwrap()
            .count(&text);
        assert_eq!(Some(own.count(&text)), all, "{name}");
        assert!(
            text.contains('<') || name.starts_with("gpt4o") || name.starts_with("tekken") || name == "qwen35"
        );
    }
}
