//! Shell commands: the statement that tells each, where it ran, and what makes two of them the same.

use super::effect::{does_to_files, effect_of, run_of_written};
use super::files::scripts::written_by;
use super::line::{cleaned, lines_of, shortened};
use super::run::{runs, runs_tests};
use super::shell::programs::{Does, flags, known};
use super::shell::{Command, Statement, StatementEnd, Step, Touch, of_code};
use super::target::{Directory, Effect, MAX_TARGET, MAX_VALUE, Target, ToolKind};

/// A shell command: its line tells the first statement that does more than to prepare the next one.
pub(crate) fn of_command(name: &str, text: &str) -> Target {
    let text = text.trim();
    let command = Command::read(text);
    if let Some(inner) = only_command(&command) {
        return of_command(name, &inner);
    }
    let telling = telling(&command.statements);
    let directory = telling.map_or("", |at| {
        command.statements.get(at).map_or("", |told| &told.directory)
    });
    let decided = telling.map(|at| effect_of(&command, deciding(&command.statements, at)));
    let (effect, file) = decided.unwrap_or((Effect::Other, None));
    let told = telling.map_or_else(
        || last_line(text).to_owned(),
        |at| clause(text, &command.statements, at),
    );
    let script = telling.and_then(|at| run_of_written(&command.statements, command.statements.get(at)?));
    let mut shown = shortened(&told, MAX_TARGET).unwrap_or_default();
    if shown.ends_with(CUT)
        && let Some(ends) = telling.and_then(|at| with_last(text, &told, command.statements.get(at..)?))
    {
        shown = ends.into();
    }
    // A run that changes nothing says so, however long its command is.
    let words = telling.and_then(|at| Some(&command.statements.get(at)?.words));
    let mode = words.and_then(|words| words.iter().find(|word| flags().only_tells(&word.text)));
    if let Some(mode) = mode.filter(|mode| shown.ends_with(CUT) && !shown.contains(&mode.text)) {
        shown = format!("{shown} {}", mode.text).into();
    }
    let at = if name.is_empty() { 0 } else { name.len() + 2 };
    let line = match (name.is_empty(), shown.is_empty()) {
        (true, _) => shown.clone().into_owned(),
        (false, true) => name.to_owned(),
        (false, false) => [name, ": ", &shown].concat(),
    };
    let touches = command.touches();
    // An editor's next try at the open file is the same, whatever its lines.
    let is_edit = touches
        .iter()
        .any(|touch| touch.file.is_none() && touch.step == Step::Write);
    let key = if is_edit {
        "edit".to_owned()
    } else {
        key(&command.statements, telling, effect).unwrap_or_else(|| text.to_owned())
    };
    Target {
        line,
        kind: ToolKind::Terminal,
        script_lines: text.lines().count(),
        key: [name, ": ", &key].concat(),
        effect,
        file,
        beside: script.and_then(written_by),
        runs: runs(&command),
        touches,
        command: Some(text.to_owned()),
        is_setup: telling.is_none(),
        is_run: true,
        directory: Some(Directory {
            name: cleaned(directory),
            place: at,
        }),
        ..Target::default()
    }
}

/// The step of a line editor's command, or of a tool of its name, on the file that is open.
pub(crate) fn on_open_file(name: &str) -> Option<Touch> {
    match known(&name.to_ascii_lowercase())?.does {
        Does::Edits => Some(Touch::on_open(Step::Write)),
        Does::Views => Some(Touch::on_open(Step::Read)),
        _ => None,
    }
}

/// The command in the words of a shell that is all that a command starts.
fn only_command(command: &Command) -> Option<String> {
    let mut own = command.statements.iter().filter(|statement| !statement.is_nested);
    let (Some(shell), None) = (own.next(), own.next()) else {
        return None;
    };
    let (Does::Shell, _, words) = shell.program()? else {
        return None;
    };
    let (option, code) = match words {
        [option, code] => (option.text.as_str(), code),
        // Some agents name the shell as a tool: `bash "git status"`.
        [code] if code.text.contains(' ') => ("-c", code),
        _ => return None,
    };
    let is_code = option.starts_with('-') && option.ends_with('c');
    (is_code && shell.written.is_empty()).then(|| code.text.clone())
}

/// The first statement that does more than to prepare the next one; of one that only writes a script the run of that script.
fn telling(statements: &[Statement]) -> Option<usize> {
    let tells = |statement: &Statement| {
        let prepares = matches!(statement.does(), Does::Goes | Does::Returns | Does::Prepares);
        !statement.is_nested && (statement.found.is_some() && !prepares || !statement.written.is_empty())
    };
    let first = statements.iter().position(tells)?;
    let runs = |statement: &Statement| run_of_written(statements, statement).is_some();
    let writes = statements
        .get(first)
        .is_some_and(|first| !first.document.is_empty());
    let run = statements
        .iter()
        .position(runs)
        .filter(|run| writes && *run > first);
    Some(run.unwrap_or(first))
}

