//! Tools by tables: what their arguments hold, and what the verbs in their names do.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::shell::programs::{Does, known};
use super::source_call::{CallArguments, SourceCall};
#[cfg(test)]
use crate::knowledge::tool_names::ToolExample;
use crate::knowledge::tool_names::each_word;
use crate::trajectory::json::leaves::{Leaf, leaves};

/// The contents of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Holds {
    Path,
    Verb,
    Command,
    Code,
    Content,
    Replaced,
    Inserted,
    Query,
    Range,
    Address,
    Task,
    /// What an edit is for, in words.
    Purpose,
    /// Lines that are taken out and put in.
    Patch,
    Directory,
    /// The system that a command works on.
    System,
    /// Where or for whom a call works, and not what it does: told last.
    Context,
}

/// The effect of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verb {
    Undo,
    Remove,
    Create,
    Change,
    Search,
    Read,
    Delegate,
}

impl Verb {
    /// All of them, each before those that it outranks.
    const ALL: [Self; 7] = [
        Self::Undo,
        Self::Remove,
        Self::Create,
        Self::Change,
        Self::Search,
        Self::Read,
        Self::Delegate,
    ];
}

#[derive(Debug, Deserialize)]
struct ArgumentRow {
    holds: Holds,
    names: Vec<String>,
    #[cfg(test)]
    example: ToolExample,
}

#[derive(Debug, Deserialize)]
struct VerbRow {
    does: Verb,
    words: Vec<String>,
    #[cfg(test)]
    example: ToolExample,
}

#[derive(Debug, Default, Deserialize)]
struct ToolTable {
    argument: Vec<ArgumentRow>,
    verb: Vec<VerbRow>,
}

static TABLE: LazyLock<ToolTable> =
    LazyLock::new(|| toml::from_str(include_str!("../knowledge/tools.toml")).unwrap_or_default());

/// The examples of all rows.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static ToolExample> {
    let arguments = TABLE.argument.iter().map(|row| &row.example);
    let verbs = TABLE.verb.iter().map(|row| &row.example);
    arguments.chain(verbs)
}

/// Verbs shorter than this are whole words.
const MIN_START: usize = 4;

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 64;

/// The verbs of the table: what each does, and if words may go on behind it.
static VERBS: LazyLock<FxHashMap<&'static str, Verb>> = LazyLock::new(|| {
    let rows = TABLE.verb.iter();
    rows.flat_map(|row| row.words.iter().map(|word| (word.as_str(), row.does)))
        .collect()
});

/// The verbs in a tool's name; verbs that write outrank verbs that read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verbs(u8);

impl Verbs {
    /// The verbs in a name: words of it, or what its words begin with.
    pub fn of(name: &str) -> Self {
        let mut found = Self::default();
        each_word(name, |word| {
            let starts = (MIN_START..word.len()).filter_map(|end| word.get(..end));
            for verb in starts.chain([word]).filter_map(|verb| VERBS.get(verb)) {
                found.0 |= 1 << *verb as u8;
            }
        });
        found
    }

    /// Returns true if one of them does this.
    pub fn has(self, verb: Verb) -> bool {
        self.0 & (1 << verb as u8) != 0
    }

    /// The one that outranks the others.
    pub fn first(self) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| self.has(*verb))
    }
}

/// Names of arguments, with a bit for each kind of thing that they hold.
static HOLDS: LazyLock<FxHashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut kinds: FxHashMap<&'static str, u16> = FxHashMap::default();
    for row in &TABLE.argument {
        for name in &row.names {
            *kinds.entry(name).or_default() |= 1 << row.holds as u16;
        }
    }
    kinds
});

/// If an argument of this name says what is done, and not to what.
pub(crate) fn is_verb(name: &str) -> bool {
    Field::new(name.into(), Ok("")).holds & (1 << Holds::Verb as u16) != 0
}

/// If an argument of this name holds a text that an edit takes out.
pub(crate) fn is_replaced(name: &str) -> bool {
    Field::new(name.into(), Ok("")).holds & (1 << Holds::Replaced as u16) != 0
}

/// An argument of a call; what was written as JSON is decoded when it is read.
struct Field<'a> {
    key: Cow<'a, str>,
    /// A bit for each kind of thing that it holds by its name.
    holds: u16,
    value: Result<&'a str, Leaf<'a>>,
}

/// Bytes of the shortest value that may be an id nobody reads.
const OPAQUE: usize = 24;

/// Changes between letters and digits in such a value at least: words with a number have fewer.
const CHANGES: usize = 4;

/// If a value is a long id of letters and digits.
fn is_opaque(value: &str) -> bool {
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let kinds = value
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.is_ascii_digit());
    let changes = kinds
        .clone()
        .zip(kinds.skip(1))
        .filter(|(one, other)| one != other);
    value.len() >= OPAQUE && value.bytes().all(is_of_id) && changes.count() >= CHANGES
}

/// A name in lower case with `_` between its words: `target_file` of `TargetFile`.
fn with_underscores(name: &str) -> String {
    let mut written = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !written.is_empty() {
            written.push('_');
        }
        written.push(letter.to_ascii_lowercase());
    }
    written
}

impl<'a> Field<'a> {
    fn new(key: Cow<'a, str>, value: Result<&'a str, Leaf<'a>>) -> Self {
        let holds = HOLDS.get(key.as_ref()).copied().unwrap_or_else(|| {
            let is_upper = key.bytes().any(|byte| byte.is_ascii_uppercase());
            let small = is_upper.then(|| {
                let held = |name: String| HOLDS.get(name.as_str()).copied();
                held(key.to_ascii_lowercase()).or_else(|| held(with_underscores(&key)))
            });
            small.flatten().unwrap_or_default()
        });
        Self { key, holds, value }
    }

