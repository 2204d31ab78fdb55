//! The table of commands that take a secret without a name (`commands.csv`), and the secrets of a command.
//!
//! A row is a command, a word that must be behind it (`x*` begins with `x`, and places are counted from it; `-*b` is an
//! option with that letter), the way it takes the secret, the options before the secret, and the source of that.

use std::ops::Range;
use std::sync::LazyLock;

use super::command_words::{CommandWord, words};
use super::used::is_used;
use crate::summarize::redact::value::is_reference;
use crate::summarize::redact::value::shape::{
    is_filler, is_joined_words, is_password, is_path, is_random_word, is_strong_mixture,
};
use crate::summarize::redact::value::word_lists::USER_OPTIONS;

const TABLE: &str = include_str!("commands.csv");

/// Shortest secret that an option and its value are written as one word with.
const MIN_GLUED: usize = 4;

/// Bytes before an option in which its command may have begun.
const MAX_BEFORE: usize = 300;

/// A command and where it takes secrets.
pub struct SecretCommand {
    /// Its words, and the blank behind them.
    pub name: String,
    uses: Vec<SecretUse>,
}

/// One way in which a command takes a secret.
struct SecretUse {
    /// The word that has to be among those of the command; anything if it is empty.
    when: &'static str,
    takes: Takes,
    options: Vec<&'static str>,
}

/// The place where a command takes its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-p secret`
    After,
    /// `-psecret`
    Glued,
    /// `-u user:secret`, with the sign between the two; without options the argument itself.
    Pair(char),
    /// The argument at that place among those that are no options.
    Place(usize),
    /// As above, counted from the last.
    Last(usize),
    /// `--from-literal=name=secret`; without options every argument.
    Assigned,
    /// `domain/user:secret@host`
    Login,
}

impl Takes {
    fn named(name: &str) -> Option<Self> {
        Some(match name.split_once(' ').unwrap_or((name, "")) {
            ("after", "") => Self::After,
            ("glued", "") => Self::Glued,
            ("pair", "comma") => Self::Pair(','),
            ("pair", sign) => Self::Pair(sign.chars().next()?),
            ("place", place) => Self::Place(place.parse().ok()?),
            ("last", place) => Self::Last(place.parse().ok()?),
            ("assigned", "") => Self::Assigned,
            ("login", "") => Self::Login,
            _ => return None,
        })
    }
}

/// All commands, in the order of their numbers; rows that cannot be read are left out.
pub static COMMANDS: LazyLock<Vec<SecretCommand>> = LazyLock::new(|| {
    let mut commands: Vec<SecretCommand> = Vec::new();
    for (name, row) in rows() {
        let name = format!("{name} ");
        match commands.iter_mut().find(|command| command.name == name) {
            Some(command) => command.uses.push(row),
            None => commands.push(SecretCommand {
                name,
                uses: vec![row],
            }),
        }
    }
    commands
});

fn rows() -> impl Iterator<Item = (&'static str, SecretUse)> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut fields = line.split(',');
        let (name, when, takes, options) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let row = SecretUse {
            when,
            takes: Takes::named(takes)?,
            options: options.split(' ').filter(|option| !option.is_empty()).collect(),
        };
        Some((name, row))
    })
}

/// The secrets of the command of that number whose name stands at `word`.
pub fn arguments(text: &str, word: Range<usize>, number: usize) -> Vec<Range<usize>> {
    let before = text.as_bytes().get(..word.start).unwrap_or_default();
    let in_word = before
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    let is_escape = before.ends_with(b"\\n") || before.ends_with(b"\\t");
    let (Some(command), false) = (COMMANDS.get(number), in_word && !is_escape) else {
        return Vec::new();
    };
    let words = words(text, word.end);
    let mut spans: Vec<Range<usize>> = Vec::new();
    for row in &command.uses {
        for (word, skip) in row.found(&words) {
            let Some(secret) = word.text.get(skip..) else {
                continue;
            };
            let is_secret = is_argument(secret, row)
                || is_used(&command.name, words.iter().map(|word| word.text), secret);
            if is_secret {
                spans.push(word.start + skip..word.start + word.text.len());
            }
        }
        if !spans.is_empty() {
            break;
        }
    }
    spans
}

