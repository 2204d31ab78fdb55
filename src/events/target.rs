//! Tool calls, read once: what each was about in one clause, whether it read or changed something, and which files.

use super::command;
use super::line::{cleaned, cleaned_line, lines_of, shortened};
use super::run::Run;
use super::shell::{Step, Touch, of_code, script_of};
use super::source::SourceCall;
use super::tools::{Fields, Holds, Verb, has_verb, verb_in};

/// What a call does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Looks at something.
    Read,
    /// Changes something.
    Modify,
    /// Runs or asks something.
    #[default]
    Other,
}

/// What a call was about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// Tool and target, in one line.
    pub line: String,
    /// The tool and what it ran or looked for, as a label that stands before an ending: `[terminal] ran "npm test"`.
    pub label: String,
    /// What makes two calls attempts at the same thing.
    pub key: String,
    /// What it does.
    pub effect: Effect,
    /// The file it does it to.
    pub file: Option<String>,
    /// What it does to which files if it goes well.
    pub touches: Vec<Touch>,
    /// The programs that it runs.
    pub runs: Vec<Run>,
    /// The command, where it is one.
    pub command: Option<String>,
    /// Whether it runs a command or code.
    pub is_run: bool,
    /// Where a command went before it ran: it makes part of the key, of the line only where it tells something.
    pub directory: Option<Directory>,
}

/// The directory of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// Empty where the command went nowhere.
    pub name: String,
    /// Where in the line it would stand.
    pub place: usize,
}

/// Longest target in characters.
pub(crate) const MAX_TARGET: usize = 120;

/// Longest value of a single argument in characters.
pub(crate) const MAX_VALUE: usize = 60;

/// Longest name of a tool in a label, in characters.
const MAX_NAME: usize = 60;

/// Files of a patch that are told.
const MAX_PATCHED: usize = 4;

/// What names a file in a patch, and what is done to it.
const PATCHED: [(&str, Step); 4] = [
    ("*** Update File: ", Step::Write),
    ("*** Add File: ", Step::Create),
    ("*** Delete File: ", Step::Remove),
    ("+++ b/", Step::Write),
];

/// The target of `call`; `named` is the tool's name where only its answer tells it.
pub(crate) fn target(call: &SourceCall<'_>, named: Option<&str>) -> Target {
    let fields = Fields::of(call);
    let name = cleaned(&call.name);
    let known = if name.is_empty() {
        named.unwrap_or_default()
    } else {
        &name
    };
    let path = fields.get(Holds::Path);
    let searches = has_verb(known, Verb::Search);
    let label = |fallback: &str, clause: &str| labelled(known, fallback, clause);
    if let Some(query) = fields.get(Holds::Query).filter(|_| searches) {
        let place = path
            .map(|path| format!(" in {}", cleaned(path)))
            .unwrap_or_default();
        let clause = format!("{}{place}", quoted(query));
        return Target {
            label: label("search", &clause),
            effect: Effect::Read,
            ..told(&name, &clause)
        };
    }
    if let Some(path) = path {
        let target = on_file(&name, path, &fields);
        let clause = target
            .line
            .strip_prefix(name.as_str())
            .unwrap_or(&target.line)
            .trim_start();
        return Target {
            label: label("tool", &cut(clause)),
            ..target
        };
    }
    if let Some(code) = fields.get(Holds::Code) {
        let clause = telling_code(code);
        let separator = if name.is_empty() { "" } else { ": " };
        return Target {
            line: [&name, separator, &cut(&clause)].concat(),
            label: label("code", &ran(&clause, code)),
            key: [&name, ": ", code.trim()].concat(),
            touches: of_code(code),
            is_run: true,
            ..Target::default()
        };
    }
    if let Some(command) = fields.get(Holds::Command) {
        let target = command::of_command(&name, command);
        let clause = target.line.strip_prefix(name.as_str()).unwrap_or(&target.line);
        return Target {
            label: label("terminal", &ran(clause.trim_start_matches([':', ' ']), command)),
            ..target
        };
    }
    if let Some(touches) = patched(&fields) {
        let files: Vec<&str> = touches.iter().filter_map(|touch| touch.file.as_deref()).collect();
        let clause = files.join(", ");
        return Target {
            label: label("patch", &cut(&clause)),
            effect: Effect::Modify,
            file: files.last().map(|file| (*file).to_owned()),
            touches,
            ..told(&name, &clause)
        };
    }
    if let Some(address) = fields.get(Holds::Address) {
        let more = fields.all(Holds::Address).skip(1).count();
        let mut clause = cut(&cleaned(address));
        if more > 0 {
            clause = format!("{clause} and {more} more");
        }
        return Target {
            label: label("web", &clause),
            effect: Effect::Read,
            ..told(&name, &clause)
        };
    }
    if let Some(task) = fields
        .get(Holds::Task)
        .filter(|_| has_verb(known, Verb::Delegate))
    {
        let clause = quoted(task);
        return Target {
            label: label("task", &clause),
            ..told(&name, &clause)
        };
    }
    let touches = command::on_open_file(known).into_iter().collect();
    let clause = listed(&fields);
    let line = match clause.as_str() {
        "" => name.clone(),
        clause => [&name, "(", clause, ")"].concat(),
    };
    Target {
        label: label("tool", &cut(&clause)),
        key: line.clone(),
        line,
        touches,
        ..Target::default()
    }
}

/// A target with a clause of its own: the tool, then the clause.
fn told(name: &str, clause: &str) -> Target {
    let line = [name, " ", clause].concat().trim().to_owned();
    Target {
        key: line.clone(),
        line,
        ..Target::default()
    }
}

