//! The output of a terminal without its wrapper, and the exit code that the wrapper tells.

use std::sync::LazyLock;

use memchr::memmem;

use super::status::Answer;
use super::text::edges;
use super::wrapper::wrapped;
use crate::events::command::without_redirection;
use crate::events::line::{last_lines, lines_of};
use crate::events::shell::programs::{Does, known};
use crate::events::target::Target;
use crate::knowledge::errors::no_of;

/// The command that a call's target tells.
fn command_of(target: &str) -> Option<&str> {
    let name_end = memchr::memchr2(b' ', b'(', target.as_bytes());
    let after_name = name_end.and_then(|end| {
        let (name, command) = target.split_at_checked(end)?;
        command.strip_prefix(' ').filter(|_| name.ends_with(':'))
    });
    let command = after_name.unwrap_or(target);
    Some(command.strip_suffix(" …").unwrap_or(command)).filter(|command| command.len() > 3)
}

/// Returns true if a call ran a command: a tool is named before it, or a program begins it that does more than to edit.
pub(super) fn is_command(target: &str) -> bool {
    let first = target.split(' ').next().unwrap_or_default();
    first.ends_with(':') && !first.contains('(')
        || known(first).is_some_and(|row| !matches!(row.does, Does::Edits | Does::Applies))
}

/// Returns true if a call ran a single program, so that the exit code is its own.
pub(super) fn is_single(target: &str) -> bool {
    let is_plain = |command: &str| !command.contains(['|', ';', '&', '\n', '#']);
    !target.ends_with('…') && command_of(target).is_some_and(is_plain)
}

/// Returns true if a text is the command of a call once more.
pub(super) fn is_echo(text: &str, target: &str) -> bool {
    let command = command_of(target).filter(|command| command.contains(' '));
    command.is_some_and(|command| {
        let text = text.trim();
        if target.ends_with('…') {
            text.contains(command)
        } else {
            text.ends_with(command)
        }
    })
}

/// An output without its first line where that is the command once more, as some terminals have it.
pub(super) fn without_echo<'a>(body: &'a str, target: &str) -> &'a str {
    let first = lines_of(body).next().unwrap_or_default();
    if first.len() >= 1_000 {
        return body;
    }
    let line = without_redirection(first);
    let Some(command) = command_of(target).filter(|command| command.contains(' ')) else {
        return body;
    };
    let before = if target.ends_with('…') {
        line.find(command).and_then(|at| line.get(..at))
    } else {
        line.strip_suffix(command)
    };
    let is_echo = before
        .map(str::trim_end)
        .is_some_and(|before| before.is_empty() || before.ends_with(['&', ';', '$', '#']));
    if is_echo {
        body.get(first.len()..)
            .unwrap_or_default()
            .trim_start_matches(['\r', '\n'])
    } else {
        body
    }
}

/// The meaning of exit code 1, and if something is printed then, where the last program of a pipe is one that says no in this way.
pub(super) fn says_no(target: &str) -> Option<(&'static str, bool)> {
    let command = command_of(target)?;
    // The exit code is that of the last statement; of a chain it may be any one's.
    let command = command.rsplit("; ").next().unwrap_or(command);
    if command.contains("&&") {
        return None;
    }
    let last = command.rsplit(" | ").next().unwrap_or(command).trim_start();
    let program = last.strip_prefix("git ").unwrap_or(last).split(' ').next()?;
    no_of(program)
}

/// The output without the envelope that tells its exit code.
pub(super) fn body(answer: &str) -> &str {
    let answer = match answer
        .strip_prefix("EXECUTION RESULT of")
        .and_then(|rest| rest.split_once("]:"))
    {
        Some((_, rest)) => rest.trim_start(),
        None => answer,
    };
    let answer = wrapped(answer).map_or(answer, |wrapped| wrapped.printed);
    let start = answer.as_bytes().get(..200.min(answer.len())).unwrap_or_default();
    let inner = match OUTPUT.find(start) {
        Some(at) => answer.get(at + 8..).unwrap_or_default(),
        _ => answer,
    };
    let inner = inner.trim_end().strip_suffix("</output>").unwrap_or(inner).trim();
    without_shell_state(inner)
}

