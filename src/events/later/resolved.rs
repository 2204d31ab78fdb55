//! Open errors: failures of which nothing of the same kind came later.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::outcome::status::CallStatus;
use crate::events::outcome::text::tool_of;
use crate::events::run::ProgramRun;
use crate::events::shell::{is_same_file, last_step};
use crate::events::target::Effect;
use crate::knowledge::errors::ErrorKind;
use crate::knowledge::reading::kind_of;
use crate::knowledge::test_counts::TestCounts;

/// Later calls of one tool, runs of one program or of tests, and edits of files of one name that an error is compared with.
const MAX_LATER: usize = 64;

/// Calls that went well after a failed one that say that it stopped nothing.
const OVERTAKEN: usize = 2;

/// The exit code of what a key or a signal interrupted.
const INTERRUPTED: i32 = 130;

/// Words of an error that say that what was to run is not there.
const MISSING: [&str; 3] = ["command not found", "No module named ", "can't open file"];

/// Later calls, by what they were attempts at.
#[derive(Default)]
pub(crate) struct Later<'a> {
    tests: Vec<TestsRun<'a>>,
    runs: FxHashMap<&'a str, Vec<&'a ProgramRun>>,
    /// The arguments that tools were given, where that went well.
    given: FxHashMap<&'a str, Vec<&'a str>>,
    /// Files that were edited, by the last steps of their names.
    edited: FxHashMap<&'a str, Vec<&'a str>>,
    /// The number of calls that went well.
    went_well: usize,
}

/// Adds one more to those of a name.
fn push<'a, T>(all: &mut FxHashMap<&'a str, Vec<T>>, name: &'a str, one: T) {
    let of_name = all.entry(name).or_default();
    if of_name.len() < MAX_LATER {
        of_name.push(one);
    }
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
        for action in actions.iter().rev() {
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
        // A newer error of a program stands for older ones.
        let deciding = action.deciding_run();
        for run in target.runs.iter().filter(|run| !failed || deciding == Some(run)) {
            push(&mut self.runs, &run.program, run);
        }
        if failed {
            return;
        }
        self.went_well += 1;
        if !target.is_run {
            let (tool, arguments) = arguments(&target.line);
            push(&mut self.given, tool, arguments);
        }
        if target.effect == Effect::Modify
            && !action.changed_nothing
            && let Some(file) = target.file.as_deref()
        {
            push(&mut self.edited, last_step(file), file);
        }
    }

    /// If nothing is left of what failed: it looked for what is not there, somebody refused or ended it, the changes were stashed,
    /// the work went on without it, or something of its kind came later.
    pub(crate) fn resolves(&self, action: &Event) -> bool {
        let (target, outcome) = (&action.target, &action.outcome);
        let error = outcome.error.as_deref().unwrap_or_default();
        let only_looked = action.is_lookup() && kind_of(error) == Some(ErrorKind::NotFound);
        let by_person = outcome.status == CallStatus::Refused && is_of_person(error);
        let is_overtaken = self.went_well >= OVERTAKEN && action.may_be_done_otherwise();
        if only_looked
            || by_person
            || outcome.exit_code == Some(INTERRUPTED)
            || action.ran_without_changes()
            || is_overtaken
        {
            return true;
        }
        if target.is_run && is_of_tests(action) {
            return self.tests.iter().any(|tests| tests.stands_for(action));
        }
        if let Some(run) = action.deciding_run() {
            let same = |later: &&ProgramRun| later.is_at_place_of(run) && !later.is_on_others(run);
            let mut later = self.runs.get(run.program.as_str()).into_iter().flatten();
            return later.any(same) || run.is_of_build() && self.tests.iter().any(|tests| tests.builds(run));
        }
        let file = target.file.as_deref().filter(|_| target.effect == Effect::Modify);
        match file {
            Some(file) => {
                let of_name = self.edited.get(last_step(file)).into_iter().flatten();
                of_name.into_iter().any(|edited| is_same_file(edited, file))
            }
            None => !target.is_run && self.has_given(action),
        }
    }

    /// If a tool that failed went well: with most of the same, or looking for something else where the error names what was wrong.
    fn has_given(&self, action: &Event) -> bool {
        let (tool, given) = arguments(&action.target.line);
        let error = action.outcome.error.as_deref().unwrap_or_default();
        let names = |given: &str, of: fn(&str) -> &str| {
            let mut named = given.split(", ").map(of);
            named.any(|name| !name.is_empty() && error.contains(name))
        };
        let mut later = self.given.get(tool).into_iter().flatten();
        later.any(|later| {
            let is_other = names(given, value_of) || names(later, key_of);
            action.is_lookup() && is_other || is_most_of(tool, given, later, error)
        })
    }
}

