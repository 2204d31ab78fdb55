//! Code that an agent runs: the line that tells it, and the functions of an interface that it calls to change something.

use std::sync::LazyLock;

use serde::Deserialize;

use super::line::cleaned;

/// The line of a code that tells most of it: the first that is no import or comment.
pub(crate) fn telling_code(code: &str) -> String {
    let lines = || code.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| !is_passing(line));
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
}
