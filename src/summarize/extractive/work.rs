//! Lines for what was done: calls with their outcomes, errors still open.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::{Candidate, LineLimits, Section, order};
use super::verdicts::{LAST_LINE, Verdicts};
use crate::events::event::Event;
use crate::events::files::end_states::EndStates;
use crate::events::later::resolved::has_passed;
use crate::events::line::shortened;
use crate::events::outcome::status::{CallStatus, Outcome};
use crate::events::outcome::text::tool_of;
use crate::events::run::ProgramRun;
use crate::events::shell::Step;
use crate::events::target::Effect;
use crate::knowledge::test_counts::TestCounts;
use crate::knowledge::tool_names::is_handoff;

/// Errors still open that are told at most.
const MAX_OPEN: usize = 8;

/// Newest calls that an earlier one is compared with, so that the time stays linear.
const MAX_LATER: usize = 256;

/// The runs of calls that an earlier summary tells, by the line of the call: how many, and how many of them failed.
pub(super) type RunsBefore = FxHashMap<String, (usize, usize)>;

/// A line for each call that did something; failing, changing and late ones are worth most. What was only looked at stands in
/// quotations, in the files read, and in identifiers.
pub(super) fn done(
    actions: &[Event],
    verdicts: &Verdicts,
    before: &RunsBefore,
    files: &EndStates,
    limits: LineLimits,
    candidates: &mut Vec<Candidate>,
) {
    let count = actions.len().max(1) as f64;
    let open = open(actions, files);
    let is_handoff = |action: &Event| is_handoff(tool_of(&action.target.line));
    let handed_last = actions.iter().rposition(is_handoff);
    for (number, action) in actions.iter().enumerate() {
        let is_told = open.iter().any(|(other, _)| *other == number);
        let says_nothing = says_nothing(action) && !verdicts.has(action);
        // What a call printed may stand in a quotation; without it the line of one that changed nothing tells nothing.
        let ending = ending(action, limits);
        let is_silent = action.outcome.is_only_counted() || ending.is_empty();
        let is_untold = says_nothing && !action.acts() && is_silent;
        let is_looked_at =
            is_untold || says_nothing && action.is_lookup() || action.target.effect == Effect::Read;
        let is_passed_on = is_handoff(action) && Some(number) < handed_last;
        // The file stands among those that were changed, and the line in it, or the value, no more.
        let is_gone = action.is_outdated && !action.is_lookup();
        let is_bare = is_bare_edit(action) && ending == "ok";
        let is_needless = is_told || is_looked_at || is_passed_on || is_gone || is_bare || prepares(action);
        let later = actions.get(number + 1..).unwrap_or_default();
        if is_needless || was_overtaken(action, later, files) || files.is_overtaken(action) {
            continue;
        }
        let mut text = line_of_call(action, before, files, limits);
        verdicts.push_on(action, &mut text);
        let lateness = (number + 1) as f64 / count;
        let failed = action.outcome.failed() == Some(true);
        let (base, late) = match action.target.effect {
            // How many lines were printed tells nothing of them: such a call is told only for the identifiers in its line, or for what it
            // changed.
            // The words before it tell what it was for.
            _ if action.is_wordless() && action.outcome.is_page => (0.0, 0.0),
            _ if says_nothing => {
                if action.acts() {
                    (1.0, 1.0)
                } else {
                    (0.0, 0.0)
                }
            }
            Effect::Modify => (2.2, 2.0),
            // However late, what was looked up changed nothing.
            _ if action.is_lookup() => (0.9, 1.0),
            _ => (2.0, 2.0),
        };
        let value = base
            + if failed { 0.8 } else { 0.0 }
            + late * lateness * lateness
            + if action.is_open { 0.5 } else { 0.0 };
        candidates.push(Candidate {
            section: Section::Calls,
            order: order_of_call(action, number),
            text,
            value,
        });
    }
}

/// If a call failed and the work went on without it, mended or tried another way, or `later` runs cover its own.
pub(super) fn was_overtaken(action: &Event, later: &[Event], files: &EndStates) -> bool {
    let failed = action.outcome.failed() == Some(true);
    if failed && !action.is_open && (action.times == 1 || action.may_be_done_otherwise()) {
        return true;
    }
    let later = later
        .get(later.len().saturating_sub(MAX_LATER)..)
        .unwrap_or_default();
    // What was tried out before an edit may be otherwise after it.
    let is_tried_again = || {
        let edits =
            |later: &&Event| later.target.effect == Effect::Modify && !files.only_makes(&later.touches);
        let went_well = |later: &&Event| later.is_answered && later.outcome.failed() != Some(true);
        let mut after = later.iter().filter(went_well).skip_while(|later| !edits(later));
        after.next().is_some() && after.any(Event::runs_code)
    };
    action.runs_code() && is_tried_again() || is_covered(action, later)
}

