//! Calls read back from the line that tells them, as an earlier summary has it.

use super::call::target;
use super::line::cleaned;
use super::run::ProgramRun;
use super::shell::patch::UPDATES;
use super::source_call::SourceCall;
use super::target::{Effect, Target};
use super::tools::Verbs;

/// The target of a call that a line tells; `None` if no call is found that has this line.
pub(crate) fn target_of_line(line: &str) -> Option<Target> {
    let ran = || line.split_once(": ").filter(|(tool, _)| is_name(tool));
    let on_file = || line.split_once(' ').filter(|(tool, _)| is_name(tool));
    let is_known = |verb: &str| Verbs::of(verb).first().is_some();
    let found = |tool: &str, fields: &[(&str, &str)]| {
        let fields = fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let target = target(&SourceCall::tagged(tool, fields.collect()), None);
        // The directory is told only where commands ran in several.
        // Blanks in it are told once.
        // A line has all of a command that is cut else, if a quotation of it stood behind.
        let is_same = |line: &str| match target.line.strip_suffix('…') {
            Some(start) if line.len() > target.line.len() => line.starts_with(start.trim_end()),
            _ => target.line == line || cleaned(&target.line) == line,
        };
        let elsewhere = || {
            let (tool, command) = line.split_once(": ").unwrap_or(("", line));
            let (_, command) = command.strip_prefix("cd ")?.split_once(" && ")?;
            Some(if tool.is_empty() {
                command.to_owned()
            } else {
                [tool, ": ", command].concat()
            })
        };
        (is_same(line) || elsewhere().is_some_and(|line| is_same(&line))).then_some(target)
    };
    let command = ran().and_then(|(tool, command)| found(tool, &[("command", command)]));
    // Of tests whose command was cut it is known that they are tests: what the rest chooses among them, if it does, is not.
    let of_tests = || {
        let (tool, cut) = line
            .strip_suffix('…')?
            .trim_end()
            .split_once(": ")
            .filter(|(tool, _)| is_name(tool))?;
        let target = target(
            &SourceCall::tagged(tool, vec![("command".to_owned(), cut.to_owned())]),
            None,
        );
        let is_of_tests = target.runs.iter().any(ProgramRun::is_of_tests);
        (is_of_tests && target.effect != Effect::Modify).then(|| Target {
            line: line.to_owned(),
            ..target
        })
    };
    command
        .or_else(of_tests)
        .or_else(|| ran().and_then(|(tool, code)| found(tool, &[("code", code)])))
        .or_else(|| {
            let (tool, rest) = on_file()?;
            let (verb, path) = rest.split_once(' ').filter(|(verb, _)| is_known(verb))?;
            found(tool, &[("command", verb), ("path", path)])
        })
        .or_else(|| {
            let (tool, path) = on_file().filter(|(tool, path)| is_known(tool) && !path.contains(' '))?;
            found(tool, &[("path", path)])
        })
        .or_else(|| {
            // A patch of several files.
            let (tool, paths) = on_file().filter(|(tool, paths)| is_known(tool) && paths.contains(", "))?;
            let files = paths.split(", ").map(|path| format!("{UPDATES}{path}\n"));
            found(tool, &[("input", &files.collect::<String>())])
        })
        .or_else(|| found("", &[("command", line)]).filter(|_| !names_arguments(line)))
}

/// If a word may be the name of a tool.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    !word.is_empty() && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

/// If a line is that of a tool with its arguments: `get_order(id: W1)`.
pub(crate) fn names_arguments(line: &str) -> bool {
    line.split_once('(').is_some_and(|(tool, _)| is_name(tool)) && line.ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::shell::Step;
    use crate::events::target::Effect;

    #[test]
    fn calls_are_read_back_as_what_they_did_to_files() {
        for (line, effect, steps) in [
            (
                "bash: git checkout src/a.py",
                Effect::Modify,
                &[(Step::Restore, "src/a.py")][..],
            ),
            (
                "bash: python -m pytest tests -x 2>&1 | tail -20",
                Effect::Other,
                &[],
            ),
            (
                "str_replace_editor create /w/b.py",
                Effect::Modify,
                &[(Step::Create, "/w/b.py")],
            ),
            (
                "str_replace_editor view /w/b.py",
                Effect::Read,
                &[(Step::Read, "/w/b.py")],
            ),
            ("Edit /w/b.py", Effect::Modify, &[(Step::Write, "/w/b.py")]),
            (
                "apply_patch a.py, src/b.py",
                Effect::Modify,
                &[(Step::Write, "a.py"), (Step::Write, "src/b.py")],
            ),
            ("sed -i s/a/b/ c.py", Effect::Modify, &[(Step::Write, "c.py")]),
            (
                "bash: sed -i '1a require \"timecop\"' spec/hookshot/policy_spec.rb && BUNDLE_PATH=/opt/gems bundle exec rspec spec/hookshot/policy_spec.rb",
                Effect::Modify,
                &[(Step::Write, "spec/hookshot/policy_spec.rb")],
            ),
            ("python run.py", Effect::Other, &[(Step::Run, "run.py")]),
        ] {
            let target = target_of_line(line).expect(line);
            let read: Vec<(Step, &str)> = target
                .touches
                .iter()
                .filter_map(|touch| Some((touch.step, touch.file.as_deref()?)))
                .collect();
            assert_eq!((target.effect, read.as_slice()), (effect, steps), "{line}");
        }
        let runs = target_of_line("bash: cargo test").map(|target| target.runs.len());
        assert_eq!(runs, Some(1));
        assert_eq!(
            target_of_line("get_order(order: W1)").map(|target| target.line),
            None
        );
    }
}
