//! What a tool call was about: its target in one line, and whether it read or changed something.

use std::borrow::Cow;

use super::line::{cleaned, cleaned_line, shortened};
use super::source::{Arguments, SourceCall};
use crate::trajectory::leaves::{Leaf, leaves};

/// What a call does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::summarize) enum Effect {
    /// Looks at it.
    Read,
    /// Changes it.
    Modify,
    /// Runs or asks something.
    Other,
}

/// What a call was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::summarize) struct Target {
    /// Tool and target, in one line.
    pub line: String,
    /// What makes two calls attempts at the same thing.
    pub key: String,
    /// What it does.
    pub effect: Effect,
    /// The file it does it to.
    pub file: Option<String>,
}

/// Longest target in characters.
const MAX_TARGET: usize = 120;

/// Longest value of a single argument in characters.
const MAX_VALUE: usize = 60;

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
pub(in crate::summarize) fn target(call: &SourceCall<'_>) -> Target {
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
    let mut line = String::new();
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
        format!("{name}({line})")
    };
    Target {
        key: line.clone(),
        line,
        effect: Effect::Other,
        file: None,
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
    let mut line = name.to_owned();
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
    let key = format!("{name} {} {path}", verb.as_deref().unwrap_or_default());
    Target {
        line,
        key,
        effect,
        file: (!path.is_empty()).then_some(path),
    }
}

/// A shell command, or the first line of a script.
fn of_command(name: &str, command: &str) -> Target {
    let command = command.trim();
    let mut first = command.lines().next().unwrap_or_default().trim();
    // The directory it ran in is the same for every command of a trajectory.
    while let Some(rest) = first
        .strip_prefix("cd ")
        .and_then(|rest| rest.split_once("&&"))
        .map(|(_, rest)| rest.trim())
    {
        first = rest;
    }
    if first.is_empty() || (first.starts_with('#') && command.lines().count() > 1) {
        first = command
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .unwrap_or(first);
    }
    let is_script =
        command.lines().nth(1).is_some() && first.ends_with(['"', '\'', '(']) || first.contains("<<");
    let (effect, file) = effect_of_command(first);
    let mut shown = if is_script {
        script_line(first, command)
    } else {
        cleaned(first.trim_end_matches("2>&1").trim_end())
    };
    shown = shortened(&shown, MAX_TARGET).map_or_else(String::new, std::borrow::Cow::into_owned);
    let line = match (name.is_empty(), shown.is_empty()) {
        (true, _) => shown,
        (false, true) => name.to_owned(),
        (false, false) => format!("{name}: {shown}"),
    };
    // What a pipe does with the output (`| tail -5`) makes no other attempt of it.
    let pipe = if effect == Effect::Other {
        first.find(" | ").unwrap_or(first.len())
    } else {
        first.len()
    };
    let same = first
        .get(..pipe)
        .unwrap_or(first)
        .trim_end()
        .trim_end_matches("2>&1")
        .trim_end();
    // An editor's next try at the open file, whatever its lines.
    // Scripts are the same only as a whole, whatever runs them.
    let same = match first {
        _ if is_script => command,
        _ if first.starts_with("edit ") => "edit",
        _ => same,
    };
    Target {
        line,
        key: format!("{name}: {same}"),
        effect,
        file,
    }
}

/// The command that runs a script of several lines, with the comment or statement that tells most of the script.
fn script_line(first: &str, command: &str) -> String {
    let program = first
        .split("<<")
        .next()
        .unwrap_or(first)
        .trim_end_matches([' ', '"', '\'', '(', '-']);
    let mut body = command
        .lines()
        .skip_while(|line| !line.contains(first))
        .skip(1)
        .map(str::trim)
        .filter(|line| line.len() > 3);
    let told = body
        .clone()
        .take(40)
        .find_map(|line| line.strip_prefix("# ").filter(|comment| comment.len() > 8))
        .or_else(|| {
            body.find(|line| {
                !["import ", "from ", "#", "sys.path", "\"\"\""]
                    .iter()
                    .any(|start| line.starts_with(start))
            })
        });
    let told = cleaned(told.unwrap_or_default());
    match shortened(&told, MAX_VALUE) {
        Some(told) if !told.is_empty() => format!("{} # {told}", cleaned(program)),
        _ => cleaned(program),
    }
}

/// What a command does, by the program it starts and where it writes to.
fn effect_of_command(command: &str) -> (Effect, Option<String>) {
    let words: Vec<&str> = command.split_whitespace().take(40).collect();
    let program = words.first().copied().unwrap_or_default();
    let bare = |word: &str| word.trim_matches(['"', '\'', ';']).to_owned();
    let is_path = |word: &&&str| {
        !word.starts_with(['-', '<', '|', '&', '\'', '"', '$', '{'])
            && word.contains(['/', '.'])
            && !word.contains('*')
    };
    // A `>` inside quotes compares; only one outside them writes.
    let mut quotes = 0;
    let written = words.windows(2).find_map(|pair| {
        let [word, file] = pair else { return None };
        let outside = quotes % 2 == 0;
        quotes += word.matches(['"', '\'']).count();
        let writes = outside && matches!(*word, ">" | ">>") && *file != "/dev/null" && !file.starts_with('&');
        writes.then(|| bare(file))
    });
    if let Some(file) = written {
        return (Effect::Modify, Some(file));
    }
    let last_path = words.iter().skip(1).rfind(is_path).map(|word| bare(word));
    match program {
        "sed" if words.contains(&"-i") || command.contains(" -i") => (Effect::Modify, last_path),
        "rm" | "mv" | "cp" | "touch" | "mkdir" | "patch" | "tee" | "create" => (Effect::Modify, last_path),
        "edit" => (Effect::Modify, None),
        "cat" | "head" | "tail" | "sed" | "less" | "nl" | "open" | "bat" => (Effect::Read, last_path),
        "grep" | "rg" | "find" | "ls" | "find_file" | "search_dir" | "search_file" | "tree" | "awk"
        | "wc" => (Effect::Read, None),
        "git" => match words.get(1).copied() {
            Some("diff" | "log" | "show" | "status" | "blame" | "grep") => (Effect::Read, None),
            Some("apply" | "checkout" | "stash" | "reset" | "commit" | "add") => (Effect::Modify, None),
            _ => (Effect::Other, None),
        },
        _ => (Effect::Other, None),
    }
}
