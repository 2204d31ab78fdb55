//! The words that announce a secret, and the rules for the text around each.

use std::fmt::Write;
use std::ops::Range;

use super::alphabet::Alphabet;
use super::assigned;
use super::assigned::names::{Name, names};
use super::contexts::commands::COMMANDS;
use super::contexts::{SecretContext, contexts};
use super::contexts::{fields, table};
use super::secret::{MARKER, Secret};
use super::tokens::{TokenForm, tokens};

/// The rule of a word.
#[derive(Debug)]
pub enum KeywordRule {
    /// A token of a vendor.
    Token(TokenForm),
    /// A value of that name.
    Name(Name),
    /// A secret somewhere around the word.
    Context(SecretContext),
    /// A marker of an earlier redaction.
    Marker,
}

/// All words with their rules.
pub fn words() -> Vec<(String, KeywordRule, &'static str)> {
    let marker = std::iter::once((MARKER.to_owned(), KeywordRule::Marker, ""));
    let tokens = tokens().map(|token| (token.mark.clone(), KeywordRule::Token(token), ""));
    // As JSON may write them: `\u5bc6\u7801`.
    let escaped = names().filter(|name| !name.word.is_ascii()).map(|name| {
        let word = name.word.chars().map(escape).collect();
        (word, KeywordRule::Name(name), name.kind)
    });
    let names = names().map(|name| (name.word.to_owned(), KeywordRule::Name(name), name.kind));
    let contexts =
        contexts().map(|(word, context, kind)| (word.to_owned(), KeywordRule::Context(context), kind));
    let commands = COMMANDS.iter().enumerate().map(|(number, command)| {
        let context = SecretContext::Program(number);
        (command.name.clone(), KeywordRule::Context(context), "password")
    });
    marker
        .chain(tokens)
        .chain(names)
        .chain(escaped)
        .chain(contexts)
        .chain(commands)
        .collect()
}

/// A character as JSON that is ASCII alone writes it.
fn escape(c: char) -> String {
    if c.is_ascii() {
        return c.to_string();
    }
    let mut units = [0; 2];
    let mut escaped = String::new();
    for unit in c.encode_utf16(&mut units) {
        // A text takes whatever is written to it.
        let _ = write!(escaped, "\\u{unit:04x}");
    }
    escaped
}

impl KeywordRule {
    /// The bytes that may follow its word; `None` where any may.
    pub fn next_bytes(&self) -> Option<Alphabet> {
        match self {
            Self::Token(token) => token.next_bytes(),
            _ => None,
        }
    }

    /// Returns true if its word is one only where no letter or digit stands before it.
    pub fn begins_word(&self) -> bool {
        match self {
            Self::Token(token) => token.is_first(),
            Self::Name(name) => name.is_part(),
            Self::Context(context) => context.begins_word(),
            Self::Marker => false,
        }
    }
}

/// The secrets that a rule finds where its word stands.
pub fn found(rule: &KeywordRule, kind: &'static str, text: &str, word: Range<usize>) -> Vec<Secret> {
    let spans = match rule {
        KeywordRule::Marker => Vec::new(),
        KeywordRule::Token(token) => {
            // Its identifier is no secret without the one behind it.
            let pair = (token.kind == "aws-access-key").then(|| fields::aws_secret(text, word.start));
            let pair = pair.flatten().map(|span| Secret {
                span,
                kind: "aws-secret-key",
            });
            let span = token.span(text, word).into_iter();
            return span
                .map(|span| Secret {
                    span,
                    kind: token.kind,
                })
                .chain(pair)
                .collect();
        }
        KeywordRule::Name(name) => {
            let found = name.around(text, word);
            let values = found.map_or_else(Vec::new, |found| assigned::values_of(text, found, name));
            match found {
                Some(found) if values.is_empty() => table::column(text, found, name),
                _ => values,
            }
        }
        KeywordRule::Context(context) => context.around(text, word),
    };
    spans.into_iter().map(|span| Secret { span, kind }).collect()
}