/// The statement that tells what a command did: the tests behind what only looks (`git diff --stat && pytest`), or else the first one.
fn deciding(statements: &[Statement], first: usize) -> usize {
    let own = statements.iter().enumerate().skip(first);
    let mut own = own.filter(|(_, statement)| !statement.is_nested);
    let acting = own.find(|(_, statement)| does_to_files(statement) != Effect::Read);
    let tests = acting.filter(|(_, statement)| runs_tests(statement));
    tests.map_or(first, |(at, _)| at)
}

/// Stands before the files that code edits which is told by that alone.
pub(crate) const EDITS: &str = "edits ";

/// The mark where a command is cut.
const CUT: char = '…';

/// Letters at most of a command that is told by both its ends: they tell more than its beginning alone.
const MAX_ENDS: usize = MAX_TARGET + 30;

/// Words that begin a loop or a branch, of which no part may be left out.
const BLOCKS: [&str; 5] = ["for", "while", "until", "if", "case"];

/// A long command by its first statements and the last one that does more than to look, which decides what is so in the end: `git stash &&
/// … && git stash pop`. `statements` are those of `text` from the one on that tells it, `told` is the line that they make. `None` where they
/// loop or branch, or where both ends are too long.
fn with_last(text: &str, told: &str, statements: &[Statement]) -> Option<String> {
    let mut own: Vec<&Statement> = statements
        .iter()
        .filter(|statement| !statement.is_nested)
        .collect();
    let line = own
        .iter()
        .position(|statement| statement.end == StatementEnd::Line);
    own.truncate(line.map_or(own.len(), |line| line + 1));
    let begins_block = |statement: &&Statement| {
        let first = statement.words.first();
        first.is_some_and(|word| BLOCKS.contains(&word.text.as_str()))
    };
    if own.iter().any(begins_block) {
        return None;
    }
    // What is piped on is one.
    let pipes: Vec<&[&Statement]> = own
        .split_inclusive(|statement| statement.end != StatementEnd::Pipe)
        .collect();
    let span = |from: usize, to: usize| {
        let (from, to) = (pipes.get(from)?.first()?, pipes.get(to)?.last()?);
        text.get(from.span.start..to.span.end).map(str::trim)
    };
    let joint = |at: usize| {
        let (before, behind) = (pipes.get(at.checked_sub(1)?)?.last()?, pipes.get(at)?.first()?);
        let joint = text.get(before.span.end..behind.span.start)?.trim();
        Some(if joint == ";" {
            "; ".to_owned()
        } else {
            [" ", joint, " "].concat()
        })
    };
    let decides = |pipe: &&[&Statement]| {
        let first = pipe.first();
        first.is_some_and(|first| {
            first.found.is_some() && first.does() != Does::Aside && does_to_files(first) != Effect::Read
        })
    };
    let at = pipes.iter().rposition(decides)?;
    let whole = span(at, pipes.len() - 1)?.to_owned();
    let tails = [whole, [span(at, at)?, " …"].concat()];
    // No letter has more than four bytes.
    let is_short = |part: &str| part.len() <= 4 * MAX_ENDS;
    tails.iter().filter(|tail| is_short(tail)).find_map(|tail| {
        let heads = (1..at).map_while(|to| Some((to, span(0, to - 1).filter(|head| is_short(head))?)));
        let lines = heads.filter_map(|(to, head)| {
            let line = cleaned(&[head, &joint(to)?, "…", &joint(at)?, tail].concat());
            (told.starts_with(&cleaned(head)) && line.chars().count() <= MAX_ENDS).then_some(line)
        });
        lines.last()
    })
}

/// The last line that is no comment, of a command that does nothing.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty() && !line.starts_with('#'));
    last.unwrap_or_else(|| text.lines().next().unwrap_or_default())
}

/// The line of a command that the statement at `at` begins; of a script what runs it, and what tells most of it.
fn clause(text: &str, statements: &[Statement], at: usize) -> String {
    let rest = statements.get(at..).unwrap_or_default();
    let start = rest.first().map_or(0, |first| first.span.start);
    let own = || rest.iter().filter(|statement| !statement.is_nested);
    let last = own().find(|statement| statement.end == StatementEnd::Line);
    let end = last.map_or(text.len(), |last| last.span.end);
    let whole = text.get(start..end).unwrap_or_default().trim();
    let (first, behind) = whole.split_once('\n').unwrap_or((whole, ""));
    let first = first.trim_end();
    let clause = || own().take_while(|statement| statement.span.start < end);
    let writes = clause().any(|statement| !statement.written.is_empty());
    let document = clause().map(|statement| statement.document.as_str());
    let document = document.filter(|document| !document.is_empty()).last();
    match document {
        // The name of the file tells more than the first lines of a script often do.
        Some(_) if writes => {
            let written = first.split("<<").next().unwrap_or(first).trim_end();
            // What ran behind it is what its outcome tells of.
            let runs = |statement: &&Statement| matches!(statement.does(), Does::Runs | Does::Interprets);
            let run = own().skip(1).filter(runs).last();
            match run.and_then(|run| text.get(run.span.start..run.span.end)) {
                Some(run) => cleaned(&[written, "; ", run.lines().next().unwrap_or(run)].concat()),
                None => cleaned(written),
            }
        }
        Some(document) => script_line(first, document),
        None if !behind.is_empty() && first.ends_with(['"', '\'', '(']) => script_line(first, behind),
        None => cleaned(without_redirection(first)),
    }
}