/// The text of an output as it stands: only what is an envelope for certain is gone, for a file that was shown may have lines like it.
pub(super) fn without_envelope(answer: &str) -> &str {
    let named = answer.strip_prefix("EXECUTION RESULT of [");
    let answer = named
        .and_then(|rest| rest.split_once("]:\n"))
        .map_or(answer, |(_, rest)| rest);
    let is_code =
        |before: &str| before.is_empty() || before.starts_with("<returncode>") && !before.contains('\n');
    let opened = answer
        .split_once("<output>")
        .filter(|(before, _)| is_code(before.trim_end()));
    let inner = opened.and_then(|(_, rest)| rest.trim_end().strip_suffix("</output>"));
    without_state_lines(inner.unwrap_or(answer)).trim_start_matches(['\r', '\n'])
}

/// An output without the last lines that a shell's wrapper says of itself, if nothing else stands among them.
fn without_state_lines(output: &str) -> &str {
    let (_, tail) = edges(output);
    let is_state = |rest: &str| {
        let mut lines = rest.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let is_prompt = |line: &str| line.ends_with(['#', '$', '>']) && line.len() <= MAX_PROMPT;
        let begins = STATE.iter().any(|start| rest.starts_with(start));
        begins && lines.all(|line| line.starts_with('[') && line.ends_with(']') || is_prompt(line))
    };
    let mut brackets = memchr::memchr_iter(b'[', tail.as_bytes());
    let first = brackets.find(|at| tail.get(*at..).is_some_and(is_state));
    let end = first.map_or(output.len(), |at| output.len() - tail.len() + at);
    let output = output.get(..end).unwrap_or(output).trim_end();
    let state = output
        .strip_suffix("bash-$")
        .and_then(|rest| rest.rsplit_once("\n(Open file: "));
    match state {
        Some((printed, state)) if state.lines().count() <= 2 => printed.trim_end(),
        _ => output,
    }
}

/// What a shell's wrapper says after an output: where it is, which interpreter it has.
const STATE: [&str; 9] = [
    "[The command completed with",
    "[Command finished with",
    "[Python Interpreter: ",
    "[Current working directory: ",
    "[Jupyter current working directory: ",
    "[Jupyter Python interpreter: ",
    "[exit code: ",
    "[Exit code: ",
    "[Process exited with code ",
];

/// Bytes of the longest prompt that is known as one.
const MAX_PROMPT: usize = 200;

/// The output without what a shell's wrapper says of itself after it: where it is, which interpreter it has.
fn without_shell_state(output: &str) -> &str {
    let (_, tail) = edges(output);
    let mut brackets = memchr::memchr_iter(b'[', tail.as_bytes());
    let first = brackets.find(|at| {
        tail.get(*at..)
            .is_some_and(|rest| STATE.iter().any(|start| rest.starts_with(start)))
    });
    let end = first.map_or(output.len(), |at| output.len() - tail.len() + at);
    let output = output.get(..end).unwrap_or(output).trim_end();
    // SWE-agent's state ends with its prompt.
    match output
        .strip_suffix("bash-$")
        .and_then(|_| output.rsplit_once("(Open file: "))
    {
        Some((printed, _)) => printed.trim_end(),
        None => output,
    }
}

/// The names of the exit code of the command before.
const CODES: [&str; 2] = ["$?", "${PIPESTATUS[0]}"];

/// Lines at the end of an output of which one may be an exit code that the command printed.
const ECHOED: usize = 3;

/// An answer with the exit code that the command of its call printed itself, if it did.
pub(crate) fn with_echoed_code<'t>(answer: Answer<'t>, target: &Target) -> Answer<'t> {
    let command = target.command.as_deref().unwrap_or_default();
    let exit_code = echoed_code(command, answer.text).or(answer.exit_code);
    Answer { exit_code, ..answer }
}

/// The exit code that a command printed itself, behind words of its own: `make; echo "rc=$?"`.
fn echoed_code(command: &str, output: &str) -> Option<i32> {
    let at = CODES.iter().filter_map(|code| command.rfind(code)).max()?;
    let before = command.get(..at)?;
    let is_quote = |sign: char| matches!(sign, '"' | '\'' | '\n');
    let quoted = before
        .rsplit(is_quote)
        .next()
        .filter(|_| before.contains(is_quote));
    let label = match quoted.filter(|label| !label.contains("echo ")) {
        Some(label) => label.trim_start(),
        None => before.rsplit([' ', '\n']).next()?,
    };
    let says = |line: &str| line.trim().strip_prefix(label)?.trim().parse().ok();
    // What a wrapper says of itself stands behind.
    let mut last = last_lines(output)
        .filter(|line| !line.trim().is_empty() && !line.starts_with('['))
        .take(ECHOED);
    label.contains(char::is_alphabetic).then(|| last.find_map(says))?
}

