//! The effect of a shell command: whether it reads, changes or runs something, and the file that tells it.

use super::shell::programs::{Does, flags};
use super::shell::{Command, Statement, StatementEnd, Step, Touch};
use super::target::Effect;

/// The effect of a command, by the statement at `at` and those behind its pipe. If that changes a file, so may those that
/// follow: the last file tells.
pub(crate) fn effect_of(command: &Command, at: usize) -> (Effect, Option<String>) {
    let rest = command.statements.get(at..).unwrap_or_default();
    let Some(first) = rest.first() else {
        return (Effect::Other, None);
    };
    let last_of = |touches: &[Touch], steps: &[Step]| {
        let mut named = touches.iter().rev().filter(|touch| steps.contains(&touch.step));
        named.find_map(|touch| touch.file.clone())
    };
    if let Some(script) = run_of_written(&command.statements, first) {
        let mut changed = script.iter().rev().filter(|(step, _)| *step != Step::Read);
        return match changed.next() {
            Some((_, file)) => (Effect::Modify, Some(file.clone())),
            None => (Effect::Other, None),
        };
    }
    let mut effect = does_to_files(first);
    let runs = effect == Effect::Other && first.does() != Does::Aside;
    let mut is_behind = first.end == StatementEnd::Pipe;
    for statement in rest.iter().skip(1).filter(|statement| !statement.is_nested) {
        if !is_behind || runs {
            break;
        }
        if does_to_files(statement) == Effect::Modify {
            effect = Effect::Modify;
        }
        is_behind = statement.end == StatementEnd::Pipe;
    }
    if effect != Effect::Modify {
        let file = last_of(&first.touches, &[Step::Read]).filter(|_| effect == Effect::Read);
        return (effect, file);
    }
    let changing = || {
        rest.iter()
            .rev()
            .filter(|statement| does_to_files(statement) == Effect::Modify)
    };
    let find = |steps: &[Step]| changing().find_map(|statement| last_of(&statement.touches, steps));
    (
        effect,
        find(&[Step::Write, Step::Create]).or_else(|| find(&[Step::Remove, Step::Restore, Step::Undo])),
    )
}

/// The steps on files of the script that a statement runs, if another statement of the command wrote it.
pub(crate) fn run_of_written<'s>(
    statements: &'s [Statement],
    run: &Statement,
) -> Option<&'s [(Step, String)]> {
    let mut ran = run
        .touches
        .iter()
        .filter(|touch| touch.step == Step::Run && !run.is_nested);
    let file = ran.next()?.file.as_deref()?;
    let mut touches = statements.iter().flat_map(|statement| &statement.touches);
    let written = touches.find(|touch| touch.step == Step::Create && touch.file.as_deref() == Some(file))?;
    Some(&written.script)
}

/// The effect of a statement alone.
pub(crate) fn does_to_files(statement: &Statement) -> Effect {
    let does_step = |step: Step| statement.touches.iter().any(|touch| touch.step == step);
    if statement.words.len() == 2
        && statement
            .words
            .last()
            .is_some_and(|word| flags().only_tells(&word.text))
    {
        return Effect::Read;
    }
    match statement.does() {
        Does::Creates
        | Does::Removes
        | Does::Restores
        | Does::Moves
        | Does::Copies
        | Does::Changes
        | Does::Applies
        | Does::Edits => Effect::Modify,
        Does::Streams if does_step(Step::Write) => Effect::Modify,
        Does::Reads | Does::Looks | Does::Views | Does::Streams => {
            if does_step(Step::Create) {
                Effect::Modify
            } else {
                Effect::Read
            }
        }
        Does::Aside | Does::Prepares if does_step(Step::Create) => Effect::Modify,
        _ => Effect::Other,
    }
}