/// If a call did nothing but to run programs, and `later` runs cover all of its own.
fn is_covered(action: &Event, later: &[Event]) -> bool {
    let covers = |run: &ProgramRun| {
        let runs = later.iter().filter(|later| later.is_answered);
        let is_checked = run.is_of_tests() || run.is_of_build();
        let mut runs = runs.filter(|later| !is_checked || later.outcome.ran_tests() || has_passed(later));
        runs.any(|later| later.target.runs.iter().any(|later| later.covers(run)))
    };
    let mut touches = action.touches.iter();
    !action.target.runs.is_empty()
        && touches.all(|touch| matches!(touch.step, Step::Run | Step::Read))
        && action.runs_that_count().all(covers)
}

/// If a call only set up what the calls after it ran.
pub(super) fn prepares(action: &Event) -> bool {
    let mut runs = action.target.runs.iter().peekable();
    let installs = runs.peek().is_some() && runs.all(ProgramRun::is_of_installer);
    action.target.is_setup || installs && action.outcome.failed() != Some(true)
}

/// If a call edited a file, and nothing is known of what: the file stands among those that were changed.
pub(super) fn is_bare_edit(action: &Event) -> bool {
    let target = &action.target;
    let is_shown = target.puts_in.is_some() || action.put_in_before.is_some() || target.beside.is_some();
    target.effect == Effect::Modify && target.file.is_some() && !target.is_run && !is_shown
}

/// If nothing but a number of lines or records is known of what came back, and nothing was changed.
fn says_nothing(action: &Event) -> bool {
    let outcome = &action.outcome;
    let is_told = outcome.result.is_some() && !outcome.is_only_counted();
    let is_known = is_told || outcome.hit.is_some() || outcome.failed() == Some(true);
    let is_shown = outcome.lines > 0
        || outcome.is_only_counted()
        || action.target.effect == Effect::Read && outcome.exit_code.is_some();
    action.is_answered && is_shown && !is_known && action.target.effect != Effect::Modify
}

/// If an outcome holds lines, and none of them says how the call ended.
fn shows_only_lines(outcome: &Outcome) -> bool {
    outcome.failed().is_none() && outcome.lines > 0 && !outcome.says_done
}

/// If an output was printed that does not say the result.
fn tells_no_result(outcome: &Outcome) -> bool {
    outcome.lines > 0 && outcome.result.is_none()
}

/// If a call that ended with code 0 shows nothing of how what it ran went.
fn says_no_end(action: &Event) -> bool {
    let outcome = &action.outcome;
    let is_silent = outcome.result.is_none() && outcome.tests.is_none() && outcome.diagnostics.is_none();
    let asks_server = action.target.runs.last().is_some_and(ProgramRun::asks_server);
    asks_server || action.runs_code() && tells_no_result(outcome) || is_silent && action.hides_end()
}

/// The time of a call, after the words of its turn.
pub(super) fn order_of_call(call: &Event, number: usize) -> usize {
    order(call.turn, number + 1)
}

/// A call as `label`, and how this run of it ended.
pub(super) fn line_of_run(action: &Event, label: &str, limits: LineLimits) -> String {
    let mut text = label.to_owned();
    push_beside(action, &mut text);
    let ending = ending(action, limits);
    if !ending.is_empty() {
        text.push_str(" -> ");
        text.push_str(&ending);
    }
    text
}

/// The ending of a call that nothing answers, though the turns went on: a person stopped it, say.
pub(super) const NO_ANSWER: &str = "no answer";

/// Appends what other turns tell of a call's target.
fn push_beside(action: &Event, text: &mut String) {
    if let Some(beside) = &action.target.beside {
        let _ = write!(text, " ({beside})");
    }
}

/// A call, how often, and how it ended; of an edit the first line that it put in.
fn line_of_call(action: &Event, before: &RunsBefore, files: &EndStates, limits: LineLimits) -> String {
    let ending = ending(action, limits);
    let label = &action.target.line;
    let (times, failures) = before.get(label.as_str()).copied().unwrap_or_default();
    let times = times.saturating_add(action.times);
    let failures = failures.saturating_add(action.failures);
    let mut text = String::with_capacity(label.len() + ending.len() + 32);
    text.push_str(label);
    push_beside(action, &mut text);
    // Of edits it is not known how many of them are left.
    let is_edit = action.target.effect == Effect::Modify && !action.target.is_run;
    let is_counted = !is_edit || action.outcome.failed() == Some(true);
    if times > 1 && is_counted {
        let _ = match (failures, times) {
            (failures, times) if [0, times].contains(&failures) => write!(text, " (x{times})"),
            // The last one went otherwise.
            (failures, times) if action.outcome.failed() != Some(true) => {
                write!(text, " (x{times}, {failures} failed earlier)")
            }
            (failures, times) => write!(text, " (x{times}, {failures} failed)"),
        };
    }
    if let Some(mark) = files.mark_of(action) {
        let _ = write!(text, " ({mark})");
    }
    if !ending.is_empty() {
        text.push_str(" -> ");
        text.push_str(&ending);
    }
    let put_in = action.target.puts_in.as_ref().or(action.put_in_before.as_ref());
    push_line_put_in(action, put_in, &mut text, limits);
    text
}

