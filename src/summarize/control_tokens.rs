//! Finds control tokens of chat templates (`control_tokens.csv`) and of the user's tokenizer, and defuses them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// The table. Its source column says where a token is documented.
const TABLE: &str = include_str!("control_tokens.csv");

/// Bytes of the shortest special token that counts as a control token: shorter ones are punctuation.
const SHORTEST: usize = 3;

/// The function of a token in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenFunction {
    /// It opens a text or a turn; the name of a role may follow.
    Start,
    /// It ends a text or a turn.
    End,
    /// A tool call follows.
    Tool,
    /// Something else.
    Other,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ControlToken {
    /// The token, as tokenizers spell it.
    pub token: &'static str,
    /// The function of the token.
    pub kind: TokenFunction,
    /// The source that documents it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for people, and the test of the table")
    )]
    pub source: &'static str,
}

/// Finds control tokens.
#[derive(Debug)]
pub struct ControlTokens {
    /// `None` if there are too many tokens to search for.
    search: Option<AhoCorasick>,
    kinds: Vec<TokenFunction>,
}

static KNOWN: LazyLock<ControlTokens> = LazyLock::new(|| ControlTokens::and(&[]));

/// The rows of the table.
pub fn rows() -> impl Iterator<Item = ControlToken> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut columns = line.split(',');
        let (token, kind) = (columns.next()?, columns.next()?);
        Some(ControlToken {
            token,
            kind: match kind {
                "start" => TokenFunction::Start,
                "end" => TokenFunction::End,
                "tool" => TokenFunction::Tool,
                "other" => TokenFunction::Other,
                _ => return None,
            },
            source: columns.nth(1)?,
        })
    })
}

impl ControlTokens {
    /// The control tokens of known chat templates.
    pub fn known() -> &'static Self {
        &KNOWN
    }

    /// Those of known chat templates, and the special tokens of a tokenizer that do not begin like a word.
    pub fn and(special: &[String]) -> Self {
        let mut tokens: Vec<&str> = Vec::new();
        let mut kinds = Vec::new();
        for row in rows() {
            tokens.push(row.token);
            kinds.push(row.kind);
        }
        for token in special {
            let token = token.trim();
            if token.len() >= SHORTEST && harmless_start(token).is_some() && !tokens.contains(&token) {
                tokens.push(token);
                kinds.push(TokenFunction::Other);
            }
        }
        let search = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens);
        Self {
            search: search.ok(),
            kinds,
        }
    }

    /// The byte ranges and kinds of the tokens in a text, in order, without overlaps.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Range<usize>, TokenFunction)> + 't {
        let search = self.search.iter();
        search
            .flat_map(move |search| search.find_iter(text))
            .map(|found| {
                let kind = self.kinds.get(found.pattern().as_usize()).copied();
                (found.range(), kind.unwrap_or(TokenFunction::Other))
            })
    }

    /// `text` with the first character of each token replaced: `‹|im_end|>`. No tokenizer takes that for the token.
    pub fn harmless<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut safe = String::new();
        let mut done = 0;
        for (range, _) in self.find(text) {
            let token = text.get(range.clone()).unwrap_or_default();
            let Some((sign, rest)) = harmless_start(token) else {
                continue;
            };
            safe.push_str(text.get(done..range.start).unwrap_or_default());
            safe.push(sign);
            safe.push_str(rest);
            done = range.end;
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        safe.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(safe)
    }
}

/// The character that replaces a token's first one, and the rest of the token; `None` if it begins like a word.
fn harmless_start(token: &str) -> Option<(char, &str)> {
    let signs = [('<', '‹'), ('[', '⟦')];
    signs
        .iter()
        .find_map(|(sign, other)| Some((*other, token.strip_prefix(*sign)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_token_of_its_own_with_a_kind_and_a_source() {
        let all: Vec<ControlToken> = rows().collect();
        assert_eq!(all.len(), TABLE.lines().count() - 1);
        for (index, row) in all.iter().enumerate() {
            assert!(row.source.contains('.') && row.source.contains('/'), "{row:?}");
            assert!(harmless_start(row.token).is_some(), "{row:?}");
            assert!(!row.token.contains(char::is_whitespace), "{row:?}");
            let first = all.iter().position(|other| other.token == row.token);
            assert_eq!(first, Some(index), "{row:?} is there twice");
        }
    }

    #[test]
    fn tokens_are_made_harmless_and_words_stay() {
        let tokens = ControlTokens::and(&["<|mine|>".to_owned(), "PAD".to_owned(), "<>".to_owned()]);
        for row in rows() {
            let text = format!("a{}b", row.token);
            let safe = tokens.harmless(&text);
            assert!(tokens.find(&safe).next().is_none(), "{safe}");
            assert_eq!(safe.chars().count(), text.chars().count());
        }
        assert_eq!(
            tokens.harmless("<|im_end|> <|mine|> [INST]"),
            "‹|im_end|> ‹|mine|> ⟦INST]"
        );
        let words = "PAD <> if a < b && c |> d [1] Vec<String>";
        assert_eq!(tokens.harmless(words), words);
        assert_eq!(ControlTokens::known().harmless("<|mine|>"), "<|mine|>");
    }
}
