//! The table of phrases (`phrases.csv`) that answers are judged by: refusals, errors, preambles, offers, advice.

use std::sync::LazyLock;

/// The table. Its source column says where a phrase is from.
const TABLE: &str = include_str!("phrases.csv");

/// The meaning of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgePhraseKind {
    /// The beginning of an answer that refuses, or asks for what was given.
    Refusal,
    /// The beginning of an answer that is an error of a server.
    Error,
    /// The whole of an answer that says nothing.
    Placeholder,
    /// A word of assent before anything else.
    Assent,
    /// The beginning of a line that announces a summary, if it names it ([`JudgePhraseKind::Noun`]).
    Preamble,
    /// A word for a summary in a preamble.
    Noun,
    /// The heading of a whole summary.
    Title,
    /// The heading of advice.
    Advice,
    /// The beginning of last lines that offer more.
    Offer,
    /// The beginning of a tool call.
    Call,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct JudgePhrase {
    /// The meaning of the phrase.
    pub kind: JudgePhraseKind,
    /// The phrase, as [`plain`] makes it.
    pub phrase: &'static str,
    /// The source of the phrase.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for people, and the test of the table")
    )]
    pub source: &'static str,
}

static ROWS: LazyLock<Vec<JudgePhrase>> = LazyLock::new(|| TABLE.lines().skip(1).filter_map(row).collect());

fn row(line: &'static str) -> Option<JudgePhrase> {
    let mut columns = line.splitn(4, ',');
    let kind = match columns.next()? {
        "refusal" => JudgePhraseKind::Refusal,
        "error" => JudgePhraseKind::Error,
        "placeholder" => JudgePhraseKind::Placeholder,
        "assent" => JudgePhraseKind::Assent,
        "preamble" => JudgePhraseKind::Preamble,
        "noun" => JudgePhraseKind::Noun,
        "title" => JudgePhraseKind::Title,
        "advice" => JudgePhraseKind::Advice,
        "offer" => JudgePhraseKind::Offer,
        "call" => JudgePhraseKind::Call,
        _ => return None,
    };
    Some(JudgePhrase {
        kind,
        phrase: columns.nth(1)?,
        source: columns.next()?,
    })
}

/// The phrases of a kind.
pub fn phrases(kind: JudgePhraseKind) -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(move |row| row.kind == kind);
    rows.map(|row| row.phrase)
}

/// The phrase of a kind that a plain text begins with, up to the end of a word.
pub fn beginning(kind: JudgePhraseKind, text: &str) -> Option<&'static str> {
    phrases(kind).find(|phrase| {
        let rest = text.strip_prefix(phrase);
        let open = phrase.ends_with(|c: char| !c.is_alphanumeric() || !c.is_ascii());
        let ends_word = |rest: &str| open || !rest.starts_with(|c: char| c.is_alphanumeric());
        // "I can" of a phrase is any form: can't, cannot.
        rest.is_some_and(|rest| ends_word(rest) || phrase.ends_with(" can"))
    })
}

/// A text as phrases are written: in small letters, with straight quotes, without commas and Markdown at its start.
pub fn plain(text: &str) -> String {
    let text = text
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '_' | '>' | '"' | '“'));
    let text = text.chars().filter(|c| !matches!(c, ',' | '，' | '、'));
    let straight = text.map(|c| if matches!(c, '’' | '‘') { '\'' } else { c });
    straight.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_plain_phrase_of_its_own_with_a_source() {
        assert_eq!(ROWS.len(), TABLE.lines().count() - 1);
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(plain(row.phrase), row.phrase, "{row:?}");
            assert!(!row.phrase.is_empty() && row.source.len() > 5, "{row:?}");
            let twin = |other: &JudgePhrase| other.kind == row.kind && other.phrase == row.phrase;
            let languages_differ = row.kind == JudgePhraseKind::Assent;
            assert!(
                languages_differ || ROWS.iter().position(twin) == Some(index),
                "{row:?} is there twice"
            );
        }
    }

    #[test]
    fn a_phrase_ends_where_a_word_does() {
        assert!(beginning(JudgePhraseKind::Refusal, "i cannot help with that").is_some());
        assert!(beginning(JudgePhraseKind::Refusal, "i cannot helpless").is_none());
        assert!(beginning(JudgePhraseKind::Refusal, &plain("I’m sorry, but I can’t do that")).is_some());
        assert!(beginning(JudgePhraseKind::Refusal, "抱歉我无法总结").is_some());
    }
}
