//! What a tool call did to files, and which file an editor of lines has open.

use std::borrow::Cow;

use crate::events::outcome::error_line::refuses;
use crate::events::outcome::outcome;
use crate::events::outcome::success::changed_nothing;
use crate::events::outcome::told::Told;
use crate::events::shell::{Step, Touch, of_code, of_command, on_open_file, script_of};
use crate::events::source::{Arguments, SourceCall, SourceTurn};
use crate::events::target::{Effect, Target, target};
use crate::summarize::mask::patched_files;
use crate::trajectory::leaves::leaves;

/// What editors of lines say of the file that is open in them.
const OPEN_FILE: &str = "(Open file: ";

/// What they begin with when they show it.
const SHOWN_FILE: &str = "[File: ";

/// Arguments that hold what is written into a file.
const CONTENTS: [&str; 3] = ["content", "contents", "file_text"];

/// Longest answer that is an error as a whole, in bytes.
const MAX_ERROR: usize = 400;

/// Commands of editors, which tell in a sentence that they did nothing.
const EDITORS: [&str; 6] = ["create", "edit", "goto", "insert", "open", "search_file"];

/// What `patch` says of each file that it changes.
const PATCHED: &str = "patching file ";

/// Files that `patch` is heard of at most.
const MAX_PATCHED: usize = 64;

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 64;

/// What a call did to files, as far as it went well.
pub(super) fn touches(call: &SourceCall<'_>, answer: Option<&str>) -> Vec<Touch> {
    let target = target(call);
    let outcome = answer.map(|answer| outcome(answer, target.effect, "", &mut Told::default()));
    if answer.is_some_and(|answer| is_refused(&target, answer)) {
        return Vec::new();
    }
    let touches = touches_of(call, &target, answer);
    let Some(outcome) = outcome.filter(|outcome| outcome.failed() == Some(true)) else {
        return touches;
    };
    let is_edit = touches.iter().any(|touch| touch.file.is_none());
    let has_changed = target.effect == Effect::Modify && !is_edit && !changed_nothing(&target, &outcome);
    let kept = touches
        .into_iter()
        .filter(|touch| has_changed && touch.step != Step::Read);
    kept.collect()
}

/// Whether a tool that works on one file, or a command of an editor, answers that it did nothing.
fn is_refused(target: &Target, answer: &str) -> bool {
    let answer = answer.trim_start();
    let line = answer
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    let command = target.key.split_once(": ").map_or("", |(_, command)| command);
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_tool = target.directory.is_none();
    if !is_tool && !EDITORS.contains(&program) {
        return false;
    }
    let is_error = || answer.starts_with("Error: ") && answer.len() <= MAX_ERROR;
    refuses(line) || is_tool && target.file.is_some() && is_error()
}

/// The files that `patch` says it changed.
fn patched_by(command: &str, answer: &str, directory: &str) -> Vec<Touch> {
    if !command.contains("patch") {
        return Vec::new();
    }
    let names = answer.lines().filter_map(|line| line.strip_prefix(PATCHED));
    let names = names.map(|name| name.trim().trim_matches('\''));
    let touch = |name: &str| Touch {
        step: Step::Write,
        file: Some(name.to_owned()),
        directory: directory.to_owned(),
        is_pattern: false,
        script: Vec::new(),
    };
    names
        .filter(|name| !name.is_empty())
        .take(MAX_PATCHED)
        .map(touch)
        .collect()
}

fn touches_of(call: &SourceCall<'_>, target: &Target, answer: Option<&str>) -> Vec<Touch> {
    let touch = |step: Step, file: String| Touch {
        step,
        file: Some(file),
        directory: String::new(),
        is_pattern: false,
        script: Vec::new(),
    };
    let fields = arguments(call);
    // A target without a directory is no command's.
    if let (None, Some(file)) = (&target.directory, &target.file) {
        let tool = target.line.split(file.as_str()).next().unwrap_or_default();
        let tool = tool.to_ascii_lowercase();
        let does = |verb: &str| tool.contains(verb);
        let step = match target.effect {
            Effect::Modify if does("delete") || does("remove") => Step::Remove,
            Effect::Modify if does("create") || does("write") => Step::Create,
            Effect::Modify => Step::Write,
            Effect::Read => Step::Read,
            Effect::Other => return Vec::new(),
        };
        let content = fields.iter().find(|(key, _)| CONTENTS.contains(&key.as_ref()));
        let content = content.filter(|_| step == Step::Create);
        let script = content.map_or_else(Vec::new, |(_, content)| script_of(file, content));
        return vec![Touch {
            script,
            ..touch(step, file.clone())
        }];
    }
    let mut touches = Vec::new();
    for (key, value) in &fields {
        match key.to_ascii_lowercase().as_str() {
            "command" | "cmd" | "commands" | "script" => {
                touches.extend(of_command(value));
                let directory = touches
                    .last()
                    .map_or("", |touch: &Touch| touch.directory.as_str());
                let patched = patched_by(value, answer.unwrap_or_default(), directory);
                touches.extend(patched);
            }
            "code" | "source" | "python" => touches.extend(of_code(value)),
            _ => {}
        }
    }
    if touches.is_empty() {
        touches.extend(on_open_file(&call.name));
    }
    let patched = patched_files(call).into_iter();
    touches.extend(patched.map(|file| touch(Step::Write, file)));
    touches
}

fn arguments<'c>(call: &'c SourceCall<'_>) -> Vec<(Cow<'c, str>, Cow<'c, str>)> {
    match &call.arguments {
        Arguments::Tagged(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect()
        }
        Arguments::Json(json) => {
            let leaves = leaves(json, MAX_ARGUMENTS).unwrap_or_default().into_iter();
            leaves.map(|leaf| (leaf.key(), leaf.value())).collect()
        }
    }
}

/// The file that is open after a turn in an editor of lines.
pub(super) fn opened_by(turn: &SourceTurn<'_>, before: Option<String>) -> Option<String> {
    let told = turn
        .answers
        .iter()
        .rev()
        .find_map(|(_, answer)| opened_in(answer));
    told.map(str::to_owned).or(before)
}

/// The file that an answer says is open; nothing where it says that none is.
pub(super) fn opened_in(answer: &str) -> Option<&str> {
    let told = |start: usize, end: &str| {
        let rest = answer.get(start..)?.lines().next()?;
        let name = rest.get(..rest.find(end)?)?.trim();
        (!name.is_empty() && !name.starts_with('<')).then_some(name)
    };
    if let Some(start) = answer.rfind(OPEN_FILE) {
        let name = told(start + OPEN_FILE.len(), ")")?;
        return Some(if name == "n/a" { "" } else { name });
    }
    if !answer.trim_start().starts_with(SHOWN_FILE) {
        return None;
    }
    let start = answer.find(SHOWN_FILE)? + SHOWN_FILE.len();
    told(start, " (")
}
