//! The built-in encodings against the reference, on texts that are difficult to split and to merge.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sha2::{Digest, Sha256};

use super::encodings::{CL100K_BASE, Encoding, O200K_BASE};
use super::load;
use super::oracle::{CL100K_BASE_PATTERN, O200K_BASE_PATTERN, Oracle, tokens};

/// The vocabulary of an encoding as it stands in `assets/`.
fn ranks(encoding: &Encoding) -> &'static [u8] {
    match encoding.name {
        "o200k_base" => include_bytes!("../../assets/o200k_base.ranks"),
        _ => include_bytes!("../../assets/cl100k_base.ranks"),
    }
}

/// Both encodings with their references, which are built once for all tests.
fn oracles() -> [(&'static Encoding, &'static Oracle); 2] {
    static O200K: LazyLock<Oracle> = LazyLock::new(|| oracle(&O200K_BASE, O200K_BASE_PATTERN));
    static CL100K: LazyLock<Oracle> = LazyLock::new(|| oracle(&CL100K_BASE, CL100K_BASE_PATTERN));
    [(&O200K_BASE, &*O200K), (&CL100K_BASE, &*CL100K)]
}

fn oracle(encoding: &Encoding, pattern: &str) -> Oracle {
    let special_tokens: Vec<&str> = encoding.special_tokens.iter().map(|(token, _)| *token).collect();
    Oracle::new(&tokens(ranks(encoding)), pattern, &special_tokens)
}

/// Checks that both encodings split as the reference does and return its count.
fn check(text: &str) {
    check_split(text);
    for (encoding, oracle) in oracles() {
        let counter = load(encoding.name).unwrap();
        let (ours, theirs) = (counter.count(text), oracle.count(text));
        assert!(
            ours == theirs,
            "{}: {ours}, not {theirs}: {text:?}",
            encoding.name
        );
    }
}

/// Checks that both encodings split as the reference does: many wrong splits do not change the count.
fn check_split(text: &str) {
    for (encoding, oracle) in oracles() {
        let ours = encoding.pattern.piece_ends(text);
        let theirs = oracle.piece_ends(text);
        let wrong = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        assert!(ours == theirs, "{}: piece {wrong:?} of {text:?}", encoding.name);
    }
}

/// Checks `cases` texts of up to `parts` parts, always the same ones.
fn check_texts(cases: u32, parts: usize, part: impl Strategy<Value = &'static str>) {
    run_texts(cases, parts, part, check);
}

/// Calls `check` with `cases` texts of up to `parts` parts, always the same ones.
pub(super) fn run_texts(
    cases: u32,
    parts: usize,
    part: impl Strategy<Value = &'static str>,
    check: impl Fn(&str),
) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let texts = prop::collection::vec(part, 0..parts).prop_map(|parts| parts.concat());
    runner
        .run(&texts, |text| {
            check(&text);
            Ok(())
        })
        .unwrap();
}

/// A strategy for one of the words of `text`, or one of the blanks in `more`.
fn words(text: &'static str, more: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    select(text.split(' ').chain(more.iter().copied()).collect::<Vec<_>>())
}

const SPACES: &[&str] = &[
    " ", " ", " ", "  ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "\u{a0}", "\u{85}", "\u{2028}",
    "\u{3000}", "\u{b}", "\u{c}", "\u{1c}", "\u{200b}", "\u{feff}",
];

#[test]
fn plain_texts_cost_what_the_reference_says() {
    for text in [
        "",
        "\0",
        "hello world",
        "I'm 12345 — don't\r\n\r\n  fn main() {}\n",
        "你好世界ABCdef 한국어 नमस्ते ไทย العربية 👩‍👩‍👧‍👦",
        "https://example.org/a/b?c=d#e\n//\n/* */\r\n/",
    ] {
        check(text);
    }
}

#[test]
fn ascii_is_split_as_the_reference_splits_it() {
    let parts = "a b z A Z Ab aB ABC foo Foo fooBar HTTPServer x1 1 12 123 1234 0 . , ( ) {} [] == // / -- _ __ # $ \
                 \" ' '' 's 'S 't 'T 're 'RE 've 'Ve 'm 'M 'll 'LL 'lL 'd 'D 'x 'r 'l don't I'll \\n <| |> the of \u{7f}";
    check_texts(3000, 12, words(parts, SPACES));
}

