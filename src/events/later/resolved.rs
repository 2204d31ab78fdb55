//! Open errors: failures of which nothing of the same kind came later.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cause::cause_of;
use crate::events::event::Event;
use crate::events::outcome::status::CallStatus;
use crate::events::outcome::text::tool_of;
use crate::events::run::ProgramRun;
use crate::events::shell::last_step;
use crate::events::target::Effect;
use crate::knowledge::errors::ErrorKind;
use crate::knowledge::reading::kind_of;
use crate::knowledge::test_counts::TestCounts;

/// Later runs of tests, or calls of one tool, that an error is compared with.
const MAX_LATER: usize = 64;

/// Calls that went well after a failed one that say that it stopped nothing.
const OVERTAKEN: usize = 2;

/// Later calls, by what they were attempts at.
#[derive(Default)]
pub(crate) struct Later<'a> {
    tests: Vec<TestsRun<'a>>,
    /// Programs that ran.
    programs: FxHashSet<&'a str>,
    /// The arguments that tools were given, where that went well.
    given: FxHashMap<&'a str, Vec<&'a str>>,
    /// The last steps of the names of files that were edited.
    edited: FxHashSet<&'a str>,
    /// The number of calls that went well.
    went_well: usize,
}

/// Closes the errors of which nothing is left at the end.
pub(crate) fn close_resolved(actions: &mut [Event]) {
    // Most regions leave nothing open.
    let Some(first) = actions.iter().position(|action| action.is_open) else {
        return;
    };
    let mut later = Later::default();
    let mut resolved: Vec<usize> = Vec::new();
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        if action.is_open && later.resolves(action) {
            resolved.push(index);
        }
        later.note(action);
    }
    for index in resolved {
        if let Some(action) = actions.get_mut(index) {
            action.is_open = false;
        }
    }
}

/// Returns true if an action that ran tests shows that they passed.
pub(crate) fn has_passed(action: &Event) -> bool {
    let outcome = &action.outcome;
    let ran_none = |said: &str| said.contains("no tests") || said.contains("Ran 0 tests");
    match (&outcome.result, outcome.tests) {
        (Some(said), _) if ran_none(said) => false,
        (_, Some(tests)) => tests.any_passed(),
        // Of a pipe it is the last program's.
        _ => outcome.exit_code == Some(0) && !action.target.runs.iter().any(|run| run.is_piped),
    }
}

impl<'a> Later<'a> {
    pub(crate) fn of(actions: &'a [Event]) -> Self {
        let mut later = Self::default();
        for action in actions {
            later.note(action);
        }
        later
    }

    fn note(&mut self, action: &'a Event) {
        if !action.is_answered {
            return;
        }
        let target = &action.target;
        let failed = action.outcome.failed() == Some(true);
        if self.tests.len() < MAX_LATER {
            self.tests.extend(TestsRun::of(action));
        }
        // What a tool was given is another thing each time, what a program runs on mostly the same.
        let runs = target
            .runs
            .iter()
            .filter(|run| !failed || action.deciding_run() == Some(run));
        self.programs.extend(runs.map(|run| run.program.as_str()));
        if failed {
            return;
        }
        self.went_well += 1;
        if !target.is_run {
            let (tool, arguments) = arguments(&target.line);
            let given = self.given.entry(tool).or_default();
            if given.len() < MAX_LATER {
                given.push(arguments);
            }
        }
        if target.effect == Effect::Modify && !action.changed_nothing {
            self.edited.extend(target.file.as_deref().map(last_step));
        }
    }

    /// If nothing is left of what failed: it looked for what is not there, a person refused it, the work went on
    /// without it, or something of its kind came later.
    pub(crate) fn resolves(&self, action: &Event) -> bool {
        let (target, outcome) = (&action.target, &action.outcome);
        let is_missing = |error: &str| kind_of(error) == Some(ErrorKind::NotFound);
        let only_looked = action.is_lookup() && outcome.error.as_deref().is_some_and(is_missing);
        let by_person = |error: &str| outcome.status == CallStatus::Refused && error.contains("user");
        let is_overtaken = self.went_well >= OVERTAKEN && action.may_be_done_otherwise();
        if only_looked || is_overtaken || outcome.error.as_deref().is_some_and(by_person) {
            return true;
        }
        // What fails without the changes is none of the work's.
        if target.runs.iter().any(ProgramRun::sets_aside) {
            return true;
        }
        if is_of_tests(action) {
            return self.tests.iter().any(|run| run.stands_for(action));
        }
        if let Some(run) = action.deciding_run() {
            let is_built = run.is_of_build() && !self.tests.is_empty();
            return is_built || self.programs.contains(run.program.as_str());
        }
        let file = target.file.as_deref().filter(|_| target.effect == Effect::Modify);
        file.map_or_else(
            || !target.is_run && self.has_given(action),
            |file| self.edited.contains(last_step(file)),
        )
    }

