//! A tool call read: its target, from its name and arguments.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::code::telling_code;
use super::command;
use super::files::put_in::puts_in;
use super::line::{cleaned, cleaned_line, shortened};
use super::shell::query::{condensed, is_query};
use super::shell::{Step, Touch, of_code, patch, script_of};
use super::source_call::SourceCall;
use super::target::{Effect, MAX_TARGET, MAX_VALUE, Target, ToolKind, cut, quoted};
use super::tools::{ArgumentFields, Holds, Verb, Verbs};
use crate::knowledge::tool_names::{is_note, is_thought};

/// Stands before the files that a patch removes.
pub(crate) const REMOVES: &str = "removes ";

/// Files of a patch that are told.
const MAX_PATCHED: usize = 4;

/// The target of `call`; `named` is the tool's name where only its answer tells it.
pub(crate) fn target(call: &SourceCall<'_>, named: Option<&str>) -> Target {
    let name = cleaned(&call.name);
    let tool = if name.is_empty() {
        named.unwrap_or_default().to_owned()
    } else {
        name.clone()
    };
    let fields = ArgumentFields::of(call);
    let target = of_fields(&name, named, &fields);
    let is_edit = target.effect == Effect::Modify;
    Target {
        tool,
        puts_in: is_edit.then(|| puts_in(&fields)).flatten(),
        ..target
    }
}

/// The target of a call of the tool `name` by its arguments.
fn of_fields(name: &str, named: Option<&str>, fields: &ArgumentFields<'_>) -> Target {
    let known = if name.is_empty() {
        named.unwrap_or_default()
    } else {
        name
    };
    let verbs = Verbs::of(known);
    let path = fields.get(Holds::Path);
    if is_note(known) || is_thought(known) {
        let clause = listed(fields);
        return Target {
            effect: Effect::Read,
            ..told(name, &["(", &clause, ")"].concat())
        };
    }
    if let Some(query) = fields.get(Holds::Query).filter(|_| verbs.has(Verb::Search)) {
        let place = path
            .map(|path| format!(" in {}", cleaned(&path)))
            .unwrap_or_default();
        return Target {
            kind: ToolKind::Search,
            effect: Effect::Read,
            ..told(name, &format!("{}{place}", quoted(&query)))
        };
    }
    if let Some(path) = path {
        return on_file(name, Verbs::of(name), &path, fields);
    }
    if let Some(code) = fields.get(Holds::Code) {
        let separator = if name.is_empty() { "" } else { ": " };
        return Target {
            kind: ToolKind::Code,
            line: [name, separator, &cut(&telling_code(&code))].concat(),
            key: [name, ": ", code.trim()].concat(),
            touches: of_code(&code),
            script_lines: code.trim().lines().count(),
            is_run: true,
            ..Target::default()
        };
    }
    let command = fields.get(Holds::Command);
    let is_patch = command.as_deref().is_some_and(patch::is_patch);
    let touches = patched(fields).filter(|_| is_patch || command.is_none());
    if let (Some(command), None) = (&command, &touches) {
        let directory = fields.get(Holds::Directory);
        let mut target = match directory.and_then(|directory| in_shell(&directory)) {
            Some(directory) => command::of_command(name, &["cd ", &directory, " && ", command].concat()),
            None => command::of_command(name, command),
        };
        if let Some(system) = fields
            .get(Holds::System)
            .filter(|system| system.len() <= MAX_VALUE)
        {
            let system = [" (on ", &cleaned(&system), ")"].concat();
            target.line.push_str(&system);
            target.key.push_str(&system);
        }
        return target;
    }
    if let Some(touches) = touches {
        return on_patch(if is_patch { patch::PATCH } else { name }, touches);
    }
    if let Some(address) = fields.get(Holds::Address) {
        let more = fields.all(Holds::Address).skip(1).count();
        let mut clause = cut(&cleaned(&address));
        if more > 0 {
            clause = format!("{clause} and {more} more");
        }
        return Target {
            kind: ToolKind::Web,
            effect: Effect::Read,
            ..told(name, &clause)
        };
    }
    if let Some(task) = fields.get(Holds::Task).filter(|_| verbs.has(Verb::Delegate)) {
        return Target {
            kind: ToolKind::Task,
            ..told(name, &quoted(&task))
        };
    }
    let line = match listed(fields) {
        clause if clause.is_empty() => name.to_owned(),
        clause => [name, "(", &clause, ")"].concat(),
    };
    Target {
        key: line.clone(),
        whole: whole(fields),
        line,
        touches: command::on_open_file(known).into_iter().collect(),
        ..Target::default()
    }
}

