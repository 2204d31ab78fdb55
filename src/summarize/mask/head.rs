//! What was run, in a few words: the beginning of a line that stands for an output.

use crate::events::line::{cleaned, shortened};
use crate::events::source::{Arguments, SourceCall};
use crate::events::target::{Effect, target};
use crate::trajectory::leaves::leaves;

/// Longest text that says what was run, in characters.
const MAX_SHOWN: usize = 120;

/// Longest name of a tool, in characters.
const MAX_NAME: usize = 60;

/// Arguments looked at.
const MAX_FIELDS: usize = 64;

const COMMANDS: [&str; 4] = ["command", "cmd", "commands", "script"];
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];
const CODE: [&str; 3] = ["code", "source", "python"];
const PATHS: [&str; 9] = [
    "path",
    "file_path",
    "filepath",
    "filename",
    "file",
    "absolute_path",
    "target_file",
    "notebook_path",
    "directory",
];
const QUERIES: [&str; 8] = [
    "pattern",
    "query",
    "queries",
    "regex",
    "q",
    "search_term",
    "keyword",
    "keywords",
];
const ADDRESSES: [&str; 4] = ["url", "urls", "uri", "link"];
const TASKS: [&str; 6] = ["goal", "task", "objective", "prompt", "instructions", "tasks"];

/// What a line begins with, and what kind of tool it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// `[terminal] ran "npm test"`
    pub text: String,
    /// Whether it ran something: its output is told in lines, others in characters.
    pub runs: bool,
    /// Whether it read something: errors that stand in it are none of the tool's.
    pub reads: bool,
    /// What the call was about; what the output repeats of it is not told again.
    pub target: String,
}

/// The head for a call; `named` is the tool's name where only its answer tells it.
pub(super) fn head(call: Option<&SourceCall<'_>>, named: Option<&str>) -> Head {
    let Some(call) = call else {
        return Head {
            text: format!("[{}]", name_of(named.unwrap_or_default(), "tool")),
            runs: false,
            reads: false,
            target: String::new(),
        };
    };
    let mut fields = fields(call);
    let words = words_of_command(&fields);
    let joined;
    let call = match words {
        Some(command) => {
            fields = vec![("command".to_owned(), command)];
            joined = SourceCall {
                id: call.id,
                name: call.name.clone(),
                arguments: Arguments::Tagged(fields.clone()),
            };
            &joined
        }
        None => call,
    };
    let told = |keys: &'static [&'static str]| {
        let is_told = move |(key, value): &&(String, String)| {
            keys.contains(&key.to_ascii_lowercase().as_str()) && !value.trim().is_empty()
        };
        fields.iter().filter(is_told).map(|(_, value)| value.as_str())
    };
    let field = |keys: &'static [&'static str]| told(keys).next();
    let target = target(call);
    let own_name = if call.name.trim().is_empty() {
        named.unwrap_or_default()
    } else {
        &call.name
    };
    let lower = own_name.to_ascii_lowercase();
    let is_called = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let path = field(&PATHS);
    let (mut runs, mut reads) = (false, target.effect == Effect::Read);
    let (fallback, shown) = if let Some(code) = field(&CODE).filter(|_| path.is_none()) {
        runs = true;
        ("code", ran(&first_line_of_code(code), code))
    } else if let Some(command) = field(&COMMANDS).filter(|_| path.is_none()) {
        runs = true;
        let line = about(&target.line, &cleaned(&call.name));
        ("terminal", ran(line, command))
    } else if let Some(query) =
        field(&QUERIES).filter(|_| is_called(&["search", "grep", "find", "glob", "rg"]))
    {
        reads = true;
        let place = path
            .map(|path| format!(" in {}", cleaned(path)))
            .unwrap_or_default();
        ("search", format!("{}{place}", quoted(query)))
    } else if path.is_some() {
        ("tool", about(&target.line, &cleaned(&call.name)).to_owned())
    } else if let Some(files) = patched(&fields) {
        ("patch", files.join(", "))
    } else if let Some(address) = field(&ADDRESSES) {
        reads = true;
        let more = told(&ADDRESSES).skip(1).count();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        ("web", format!("{}{more}", cut(&cleaned(address))))
    } else if let Some(task) = field(&TASKS).filter(|_| is_called(&["task", "agent", "delegate"])) {
        ("task", quoted(task))
    } else {
        reads |= is_called(&["read", "browse", "fetch", "view"]);
        ("tool", about(&target.line, &cleaned(&call.name)).to_owned())
    };
    let mut text = format!("[{}]", name_of(own_name, fallback));
    if !shown.is_empty() {
        text.push(' ');
        text.push_str(&cut(&shown));
    }
    Head {
        text,
        runs,
        reads,
        target: target.line,
    }
}