/// If an error says that a person refused a call.
fn is_of_person(error: &str) -> bool {
    ["The user ", "the user ", "by user", "by the user"]
        .iter()
        .any(|words| error.contains(words))
}

/// The tool of a line, and what it was given: `card: C1, branch: 22` of `order_card(card: C1, branch: 22)`.
fn arguments(line: &str) -> (&str, &str) {
    let tool = tool_of(line);
    let given = line.get(tool.len()..).unwrap_or_default();
    (tool, given.trim_start_matches('(').trim_end_matches(')'))
}

fn key_of(argument: &str) -> &str {
    argument.split_once(": ").map_or("", |(key, _)| key)
}

fn value_of(argument: &str) -> &str {
    argument.split_once(": ").map_or(argument, |(_, value)| value)
}

/// If a tool was given most of the same, but for what an error names, on the same object.
fn is_most_of(tool: &str, given: &str, later: &str, error: &str) -> bool {
    let is_wrong = |argument: &&str| {
        let key = key_of(argument);
        !key.is_empty() && error.contains(key) || error.contains(value_of(argument))
    };
    let stay: Vec<&str> = given.split(", ").filter(|argument| !is_wrong(argument)).collect();
    let is_same = |argument: &&&str| later.split(", ").any(|later| later == **argument);
    // `reservation_id` is what `cancel_reservation` is about, and the first one what others are.
    let is_named = |argument: &&&str| {
        let name = argument.split(['_', ':']).next();
        name.is_some_and(|name| tool.contains(name))
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
    run: Option<&'a ProgramRun>,
    passed: bool,
}

impl<'a> TestsRun<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        let failed = event.outcome.failed() == Some(true);
        let any_ran = match event.outcome.tests {
            Some(tests) => !tests.ran_none(),
            None => is_of_tests(event) && (failed || has_passed(event)),
        };
        any_ran.then(|| Self {
            event,
            run: event.deciding_run(),
            passed: !failed,
        })
    }

    /// If it tells more than an `earlier` call that failed: it ran as many tests, or passed and names the file that failed.
    fn stands_for(&self, earlier: &Event) -> bool {
        let tests = earlier.outcome.tests;
        let error = earlier.outcome.error.as_deref().unwrap_or_default();
        let is_one = tests.is_none_or(|tests| tests.failed <= Some(1));
        if self.passed && is_one && self.event.target.runs.iter().any(|run| run.is_of_named(error)) {
            return true;
        }
        let own = self.event.outcome.tests;
        let is_of_runner = own
            .zip(tests)
            .is_some_and(|(own, tests)| own.runner == tests.runner);
        // Of runs that count no tests, only those of one program are alike.
        let is_alike = match self.run.zip(earlier.deciding_run()) {
            Some((run, failed)) if run.program == failed.program => {
                run.is_at_place_of(failed) && !run.is_on_others(failed)
            }
            Some((run, failed)) => is_of_runner && run.is_at_place_of(failed),
            None => is_of_runner,
        };
        let ran = |counts: Option<TestCounts>| counts.map(TestCounts::ran);
        is_alike && ran(own).is_none_or(|own| own >= ran(tests).unwrap_or(1))
    }

    /// If tests of the same tool ran where a build failed.
    fn builds(&self, build: &ProgramRun) -> bool {
        let is_same_tool =
            |run: &ProgramRun| run.program.split(' ').next() == build.program.split(' ').next();
        self.passed
            && self
                .run
                .is_some_and(|run| run.is_at_place_of(build) && is_same_tool(run))
    }
}

impl Event {
    /// If the work may go on without what failed: tests that fail and a build that does not end well are not got around.
    pub(crate) fn may_be_done_otherwise(&self) -> bool {
        let outcome = &self.outcome;
        let is_there = |error: &str| !MISSING.iter().any(|words| error.contains(words));
        let is_check = self.checks_code() && outcome.error.as_deref().is_none_or(is_there);
        outcome.tests.is_none() && outcome.diagnostics.is_none() && !is_check
    }

    /// If it checked the code while the changes were stashed.
    pub(crate) fn ran_without_changes(&self) -> bool {
        let runs = &self.target.runs;
        let last = runs.iter().rposition(ProgramRun::checks_code).unwrap_or_default();
        let mut before = runs.iter().take(last).rev();
        let stash = before.find(|run| run.program == "git stash");
        stash.is_some_and(ProgramRun::sets_aside)
    }

    /// The program that decided how a command ended: the tests that failed, or else the last one.
    fn deciding_run(&self) -> Option<&ProgramRun> {
        let mut runs = self.target.runs.iter();
        let failed = self.outcome.tests.is_some_and(TestCounts::fails);
        let of_tests = runs.clone().rfind(|run| run.is_of_tests()).filter(|_| failed);
        of_tests.or_else(|| runs.next_back())
    }
}