/// Appends what an edit that went well put in.
pub(super) fn push_put_in(action: &Event, text: &mut String, limits: LineLimits) {
    push_line_put_in(action, action.target.puts_in.as_ref(), text, limits);
}

fn push_line_put_in(action: &Event, put_in: Option<&String>, text: &mut String, limits: LineLimits) {
    let put_in = put_in.filter(|_| action.is_answered && action.outcome.failed() != Some(true));
    if let Some(line) = put_in.and_then(|line| shortened(line, limits.line)) {
        text.push_str(": ");
        text.push_str(&line);
    }
}

/// The outcome of an action in a few words; empty if its answer stands after the region.
fn ending(action: &Event, limits: LineLimits) -> String {
    let outcome = &action.outcome;
    if action.is_unanswered {
        return NO_ANSWER.to_owned();
    }
    if !action.is_answered {
        return String::new();
    }
    let ran_none = || outcome.tests.is_some_and(TestCounts::ran_none);
    let mut text = match (outcome.exit_code, outcome.failed()) {
        (Some(0), Some(true)) => "exit 0 with an error".to_owned(),
        // That went well as far as the program goes, whatever it was to show.
        (Some(0), _) if outcome.is_marked || ran_none() || says_no_end(action) => "exit 0".to_owned(),
        (Some(0), _) => "ok".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, _) if outcome.status == CallStatus::Partly => "failed in part".to_owned(),
        (None, Some(true)) => "failed".to_owned(),
        _ => String::new(),
    };
    let is_modify = action.target.effect == Effect::Modify;
    let both = match (&outcome.result, &outcome.error) {
        (Some(counts), Some(error))
            if (outcome.tests.is_some() || outcome.diagnostics.is_some()) && counts != error =>
        {
            Some(format!("{counts}; {error}"))
        }
        _ => None,
    };
    let detail = match outcome.failed() {
        Some(true) => both
            .as_deref()
            .or(outcome.error.as_deref())
            .or(outcome.result.as_deref()),
        // That a file was written is told by the call itself.
        _ if is_modify && !outcome.is_marked => outcome
            .result
            .as_deref()
            .filter(|_| text.is_empty() && !outcome.says_done),
        _ => outcome.result.as_deref(),
    };
    if let Some(detail) = detail.and_then(|detail| shortened(detail, limits.line)) {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&detail);
    } else if says_nothing(action) || is_modify && shows_only_lines(outcome) {
        if let Some(last) = outcome
            .last_line
            .as_deref()
            .filter(|_| action.runs_code() || says_no_end(action))
            .and_then(|line| shortened(line, limits.line))
        {
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(LAST_LINE);
            text.push_str(&last);
        }
        return text;
    } else if outcome.lines > 0 && !(is_modify && outcome.failed() != Some(true)) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        // Beyond that the number tells no more.
        let _ = match outcome.lines {
            1 => write!(text, "1 line"),
            lines @ ..100 => write!(text, "{lines} lines"),
            _ => write!(text, "99+ lines"),
        };
        let hit = outcome.hit.as_deref();
        if let Some(hit) = hit.and_then(|hit| shortened(hit, limits.line)) {
            text.push_str(": ");
            text.push_str(&hit);
        }
    }
    match action.target.effect {
        _ if !text.is_empty() => text,
        Effect::Read => "empty".to_owned(),
        _ => "ok".to_owned(),
    }
}

/// The calls that failed and nothing later resolved, the newest first, each error once.
fn open<'e>(actions: &'e [Event], files: &EndStates) -> Vec<(usize, &'e Event)> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let numbered = actions.iter().enumerate().rev();
    let later = |number: usize| actions.get(number + 1..).unwrap_or_default();
    let is_open = |number: usize, action: &Event| {
        action.is_open && !was_overtaken(action, later(number), files) && !files.tried_undone(action)
    };
    let open = numbered.filter(|(number, action)| is_open(*number, action));
    open.filter(|(_, action)| seen.insert(action.outcome.error.as_deref().unwrap_or(&action.target.line)))
        .take(MAX_OPEN)
        .collect()
}

/// A line for each error that nothing later resolved, newest first in worth.
pub(super) fn open_errors(
    actions: &[Event],
    before: &RunsBefore,
    files: &EndStates,
    limits: LineLimits,
    candidates: &mut Vec<Candidate>,
) {
    for (rank, (number, action)) in open(actions, files).into_iter().enumerate() {
        let text = line_of_call(action, before, files, limits);
        let value = 4.0 / (1.0 + rank as f64);
        candidates.push(Candidate {
            section: Section::Errors,
            order: order(action.turn, number),
            text,
            value,
        });
    }
}