    fn value(&self) -> Cow<'a, str> {
        match &self.value {
            Ok(text) => Cow::Borrowed(text),
            Err(leaf) => leaf.value(),
        }
    }

    /// If it holds something of a kind, by its name and, of a path, by its value.
    fn has(&self, holds: Holds) -> bool {
        let is_named = self.holds & (1 << holds as u16) != 0;
        is_named && (holds != Holds::Path || is_path(&self.value(), self.is_outermost()))
    }

    fn is_outermost(&self) -> bool {
        self.value.as_ref().err().is_none_or(|leaf| leaf.depth <= 1)
    }
}

/// Letters of the longest extension of a file.
const MAX_EXTENSION: usize = 6;

/// If the value of an argument for a file may be one: `file: CUS-GB-77120` names a case, `parameters: {Path: Device.WiFi}` a key.
fn is_path(value: &str, is_outermost: bool) -> bool {
    let is_extension = |end: &str| {
        end.len() <= MAX_EXTENSION
            && end.starts_with(|sign: char| sign.is_ascii_lowercase())
            && end
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    value.contains(['/', '\\'])
        || value.rsplit_once('.').is_some_and(|(_, end)| is_extension(end))
        || is_outermost && !value.contains(|sign: char| sign.is_ascii_digit())
}

/// The arguments of a call, each with the name that it stands under, in order.
pub(crate) struct ArgumentFields<'a>(Vec<Field<'a>>);

impl<'a> ArgumentFields<'a> {
    /// The arguments of `call`. A text that is no JSON is one without a name.
    pub fn of(call: &'a SourceCall<'_>) -> Self {
        Self(match &call.arguments {
            CallArguments::Tagged(fields) => {
                let fields = fields.iter();
                fields
                    .map(|(key, value)| Field::new(key.into(), Ok(value)))
                    .collect()
            }
            CallArguments::Json(json) => match leaves(json, MAX_ARGUMENTS) {
                Some(leaves) => {
                    let fields = leaves.into_iter();
                    fields.map(|leaf| Field::new(leaf.key(), Err(leaf))).collect()
                }
                None => vec![Field::new(Cow::Borrowed(""), Ok(json))],
            },
        })
    }

    /// The arguments that hold something of a kind and are not empty.
    pub fn all(&self, holds: Holds) -> impl Iterator<Item = Cow<'a, str>> {
        let fields = self.0.iter().filter(move |field| field.has(holds));
        fields.map(Field::value).filter(|value| !value.trim().is_empty())
    }

    /// The first of these; of a command that is a list of words, all of it.
    pub fn get(&self, holds: Holds) -> Option<Cow<'a, str>> {
        if holds == Holds::Command
            && let Some(command) = self.command_in_words()
        {
            return Some(command.into());
        }
        self.all(holds).next()
    }

    /// The files that a call names beside its first one, as it names that: `files: [{"path": "a"}, {"path": "b"}]`.
    pub fn more_paths(&self) -> Vec<Cow<'a, str>> {
        let mut paths = self.0.iter().filter(|field| field.has(Holds::Path));
        let Some(first) = paths.next() else {
            return Vec::new();
        };
        let others = paths.filter(|field| field.key == first.key).map(Field::value);
        others.filter(|path| *path != first.value()).collect()
    }

    /// What a call of many does: `mode` within an object of its arguments says nothing of it.
    pub fn verb(&self) -> Option<Cow<'a, str>> {
        let verbs = self.0.iter().filter(|field| field.has(Holds::Verb));
        let named = verbs.filter(|field| field.is_outermost() || !field.key.eq_ignore_ascii_case("mode"));
        named.map(Field::value).find(|value| !value.trim().is_empty())
    }

    /// Names and values, those that say what a call does before those that say where.
    pub fn telling_first(&self) -> impl Iterator<Item = (&str, Cow<'a, str>)> {
        let is_context = |field: &&Field<'_>| field.has(Holds::Context) || is_opaque(&field.value());
        let telling = self.0.iter().filter(move |field| !is_context(field));
        let others = self.0.iter().filter(is_context);
        telling
            .chain(others)
            .map(|field| (field.key.as_ref(), field.value()))
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Cow<'a, str>)> {
        self.0.iter().map(|field| (field.key.as_ref(), field.value()))
    }

    /// The command of a call that gives it as a list of words, `["bash", "-lc", "npm test"]`.
    fn command_in_words(&self) -> Option<String> {
        let mut commands = self.0.iter().filter(|field| {
            let key = field.key.as_ref();
            key.eq_ignore_ascii_case("command") || key.eq_ignore_ascii_case("cmd")
        });
        let first = commands.next()?;
        let mut rest = commands.filter(|field| field.key == first.key).peekable();
        rest.peek()?;
        let words: Vec<Cow<'a, str>> = rest.map(Field::value).collect();
        let program = first.value();
        if program.is_empty() || program.contains(char::is_whitespace) {
            return None;
        }
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        match words.as_slice() {
            [option, script]
                if known(name).is_some_and(|row| row.does == Does::Shell)
                    && option.starts_with('-')
                    && option.ends_with('c') =>
            {
                Some(script.clone().into_owned())
            }
            words => {
                let words = words.iter().map(|word| in_quotes(word));
                Some([program].into_iter().chain(words).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// A word of a list as a shell takes it.
fn in_quotes(word: &str) -> Cow<'_, str> {
    if word.contains(char::is_whitespace) {
        Cow::Owned(["'", &word.replace('\'', "'\\''"), "'"].concat())
    } else {
        Cow::Borrowed(word)
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
            assert_eq!(Verbs::of(name).first(), verb, "{name}");
        }
    }
}
