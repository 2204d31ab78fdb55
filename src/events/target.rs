//! What a tool call was about: its target in one line, and whether it read or changed something.

use std::borrow::Cow;

use super::command::of_command;
use super::line::{cleaned, cleaned_line, shortened};
use super::source::{Arguments, SourceCall};
use crate::trajectory::leaves::{Leaf, leaves};

/// What a call does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Looks at it.
    Read,
    /// Changes it.
    Modify,
    /// Runs or asks something.
    Other,
}

/// What a call was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Tool and target, in one line.
    pub line: String,
    /// What makes two calls attempts at the same thing.
    pub key: String,
    /// What it does.
    pub effect: Effect,
    /// The file it does it to.
    pub file: Option<String>,
    /// Where a command went before it ran: it makes part of the key, of the line only where it tells something.
    pub directory: Option<Directory>,
}

/// The directory of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// As it was written; empty where the command went nowhere.
    pub name: String,
    /// Where in the line it would stand.
    pub place: usize,
}

/// Longest target in characters.
pub(crate) const MAX_TARGET: usize = 120;

/// Longest value of a single argument in characters.
pub(crate) const MAX_VALUE: usize = 60;

const PATH_KEYS: [&str; 8] = [
    "path",
    "file_path",
    "filepath",
    "filename",
    "file",
    "absolute_path",
    "target_file",
    "notebook_path",
];
const COMMAND_KEYS: [&str; 5] = ["command", "cmd", "code", "script", "commands"];

/// An argument of a call.
enum Field<'a> {
    Tagged(&'a (String, String)),
    Leaf(Leaf<'a>),
    /// All of them in a text that is no JSON.
    Whole(&'a str),
}

impl<'a> Field<'a> {
    fn is_under(&self, names: &[&str]) -> bool {
        match self {
            Self::Tagged((key, _)) => names.contains(&key.as_str()),
            Self::Leaf(leaf) => leaf.is_under(names),
            Self::Whole(_) => false,
        }
    }

    fn key(&self) -> Cow<'a, str> {
        match self {
            Self::Tagged((key, _)) => Cow::Borrowed(key),
            Self::Leaf(leaf) => leaf.key(),
            Self::Whole(_) => Cow::Borrowed(""),
        }
    }

    fn value(&self) -> Cow<'a, str> {
        match self {
            Self::Tagged((_, value)) => Cow::Borrowed(value),
            Self::Leaf(leaf) => leaf.value(),
            Self::Whole(text) => Cow::Borrowed(text),
        }
    }
}

/// The target of `call`.
pub(crate) fn target(call: &SourceCall<'_>) -> Target {
    let fields: Vec<Field<'_>> = match &call.arguments {
        Arguments::Tagged(fields) => fields.iter().map(Field::Tagged).collect(),
        Arguments::Json(json) => match leaves(json, 24) {
            Some(leaves) => leaves.into_iter().map(Field::Leaf).collect(),
            None => vec![Field::Whole(json)],
        },
    };
    let name = cleaned(&call.name);
    let field = |keys: &[&str]| {
        let named = fields.iter().filter(|field| field.is_under(keys));
        named.map(Field::value).find(|value| !value.trim().is_empty())
    };
    if let Some(path) = field(&PATH_KEYS) {
        return on_file(
            &name,
            &path,
            field(&["command", "action", "mode"]).as_deref(),
            &fields,
        );
    }
    if let Some(command) = field(&COMMAND_KEYS) {
        return of_command(&name, &command);
    }
    let mut line = String::with_capacity(MAX_TARGET + MAX_VALUE);
    for field in &fields {
        let value = field.value();
        let value = cleaned_line(&value);
        let Some(value) = shortened(&value, MAX_VALUE).filter(|value| !value.is_empty()) else {
            continue;
        };
        if line.len() + value.len() > MAX_TARGET && !line.is_empty() {
            break;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        let key = field.key();
        if !key.is_empty() {
            line.push_str(&key);
            line.push_str(": ");
        }
        line.push_str(&value);
    }
    let line = if line.is_empty() {
        name
    } else {
        [name.as_str(), "(", &line, ")"].concat()
    };
    Target {
        key: line.clone(),
        line,
        effect: Effect::Other,
        file: None,
        directory: None,
    }
}

/// A tool that works on a file (`verb` is what an editor was told to do).
fn on_file(name: &str, path: &str, verb: Option<&str>, fields: &[Field<'_>]) -> Target {
    let path = cleaned(path);
    let verb = verb
        .map(cleaned)
        .filter(|verb| verb.len() <= 20 && !verb.contains(' '));
    let lower = verb.as_deref().unwrap_or(name).to_ascii_lowercase();
    let writes = [
        "write", "edit", "create", "replace", "insert", "patch", "delete", "append", "undo", "move", "save",
    ];
    let reads = [
        "read", "view", "open", "cat", "list", "show", "get", "search", "find", "grep", "ls",
    ];
    let effect = if writes.iter().any(|word| lower.contains(word)) {
        Effect::Modify
    } else if reads.iter().any(|word| lower.contains(word)) {
        Effect::Read
    } else {
        Effect::Other
    };
    let mut line = String::with_capacity(name.len() + path.len() + MAX_TARGET);
    line.push_str(name);
    for piece in verb.iter().map(String::as_str).chain([path.as_str()]) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    let range: Vec<Cow<'_, str>> = fields
        .iter()
        .filter(|field| field.is_under(&["view_range"]))
        .map(Field::value)
        .collect();
    if !range.is_empty() {
        line.push_str(" lines ");
        // Joined by a dash they would read as one number that nobody wrote.
        line.push_str(&cleaned(&range.join(" to ")));
    }
    if let Some(query) = fields
        .iter()
        .find(|field| field.is_under(&["pattern", "query", "regex"]))
    {
        let query = cleaned(&query.value());
        if let Some(query) = shortened(&query, MAX_VALUE) {
            line.push_str(" for ");
            line.push_str(&query);
        }
    }
    let key = [name, verb.as_deref().unwrap_or_default(), &path].join(" ");
    Target {
        line,
        key,
        effect,
        file: (!path.is_empty()).then_some(path),
        directory: None,
    }
}