/// The key by which two commands are the same wherever they run: all of their words, without the pipe that filters the output of one that
/// only runs, and the directories that they go to first.
fn key(statements: &[Statement], telling: Option<usize>, effect: Effect) -> Option<String> {
    let telling = telling?;
    let mut key = String::new();
    let mut kept: Vec<&Statement> = Vec::new();
    let own = statements
        .iter()
        .enumerate()
        .filter(|(_, statement)| !statement.is_nested);
    let own: Vec<(usize, &Statement)> = own.collect();
    // Whether all from here to the end of the pipe only choose what is shown.
    let mut only_filters = true;
    for (place, (at, statement)) in own.iter().enumerate().rev() {
        let before = place.checked_sub(1).and_then(|before| own.get(before));
        let is_behind = before.is_some_and(|(_, before)| before.end == StatementEnd::Pipe);
        let filters = statement.row().is_some_and(|row| row.filter);
        only_filters = filters && (only_filters || statement.end != StatementEnd::Pipe);
        let goes_first = *at < telling && statement.does() == Does::Goes;
        let is_filter = effect == Effect::Other && is_behind && only_filters;
        if !(goes_first || is_filter) {
            kept.push(statement);
        }
    }
    for (place, statement) in kept.iter().rev().enumerate() {
        if place > 0 {
            key.push('\n');
        }
        for (number, word) in statement.words.iter().enumerate() {
            if number > 0 {
                key.push(' ');
            }
            key.push_str(&word.text);
        }
        let files = statement.written.iter().map(|word| (" > ", word));
        for (sign, word) in files.chain(statement.read.iter().map(|word| (" < ", word))) {
            if !word.text.starts_with("/dev/") {
                key.push_str(sign);
                key.push_str(&word.text);
            }
        }
        if !statement.document.is_empty() {
            key.push('\n');
            key.push_str(statement.document.trim_end());
        }
        if statement.end == StatementEnd::Pipe && place + 1 < kept.len() {
            key.push_str(" |");
        }
    }
    Some(key)
}

/// A command without what sends its errors where its output goes.
pub(crate) fn without_redirection(command: &str) -> &str {
    let command = command.trim_end();
    command.strip_suffix("2>&1").map_or(command, str::trim_end)
}

/// The line of a script of several lines: the program that runs it, and its most telling comment or statement.
fn script_line(first: &str, body: &str) -> String {
    let program = first.split("<<").next().unwrap_or(first);
    let program = program.trim_end_matches([' ', '(', '-']);
    // A quote that the script stands in.
    let opens = |mark: &char| program.matches(*mark).count() % 2 == 1;
    let opened = program
        .chars()
        .next_back()
        .filter(|mark| matches!(mark, '"' | '\'') && opens(mark));
    let program = opened.map_or(program, |mark| {
        program.trim_end_matches(mark).trim_end_matches([' ', '(', '-'])
    });
    let edits = edits(body);
    let mut body = lines_of(body).map(str::trim_ascii).filter(|line| line.len() > 3);
    let told = body
        .clone()
        .take(40)
        .find_map(|line| line.strip_prefix("# ").filter(|comment| comment.len() > 8))
        .or(edits.as_deref())
        .or_else(|| {
            body.find(|line| {
                !["import ", "from ", "#", "sys.path", "\"\"\""]
                    .iter()
                    .any(|start| line.starts_with(start))
            })
        });
    let told = cleaned(told.unwrap_or_default());
    match shortened(&told, MAX_VALUE) {
        Some(told) if !told.is_empty() => [&cleaned(program), " # ", &told].concat(),
        _ => cleaned(program),
    }
}

/// The files that a script reads and writes again.
fn edits(body: &str) -> Option<String> {
    let touches = of_code(body);
    let is_read = |file: &str| {
        let mut read = touches.iter().filter(|touch| touch.step == Step::Read);
        read.any(|touch| touch.file.as_deref() == Some(file))
    };
    let written = touches
        .iter()
        .filter(|touch| matches!(touch.step, Step::Create | Step::Write));
    let mut files: Vec<&str> = written
        .filter_map(|touch| touch.file.as_deref())
        .filter(|file| is_read(file))
        .collect();
    files.dedup();
    (!files.is_empty()).then(|| [EDITS, &files.join(", ")].concat())
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod table {
    use super::*;
    use crate::events::shell::programs::all;

    #[test]
    fn every_program_of_the_table_does_what_its_row_says() {
        assert!(all().len() > 30);
        for row in all() {
            let target = of_command("sh", &row.example);
            let mut says = vec![format!("{:?}", target.effect).to_lowercase()];
            for touch in &target.touches {
                let step = format!("{:?}", touch.step).to_lowercase();
                says.push(format!("{step} {}", touch.file.as_deref().unwrap_or("(open)")));
            }
            says.extend(target.runs.iter().map(|run| format!("run {}", run.program)));
            assert_eq!(says, row.says, "{}", row.example);
        }
    }
}