/// A directory as a command names it.
fn in_shell(directory: &str) -> Option<String> {
    let directory = match directory.trim_end_matches('/') {
        "" => directory,
        name => name,
    };
    let is_of_path = |sign: char| sign.is_alphanumeric() || "/._-~".contains(sign);
    let is_plain = directory.chars().all(is_of_path);
    let is_quotable = !directory.is_empty() && !directory.contains(['\'', '\n']);
    is_quotable.then(|| {
        if is_plain {
            directory.to_owned()
        } else {
            ["'", directory, "'"].concat()
        }
    })
}

/// All arguments in a number: a line may not tell all of them.
fn whole(fields: &ArgumentFields<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    for (key, value) in fields.iter() {
        key.hash(&mut hasher);
        value.hash(&mut hasher);
    }
    hasher.finish()
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
fn listed(fields: &ArgumentFields<'_>) -> String {
    let mut line = String::with_capacity(MAX_TARGET + MAX_VALUE);
    for (key, value) in fields.telling_first() {
        let value = cleaned_line(&value);
        // A query says what its result is of at its end.
        let most = if is_query(&value) { MAX_TARGET } else { MAX_VALUE };
        let condensed = condensed(&value, most).map(Cow::Owned);
        let short = condensed.or_else(|| shortened(&value, most));
        let Some(value) = short.filter(|value| !value.is_empty()) else {
            continue;
        };
        let room = line.len() + value.len();
        let piece = if key.is_empty() {
            value
        } else {
            Cow::Owned([key, ": ", &value].concat())
        };
        // An object may repeat what names it.
        if line.split(", ").any(|told| told == piece) {
            continue;
        }
        if room > MAX_TARGET && !line.is_empty() {
            line.push_str(", …");
            break;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&piece);
    }
    line
}

/// A tool that works on a file.
fn on_file(name: &str, verbs: Verbs, path: &str, fields: &ArgumentFields<'_>) -> Target {
    let path = cleaned(path);
    let told = fields.verb().map(|verb| cleaned(&verb));
    let told = told.filter(|verb| verb.len() <= 20 && !verb.contains(' '));
    let verb = told.as_deref().and_then(|told| Verbs::of(told).first());
    let verb = verb.or_else(|| verbs.first());
    let verb = verb.or_else(|| {
        let patch = fields.get(Holds::Patch)?;
        (!patch::patch_lines(&patch).added.is_empty()).then_some(Verb::Change)
    });
    let (effect, step) = match verb {
        Some(Verb::Undo) => (Effect::Modify, Some(Step::Undo)),
        Some(Verb::Remove) => (Effect::Modify, Some(Step::Remove)),
        Some(Verb::Create) => (Effect::Modify, Some(Step::Create)),
        Some(Verb::Change) => (Effect::Modify, Some(Step::Write)),
        Some(Verb::Read | Verb::Search) => (Effect::Read, Some(Step::Read)),
        Some(Verb::Delegate) | None => (Effect::Other, None),
    };
    let content = fields.get(Holds::Content).filter(|_| step == Some(Step::Create));
    let script = content.map_or_else(Vec::new, |content| script_of(&path, &content));
    let touch = |step| Touch {
        script,
        ..Touch::of(step, path.as_str())
    };
    let more: Vec<String> = fields.more_paths().iter().map(|path| cleaned(path)).collect();
    let others = step
        .iter()
        .flat_map(|step| more.iter().map(|path| Touch::of(*step, path.as_str())));
    let others: Vec<Touch> = others.collect();
    let mut line = String::with_capacity(name.len() + path.len() + MAX_TARGET);
    line.push_str(name);
    for piece in told.iter().map(String::as_str).chain([path.as_str()]) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(piece);
    }
    for path in more.iter().take(MAX_PATCHED - 1) {
        line.push_str(", ");
        line.push_str(path);
    }
    if more.len() >= MAX_PATCHED {
        line.push_str(", …");
    }
    let range: Vec<_> = fields.all(Holds::Range).collect();
    if !range.is_empty() {
        line.push_str(" lines ");
        // Joined by a dash they would read as one number that nobody wrote.
        line.push_str(&cleaned(&range.join(" to ")));
    }
    if let Some(query) = fields.get(Holds::Query) {
        let query = cleaned(&query);
        if let Some(query) = shortened(&query, MAX_VALUE) {
            line.push_str(" for ");
            line.push_str(&query);
        }
    }
    Target {
        line,
        key: [name, told.as_deref().unwrap_or_default(), &path].join(" "),
        effect,
        touches: step.map(touch).into_iter().chain(others).collect(),
        file: (!path.is_empty()).then_some(path),
        ..Target::default()
    }
}

