//! Code that an agent runs: the line that tells it, and the functions of an interface that it calls to change something.

use std::sync::LazyLock;

use serde::Deserialize;

use super::line::cleaned;
use crate::knowledge::tool_names::acts;

/// The line of a code that tells most of it: the first that acts, else the first that is no import or comment.
pub(crate) fn telling_code(code: &str) -> String {
    let lines = || code.lines().map(str::trim).filter(|line| !line.is_empty());
    let acting = lines().find(|line| calls_to_act(line));
    let telling = acting.or_else(|| lines().find(|line| !is_passing(line)));
    cleaned(telling.or_else(|| lines().next()).unwrap_or_default())
}

#[derive(Debug, Default, Deserialize)]
struct CodeTable {
    passing: Vec<String>,
    defines: Vec<String>,
    #[cfg(test)]
    examples: Vec<CodeExample>,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
struct CodeExample {
    lines: String,
    tells: String,
}

static TABLE: LazyLock<CodeTable> =
    LazyLock::new(|| toml::from_str(include_str!("../knowledge/code.toml")).unwrap_or_default());

/// Returns true for a line of code that tells little: an import, a comment.
pub(crate) fn is_passing(line: &str) -> bool {
    let line = line.trim_start();
    TABLE.passing.iter().any(|start| line.starts_with(start.as_str()))
}

/// The line that tells most of what code is for: the first that defines something, or else the longest that is no import or comment.
pub(crate) fn most_telling<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> Option<&'l str> {
    let defines = |line: &&str| {
        let line = line.trim_start();
        TABLE.defines.iter().any(|start| line.starts_with(start.as_str()))
    };
    // Of several the first one.
    let longer = |one: &'l str, other: &'l str| if other.len() > one.len() { other } else { one };
    lines
        .clone()
        .find(defines)
        .or_else(|| lines.filter(|line| !is_passing(line)).reduce(longer))
}

/// Bytes of a line of code that are looked at.
const MAX_LINE: usize = 2_000;

/// Returns true if code calls a function that acts where the agent works, by its name and with named arguments: `send_email(to=…)`,
/// `apis.venmo.delete_card(card=…)`. A method of a value (`axis.set_title(…)`) works on that value.
pub(crate) fn calls_to_act(code: &str) -> bool {
    code.lines().any(|line| {
        let line = line.trim_start();
        let is_code = !is_passing(line) && !line.starts_with("def ") && !line.starts_with("async def ");
        is_code && acts_in(line)
    })
}

/// Returns true if a line of code has such a call outside of its texts.
fn acts_in(line: &str) -> bool {
    let mut quote = None;
    line.bytes().take(MAX_LINE).enumerate().any(|(at, byte)| {
        match byte {
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            byte if Some(byte) == quote => quote = None,
            b'(' if quote.is_none() => return is_acting(line, at),
            _ => {}
        }
        false
    })
}

/// Returns true if the name before a parenthesis is one of a function that acts, and what follows is a named argument.
fn is_acting(line: &str, parenthesis: usize) -> bool {
    let before = line.get(..parenthesis).unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let path = before
        .get(before.trim_end_matches(is_part).len()..)
        .unwrap_or_default();
    let (owner, name) = path.rsplit_once('.').unwrap_or(("", path));
    let is_function = !path.starts_with('.') && (owner.is_empty() || owner.contains('.'));
    let arguments = line.get(parenthesis + 1..).unwrap_or_default().trim_start();
    let behind = arguments.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_named = behind.len() < arguments.len() && behind.starts_with('=') && !behind.starts_with("==");
    is_function && is_named && name.contains('_') && acts(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_lines_the_one_is_told_that_tells_most() {
        assert!(TABLE.examples.len() > 2);
        for example in &TABLE.examples {
            let told = most_telling(example.lines.lines());
            assert_eq!(told.unwrap_or_default(), example.tells, "{}", example.lines);
        }
    }

    #[test]
    fn functions_that_act_are_told_and_methods_of_values_are_not() {
        for (code, told) in [
            (
                "token = login()\nfor x in y:\n    apis.venmo.delete_card(card=x, token=token)",
                "apis.venmo.delete_card(card=x, token=token)",
            ),
            (
                "import mail\nmail = read()\nsend_email(to='a')",
                "send_email(to='a')",
            ),
            ("axis = plot()\naxis.set_title(label='a')", "axis = plot()"),
            ("def send_email(to):\n    return 1", "def send_email(to):"),
            ("x = 1\nplot().remove_all(y=1)", "x = 1"),
            ("x = 1\nassert_equal(add_two(1), 3)", "x = 1"),
            (
                "print('use send_email(to) for it')",
                "print('use send_email(to) for it')",
            ),
        ] {
            assert_eq!(telling_code(code), told);
            assert_eq!(
                calls_to_act(code),
                told.contains("_card") || told.starts_with("send_email"),
                "{code}"
            );
        }
    }
}