    /// If a tool that failed went well: a lookup with anything, others with most of the same.
    fn has_given(&self, action: &Event) -> bool {
        let (tool, given) = arguments(&action.target.line);
        let error = action.outcome.error.as_deref().unwrap_or_default();
        let mut later = self.given.get(tool).into_iter().flatten();
        later.any(|later| action.is_lookup() || is_most_of(tool, given, later, error))
    }
}

/// The tool of a line, and what it was given: `card: C1, branch: 22` of `order_card(card: C1, branch: 22)`.
fn arguments(line: &str) -> (&str, &str) {
    let tool = tool_of(line);
    let given = line.get(tool.len()..).unwrap_or_default();
    (tool, given.trim_start_matches('(').trim_end_matches(')'))
}

/// If a tool was given most of the same, but for what an error names, on the same object.
fn is_most_of(tool: &str, given: &str, later: &str, error: &str) -> bool {
    let is_wrong = |argument: &&str| match argument.split_once(": ") {
        Some((key, value)) => error.contains(key) || error.contains(value),
        None => error.contains(*argument),
    };
    let stay: Vec<&str> = given.split(", ").filter(|argument| !is_wrong(argument)).collect();
    let is_same = |argument: &&&str| later.split(", ").any(|later| later == **argument);
    // `reservation_id` is what `cancel_reservation` is about, and the first one what others are.
    let is_named = |argument: &&&str| {
        argument
            .split(['_', ':'])
            .next()
            .is_some_and(|name| tool.contains(name))
    };
    let object = stay.iter().find(is_named).or(stay.first());
    object.is_some_and(|object| is_same(&object)) && 2 * stay.iter().filter(is_same).count() > stay.len()
}

/// If tests failed in a call, or were to run there: where they passed another program failed.
fn is_of_tests(action: &Event) -> bool {
    let is_to_run = || action.deciding_run().is_some_and(ProgramRun::is_of_tests);
    action.outcome.tests.map_or_else(is_to_run, TestCounts::fails)
}

/// Tests that ran to an end.
struct TestsRun<'a> {
    event: &'a Event,
    /// The number of tests; all where it is not known.
    ran: u32,
}

impl<'a> TestsRun<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        let failed = event.outcome.failed() == Some(true);
        let ran = match event.outcome.tests {
            Some(tests) if !tests.ran_none() => tests.ran(),
            _ if is_of_tests(event) && (failed || has_passed(event)) => u32::MAX,
            _ => return None,
        };
        Some(Self { event, ran })
    }

    /// If it tells more than an earlier one that failed: it ran as many tests, or passed and names the file that failed.
    fn stands_for(&self, earlier: &Event) -> bool {
        let error = earlier.outcome.error.as_deref().unwrap_or_default();
        let passed = self.event.outcome.failed() != Some(true);
        if passed && self.event.target.runs.iter().any(|run| run.is_of_named(error)) {
            return true;
        }
        let is_other = |(run, earlier): (&ProgramRun, &ProgramRun)| {
            !run.is_at_place_of(earlier) || run.is_on_others(earlier)
        };
        let runs = self.event.deciding_run().zip(earlier.deciding_run());
        self.ran >= earlier.outcome.tests.map_or(1, TestCounts::ran) && !runs.is_some_and(is_other)
    }
}

impl Event {
    /// If the work may go on without what failed: tests that fail and a build that does not end well are not got around.
    pub(crate) fn may_be_done_otherwise(&self) -> bool {
        let outcome = &self.outcome;
        let is_check = self.checks_code() && cause_of(self).is_none();
        outcome.tests.is_none() && outcome.diagnostics.is_none() && !is_check
    }

    /// The program that decided how a command ended: the tests that failed, or else the last one.
    fn deciding_run(&self) -> Option<&ProgramRun> {
        let mut runs = self.target.runs.iter();
        let failed = self.outcome.tests.is_some_and(TestCounts::fails);
        let of_tests = runs.clone().rfind(|run| run.is_of_tests()).filter(|_| failed);
        of_tests.or_else(|| runs.next_back())
    }
}
