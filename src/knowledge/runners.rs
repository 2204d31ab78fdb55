//! Test runners, compilers and linters: how they report passed and failed tests, errors and warnings.

use std::sync::LazyLock;

use serde::Deserialize;

use super::found::LiteralHits;
use super::pattern::{LazyPattern, Match};
use super::table::LineTable;
use super::test_counts::{TestCounts, number};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunnerTable {
    test_words: Vec<String>,
    tests: Vec<Runner>,
    diagnostics: Vec<Compiler>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runner {
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    name: String,
    /// Programs that start it, alone or with their subcommand.
    programs: Vec<String>,
    /// Literals near the end of an output for which the row is tried.
    holds: Vec<String>,
    /// Literals of failures that stand after the counts: with one near the end, the counts may stand anywhere before it.
    #[serde(default)]
    failures_hold: Vec<String>,
    /// Patterns of the lines with its counts; the first must be found.
    counts: Vec<LazyPattern>,
    /// Counts of all lines are added up: there is one for each part.
    #[serde(default)]
    add: bool,
    /// It is a program's own verdict in words, which any error in the same output outweighs.
    #[serde(default)]
    verdict: bool,
    /// Patterns of the line of a failing test, the most informative one first.
    #[serde(default)]
    failing: Vec<LazyPattern>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    examples: Vec<TestExample>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
struct TestExample {
    output: String,
    passed: Option<u32>,
    failed: Option<u32>,
    failing: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compiler {
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    name: String,
    holds: Vec<String>,
    /// The line of an error.
    error: LazyPattern,
    /// The line of a warning.
    warning: Option<LazyPattern>,
    /// The line that counts them, which outranks their lines.
    summary: Option<LazyPattern>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
    examples: Vec<DiagnosticExample>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the table's test reads it"))]
struct DiagnosticExample {
    output: String,
    errors: u32,
    #[serde(default)]
    warnings: u32,
}

/// The outcome of a test run, as its runner printed it.
pub(crate) struct TestRun<'t> {
    pub counts: TestCounts,
    /// The counts are a verdict in words.
    pub is_verdict: bool,
    /// Number of runs of which the lines tell the last one alone.
    pub runs: usize,
    /// Number of parts, each counted in a line of its own, that the counts add up.
    pub parts: usize,
    /// The lines with the counts: of several runs those of the last one, and of one that failed before.
    pub lines: Vec<&'t str>,
    /// The line of the first test that failed, where the runner has one.
    pub failing: Option<&'t str>,
}

/// Errors and warnings of a compiler or a linter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Diagnostics {
    pub errors: u32,
    pub warnings: u32,
    /// The line of the first error, or of the first warning where there is none.
    pub first: Option<String>,
    /// The line that counts them.
    pub summary: Option<String>,
}

static TABLE: LazyLock<RunnerTable> = LazyLock::new(|| super::table(include_str!("runners.toml")));

/// The literals of all rows.
pub(super) fn literals() -> impl Iterator<Item = (LineTable, usize, &'static str)> {
    let of = |table, number, holds: &'static [String]| {
        holds.iter().map(move |text| (table, number, text.as_str()))
    };
    let tests = TABLE.tests.iter().enumerate();
    let runners = tests.flat_map(move |(number, row)| {
        of(LineTable::Runners, number, &row.holds).chain(of(LineTable::Runners, number, &row.failures_hold))
    });
    let compilers = TABLE.diagnostics.iter().enumerate();
    runners.chain(compilers.flat_map(move |(number, row)| of(LineTable::Compilers, number, &row.holds)))
}

/// The programs that start test runners, alone or with their subcommand.
pub(crate) fn test_programs() -> impl Iterator<Item = &'static str> {
    TABLE
        .tests
        .iter()
        .flat_map(|row| &row.programs)
        .map(String::as_str)
}

/// Words in the names of a project's own programs, targets and subcommands that run tests.
pub(crate) fn test_words() -> impl Iterator<Item = &'static str> {
    TABLE.test_words.iter().map(String::as_str)
}