fn name_of(name: &str, fallback: &str) -> String {
    let name: String = cleaned(name)
        .chars()
        .filter(|c| !matches!(c, '[' | ']'))
        .take(MAX_NAME)
        .collect();
    if name.trim().is_empty() {
        fallback.to_owned()
    } else {
        name
    }
}

/// The arguments of a call as names and values.
fn fields(call: &SourceCall<'_>) -> Vec<(String, String)> {
    match &call.arguments {
        Arguments::Tagged(fields) => fields.clone(),
        Arguments::Json(json) => match leaves(json, MAX_FIELDS) {
            Some(leaves) => leaves
                .into_iter()
                .map(|leaf| (leaf.key().into_owned(), leaf.value().into_owned()))
                .collect(),
            // A text that is no JSON: a patch, for instance.
            None => vec![(String::new(), json.clone().into_owned())],
        },
    }
}

/// The command of a call that gives it as a list of words, `["bash", "-lc", "npm test"]`.
fn words_of_command(fields: &[(String, String)]) -> Option<String> {
    let is_command = |key: &str| ["command", "cmd"].contains(&key.to_ascii_lowercase().as_str());
    let (name, _) = fields.iter().find(|(key, _)| is_command(key))?;
    let named = fields.iter().filter(|(key, _)| key == name);
    let words: Vec<&str> = named.map(|(_, word)| word.as_str()).collect();
    let [program, rest @ ..] = words.as_slice() else {
        return None;
    };
    if rest.is_empty() || program.is_empty() || program.contains(char::is_whitespace) {
        return None;
    }
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    match rest {
        [option, script] if SHELLS.contains(&program) && option.starts_with('-') && option.ends_with('c') => {
            Some((*script).to_owned())
        }
        _ => Some(words.join(" ")),
    }
}

/// What a target says beside the tool's name.
fn about<'t>(line: &'t str, name: &str) -> &'t str {
    let Some(rest) = line.strip_prefix(name) else {
        return line;
    };
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or_else(|| rest.trim_start_matches([':', ' ']))
}

/// `ran "cargo test"`, with the lines of a whole script.
fn ran(shown: &str, whole: &str) -> String {
    let lines = whole.trim().lines().count();
    let script = if lines > 1 {
        format!(" ({lines} lines)")
    } else {
        String::new()
    };
    format!("ran {}{script}", quoted(shown))
}

fn first_line_of_code(code: &str) -> String {
    let passing = ["import ", "from ", "#", "\"\"\""];
    let lines = || code.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| !passing.iter().any(|start| line.starts_with(start)));
    cleaned(telling.or_else(|| lines().next()).unwrap_or_default())
}

/// The files that a patch in a call's arguments names.
pub(in crate::summarize) fn patched_files(call: &SourceCall<'_>) -> Vec<String> {
    patched(&fields(call)).unwrap_or_default()
}

/// The files that a patch names.
fn patched(fields: &[(String, String)]) -> Option<Vec<String>> {
    let starts = [
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "+++ b/",
    ];
    let patch = fields
        .iter()
        .map(|(_, value)| value)
        .find(|value| starts.iter().any(|start| value.contains(start)))?;
    let mut files: Vec<String> = Vec::new();
    let named = patch
        .lines()
        .filter_map(|line| starts.iter().find_map(|start| line.strip_prefix(start)));
    for file in named.map(cleaned) {
        if !files.contains(&file) && files.len() < 4 {
            files.push(file);
        }
    }
    (!files.is_empty()).then_some(files)
}

/// In quotes that the text itself does not hold.
fn quoted(text: &str) -> String {
    let text = cut(&cleaned(text));
    if text.contains('"') {
        format!("`{}`", text.replace('`', "'"))
    } else {
        format!("\"{text}\"")
    }
}

/// In few characters, between words where that is possible.
fn cut(text: &str) -> String {
    if let Some(short) = shortened(text, MAX_SHOWN) {
        return short.into_owned();
    }
    let mut short: String = text.chars().take(MAX_SHOWN).collect();
    short.push('…');
    short
}
