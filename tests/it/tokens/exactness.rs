//! The exactness bar: real tokenizers count what `tokenizers` 0.23.2 counts, on everything at hand.
//!
//! The files are those that `scripts/fetch-tokenizers.sh` fetches into `target/tokenizers`, or into the
//! folder that `TRAJFIT_TOKENIZERS` names; without them nothing real is compared, and a line says so.

#[path = "../../../src/tokens/oracle.rs"]
#[allow(dead_code, reason = "it is written for other tests too")]
mod oracle;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crate::support::{real_data, texts};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oracle::Oracle;
use rayon::prelude::*;
use tokenizers::Tokenizer;
use trajfit::internals::tokens::{TokenCounter, load};

/// The folders that must be there, if any is.
const REAL: [&str; 10] = [
    "claude",
    "command_r_plus",
    "deepseek_v3",
    "gemma2",
    "gemma3",
    "gpt4o",
    "gptoss",
    "llama3_1",
    "minilm",
    "qwen3",
];

/// The split pattern of Kimi K2, as the class of the model has it.
const KIMI: [&str; 8] = [
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
];

/// A tokenizer of ours and the reference's one, from the same file.
struct Both {
    name: String,
    ours: Arc<dyn TokenCounter>,
    reference: Box<dyn Fn(&str) -> usize + Send + Sync>,
    /// The contents of its added tokens.
    added: Vec<String>,
}

impl Both {
    fn load(path: &Path) -> Self {
        if path.ends_with("tiktoken.model") {
            return Self::load_ranks(path);
        }
        let mut reference = Tokenizer::from_file(path).unwrap();
        reference.with_truncation(None).unwrap();
        reference.with_padding(None);
        let mut added = Vec::from_iter(reference.get_added_tokens_decoder());
        added.sort_by_key(|(id, _)| *id);
        Self {
            name: path.display().to_string(),
            ours: load(path.to_str().unwrap()).unwrap(),
            reference: Box::new(move |text| reference.encode_fast(text, false).unwrap().len()),
            added: added.into_iter().map(|(_, token)| token.content).collect(),
        }
    }

    fn load_ranks(path: &Path) -> Self {
        let line = |line: &str| STANDARD.decode(line.split_once(' ').unwrap().0).unwrap();
        let tokens: Vec<Vec<u8>> = fs::read_to_string(path).unwrap().lines().map(line).collect();
        let reserved = tokens.len()..tokens.len() + 256;
        let added: Vec<String> = reserved.map(|id| format!("<|reserved_token_{id}|>")).collect();
        let special: Vec<&str> = added.iter().map(String::as_str).collect();
        let reference = Oracle::new(&tokens, &KIMI.join("|"), &special);
        Self {
            name: path.display().to_string(),
            ours: load(path.to_str().unwrap()).unwrap(),
            reference: Box::new(move |text| reference.count(text)),
            added,
        }
    }

    /// Fails with the shortest text that is counted otherwise. Where it is the reference that counts, one
    /// text in eight is enough to see that it is set up as it should be.
    fn check(&self, texts: &[String]) {
        let is_reference = self.ours.identity().engine.starts_with("tokenizers ");
        let wrong = texts
            .par_iter()
            .step_by(if is_reference { 8 } else { 1 })
            .filter(|text| self.ours.count(text) != (self.reference)(text));
        if let Some(text) = wrong.min_by_key(|text| (text.len(), *text)) {
            let (ours, theirs) = (self.ours.count(text), (self.reference)(text));
            let engine = &self.ours.identity().engine;
            panic!("{}, {engine}: {ours}, not {theirs}: {text:?}", self.name);
        }
    }
}

/// The tokenizers of the bar, loaded once for all tests: real ones if they are there, and a Unigram one
/// of the project, since no real one is in a package.
fn tokenizers() -> &'static [Both] {
    static TOKENIZERS: LazyLock<Vec<Both>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named = std::env::var_os("TRAJFIT_TOKENIZERS").map(PathBuf::from);
        let folder = named.clone().unwrap_or_else(|| root.join("target/tokenizers"));
        let mut paths = vec![root.join("fixtures/tokenizers/unigram.json")];
        if named.is_some() || folder.exists() {
            paths.extend(REAL.map(|name| folder.join(name).join("tokenizer.json")));
            paths.push(folder.join("kimi_k2/tiktoken.model"));
        } else {
            // Past the test runner, which shows what a test prints only if it fails.
            let _ = std::io::stderr().write_all(
                b"exactness: real tokenizers are skipped, since scripts/fetch-tokenizers.sh has not fetched them\n",
            );
        }
        paths.par_iter().map(|path| Both::load(path)).collect()
    });
    &TOKENIZERS
}

/// Every tokenizer is to count these as its reference does.
fn check(texts: &[String]) {
    for both in tokenizers() {
        both.check(texts);
    }
}

/// Of many texts each is counted by one tokenizer in three, another third by the next one: by all of them where
/// `TRAJFIT_EXACTNESS` is `all`.
fn check_in_turn(texts: &[String]) {
    let is_all = std::env::var("TRAJFIT_EXACTNESS").is_ok_and(|share| share == "all");
    let parts = if is_all { 1 } else { 3 };
    for (number, both) in tokenizers().iter().enumerate() {
        let own: Vec<String> = texts
            .iter()
            .skip(number % parts)
            .step_by(parts)
            .cloned()
            .collect();
        both.check(&own);
    }
}

#[test]
fn every_assigned_code_point_costs_what_the_reference_says() {
    let texts = texts::code_points();
    assert!(texts.len() > 160_000, "{}", texts.len());
    check_in_turn(&texts);
}

#[test]
fn added_tokens_cost_what_the_reference_says_whole_cut_and_joined() {
    for both in tokenizers() {
        both.check(&texts::added_tokens(&both.added));
        both.check(&texts::mixtures(20_000, &both.added));
    }
}

#[test]
fn runs_and_line_ends_cost_what_the_reference_says() {
    let texts = [texts::runs(), texts::line_ends()].concat();
    check(&texts);
}

#[test]
fn fixtures_cost_what_the_reference_says() {
    let texts = texts::of_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"));
    assert!(texts.len() > 2000, "{}", texts.len());
    check_in_turn(&texts);
}

#[test]
fn real_turns_cost_what_the_reference_says() {
    if let Some(folder) = real_data() {
        let texts = texts::of_folder(&folder);
        assert!(texts.len() > 10_000, "{}", texts.len());
        check_in_turn(&texts);
    }
}