/// The exit code where the answer tells it, at its start or its end. What was read (`is_reading`) may talk of other exit
/// codes: there only what a tool writes around an output counts.
pub(super) fn exit_code(answer: &str, is_reading: bool) -> Option<i32> {
    let (head, tail) = edges(answer);
    if let Some(code) = head.strip_prefix("<returncode>") {
        return code_in(code);
    }
    if let Some(wrapped) = wrapped(answer) {
        let label = |line: &str| {
            let line = line.to_ascii_lowercase();
            let mut labels = ["exit code", "exited with code"].into_iter();
            code_in(labels.find_map(|label| line.rsplit_once(label))?.1)
        };
        let code = |text: &str| last_lines(text).find_map(label);
        let told = code(wrapped.behind).or_else(|| code(wrapped.before));
        return told.or_else(|| wrapped.went_well.then_some(0));
    }
    // Searching from the end is slow: most outputs have no such words at all.
    let told = if CODE.find(tail.as_bytes()).is_some() {
        let mut lines = last_lines(tail).filter(|line| !line.trim().is_empty()).take(6);
        let mut plain = 2;
        lines.find_map(|line| {
            let is_bracketed = line.starts_with('[');
            if !is_bracketed {
                if is_reading || plain == 0 {
                    return None;
                }
                plain -= 1;
            }
            let says = |at: usize| {
                let before = line.get(..at).unwrap_or_default();
                ["finished with exit", "completed with exit", "exited with"]
                    .iter()
                    .any(|words| before.ends_with(words))
            };
            let at = CODE.find_iter(line.as_bytes()).filter(|at| says(*at)).last()?;
            code_in(line.get(at + CODE.needle().len()..)?)
        })
    } else {
        None
    };
    let label = |line: &str| {
        let (label, rest) = line.split_at_checked("exit code".len())?;
        let code = code_in(rest).filter(|_| label.eq_ignore_ascii_case("exit code"))?;
        let ends = line.trim_end().ends_with(|c: char| c.is_ascii_digit()) && line.len() <= 20;
        (ends || !is_reading).then_some(code)
    };
    // A wrapper's lines stand together: what follows one that is an output's says that it is none.
    let bracketed = |line: &str| label(line.strip_prefix('[')?.trim_end().strip_suffix(']')?);
    let mut wrapping = last_lines(tail)
        .filter(|line| !line.trim().is_empty())
        .take_while(|line| line.starts_with('[') || line.starts_with("Current "));
    let told = told.or_else(|| wrapping.find_map(bracketed));
    let told = told.or_else(|| bracketed(lines_of(head).next()?));
    told.or_else(|| label(lines_of(head).next()?)).or_else(|| {
        last_lines(tail)
            .take(if is_reading { 1 } else { 6 })
            .find_map(label)
    })
}

/// The number that `text` begins with, after a colon and blanks.
fn code_in(text: &str) -> Option<i32> {
    let rest = text.trim_start_matches([':', ' ']);
    let length = rest
        .bytes()
        .position(|b| !(b.is_ascii_digit() || b == b'-'))
        .unwrap_or(rest.len());
    rest.get(..length)?.parse::<i32>().ok()
}

/// The word before the number in every sentence that gives an exit code.
static CODE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b" code"));

static OUTPUT: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"<output>"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_a_command_prints_itself_is_its_exit_code() {
        for (command, output, expected) in [
            (
                "./deploy.sh 2>&1 | tail -3; echo \"rc=$?\"",
                "Migrating\nrc=1\n",
                Some(1),
            ),
            ("make; echo exit=$?", "a\nexit=0", Some(0)),
            ("make\necho 'a'; echo \"exit code: $?\"", "exit code: 2", Some(2)),
            (
                "make | tee log; echo \"make: ${PIPESTATUS[0]}\"",
                "make: 3",
                Some(3),
            ),
            ("make; echo $?", "1", None),
            ("make; echo \"rc=$?\"", "rc=one", None),
            ("make", "rc=1", None),
        ] {
            assert_eq!(echoed_code(command, output), expected, "{command}");
        }
    }
}
