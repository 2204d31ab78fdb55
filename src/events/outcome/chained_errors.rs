//! The errors of the other programs of a command that ran tests, behind the counts of these.

use super::error_line::{both_edges, of_traceback};
use super::text::quote;
use crate::events::shell::programs::{Does, flags, known};
use crate::knowledge::found::LiteralHits;
use crate::knowledge::runners::{Diagnostics, TestRun, diagnostics};

/// The output behind the counts of the last run of tests.
pub(super) fn behind<'t>(run: &TestRun<'_>, body: &'t str) -> Option<&'t str> {
    let last = run.lines.last()?;
    let at = body.rfind(last)? + last.len();
    body.get(at..)
}

/// The error of a command that ran behind tests: what a compiler or a linter found, where the last program is one, or the exception
/// that the output ends with.
pub(super) fn error_behind(output: &str, target: &str) -> Option<String> {
    let (head, tail) = both_edges(output);
    let near = [head, tail].map(LiteralHits::read);
    let found = checks_apart(target).then(|| diagnostics(output, &near)).flatten();
    let last = || output.trim_end().lines().next_back().unwrap_or_default();
    let uncaught = || of_traceback(output).filter(|error| last().starts_with(error.trim_end_matches('…')));
    found.as_ref().and_then(first_error).or_else(uncaught)
}

/// Returns true if the last program of a command builds or checks code, or another that nothing depends on, where no program shows
/// texts that may tell of errors.
fn checks_apart(target: &str) -> bool {
    let command = target.split_once(": ").map_or(target, |(_, command)| command);
    let chains = || command.split("; ").map(str::trim);
    let shows = |chain: &str| {
        let mut words = chain.split_whitespace();
        let (program, sub) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let row = known(program).or_else(|| known(&[program, " ", sub].concat()));
        row.is_some_and(|row| matches!(row.does, Does::Reads | Does::Looks | Does::Streams | Does::Views))
    };
    let last_of = |chain: &str| -> bool {
        let last = chain.rsplit("&&").next().unwrap_or_default();
        let mut words = last.split('|').next().unwrap_or_default().split_whitespace();
        words.any(|word| flags().builds(word) || flags().checks(word)) && !shows(last.trim())
    };
    chains().last().is_some_and(last_of)
        || !chains().any(shows)
            && chains().any(|chain| !chain.starts_with('!') && !chain.contains("||") && last_of(chain))
}

/// The first error that a compiler found, if it found any.
pub(super) fn first_error(found: &Diagnostics) -> Option<String> {
    let first = found.first.as_ref().or(found.summary.as_ref());
    quote(first.filter(|_| found.errors > 0)?)
}