/// The value of an option `-p` beside one that names a user, whatever the command: `login -u bob -p secret`.
pub fn user_option(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = text.floor_char_boundary(word.start.saturating_sub(MAX_BEFORE));
    let before = text.get(from..word.start)?.rsplit(['\n', ';', '|', '&']).next()?;
    let names_user = |words: &[&str]| {
        words.windows(2).any(|pair| {
            matches!(pair, [option, user] if USER_OPTIONS.contains(option) && !user.starts_with('-') && user.len() > 1)
        }) || words.iter().any(|word| word.starts_with("--user=") || word.starts_with("--username="))
    };
    // As a line or as a list of texts.
    let is_list = text.get(word.clone())?.ends_with('"');
    let sign = |c: char| is_list && matches!(c, '"' | ',' | '[');
    let before: Vec<&str> = before
        .split_ascii_whitespace()
        .map(|word| word.trim_matches(sign))
        .collect();
    let behind = words(text, word.end + usize::from(is_list));
    let (secret, rest) = behind.split_first()?;
    let rest: Vec<&str> = rest.iter().map(|word| word.text).collect();
    let is_user = names_user(&before) || names_user(&rest);
    let value = secret.text;
    let is_secret = is_user
        && (is_joined_words(value)
            || (is_password(value) || is_random_word(value) && value.len() >= 8)
                && value
                    .bytes()
                    .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()))
        && !value.contains([':', '/', ','])
        && !is_reference(value)
        && !value.starts_with('-')
        && !value.contains("REDACTED");
    (is_secret && bytes.get(secret.start..).is_some()).then(|| secret.start..secret.start + value.len())
}

impl SecretUse {
    /// The words that hold secrets of a command, each with the length of the part before the secret.
    fn found<'w, 't>(&self, words: &'w [CommandWord<'t>]) -> Vec<(&'w CommandWord<'t>, usize)> {
        let Some(from) = self.start(words) else {
            return Vec::new();
        };
        let plain = || {
            let rest = words.get(from..).unwrap_or_default().iter();
            rest.filter(|word| !word.text.starts_with('-'))
        };
        let one = match self.takes {
            Takes::After => {
                let options = words
                    .iter()
                    .enumerate()
                    .filter(|(_, word)| self.options.contains(&word.text));
                let values = options.filter_map(|(at, _)| words.get(at + 1));
                // The secret itself is one way of several: `-passin pass:secret`.
                return values
                    .map(|word| (word, if word.text.starts_with("pass:") { 5 } else { 0 }))
                    .collect();
            }
            Takes::Glued => words.iter().enumerate().find_map(|(at, word)| {
                // In quotes it is a word of its own right behind the option.
                if self.options.contains(&word.text) {
                    let next = words.get(at + 1)?;
                    return (next.start == word.start + word.text.len() + 1).then_some((next, 0));
                }
                let option = self
                    .options
                    .iter()
                    .find(|option| word.text.starts_with(**option))?;
                (word.text.len() >= option.len() + MIN_GLUED).then_some((word, option.len()))
            }),
            // A name with a slash is a path everywhere but in the first place, or behind its key.
            Takes::Pair('/') if self.options.is_empty() => {
                let is_keyed =
                    |word: &&CommandWord<'t>| word.text.to_ascii_lowercase().starts_with("userid=");
                let first = plain().next().filter(|word| !word.text.contains('='));
                let pair = first.or_else(|| plain().find(is_keyed));
                pair.and_then(|word| Some((word, word.text.find('/').filter(|at| *at > 0)? + 1)))
            }
            Takes::Pair(sign) => self.given(words).find_map(|(word, skip)| {
                let user = word.text.get(skip..)?.find(sign)?;
                (user > 0 || sign == ':').then_some((word, skip + user + sign.len_utf8()))
            }),
            Takes::Place(place) => plain()
                .filter(|word| !word.text.starts_with('/'))
                .nth(place)
                .map(|word| (word, 0)),
            Takes::Last(place) => {
                let plain: Vec<_> = plain().collect();
                let last = plain.len().checked_sub(place).and_then(|at| plain.get(at));
                last.map(|word| (*word, 0))
            }
            Takes::Assigned => {
                return self
                    .given(words)
                    .filter_map(|(word, skip)| Some((word, skip + word.text.get(skip..)?.find('=')? + 1)))
                    .collect();
            }
            Takes::Login => words.iter().find_map(|word| {
                let user = word.text.get(..word.text.rfind('@')?)?.find(':')?;
                Some((word, user + 1))
            }),
        };
        one.into_iter().collect()
    }

    /// The place among the words from which others are counted, if the word that has to be there is.
    fn start(&self, words: &[CommandWord<'_>]) -> Option<usize> {
        if self.when.is_empty() {
            return Some(0);
        }
        if let Some(letter) = self.when.strip_prefix("-*") {
            let is_there = words
                .iter()
                .any(|word| word.text.starts_with('-') && word.text.contains(letter));
            return is_there.then_some(0);
        }
        if let Some(beginning) = self.when.strip_suffix('*') {
            return words.iter().position(|word| word.text.starts_with(beginning));
        }
        words.iter().any(|word| word.text == self.when).then_some(0)
    }

    /// The values of options, glued to them or behind them, each with the length of the option's part. Without
    /// `options`, all words that are no options.
    fn given<'w, 't>(
        &self,
        words: &'w [CommandWord<'t>],
    ) -> impl Iterator<Item = (&'w CommandWord<'t>, usize)> {
        words.iter().enumerate().filter_map(|(at, word)| {
            if self.options.is_empty() {
                return (!word.text.starts_with('-')).then_some((word, 0));
            }
            let option = self
                .options
                .iter()
                .find(|option| word.text.starts_with(**option))?;
            if word.text == *option {
                return words.get(at + 1).map(|next| (next, 0));
            }
            let is_long = option.starts_with("--");
            let sign = usize::from(is_long && word.text.get(option.len()..)?.starts_with('='));
            (!is_long || sign == 1).then_some((word, option.len() + sign))
        })
    }
}