/// The arguments that a line tells, as far as there is room.
fn listed(fields: &Fields<'_>) -> String {
    let mut line = String::with_capacity(MAX_TARGET + MAX_VALUE);
    for (key, value) in fields.iter() {
        let value = cleaned_line(value);
        let Some(value) = shortened(&value, MAX_VALUE).filter(|value| !value.is_empty()) else {
            continue;
        };
        if line.len() + value.len() > MAX_TARGET && !line.is_empty() {
            break;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        if !key.is_empty() {
            line.push_str(key);
            line.push_str(": ");
        }
        line.push_str(&value);
    }
    line
}

/// A tool that works on a file.
fn on_file(name: &str, path: &str, fields: &Fields<'_>) -> Target {
    let path = cleaned(path);
    let told = fields.get(Holds::Verb).map(cleaned);
    let told = told.filter(|verb| verb.len() <= 20 && !verb.contains(' '));
    let verb = told.as_deref().and_then(verb_in).or_else(|| verb_in(name));
    let (effect, step) = match verb {
        Some(Verb::Remove) => (Effect::Modify, Some(Step::Remove)),
        Some(Verb::Create) => (Effect::Modify, Some(Step::Create)),
        Some(Verb::Change) => (Effect::Modify, Some(Step::Write)),
        Some(Verb::Read | Verb::Search) => (Effect::Read, Some(Step::Read)),
        Some(Verb::Delegate) | None => (Effect::Other, None),
    };
    let content = fields.get(Holds::Content).filter(|_| step == Some(Step::Create));
    let script = content.map_or_else(Vec::new, |content| script_of(&path, content));
    let touch = |step| Touch {
        script,
        ..Touch::of(step, path.as_str())
    };
    let mut line = String::with_capacity(name.len() + path.len() + MAX_TARGET);
    line.push_str(name);
    for piece in told.iter().map(String::as_str).chain([path.as_str()]) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    let range: Vec<&str> = fields.all(Holds::Range).collect();
    if !range.is_empty() {
        line.push_str(" lines ");
        // Joined by a dash they would read as one number that nobody wrote.
        line.push_str(&cleaned(&range.join(" to ")));
    }
    if let Some(query) = fields.get(Holds::Query) {
        let query = cleaned(query);
        if let Some(query) = shortened(&query, MAX_VALUE) {
            line.push_str(" for ");
            line.push_str(&query);
        }
    }
    Target {
        line,
        key: [name, told.as_deref().unwrap_or_default(), &path].join(" "),
        effect,
        touches: step.map(touch).into_iter().collect(),
        file: (!path.is_empty()).then_some(path),
        ..Target::default()
    }
}

/// The files that a patch names, and what it does to them.
fn patched(fields: &Fields<'_>) -> Option<Vec<Touch>> {
    let mut touches: Vec<Touch> = Vec::new();
    for line in fields.iter().flat_map(|(_, value)| lines_of(value)) {
        let found = PATCHED
            .iter()
            .find_map(|(mark, step)| Some((*step, cleaned(line.strip_prefix(mark)?))));
        let Some((step, file)) = found else { continue };
        let is_new = !touches.iter().any(|touch| touch.file.as_ref() == Some(&file));
        if is_new && touches.len() < MAX_PATCHED {
            touches.push(Touch::of(step, file));
        }
    }
    (!touches.is_empty()).then_some(touches)
}

/// `[terminal] ran "npm test"`: the tool, or what stands for one without a name, and what it did.
fn labelled(name: &str, fallback: &str, clause: &str) -> String {
    let name: String = cleaned(name)
        .chars()
        .filter(|c| !matches!(c, '[' | ']'))
        .take(MAX_NAME)
        .collect();
    let name = if name.trim().is_empty() { fallback } else { &name };
    [&format!("[{name}]"), " ", clause].concat().trim_end().to_owned()
}

/// The label of an answer to no known call.
pub(crate) fn label_of_answer(name: Option<&str>) -> String {
    labelled(name.unwrap_or_default(), "tool", "")
}

/// `ran "cargo test"`, with the lines of a whole script.
fn ran(shown: &str, whole: &str) -> String {
    let script = match whole.trim().lines().count() {
        lines @ 2.. => format!(" ({lines} lines)"),
        _ => String::new(),
    };
    format!("ran {}{script}", quoted(shown))
}

/// The first line of a code that tells something.
fn telling_code(code: &str) -> String {
    let passing = ["import ", "from ", "#", "\"\"\""];
    let lines = || code.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| !passing.iter().any(|start| line.starts_with(start)));
    cleaned(telling.or_else(|| lines().next()).unwrap_or_default())
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
    if let Some(short) = shortened(text, MAX_TARGET) {
        return short.into_owned();
    }
    let mut short: String = text.chars().take(MAX_TARGET).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::super::source::Arguments;
    use super::super::tools::examples;
    use super::*;

    #[test]
    fn every_row_of_the_table_tells_its_example() {
        assert!(examples().count() > 12);
        for example in examples() {
            let call = SourceCall {
                id: None,
                name: example.name.as_str().into(),
                arguments: Arguments::Json(example.arguments.as_str().into()),
            };
            assert_eq!(target(&call, None).line, example.line, "{example:?}");
        }
    }

    #[test]
    fn a_long_command_with_quotes_in_it_is_told_as_far_as_there_is_room() {
        let command = format!("git commit -m \"{}\"", "word ".repeat(40));
        let call = SourceCall {
            id: None,
            name: "bash".into(),
            arguments: Arguments::Tagged(vec![("command".to_owned(), command)]),
        };
        let label = target(&call, None).label;
        assert!(
            label.starts_with("[bash] ran `git commit -m \"word word") && label.ends_with(" …`"),
            "{label}"
        );
    }
}