/// The rows of a table that stand in `found`, in its order.
fn candidates<'f, 't: 'f>(
    found: impl IntoIterator<Item = &'f LiteralHits<'t>>,
    table: LineTable,
) -> Vec<usize> {
    let hits = found.into_iter().flat_map(|found| found.of(table));
    let mut rows: Vec<usize> = hits.map(|(row, _)| row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The test run whose counts stand near the end of an output: at `edge` or later, which is where `found` was read from.
pub(crate) fn test_run<'t>(body: &'t str, edge: usize, found: &LiteralHits<'_>) -> Option<TestRun<'t>> {
    let mut rows = candidates([found], LineTable::Runners).into_iter();
    rows.find_map(|row| {
        let mut run = TABLE.tests.get(row)?.run(body, edge)?;
        run.counts.runner = Some(row);
        Some(run)
    })
}

/// The errors and warnings of a compiler or a linter, where its lines stand in the edges of an output.
pub(crate) fn diagnostics(body: &str, edges: &[LiteralHits<'_>; 2]) -> Option<Diagnostics> {
    let mut rows = candidates(edges, LineTable::Compilers).into_iter();
    rows.find_map(|row| TABLE.diagnostics.get(row)?.found(body))
}

impl Runner {
    fn run<'t>(&self, body: &'t str, edge: usize) -> Option<TestRun<'t>> {
        let (key, others) = self.counts.split_first()?;
        let runs: Vec<Match<'t>> = key.all(body).collect();
        let last = runs.last()?;
        if last.end() < edge && self.failures_hold.is_empty() {
            return None;
        }
        let (mut counts, mut ran) = TestCounts::of(last);
        let mut lines = vec![last.whole().trim()];
        for other in others {
            let Some(more) = other.all(body).last() else {
                continue;
            };
            let (more_counts, more_ran) = TestCounts::of(&more);
            counts.add(more_counts);
            // What was skipped may stand beside the failures, and not beside the total.
            let skipped = number(&more, "skipped").unwrap_or(0);
            ran = ran.map(|ran| ran.saturating_sub(skipped)).or(more_ran);
            let line = more.whole().trim();
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let earlier = runs.get(..runs.len() - 1).unwrap_or_default();
        if self.add {
            for run in earlier {
                counts.add(TestCounts::of(run).0);
            }
        }
        if counts.failed.is_none() && (ran.is_some() || counts.passed.is_some()) {
            counts.failed = Some(0);
        }
        if let (None, Some(ran), Some(failed)) = (counts.passed, ran, counts.failed) {
            counts.passed = Some(ran.saturating_sub(failed));
        }
        // The last line may be a total, but not where it counts fewer than one before.
        let is_total = self.add
            || earlier
                .iter()
                .all(|run| TestCounts::total(run) <= TestCounts::total(last));
        let mut alone = if is_total { 1 } else { runs.len() };
        // Of several runs, one that failed is not made good by the last one.
        if !TestCounts::of(last).0.fails()
            && others.is_empty()
            && let Some(failing) = earlier.iter().find(|run| TestCounts::of(run).0.fails())
        {
            counts.failed = counts.failed.max(TestCounts::of(failing).0.failed);
            lines.insert(0, failing.whole().trim());
            alone = 1;
        }
        let mut failing = self.failing.iter().filter(|_| counts.fails());
        let failing = failing.find_map(|line| line.texts(body).next());
        // One that only names what passed counts no tests.
        let is_number = |run: &Match<'_>| {
            ["passed", "failed"]
                .iter()
                .all(|group| run.named(group).is_some())
        };
        let parts = runs.len() * usize::from(self.add && runs.iter().all(is_number));
        Some(TestRun {
            is_verdict: self.verdict,
            counts,
            runs: alone,
            parts,
            lines,
            failing,
        })
    }
}

impl Compiler {
    fn found(&self, body: &str) -> Option<Diagnostics> {
        let mut found = Diagnostics::default();
        let lines = |pattern: Option<&LazyPattern>| {
            let all = pattern.into_iter().flat_map(|pattern| pattern.texts(body));
            all.map(str::trim).collect::<Vec<&str>>()
        };
        let errors = lines(Some(&self.error));
        let warnings = lines(self.warning.as_ref());
        let first = errors.first().or(warnings.first());
        found.first = first.map(|line| (*line).to_owned());
        let count = |lines: &[&str]| u32::try_from(lines.len()).unwrap_or(u32::MAX);
        (found.errors, found.warnings) = (count(&errors), count(&warnings));
        let summary = self.summary.as_ref().and_then(|summary| summary.all(body).last());
        if let Some(summary) = summary {
            found.errors = number(&summary, "errors").unwrap_or(found.errors);
            found.warnings = number(&summary, "warnings").unwrap_or(found.warnings);
            found.summary = Some(summary.whole().trim().to_owned());
        }
        (found.errors + found.warnings > 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked() -> RunnerTable {
        toml::from_str(include_str!("runners.toml")).unwrap()
    }

    #[test]
    fn every_runner_is_known_by_its_examples() {
        let table = checked();
        assert!(table.tests.len() >= 20);
        for row in &table.tests {
            assert!(
                row.counts.iter().all(|pattern| pattern.regex().is_some()),
                "{}",
                row.name
            );
            let is_found = |pattern: &LazyPattern| {
                let mut lines = row
                    .examples
                    .iter()
                    .filter_map(|example| example.failing.as_deref());
                lines.any(|line| pattern.texts(line).any(|text| text == line))
            };
            assert!(row.failing.iter().all(is_found), "{}", row.name);
            assert!(!row.examples.is_empty(), "{}", row.name);
            for example in &row.examples {
                let body = example.output.trim_end();
                let run = test_run(body, 0, &LiteralHits::read(body))
                    .unwrap_or_else(|| panic!("{}: {body}", row.name));
                let counts = TestCounts {
                    passed: example.passed,
                    failed: example.failed,
                    runner: run.counts.runner,
                };
                assert_eq!(run.counts, counts, "{}: {body}", row.name);
                assert_eq!(run.failing, example.failing.as_deref(), "{}: {body}", row.name);
            }
        }
    }

    #[test]
    fn of_several_runs_the_last_line_is_told_as_that_unless_it_may_be_a_total() {
        for (body, runs) in [
            ("== 24 passed in 0.1s ==\n== 18 passed in 0.1s ==", 2),
            ("== 18 passed in 0.1s ==", 1),
            ("== 3 passed in 0.1s ==\n== 18 passed in 0.1s ==", 1),
            ("== 2 failed, 24 passed in 0.1s ==\n== 18 passed in 0.1s ==", 1),
        ] {
            let run = test_run(body, 0, &LiteralHits::read(body)).unwrap();
            assert_eq!(run.runs, runs, "{body}");
        }
    }

    #[test]
    fn counts_before_failures_are_found_however_many_failed() {
        let failures = [
            (
                "1 success / 40 failures / 2 errors / 0 pending : 0.012 seconds",
                "\nFailure → spec/calc_spec.lua @ 12\ncalc adds\nspec/calc_spec.lua:14: Expected objects to be equal.\n",
                (1, 42),
            ),
            (
                "  5 passing (12ms)\n  40 failing",
                "\n  1) adds:\n     Error: bad\n      at Context.<anonymous> (a.spec.js:9:5)\n",
                (5, 40),
            ),
            (
                "41 examples, 40 failures",
                "rspec ./spec/a_spec.rb:5 # A adds\n",
                (1, 40),
            ),
        ];
        for (counts, failure, (passed, failed)) in failures {
            let body = format!("..\n{counts}\n\n{}", failure.repeat(40));
            let edge = body.len() - failure.len();
            let run = test_run(&body, edge, &LiteralHits::read(failure)).unwrap();
            let expected = TestCounts {
                passed: Some(passed),
                failed: Some(failed),
                runner: run.counts.runner,
            };
            assert_eq!(run.counts, expected, "{counts}");
            // Where something else stands at the end, the counts are of an earlier run.
            assert!(test_run(&body, edge, &LiteralHits::read("done")).is_none());
        }
    }

    #[test]
    fn every_compiler_is_known_by_its_examples() {
        let table = checked();
        assert!(table.diagnostics.len() >= 12);
        for row in &table.diagnostics {
            let patterns = [Some(&row.error), row.warning.as_ref(), row.summary.as_ref()];
            assert!(
                patterns
                    .into_iter()
                    .flatten()
                    .all(|pattern| pattern.regex().is_some()),
                "{}",
                row.name
            );
            assert!(!row.examples.is_empty(), "{}", row.name);
            for example in &row.examples {
                let body = example.output.trim_end();
                let found =
                    diagnostics(body, &[LiteralHits::read(body), LiteralHits::default()]).unwrap_or_default();
                assert_eq!(
                    (found.errors, found.warnings),
                    (example.errors, example.warnings),
                    "{}: {body}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn talk_of_tests_is_no_run() {
        for text in [
            "3 failing tests were there",
            "12 examples of it",
            "OK",
            "  7 passing by",
            "   475\tUsed specifically for errors in setting to units",
            "Tests: none",
            "2 passed the exam in May",
        ] {
            assert!(test_run(text, 0, &LiteralHits::read(text)).is_none(), "{text}");
        }
    }
}
