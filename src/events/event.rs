//! Events: a tool call, how it ended, what it did to which files, and what came of it later.

use super::outcome::status::Outcome;
use super::outcome::text::tool_of;
use super::run::ProgramRun;
use super::shell::Touch;
use super::source::SourceTurn;
use super::target::{Effect, Target};
use super::tools::is_verb;
use crate::knowledge::test_counts::TestCounts;
use crate::knowledge::tool_names::{acts, is_lookup};

/// The number of the first call of a region: calls that an earlier summary tells stand before it.
pub(crate) const FIRST_NUMBER: usize = 256;

/// Redirections that are written with `&`.
const REDIRECTIONS: [&str; 5] = ["2>&1", "1>&2", ">&2", "&>>", "&>"];

/// If a command is several ones of which each ran because those before it went well: `a && b 2>&1 | tail`.
fn is_chain(command: &str) -> bool {
    let mut plain = without_quoted(command);
    for redirection in REDIRECTIONS {
        plain = plain.replace(redirection, "");
    }
    let before = plain.rsplit_once("&&").map_or("", |(before, _)| before);
    !before.contains('|') && !plain.contains("||") && !plain.replace("&&", "").contains([';', '\n', '&'])
}

/// A command without what stands in quotes.
fn without_quoted(command: &str) -> String {
    let mut quote = None;
    command
        .chars()
        .filter(|sign| match (quote, sign) {
            (None, '\'' | '"') => {
                quote = Some(*sign);
                false
            }
            (Some(open), _) => {
                quote = quote.filter(|_| open != *sign);
                false
            }
            (None, _) => true,
        })
        .collect()
}

/// A tool call and how it ended.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Event {
    /// Place among all calls, earlier runs too, behind `FIRST_NUMBER`.
    pub number: usize,
    /// Place among the turns.
    pub turn: usize,
    /// Place among the calls of that turn.
    pub call: usize,
    /// The tool and what it was used on, in one line.
    pub target: Target,
    /// The outcome, of the last run where it was repeated.
    pub outcome: Outcome,
    /// The steps on files that it carried out, in order: first those of earlier runs.
    pub touches: Vec<Touch>,
    /// The number of those of earlier runs.
    pub earlier_touches: usize,
    /// The answer of its own: the turn, and which one of that.
    pub answered_at: Option<(usize, usize)>,
    /// It has an answer.
    pub is_answered: bool,
    /// It has none, and the turns went on.
    pub is_unanswered: bool,
    /// Number of runs.
    pub times: usize,
    /// Number of runs that failed.
    pub failures: usize,
    /// No run changed anything, though it was to.
    pub changed_nothing: bool,
    /// It failed, and no later run of the same succeeded.
    pub is_open: bool,
    /// A later call changed what it looked up, or took out a line that it put in.
    pub is_outdated: bool,
    /// The line that an earlier edit of its file put in, where its own shows nothing.
    pub put_in_before: Option<String>,
    /// The place of the same call later, among the events, which tells of this one as well.
    pub superseded_by: Option<usize>,
}

impl Event {
    /// The steps on files of this run alone.
    pub fn own_touches(&self) -> &[Touch] {
        self.touches.get(self.earlier_touches..).unwrap_or_default()
    }

    /// Its answer, among these turns.
    pub fn answer<'t>(&self, turns: &'t [SourceTurn<'_>]) -> Option<&'t str> {
        let (turn, place) = self.answered_at?;
        let (_, answer) = turns.get(turn)?.answers.get(place)?;
        Some(answer)
    }

    /// If it ran code or scripts, or an installer, and neither tests nor a program of the repository.
    pub fn runs_code(&self) -> bool {
        let (target, outcome) = (&self.target, &self.outcome);
        let mut runs = target.runs.iter();
        let only_code = runs.all(|run| run.is_of_script() || run.is_of_installer());
        target.is_run && target.effect == Effect::Other && only_code && outcome.tests.is_none()
    }

    /// If it tried something out: tests, a build, or code.
    pub fn is_trial(&self) -> bool {
        self.outcome.tests.is_some() || self.outcome.diagnostics.is_some() || self.runs_code()
    }

    /// The programs that have to run once more until it is known whether it still fails: of tests that failed behind a build or `&&` the tests alone.
    pub fn runs_that_count(&self) -> impl Iterator<Item = &ProgramRun> {
        let failed = self.outcome.tests.is_some_and(TestCounts::fails);
        let runs = &self.target.runs;
        let has_tests = failed && runs.iter().any(ProgramRun::is_of_tests);
        // What stands before `&&` went well.
        let command = self.target.command.as_deref().unwrap_or(";");
        let is_chain = is_chain(command);
        let only_tests = has_tests
            && (is_chain
                || runs
                    .iter()
                    .all(|run| run.is_of_tests() || run.is_of_build() || run.is_piped));
        runs.iter().filter(move |run| !only_tests || run.is_of_tests())
    }

    /// If it compiled code or looked for faults in it, whatever it printed.
    pub fn checks_code(&self) -> bool {
        self.target.runs.iter().any(ProgramRun::checks_code)
    }

    /// If its exit code is that of another program than one that ran code or looked for faults in it: behind a pipe or a semicolon.
    pub fn hides_end(&self) -> bool {
        let runs = &self.target.runs;
        let is_chain = || is_chain(self.target.command.as_deref().unwrap_or(";"));
        let mut numbered = runs.iter().enumerate();
        numbered.any(|(number, run)| {
            let is_before = || number + 1 < runs.len() && !is_chain();
            (run.checks_code() || run.is_of_script()) && (run.is_piped || is_before())
        })
    }

    /// If the call was to change nothing.
    pub fn is_lookup(&self) -> bool {
        let target = &self.target;
        target.effect == Effect::Read || target.effect == Effect::Other && is_lookup(tool_of(&target.line))
    }

    /// If the call changed something where its tool or program acts, as the name says: no file.
    pub fn acts(&self) -> bool {
        let target = &self.target;
        let acts_by_name = || {
            if target.is_run {
                target.runs.iter().any(ProgramRun::acts)
            } else {
                acts(tool_of(&target.line))
            }
        };
        target.effect == Effect::Other && acts_by_name()
    }

    /// If neither the line of the call nor its answer tells what was worked on: a click on a place of a screen, or of a page that stays.
    pub fn is_wordless(&self) -> bool {
        let target = &self.target;
        let Some((_, arguments)) = target.line.split_once('(') else {
            return false;
        };
        let is_wordless = |argument: &str| {
            let (name, value) = argument.split_once([':', '=']).unwrap_or(("", argument));
            is_verb(name.trim()) || !value.contains(char::is_alphabetic)
        };
        target.effect == Effect::Other
            && !target.is_run
            && target.beside.is_none()
            && (self.outcome.result.is_none() || self.outcome.is_page)
            && arguments.trim_end_matches(')').split(", ").all(is_wordless)
    }
}