#[test]
fn white_space_is_split_as_the_reference_splits_it() {
    check_texts(2000, 14, words("a . 1 é", SPACES));
}

#[test]
fn scripts_are_split_as_the_reference_splits_them() {
    let parts = "中 文字 ひら カタ 한국 б Б Привет ا العربية नमस्ते क् ไทย é É ß ẞ ſ 'ſ 's K ǅ ǆ Ǆ ʰ ª º ـ \u{301} \u{300}\u{301} \
                 \u{20dd} \u{93e} \u{fe0f} \u{200d} 😀 👩‍👩‍👧 ٣ ٣٤٥٦ Ⅷ ² ½ 𝟘 𝐀 𝐚 𠀀 — … “ ” « € a A aA Aa 1 ' . / \u{e000} \
                 \u{10ffff} \u{378}";
    check_texts(4000, 10, words(parts, SPACES));
}

#[test]
fn contractions_are_found_in_every_case() {
    let tails = [
        "s", "S", "ſ", "t", "T", "re", "rE", "Re", "RE", "ve", "m", "ll", "lL", "d", "D", "k", "r", "l", "v",
        "",
    ];
    let mut text = String::new();
    for head in [
        "a", "A", "é", "É", "中", "\u{301}", "ǅ", "1", ".", " ", "\n", "'", "",
    ] {
        for tail in tails {
            for after in ["", "a", "A", " ", "'", "é", "\u{301}"] {
                text.clear();
                write!(text, "{head}'{tail}{after}").unwrap();
                check(&text);
            }
        }
    }
}

#[test]
fn special_tokens_cost_one_token_wherever_they_stand() {
    let parts = "<|endoftext|> <|endofprompt|> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|endoftext <| |> < | \
                 endoftext|> <<|endoftext|> <|<|endoftext|>|> <|im_start|> <|ENDOFTEXT|> a 's 1 . é";
    check_texts(2000, 8, words(parts, SPACES));
    let o200k = load("o200k_base").unwrap();
    assert_eq!(o200k.count("<|endoftext|><|endofprompt|>"), 2);
    assert_eq!(load("cl100k_base").unwrap().count("a<|fim_middle|>b"), 3);
}

#[test]
fn a_text_costs_what_its_lines_cost() {
    let parts = "a Ab 中 é 1 123 . ... - - # > [ ] ) : \" ' 's \u{301} <|endoftext|> <| |> // /a https:// \u{200b} 👩 \u{1c} _";
    let more = &[" ", " ", "  ", "\t", "\u{a0}", "\n", "\n"];
    run_texts(4000, 20, words(parts, more), |text| {
        let may_follow = |line: &str| !line.starts_with(|c: char| c.is_whitespace() || c == '/');
        let numbered = text.split_inclusive('\n').enumerate();
        let lines = numbered.take_while(|(number, line)| *number == 0 || may_follow(line));
        let lines: Vec<&str> = lines.map(|(_, line)| line).collect();
        for name in ["o200k_base", "cl100k_base"] {
            let counter = load(name).unwrap();
            assert!(counter.counts_by_line());
            let sum: usize = lines.iter().map(|line| counter.count(line)).sum();
            assert_eq!(sum, counter.count(&lines.concat()), "{name}: {lines:?}");
        }
    });
}

/// Every code point in contexts that show its class: after a letter, before one, doubled, after a space and with a
/// contraction. Many are in one text, so that the reference is called rarely.
#[test]
fn every_code_point_has_the_class_that_the_reference_gives_it() {
    // The planes with assigned characters completely; of the large uniform blocks and the planes without any, one in
    // 61.
    let is_dense = |point: u32| !matches!(point, 0x3500..0x4d00 | 0x4f00..0x9f00 | 0xad00..0xd700 | 0xe100..0xf800 | 0x1_fc00..);
    let points: Vec<char> = (0..0x11_0000_u32)
        .filter(|point| is_dense(*point) || point % 61 == 0)
        .filter_map(char::from_u32)
        .collect();
    for chunk in points.chunks(256) {
        let in_context =
            |point: &char| format!("\n.{point}a{point}B{point}{point} {point}'s1{point}{point}2  {point}\n");
        check_split(&chunk.iter().map(in_context).collect::<String>());
    }
}

