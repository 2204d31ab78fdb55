//! Texts that are hard to count: what the fixtures and real turns hold, and generated adversities.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};
use serde_json::Value;

/// What splits, normalizes or merges in a way of its own in one tokenizer or another.
const PARTS: &str = "a The file test Don't 's 'LL 'ſ we've HTTPServer fooBar x1 12 1234 1234567 3.14 . , () {} == // -- __ \" ' ... \
                     Größe déjà cafe\u{301} e\u{301}\u{323} źdźbło Проверка файла 文件已经修改 十二 ファイル か\u{3099} \u{3040} ゠・ー \
                     파일을 \u{1100}\u{1161}\u{11a8} تم شغّل फ़ाइल फ\u{93c} क् แก้ไข Σφάλμα 👩\u{200d}👩 \u{fe0f} 😀 🇩🇪 ² Ⅷ ٣ 𝐀 ﬁ ㍿ \u{301} \
                     \u{0} \u{7f} \u{200b} \u{feff} \u{378} \u{e000} \u{fffd} ▁ ▁▁ Ġ ## <0x0A> \u{2126} \u{212b} 〇 ⺀ \u{3007}1 々";

const BLANKS: [&str; 15] = [
    " ", " ", " ", "  ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "\u{a0}", "\u{85}", "\u{2028}",
    "\u{3000}", "\u{b}",
];

/// The same numbers in every run (the generator of Numerical Recipes).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Every code point that is assigned, in contexts that tell its class and what it composes with. Of the
/// two planes of private use and of code points not assigned, which are all alike, one in 61.
pub fn code_points() -> Vec<String> {
    let alike = regex_syntax::parse(r"[\p{Cn}\x{f0000}-\x{10ffff}]").unwrap();
    let HirKind::Class(Class::Unicode(alike)) = alike.into_kind() else {
        unreachable!("a class");
    };
    let is_alike = |point: char| {
        alike
            .ranges()
            .binary_search_by(|range| {
                if range.end() < point {
                    std::cmp::Ordering::Less
                } else if range.start() > point {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
    };
    ('\0'..=char::MAX)
        .filter(|point| !is_alike(*point) || u32::from(*point) % 61 == 0)
        .map(|c| format!("\n.{c}a{c}B{c}{c} {c}'s1{c}中{c}e{c}\u{301}{c}2  {c}\n{c}.  {c} "))
        .collect()
}

/// Random parts one after the other, with the added tokens `added` among them, whole and cut.
pub fn mixtures(number: usize, added: &[String]) -> Vec<String> {
    let mut dice = Dice(7);
    let parts: Vec<&str> = PARTS.split(' ').chain(BLANKS).collect();
    let mut text = |_| {
        let mut text = String::new();
        for _ in 0..dice.below(12) {
            if !added.is_empty() && dice.below(8) == 0 {
                let token = &added[dice.below(added.len())];
                let (head, tail) = halves(token);
                text.push_str([token, head, tail][dice.below(3)]);
            } else {
                text.push_str(parts[dice.below(parts.len())]);
            }
        }
        text
    };
    (0..number).map(&mut text).collect()
}

/// Every added token alone, beside another, between words, cut in two and put together again.
pub fn added_tokens(added: &[String]) -> Vec<String> {
    let with_next = |(token, next): (&String, &String)| {
        let (head, tail) = halves(token);
        format!(
            "{token}{next} a{token}b{head}{token}{tail} {tail}{head}\n{token}\u{301}{token} \n {next} {tail}{token}{token}"
        )
    };
    added.iter().zip(added.iter().rev()).map(with_next).collect()
}

fn halves(token: &str) -> (&str, &str) {
    let middle = token.chars().count() / 2;
    token.split_at(token.char_indices().nth(middle).map_or(0, |(at, _)| at))
}

/// Runs of one unit, of every length that a limit may lie at.
pub fn runs() -> Vec<String> {
    let units = [
        "a", "A", " ", "\t", "\n", "\r\n", "=", "-", "ab", "aA", "中", "é", "e\u{301}", "0", "12 ",
        "\u{301}", "🙂", "\u{0}", "'s", " \n", "가", "▁",
    ];
    let lengths = (1..70).chain([100, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 5000]);
    let of_length =
        |length: usize| units.map(|unit| [unit.repeat(length), format!("x{}y", unit.repeat(length))]);
    lengths.flat_map(of_length).flatten().collect()
}

/// All ways to put up to five of these between two words.
pub fn line_ends() -> Vec<String> {
    let units = ["\n", "\r", "\r\n", " ", "\t", "\u{85}", "\u{a0}"];
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..5 {
        let end = all.len();
        for index in from..end {
            all.extend(units.map(|unit| format!("{}{unit}", all[index])));
        }
        from = end;
    }
    let between = |blanks: &String| format!("{blanks}one{blanks}.{blanks}2{blanks}");
    all.iter().map(between).collect()
}

/// Every string of the JSON lines in a folder and below it, each once.
pub fn of_folder(folder: &Path) -> Vec<String> {
    let mut texts = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                // Some fixtures are broken on purpose.
                let content = fs::read(path).unwrap();
                for line in String::from_utf8_lossy(&content).lines() {
                    collect(&serde_json::from_str(line).unwrap_or_default(), &mut texts);
                }
            }
        }
    }
    texts.into_iter().collect()
}

fn collect(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}
