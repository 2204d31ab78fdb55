//! The tool calls of a trajectory, each read with its answer, and with what later calls of the same made of it.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::attempt::{answer_at, target_at};
use super::element::element_of;
use super::event::{Event, FIRST_NUMBER};
use super::files::directories::tell_directories;
use super::files::put_in::pass_on_put_in;
use super::files::scripts::{Scripts, written_by};
use super::files::taken_out::mark_taken_out;
use super::later::outdated::mark_outdated;
use super::later::resolved::close_resolved;
use super::line::cleaned;
use super::open_file::opened_in;
use super::outcome::error_line::refuses;
use super::outcome::later_calls::Calls;
use super::outcome::outcome;
use super::outcome::reported::ReportedFields;
use super::outcome::status::{Answer, Outcome};
use super::outcome::success::changed_nothing;
use super::outcome::terminal::with_echoed_code;
use super::pairing::{Pairing, Place};
use super::shell::programs::is_editor;
use super::shell::{Step, Touch, last_step};
use super::source::SourceTurn;
use super::target::{Effect, Target};
use super::written::row::AnswerBy;
use crate::knowledge::errors::says_not_done;

/// The calls of the turns in order of their last run, each told once, and the earlier runs.
pub(crate) fn actions(turns: &[SourceTurn<'_>]) -> (Vec<Event>, Vec<Event>) {
    let is_last = |event: &Event| event.superseded_by.is_none();
    let (mut all, earlier): (Vec<Event>, Vec<Event>) = events(turns).into_iter().partition(is_last);
    close_resolved(&mut all);
    (all, earlier)
}

/// All calls of the turns in order.
pub(crate) fn events(turns: &[SourceTurn<'_>]) -> Vec<Event> {
    let pairing = Pairing::of(turns);
    let (places, mut targets): (Vec<Place>, Vec<Target>) = calls(turns, &pairing).unzip();
    let calls = Calls::new(turns, places.clone());
    tell_directories(&mut targets);
    let things = things(&targets);
    let again = again(&targets, &things);
    let mut all: Vec<Event> = Vec::with_capacity(targets.len());
    let mut latest: Vec<Option<usize>> = vec![None; targets.len()];
    let mut told = ReportedFields::default();
    let mut scripts = Scripts::default();
    let attempts = places.into_iter().zip(targets).zip(things.into_iter().zip(again));
    for ((place, mut target), (thing, is_again)) in attempts {
        let is_open_edit = target.touches.iter().any(|touch| touch.file.is_none());
        let answered = pairing.answer(place);
        let answer = answered.and_then(|answer| answer_to(&target, turns, answer));
        let index = all.len();
        let earlier = latest.get_mut(thing).and_then(|latest| latest.replace(index));
        let earlier = earlier.and_then(|earlier| all.get_mut(earlier));
        let is_repeated = earlier
            .as_ref()
            .is_some_and(|earlier| is_same(&earlier.target, &target));
        // What a call that comes again told is told nowhere; its last run tells all.
        let mut untold = ReportedFields::default();
        let told = if is_again || is_repeated {
            &mut untold
        } else {
            &mut told
        };
        // An answer to several calls tells how the last one ended.
        let own = answered.filter(|answer| pairing.call(*answer) == Some(place));
        let mut outcome = answer
            .filter(|_| own.is_some())
            .map(|answer| {
                outcome(
                    answer,
                    target.effect,
                    &target.whole_line(),
                    told,
                    calls.after(index),
                )
            })
            .unwrap_or_default();
        // The same click on another page is another one.
        let is_elsewhere = |earlier: &&mut Event| outcome.is_page && earlier.outcome.result != outcome.result;
        let is_repeated = is_repeated && !earlier.as_ref().is_some_and(is_elsewhere);
        let is_open = outcome.failed() == Some(true);
        let text = answer.map(|answer| answer.text);
        let mut touches = touches(&target, &outcome, text);
        scripts.follow(&mut touches, outcome.failed() != Some(true), place);
        // What a script is written to print says nothing of how it went.
        let says_itself = |line: &String| {
            let mut writers = scripts.written_by(&touches).take(MAX_SCRIPTS).chain([place]);
            line.len() >= MIN_LITERAL && writers.any(|writer| is_written(turns, writer, line))
        };
        outcome.last_line = outcome.last_line.take().filter(|line| !says_itself(line));
        let ran = touches.iter().find(|touch| touch.step == Step::Run);
        // A run that failed may have ended before it wrote.
        if outcome.failed() == Some(true) {
            target.beside = None;
        } else if target.effect == Effect::Other
            && let Some(files) = ran.and_then(|run| written_by(&run.script))
        {
            target.effect = Effect::Modify;
            target.beside = Some(files);
        }
        if target.beside.is_none() {
            target.beside = element_of(&target.line, turns, place.0);
        }
        if is_open_edit && target.effect == Effect::Modify && target.file.is_none() {
            let told = text.and_then(opened_in);
            target.file = told.filter(|name| !name.is_empty()).map(str::to_owned);
            if let Some(file) = &target.file {
                target.line = [&target.line, " in ", cleaned(last_step(file)).as_str()].concat();
            }
        }
        let mut event = Event {
            number: FIRST_NUMBER + index,
            turn: place.0,
            call: place.1,
            changed_nothing: changed_nothing(&target, &outcome),
            target,
            outcome,
            touches,
            earlier_touches: 0,
            answered_at: own,
            is_answered: answer.is_some(),
            is_unanswered: answer.is_none() && is_to_be_answered(turns, place.0),
            times: 1,
            failures: usize::from(is_open),
            is_open,
            is_outdated: false,
            put_in_before: None,
            superseded_by: None,
        };
        if let Some(earlier) = earlier {
            join(&mut event, earlier, is_repeated);
        }
        all.push(event);
    }
    mark_outdated(&mut all, &calls);
    mark_taken_out(&mut all, turns);
    pass_on_put_in(&mut all);
    all
}

/// The answer at a place to the call of a target.
fn answer_to<'t>(target: &Target, turns: &'t [SourceTurn<'_>], place: Place) -> Option<Answer<'t>> {
    Some(with_echoed_code(answer_at(turns, place)?, target))
}

/// Joins an attempt with the one before at the same thing, of which it may be a repetition.
fn join(event: &mut Event, earlier: &mut Event, is_repeated: bool) {
    // What succeeds now is open no more; what failed the same way before is told once.
    let is_still_open = earlier.is_open && !event.is_open && shows_less(&event.outcome, &earlier.outcome);
    if !is_still_open {
        earlier.is_open = false;
    } else if is_repeated {
        event.is_open = true;
        event.outcome.error.clone_from(&earlier.outcome.error);
    }
    if !is_repeated {
        return;
    }
    // A run with another filter behind it shows something else.
    if earlier.target.line == event.target.line {
        event.times += earlier.times;
        event.failures += earlier.failures;
    }
    event.changed_nothing &= earlier.changed_nothing;
    // The same words may be about another file, where an editor has it open.
    let mut touches = earlier.touches.clone();
    touches.truncate(MAX_TOUCHES);
    touches.retain(|touch| !event.touches.contains(touch));
    event.earlier_touches = touches.len();
    event.touches.splice(..0, touches);
    earlier.superseded_by = Some(event.number);
}

/// Scripts of a call that are looked at for what they print.
const MAX_SCRIPTS: usize = 4;

/// Bytes of the shortest line that is looked for in the text of a script.
const MIN_LITERAL: usize = 8;

/// If a line stands in the arguments of a call.
fn is_written(turns: &[SourceTurn<'_>], (turn, place): Place, line: &str) -> bool {
    let call = turns.get(turn).and_then(|turn| turn.calls.get(place));
    let line = line.trim_end_matches('…').trim_end();
    call.is_some_and(|call| call.arguments.texts().iter().any(|text| text.contains(line)))
}

/// If calls of a turn have answers, and the next turn follows it.
fn is_to_be_answered(turns: &[SourceTurn<'_>], turn: usize) -> bool {
    let answer = turns.get(turn).map(|turn| turn.answer);
    let next = turns.get(turn + 1).filter(|next| !next.is_behind_gap);
    next.is_some() && answer != Some(AnswerBy::Anybody)
}

/// Returns true if a run does not show that tests pass which failed before: it ran none, or a pipe took the counts away.
fn shows_less(outcome: &Outcome, earlier: &Outcome) -> bool {
    earlier.tests.is_some() && !outcome.ran_tests()
}

/// Every call: its place and its target.
fn calls(turns: &[SourceTurn<'_>], pairing: &Pairing) -> impl Iterator<Item = (Place, Target)> {
    let calling = turns.iter().enumerate();
    let calling = calling.filter(|(_, turn)| turn.makes_calls());
    calling.flat_map(move |(index, turn)| {
        let places = (0..turn.calls.len()).map(move |number| (index, number));
        places.filter_map(|place| Some((place, target_at(turns, pairing, place)?)))
    })
}

/// For each target the place of the first one that is an attempt at the same thing.
fn things(targets: &[Target]) -> Vec<usize> {
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let targets = targets.iter().enumerate();
    targets
        .map(|(place, target)| *first.entry(&target.key).or_insert(place))
        .collect()
}

/// For each target, whether the next attempt at the same thing is the same call, whose line stands for both.
fn again(targets: &[Target], things: &[usize]) -> Vec<bool> {
    let mut next: Vec<Option<&Target>> = vec![None; targets.len()];
    let mut again = vec![false; targets.len()];
    for ((target, thing), again) in targets.iter().zip(things).zip(&mut again).rev() {
        let later = next.get_mut(*thing).and_then(|next| next.replace(target));
        *again = later.is_some_and(|later| is_same(target, later));
    }
    again
}

/// Returns true if one line reports two attempts at the same thing: the same command with another pipe behind it is the same, another
/// argument that the line does not tell is not.
fn is_same(earlier: &Target, later: &Target) -> bool {
    (earlier.line == later.line || later.effect == Effect::Other) && earlier.whole == later.whole
}

/// Steps of earlier runs of the same call that are told with its last one at most.
const MAX_TOUCHES: usize = 64;

/// Longest answer that is an error as a whole, in bytes.
const MAX_ERROR: usize = 400;

/// Start of the line that `patch` prints for each file it changes.
static PATCHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("patching file "));

/// Files that `patch` is heard of at most.
const MAX_PATCHED: usize = 64;

/// The steps on files that a call carried out.
fn touches(target: &Target, outcome: &Outcome, answer: Option<&str>) -> Vec<Touch> {
    if answer.is_some_and(|answer| is_refused(target, answer)) {
        return Vec::new();
    }
    let mut touches = target.touches.clone();
    // There may be nothing to take back.
    touches.retain(|touch| {
        touch.step != Step::Undo
            || !answer.is_some_and(|answer| says_not_done(answer.lines().next().unwrap_or_default()))
    });
    touches.extend(patched_by(target, answer.unwrap_or_default()));
    if outcome.failed() == Some(true) {
        let is_edit = touches.iter().any(|touch| touch.file.is_none());
        let has_changed = target.effect == Effect::Modify && !is_edit && !changed_nothing(target, outcome);
        // What was to be put back stays as it is.
        let is_left = |step: Step| matches!(step, Step::Read | Step::Restore | Step::Undo);
        touches.retain(|touch| touch.step == Step::Run || has_changed && !is_left(touch.step));
    }
    for touch in touches.iter_mut().filter(|touch| touch.file.is_none()) {
        touch.file = answer.and_then(opened_in).map(str::to_owned);
    }
    touches
}

/// Returns true if a tool that works on one file, or an editor's command, answers that it did nothing.
fn is_refused(target: &Target, answer: &str) -> bool {
    let answer = answer.trim_start();
    let line = answer
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    let command = target.command.as_deref().unwrap_or_default();
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_tool = target.command.is_none();
    if !is_tool && !is_editor(program) {
        return false;
    }
    let is_error = || answer.starts_with("Error: ") && answer.len() <= MAX_ERROR;
    line.len() <= MAX_ERROR && refuses(line) || is_tool && target.file.is_some() && is_error()
}

/// The files that `patch` says it changed.
fn patched_by(target: &Target, answer: &str) -> Vec<Touch> {
    let is_patch = |command: &str| command.contains("patch");
    let is_told = || PATCHED.find(answer.as_bytes()).is_some();
    if !(target.command.as_deref().is_some_and(is_patch) && is_told()) {
        return Vec::new();
    }
    let mark = std::str::from_utf8(PATCHED.needle()).unwrap_or_default();
    let directory = target.touches.last().map_or("", |touch| touch.directory.as_str());
    let names = answer.lines().filter_map(|line| line.strip_prefix(mark));
    let names = names.map(|name| name.trim().trim_matches('\''));
    let touch = |name: &str| Touch {
        directory: directory.to_owned(),
        ..Touch::of(Step::Write, name)
    };
    names
        .filter(|name| !name.is_empty())
        .take(MAX_PATCHED)
        .map(touch)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::source::{Context, source_turns};
    use crate::trajectory::views_of;

    #[test]
    fn what_a_script_prints_whatever_happens_is_not_how_its_run_ended() {
        let call = |command: &str| {
            let call = serde_json::json!({"name": "bash", "arguments": {"command": command}});
            serde_json::json!({"from": "function_call", "value": call.to_string()})
        };
        for (last, is_told) in [("All tests completed!", false), ("sum of all rows: 15", true)] {
            let answer = |text: &str| serde_json::json!({"from": "observation", "value": text});
            let output = ["row 1: 4\nrow 2: 5\nrow 3: 6\n", last].concat();
            let record = serde_json::json!({"conversations": [
                {"from": "human", "value": "Sum the rows."},
                call("cat > t.py <<'E'\nimport a\na.run()\nprint('All tests completed!')\nE"),
                answer("done"),
                call("python t.py"),
                answer(&output),
            ]});
            let record = record.to_string();
            let views = views_of(&record);
            let turns = source_turns(Context::of(&views), &views, Into::into);
            let all = events(&turns);
            let told = all.last().and_then(|event| event.outcome.last_line.as_deref());
            assert_eq!(told, is_told.then_some(last));
        }
    }

    #[test]
    fn a_script_that_failed_is_not_told_to_have_written_files() {
        let script = "cat > fix.py <<'E'\nopen('a.py', 'w').write(text)\nE\npython fix.py";
        let call = serde_json::json!({"name": "bash", "arguments": {"command": script}});
        for (output, is_told) in [("NameError: text\nExit code: 1", false), ("Exit code: 0", true)] {
            let record = serde_json::json!({"conversations": [
                {"from": "function_call", "value": call.to_string()},
                {"from": "observation", "value": output},
            ]});
            let record = record.to_string();
            let views = views_of(&record);
            let turns = source_turns(Context::of(&views), &views, Into::into);
            let beside = events(&turns).pop().and_then(|event| event.target.beside);
            assert_eq!(beside.as_deref(), is_told.then_some("writes a.py"), "{output}");
        }
    }
}