/// Returns true if an argument can be a secret.
fn is_argument(secret: &str, row: &SecretUse) -> bool {
    let letters = secret.bytes().filter(u8::is_ascii_alphabetic).count();
    // Behind a command that is two words of a sentence any other word may follow.
    let is_told = !row.when.is_empty() || !matches!(row.takes, Takes::Place(_) | Takes::Last(_));
    let is_word = is_told && letters >= 8 && letters == secret.len();
    let is_pair = matches!(row.takes, Takes::Pair(_) | Takes::Assigned);
    !is_reference(secret)
        && (is_pair || !secret.starts_with('-'))
        && !is_filler(secret)
        && !is_path(secret)
        && !secret.contains("REDACTED")
        && (is_password(secret)
            || is_word
            || is_told && is_joined_words(secret)
            || is_strong_mixture(secret)
            || is_random_word(secret)
            || (secret.len() >= 6 && letters == 0 && secret.bytes().all(|byte| byte.is_ascii_digit())))
        && !secret.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::redact::redact;

    /// A command as a row of the table says that it is, with that secret.
    fn made(name: &str, row: &SecretUse, secret: &str) -> String {
        let option = row.options.first().copied().unwrap_or_default();
        let before = match row.when.strip_prefix("-*") {
            Some(letter) => format!("-{letter}"),
            None => row.when.replace('*', "x"),
        };
        let arguments = match row.takes {
            Takes::After => format!("{option} {secret}"),
            Takes::Glued => format!("{option}{secret}"),
            Takes::Pair(sign) => format!("{option} bob{sign}{secret}"),
            Takes::Place(place) if row.when.ends_with('*') => {
                format!("{}{secret}", "a ".repeat(place.saturating_sub(1)))
            }
            Takes::Place(place) if !row.when.is_empty() && !row.when.starts_with(['-', '/']) => {
                return format!("{name} {}{secret} {before}", "a ".repeat(place));
            }
            Takes::Place(place) => format!("{}{secret}", "a ".repeat(place)),
            Takes::Last(place) => format!("a {secret}{}", " b".repeat(place - 1)),
            Takes::Assigned => format!("{option} any-name={secret}"),
            Takes::Login => format!("domain/bob:{secret}@host"),
        };
        format!("{name} {before} {arguments}")
    }

    #[test]
    fn every_row_can_be_read_has_a_source_and_finds_its_secret() {
        assert_eq!(rows().count(), TABLE.lines().count() - 1);
        let mut lines: Vec<&str> = TABLE.lines().skip(1).collect();
        for ((name, row), line) in rows().zip(&lines) {
            let source = line.split(',').nth(4).unwrap_or_default();
            assert!(source.contains('.') && line.split(',').count() == 5, "{line}");
            for secret in ["Zebra-Anvil!92", "q7RtZ2mVx9Lp"] {
                let text = format!("$ {}\n", made(name, &row, secret));
                let redacted = redact(&text).0;
                assert!(
                    !redacted.contains(secret) && redacted.starts_with(&format!("$ {name} ")),
                    "{line}: {redacted}"
                );
            }
        }
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), rows().count(), "a row stands there twice");
    }
}