#[test]
fn long_pieces_are_merged_as_short_ones_are() {
    let mut seed = 1_u32;
    let mut random = |letters: &[u8], length: usize| -> String {
        let mut letter = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(letters[(seed >> 16) as usize % letters.len()])
        };
        (0..length).map(|_| letter()).collect()
    };
    for length in [1, 2, 14, 15, 16, 17, 31, 63, 64, 65, 66, 127, 128, 129, 300, 3000] {
        for letters in [
            &b"a"[..],
            b"ab",
            b"abcdefghijklmnopqrstuvwxyz",
            b"ACGT",
            b" ",
            b"=",
            b"-=_#",
            b"\n",
            b"0",
        ] {
            let text = random(letters, length);
            check(&text);
            check(&format!("{text}x"));
            check(&format!("x{text}"));
        }
        check(&"中文字幕无线".repeat(length));
        check(&"é".repeat(length));
        check(&"👩".repeat(length));
    }
}

#[test]
fn a_megabyte_without_a_break_is_counted_in_a_moment() {
    let start = std::time::Instant::now();
    for name in ["o200k_base", "cl100k_base"] {
        let counter = load(name).unwrap();
        for unit in ["a", "ab", "=", " ", "\n", "中", "A", "\u{301}", "aA", "'s"] {
            let text = unit.repeat(1_000_000 / unit.len());
            assert!(counter.count(&text) >= text.len() / 128);
        }
    }
    // Quadratic work would take hours.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn counting_does_not_depend_on_what_was_counted_before() {
    let texts = [
        "configuration",
        " configuration",
        "xyzzyq",
        "Donaudampfschifffahrt",
        "x\0",
        "x",
        "x\0\0",
    ];
    for name in ["o200k_base", "cl100k_base"] {
        let counter = load(name).unwrap();
        let first: Vec<usize> = texts.iter().map(|text| counter.count(text)).collect();
        let again: Vec<usize> = texts.iter().rev().map(|text| counter.count(text)).rev().collect();
        let on_a_fresh_thread = std::thread::scope(|scope| {
            scope
                .spawn(|| texts.iter().map(|text| counter.count(text)).collect::<Vec<_>>())
                .join()
                .unwrap()
        });
        assert_eq!(first, again);
        assert_eq!(first, on_a_fresh_thread);
    }
}

#[test]
fn the_vocabularies_are_those_of_the_rank_files() {
    for (encoding, _) in oracles() {
        let mut text = String::new();
        for (rank, token) in tokens(ranks(encoding)).iter().enumerate() {
            writeln!(text, "{} {rank}", base64(token)).unwrap();
        }
        let sum: String = Sha256::digest(text.as_bytes())
            .iter()
            .fold(String::new(), |mut sum, byte| {
                write!(sum, "{byte:02x}").unwrap();
                sum
            });
        assert_eq!(sum, encoding.sha256);
        assert_eq!(sum, load(encoding.name).unwrap().identity().sha256);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let padded = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > chunk.len() {
                '='
            } else {
                char::from(DIGITS[value as usize])
            });
        }
    }
    text
}

/// Checks all turns of real trajectories if `TRAJFIT_REAL_DATA` names their folder, a few of them if the folder is
/// beside the project.
#[test]
fn real_turns_cost_what_the_reference_says() {
    let named = env::var_os("TRAJFIT_REAL_DATA").map(PathBuf::from);
    let stride = if named.is_some() { 1 } else { 40 };
    let folder = named.unwrap_or_else(|| PathBuf::from("../shared/data"));
    let Ok(files) = fs::read_dir(folder) else { return };
    let mut texts = Vec::new();
    for file in files {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            for line in fs::read_to_string(path).unwrap().lines() {
                collect_texts(&serde_json::from_str(line).unwrap(), &mut texts);
            }
        }
    }
    texts.sort_unstable();
    for text in texts.iter().step_by(stride) {
        check(text);
    }
}

/// Collects every string of a record, at any depth.
fn collect_texts(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}
