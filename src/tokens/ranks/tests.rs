//! Rank files against `OpenAI`'s library, whose counts are stored with the tests, and against the reference.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers::Tokenizer;

use super::super::file::{EngineChoice, FileCounter};
use super::super::{TokenCounter, TokenizerError, load};
use super::{NAMES, by_name};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tokenizers/kimi")
}

fn counts() -> Vec<Value> {
    serde_json::from_slice(&fs::read(folder().join("counts.json")).unwrap()).unwrap()
}

fn load_as(path: &Path, pattern: &str) -> std::sync::Arc<dyn TokenCounter> {
    load(&format!("{}#{pattern}", path.display())).unwrap()
}

#[test]
fn every_pattern_counts_what_openai_s_library_counts() {
    for name in NAMES {
        let counter = load_as(&folder().join("tiktoken.model"), name);
        for entry in counts() {
            let text = entry["text"].as_str().unwrap();
            assert_eq!(entry[name], counter.count(text), "{name}: {text:?}");
        }
    }
}

#[test]
fn the_reference_of_a_rank_file_counts_the_same() {
    for name in NAMES {
        let path = folder().join("tiktoken.model");
        let reference = load(&format!("reference:{}#{name}", path.display())).unwrap();
        for entry in counts() {
            let text = entry["text"].as_str().unwrap();
            assert_eq!(entry[name], reference.count(text), "{name}: {text:?}");
        }
        assert!(
            reference.identity().engine.starts_with("tokenizers 0.23.2, "),
            "{}",
            reference.identity().engine
        );
    }
}

#[test]
fn every_pattern_splits_as_the_reference_does() {
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _};

    let tokens = super::tokens(&fs::read(folder().join("tiktoken.model")).unwrap()).unwrap();
    for name in NAMES {
        let pattern = by_name(name).unwrap();
        let reference = Tokenizer::from_bytes(super::as_json(&tokens, pattern, &[])).unwrap();
        let check = |text: &str| {
            let mut pieces = PreTokenizedString::from(text);
            let splits = reference.get_pre_tokenizer().unwrap();
            splits.pre_tokenize(&mut pieces).unwrap();
            let theirs: Vec<usize> = pieces
                .get_splits(OffsetReferential::Original, OffsetType::Byte)
                .into_iter()
                .map(|(_, (_, end), _)| end)
                .filter(|end| *end > 0)
                .collect();
            assert_eq!(pattern.pattern.piece_ends(text), theirs, "{name}: {text:?}");
        };
        for entry in counts() {
            check(entry["text"].as_str().unwrap());
        }
        // Code points with a class of their own are in these planes; of the large uniform blocks, one in 61.
        let points = (0..0x3_2000_u32)
            .filter(|point| !matches!(point, 0x4f00..0x9e00 | 0xad00..0xf800) || point % 61 == 0);
        for point in points.filter_map(char::from_u32) {
            check(&format!(
                "\n.{point}a{point}B{point}{point} {point}'s1{point}中{point}2{point}/\n"
            ));
        }
    }
}

#[test]
fn a_token_that_merges_do_not_reach_costs_one_as_a_piece_and_is_made_of_any_two_parts() {
    let mut ranks = fs::read_to_string(folder().join("tiktoken.model")).unwrap();
    // `xyz` ranks before its parts `yz` and `xy`, and a word that no merges make.
    for (token, rank) in [
        ("eHl6", 1500),
        ("eXo=", 1501),
        ("eHk=", 1502),
        ("eHl6enlxeHl6", 1503),
    ] {
        writeln!(ranks, "{token} {rank}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("more.tiktoken");
    fs::write(&path, ranks).unwrap();
    let (ours, reference) = (
        load_as(&path, "cl100k_base"),
        load(&format!("reference:{}#cl100k_base", path.display())).unwrap(),
    );
    assert_eq!(ours.count("xyz"), 1);
    assert_eq!(ours.count("xyzzyqxyz"), 1);
    assert_eq!(ours.count("xyzxyz"), 2);
    for text in [
        "xyzzyqxy",
        " xyz",
        "xxyzz",
        "yxyzx",
        "xyxyzyz",
        "xyzzyqxyzzyq xyz",
    ] {
        assert_eq!(ours.count(text), reference.count(text), "{text}");
    }
}

#[test]
fn a_folder_and_the_names_beside_it_are_found() {
    let named = load_as(&folder(), "kimi_k2");
    assert_eq!(named.count("<|im_end|>[BOS]<|reserved_token_1600|>"), 3);
    assert!(named.identity().engine.contains("split as kimi_k2"));
    // The pattern of another model has only the special tokens that are named.
    let other = load_as(&folder(), "o200k_base");
    assert_eq!(other.count("<|im_end|>[BOS]"), 2);
    assert!(other.count("<|reserved_token_1600|>") > 3);
}

#[test]
fn ranks_of_which_the_pattern_is_not_known_are_told_how_to_name_it() {
    let error = load(folder().to_str().unwrap()).err().unwrap();
    assert!(matches!(error, TokenizerError::UnknownRanks { .. }), "{error}");
    assert!(error.help().contains("tiktoken.model#NAME"), "{}", error.help());
    assert!(error.help().contains("o200k_base, cl100k_base, kimi_k2, gpt2"));
    let name = format!("{}#p50k", folder().display());
    let error = load(&name).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("unknown split pattern `p50k` in `{name}`: known are o200k_base, cl100k_base, kimi_k2, gpt2")
    );
}

#[test]
fn what_is_named_as_ranks_is_read_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.tiktoken");
    for (content, reason) in [
        ("!!! 0\n", "line 1 is not a token in base64 and its rank"),
        ("", "there is no token in it"),
    ] {
        fs::write(&path, content).unwrap();
        let error = load(path.to_str().unwrap()).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("`{}` is not a usable rank file: {reason}", path.display())
        );
    }
}

#[test]
fn a_folder_with_several_rank_files_asks_which() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.tiktoken", "a.tiktoken", "c.txt"] {
        fs::write(folder.path().join(name), "YQ== 0").unwrap();
    }
    let error = load(folder.path().to_str().unwrap()).err().unwrap();
    assert!(
        error
            .to_string()
            .ends_with("several rank files: a.tiktoken, b.tiktoken"),
        "{error}"
    );
    assert!(error.help().contains("a.tiktoken"));
}

#[test]
fn a_broken_rank_file_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tiktoken");
    for (content, reason) in [
        ("YQ== 0\n", "some byte has no token"),
        (
            "YQ== 0\nnonsense\n",
            "line 2 is not a token in base64 and its rank",
        ),
    ] {
        fs::write(&path, content).unwrap();
        let pattern = by_name("gpt2");
        let error = FileCounter::load("mine", &path, pattern, EngineChoice::Fastest)
            .err()
            .unwrap();
        assert_eq!(
            error.to_string(),
            format!("`{}` is not a usable rank file: {reason}", path.display())
        );
    }
    fs::copy(super::tests::folder().join("tiktoken.model"), &path).unwrap();
    fs::write(folder.path().join("tokenizer_config.json"), "[").unwrap();
    let error = load(&format!("{}#gpt2", path.display())).err().unwrap();
    assert!(error.to_string().contains("tokenizer_config.json"), "{error}");
}
