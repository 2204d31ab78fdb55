//! Phrases of people and models: announcements, demands, requests, small talk, in several languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Deserialize;

/// The sort of a phrase, as the table explains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PhraseKind {
    Announcement,
    Imperative,
    Open,
    Leaning,
    TakesBack,
    States,
    Is,
    Outcome,
    Problem,
    Demand,
    Rule,
    OfSelf,
    Request,
    Answer,
    Agreement,
    GoOn,
    Talk,
    Heading,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseRow {
    kind: PhraseKind,
    #[serde(default)]
    starts: Vec<String>,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default, rename = "language")]
    _language: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    example: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    counterexample: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseTable {
    phrase: Vec<PhraseRow>,
}

/// The phrases of all rows in one automaton.
struct Phrases {
    automaton: Option<AhoCorasick>,
    /// The kind of each pattern, and if it stands at the start only.
    patterns: Vec<(PhraseKind, bool)>,
    words: HashSet<(PhraseKind, String)>,
}

static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::new(super::table(include_str!("phrases.toml"))));

/// The kinds of phrases that a sentence holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    bits: u32,
}

impl Kinds {
    /// The kinds of a sentence.
    pub fn of(sentence: &str) -> Self {
        let mut kinds = Self::default();
        let Some(automaton) = &PHRASES.automaton else {
            return kinds;
        };
        for found in automaton.find_overlapping_iter(sentence) {
            let Some((kind, is_start)) = PHRASES.patterns.get(found.pattern().as_usize()) else {
                continue;
            };
            let is_whole = |at: usize| at == 0 || at >= sentence.len() || is_edge(sentence.as_bytes(), at);
            if *is_start && found.start() > 0 || !is_whole(found.start()) || !is_whole(found.end()) {
                continue;
            }
            kinds.bits |= 1 << *kind as u32;
        }
        kinds
    }

    /// If the sentence holds a phrase of `kind`.
    pub fn has(self, kind: PhraseKind) -> bool {
        self.bits & (1 << kind as u32) != 0
    }

    /// If it holds one of any of these kinds.
    pub fn has_any(self, kinds: &[PhraseKind]) -> bool {
        kinds.iter().any(|kind| self.has(*kind))
    }
}

/// If a word ends or begins at a place: scripts without spaces have no such edges.
fn is_edge(bytes: &[u8], at: usize) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !(is_part(bytes.get(at - 1)) && is_part(bytes.get(at)))
}

/// If a word is one of `kind`, whatever the case of its ASCII letters.
pub(crate) fn is_word(kind: PhraseKind, word: &str) -> bool {
    PHRASES
        .words
        .contains(&(kind, word.to_ascii_lowercase().replace('’', "'")))
}

impl Phrases {
    fn new(table: PhraseTable) -> Self {
        let mut texts = Vec::new();
        let mut patterns = Vec::new();
        let mut words = HashSet::new();
        for row in table.phrase {
            let starts = row.starts.into_iter().map(|text| (text, true));
            for (text, is_start) in starts.chain(row.holds.into_iter().map(|text| (text, false))) {
                // People write both apostrophes.
                if text.contains('\'') {
                    texts.push(text.replace('\'', "’"));
                    patterns.push((row.kind, is_start));
                }
                texts.push(text);
                patterns.push((row.kind, is_start));
            }
            words.extend(row.words.into_iter().map(|word| (row.kind, word)));
        }
        let mut builder = AhoCorasick::builder();
        // A DFA reads sentences little faster, and takes a third of a short run to build.
        builder
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA));
        let automaton = builder.build(texts);
        Self {
            automaton: automaton.ok(),
            patterns,
            words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_knows_its_example_and_not_its_counterexample() {
        let table: PhraseTable = toml::from_str(include_str!("phrases.toml")).unwrap();
        assert!(table.phrase.len() > 40);
        for row in table.phrase {
            let (kind, example, counterexample) = (row.kind, row.example.clone(), row.counterexample.clone());
            if row.words.is_empty() {
                let alone = Phrases::new(PhraseTable { phrase: vec![row] });
                assert!(alone.automaton.is_some());
                assert!(Kinds::of(&example).has(kind), "{kind:?}: {example}");
                assert!(
                    !Kinds::of(&counterexample).has(kind),
                    "{kind:?}: {counterexample}"
                );
            } else {
                let words = |text: &str| -> Vec<String> {
                    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\''));
                    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
                };
                assert!(
                    words(&example).iter().all(|word| is_word(kind, word)),
                    "{example}"
                );
                assert!(
                    !words(&counterexample).iter().all(|word| is_word(kind, word)),
                    "{counterexample}"
                );
            }
        }
    }
}
