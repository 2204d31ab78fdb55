//! Tools by tables: what their arguments hold, and what the verbs in their names do.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;

use super::shell::programs::{Does, known};
use super::source::{Arguments, SourceCall};
use crate::trajectory::leaves::leaves;

/// What an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Holds {
    Path,
    Verb,
    Command,
    Code,
    Content,
    Query,
    Range,
    Address,
    Task,
}

/// What a verb does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verb {
    Remove,
    Create,
    Change,
    Search,
    Read,
    Delegate,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct Example {
    pub name: String,
    pub arguments: String,
    pub line: String,
}

#[derive(Debug, Deserialize)]
struct ArgumentRow {
    holds: Holds,
    names: Vec<String>,
    #[cfg(test)]
    example: Example,
}

#[derive(Debug, Deserialize)]
struct VerbRow {
    does: Verb,
    words: Vec<String>,
    #[cfg(test)]
    example: Example,
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    argument: Vec<ArgumentRow>,
    verb: Vec<VerbRow>,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../knowledge/tools.toml")).unwrap_or_default());

/// The examples of all rows.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static Example> {
    let arguments = TABLE.argument.iter().map(|row| &row.example);
    arguments.chain(TABLE.verb.iter().map(|row| &row.example))
}

/// Verbs shorter than this are whole words.
const MIN_START: usize = 4;

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 64;

/// What the verbs in a name of a tool do, what writes before what reads.
fn verbs_in(name: &str) -> impl Iterator<Item = Verb> {
    let words = words_of(name);
    let is_in = move |verb: &String| {
        let is_it =
            |word: &String| word == verb || verb.len() >= MIN_START && word.starts_with(verb.as_str());
        words.iter().any(is_it)
    };
    let rows = TABLE.verb.iter().filter(move |row| row.words.iter().any(&is_in));
    rows.map(|row| row.does)
}

/// What a name of a tool says that it does; what writes outranks what reads.
pub(crate) fn verb_in(name: &str) -> Option<Verb> {
    verbs_in(name).next()
}

/// Whether a name of a tool has a verb that does this, among others.
pub(crate) fn has_verb(name: &str, does: Verb) -> bool {
    verbs_in(name).any(|verb| verb == does)
}

/// The words of `str_replace`, `readFile` and `MultiEdit`, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_new = true;
    let mut before = ' ';
    for char in name.chars() {
        is_new |= !char.is_alphanumeric() || char.is_uppercase() && before.is_lowercase();
        before = char;
        if !char.is_alphanumeric() {
            continue;
        }
        if std::mem::take(&mut is_new) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
    }
    words
}

/// The arguments of a call, each with the name that it stands under, in order.
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Fields<'a> {
    /// The arguments of `call`. A text that is no JSON is one without a name; a command in words is one text.
    pub fn of(call: &'a SourceCall<'_>) -> Self {
        let mut fields = Self(match &call.arguments {
            Arguments::Tagged(fields) => {
                let fields = fields.iter();
                fields.map(|(key, value)| (key.into(), value.into())).collect()
            }
            Arguments::Json(json) => match leaves(json, MAX_ARGUMENTS) {
                Some(leaves) => leaves
                    .into_iter()
                    .map(|leaf| (leaf.key(), leaf.value()))
                    .collect(),
                None => vec![(Cow::Borrowed(""), Cow::Borrowed(json.as_ref()))],
            },
        });
        if let Some(command) = fields.command_in_words() {
            fields.0 = vec![(Cow::Borrowed("command"), Cow::Owned(command))];
        }
        fields
    }

    /// The arguments that hold something of a kind and are not empty.
    pub fn all(&self, holds: Holds) -> impl Iterator<Item = &str> {
        let row = TABLE.argument.iter().find(move |row| row.holds == holds);
        let fields = self.0.iter().filter(move |(key, value)| {
            let is_it = |name: &String| name.eq_ignore_ascii_case(key);
            row.is_some_and(|row| row.names.iter().any(is_it)) && !value.trim().is_empty()
        });
        fields.map(|(_, value)| value.as_ref())
    }

    /// The first of these.
    pub fn get(&self, holds: Holds) -> Option<&str> {
        self.all(holds).next()
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    /// The command of a call that gives it as a list of words, `["bash", "-lc", "npm test"]`.
    fn command_in_words(&self) -> Option<String> {
        let is_command = |key: &str| {
            ["command", "cmd"]
                .iter()
                .any(|name| name.eq_ignore_ascii_case(key))
        };
        let (name, _) = self.iter().find(|(key, _)| is_command(key))?;
        let words: Vec<&str> = self
            .iter()
            .filter(|(key, _)| *key == name)
            .map(|(_, word)| word)
            .collect();
        let [program, rest @ ..] = words.as_slice() else {
            return None;
        };
        if rest.is_empty() || program.is_empty() || program.contains(char::is_whitespace) {
            return None;
        }
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        match rest {
            [option, script]
                if known(program).is_some_and(|row| row.does == Does::Shell)
                    && option.starts_with('-')
                    && option.ends_with('c') =>
            {
                Some((*script).to_owned())
            }
            _ => Some(words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_words_of_names() {
        for (name, verb) in [
            ("str_replace_editor", Some(Verb::Change)),
            ("readFile", Some(Verb::Read)),
            ("ls", Some(Verb::Read)),
            ("thread_reply", None),
            ("target", None),
            ("tools", None),
            ("create_file", Some(Verb::Create)),
        ] {
            assert_eq!(verb_in(name), verb, "{name}");
        }
    }
}
