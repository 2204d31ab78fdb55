//! The report that a tool for commands writes around what a command printed, by a table of such reports.

use std::sync::LazyLock;

use serde::Deserialize;

/// A report of a tool for commands.
#[derive(Debug, Deserialize)]
struct Wrapper {
    starts: Vec<String>,
    /// What stands before the output.
    output: String,
    /// Beginnings of the lines behind the output.
    ends: Vec<String>,
    /// It is written where the command ended with 0.
    #[serde(default)]
    went_well: bool,
    #[cfg(test)]
    example: String,
    #[cfg(test)]
    printed: String,
    #[cfg(test)]
    code: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
struct WrapperTable {
    wrapper: Vec<Wrapper>,
}

static TABLE: LazyLock<WrapperTable> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/wrappers.toml")).unwrap_or_default());

/// Lines of a report behind an output at most.
const MAX_LINES: usize = 8;

/// Bytes of a report before an output that nothing stands behind.
const MAX_BEFORE: usize = 300;

/// An answer in its parts.
pub(super) struct Wrapped<'t> {
    pub before: &'t str,
    pub printed: &'t str,
    pub behind: &'t str,
    /// The report is one of a command that ended with 0.
    pub went_well: bool,
}

/// The parts of an answer that has a report around an output.
pub(super) fn wrapped(answer: &str) -> Option<Wrapped<'_>> {
    let is_of = |row: &&Wrapper| row.starts.iter().any(|start| answer.starts_with(start.as_str()));
    let has_output = |row: &Wrapper| {
        answer.contains(row.output.as_str()) || answer.trim_end().ends_with(row.output.trim_end())
    };
    let row = TABLE.wrapper.iter().find(|row| is_of(row) && has_output(row))?;
    let of_nothing = || Some((answer.trim_end().strip_suffix(row.output.trim_end())?, ""));
    let (before, rest) = answer.split_once(row.output.as_str()).or_else(of_nothing)?;
    if row.ends.is_empty() && before.len() > MAX_BEFORE {
        return None;
    }
    let mut end = rest.trim_end().len();
    for _ in 0..MAX_LINES {
        let shown = rest.get(..end)?;
        let start = shown.rfind('\n').map_or(0, |at| at + 1);
        let line = shown.get(start..)?;
        if !row.ends.iter().any(|label| line.starts_with(label.as_str())) {
            break;
        }
        end = shown.get(..start)?.trim_end().len();
    }
    Some(Wrapped {
        before,
        printed: rest.get(..end)?,
        behind: rest.get(end..)?,
        went_well: row.went_well,
    })
}

#[cfg(test)]
mod tests {
    use super::super::terminal::{body, exit_code};
    use super::*;

    #[test]
    fn what_was_printed_and_the_exit_code_are_read_out_of_every_report() {
        for row in &TABLE.wrapper {
            assert_eq!(body(&row.example), row.printed, "{row:?}");
            assert_eq!(exit_code(&row.example, true), row.code, "{row:?}");
        }
        assert!(wrapped("Command: x\nnothing else").is_none());
    }
}