/// A tool that works on the files of a patch.
fn on_patch(name: &str, touches: Vec<Touch>) -> Target {
    let named = |removes: bool| -> Vec<&str> {
        let named = touches
            .iter()
            .filter(|touch| (touch.step == Step::Remove) == removes);
        named.filter_map(|touch| touch.file.as_deref()).collect()
    };
    let (changed, removed) = (named(false), named(true));
    let file = changed.last().or(removed.last()).map(|file| (*file).to_owned());
    let (clause, removes) = (changed.join(", "), removed.join(", "));
    Target {
        kind: ToolKind::Patch,
        effect: Effect::Modify,
        file,
        beside: (!removed.is_empty()).then(|| [REMOVES, &removes].concat()),
        key: [name, " ", &clause, " ", &removes].concat(),
        touches,
        ..told(name, &clause)
    }
}

/// The files that a patch names, and what it does to them.
fn patched(fields: &ArgumentFields<'_>) -> Option<Vec<Touch>> {
    let found = fields.iter().flat_map(|(_, value)| patch::patched(&value));
    let touches = found
        .take(MAX_PATCHED)
        .map(|(step, file)| Touch::of(step, cleaned(&file)));
    let touches: Vec<Touch> = touches.collect();
    (!touches.is_empty()).then_some(touches)
}

#[cfg(test)]
mod tests {
    use super::super::source_call::CallArguments;
    use super::super::tools::examples;
    use super::super::written::forms::Forms;
    use super::super::written::{row, written};
    use super::*;
    use crate::knowledge::tool_names;
    use crate::trajectory::{Role, TurnView};

    #[test]
    fn every_row_of_the_table_tells_its_example() {
        let all = || examples().chain(tool_names::examples());
        assert!(all().count() > 12);
        for example in all() {
            let call = SourceCall {
                id: None,
                name: example.name.as_str().into(),
                arguments: CallArguments::Json(example.arguments.as_str().into()),
            };
            assert_eq!(target(&call, None).line, example.line, "{example:?}");
        }
    }

    #[test]
    fn every_way_to_write_a_call_is_read_as_its_example_says() {
        let read = |text: &'static str| {
            let views = [
                TurnView::of_text(0, Role::Assistant, text),
                TurnView::of_text(1, Role::Tool, "x"),
            ];
            let read = written(text.into(), Forms::of(&views));
            let lines: Vec<String> = read.calls.iter().map(|call| target(call, None).line).collect();
            (read.prose.trim().to_owned(), lines)
        };
        assert!(row::examples().len() > 20);
        for example in row::examples() {
            let (prose, lines) = read(&example.text);
            assert_eq!(
                (prose.lines().next(), lines),
                (Some("Look:"), vec![example.line.clone()]),
                "{example:?}"
            );
        }
        // Two blocks with words between are an example and a call; words after a block make it none.
        assert_eq!(
            read("```\na\n```\nand\n```\nb\n```"),
            ("```\na\n```\nand".to_owned(), vec!["b".to_owned()])
        );
        for none in [
            "<command>\nls\n</command> was run",
            "Action 3: Search[x]\nAnd then?",
            "The Action: none",
            "Thought: done\nAction 4: Finish[x]",
            "```json\n{\"action\": \"Final Answer\", \"action_input\": \"x\"}\n```",
            "<div>\n<p>a</p>\n</div>",
            "The API takes {\"action_type\": \"wipe\", \"index\": 1} as a body.",
            "The API takes {\"action_type\": \"wipe\", \"index\": 1}",
            "It sends {\"action_type\": \"wipe\", \"index\": 1} and waits",
            "<attempt_completion>\n<result>Done.</result>\n</attempt_completion>",
        ] {
            assert_eq!(read(none).1, Vec::<String>::new(), "{none}");
        }
        let several = "<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>{}<|tool_call_end|>";
        assert_eq!(read(several).1, ["a", "b"]);
    }

    #[test]
    fn a_long_command_with_quotes_in_it_is_told_as_far_as_there_is_room() {
        let command = format!("git commit -m \"{}\"", "word ".repeat(40));
        let call = SourceCall {
            id: None,
            name: "bash".into(),
            arguments: CallArguments::Tagged(vec![("command".to_owned(), command)]),
        };
        let label = target(&call, None).label();
        assert!(
            label.starts_with("[bash] ran `git commit -m \"word word") && label.ends_with(" …`"),
            "{label}"
        );
    }
}
