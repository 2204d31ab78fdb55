//! An earlier summary carried over: its lines go back to the sections that they came from, its calls are events again, and what later
//! calls made of them holds for them too.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::call_line::CallLine;
use super::candidate::{Candidate, LineLimits, Section, order};
use super::changed_files;
use super::messages::{MessagesSince, UserMessage, told_words};
use super::quoted::{RAN, call_of, fence_of};
use super::verdicts;
use super::work::{RunsBefore, is_bare_edit, was_overtaken};
use crate::events::call::target;
use crate::events::event::{Event, FIRST_NUMBER};
use crate::events::files::end_states::EndStates;
use crate::events::files::marks::BEFORE_EDITS;
use crate::events::files::taken_out::TakenOut;
use crate::events::later::resolved::Later;
use crate::events::line::{cleaned, is_fence, shortened, without_bullet};
use crate::events::source::SourceTurn;
use crate::events::source_call::SourceCall;
use crate::events::stretch::Stretch;
use crate::events::target::Effect;
use crate::summarize::grounding::KEY_REFERENCES;
use crate::summarize::marker::IN_PROGRESS;

/// Lines carried over at most.
const MAX_LINES: usize = 200;
const _: () = assert!(MAX_LINES < FIRST_NUMBER);

/// Calls of the region that one before it is compared with, so that the time stays linear.
const MAX_BEHIND: usize = 256;

/// A line of an earlier summary.
struct PreviousLine {
    section: Section,
    text: String,
    /// The call that it tells.
    event: Option<Event>,
}

/// The heading of what the last turn of a region printed.
const LAST_OUTPUT: &str = "turn -1, output of ";

/// An earlier summary: its lines under the headings that they stand under, without headings, bullets and fenced code.
#[derive(Default)]
pub(super) struct PreviousSummary {
    lines: Vec<PreviousLine>,
    /// The call whose output ended its region, and the lines of it that are quoted.
    last_output: Option<(String, String)>,
}

impl PreviousSummary {
    fn of(body: &str) -> Self {
        let mut section = Section::Earlier;
        let mut last_output: Option<(String, String)> = None;
        // What stands above a quotation: the heading of the output that came last, or of a call.
        let (mut is_last, mut is_of_call) = (false, false);
        let mut lines: Vec<(Section, String)> = Vec::new();
        let mut in_progress = None;
        let mut rest = body
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(MAX_LINES);
        while let Some(raw) = rest.next() {
            if is_fence(raw) {
                let open = fence_of(raw);
                let is_within = |line: &&str| !is_fence(line) || fence_of(line) < open;
                let quoted: Vec<&str> = rest.by_ref().take_while(is_within).collect();
                if let Some((_, output)) = last_output.as_mut().filter(|_| is_last) {
                    *output = quoted.join("\n");
                }
                let is_call = |section| matches!(section, Section::Calls | Section::Errors);
                let call = lines.last_mut().filter(|(section, _)| is_call(*section));
                if let Some((_, line)) = call
                    && let Some(full) = with_arguments(line, &quoted, !is_of_call)
                {
                    *line = full;
                }
                continue;
            }
            let line = cleaned(raw);
            (is_last, is_of_call) = (false, false);
            if let Some(labelled) = Section::from_label(&line) {
                section = labelled;
            } else if let Some(request) = line.strip_prefix(IN_PROGRESS) {
                in_progress = Some(request.trim().to_owned());
            } else if line.starts_with(KEY_REFERENCES) {
                // Those are written anew, from what later turns still use.
            } else if section == Section::Recent {
                if let Some(output) = without_bullet(&line).strip_prefix(LAST_OUTPUT) {
                    is_last = true;
                    let heading = output.strip_suffix(':').unwrap_or(output);
                    last_output = Some((heading.to_owned(), output.to_owned()));
                }
                // What was written last is quoted anew; of the calls it stays how they ended.
                if let Some(call) = call_of(without_bullet(&line).trim_end_matches(':')) {
                    let call = with_command_within(call).unwrap_or_else(|| call.to_owned());
                    let section = if CallLine::of(&call).status().1 == Some(true) {
                        Section::Errors
                    } else {
                        Section::Calls
                    };
                    lines.push((section, call));
                    is_of_call = true;
                }
            } else {
                lines.push((section, without_bullet(&line).to_owned()));
            }
        }
        // What was in progress is the last message before the region, if it stands nowhere among them.
        let last = lines.iter().rposition(|(section, _)| *section == Section::Asked);
        let says = |line: &str, request: &str| told_words(line).contains(&told_words(request));
        let is_listed = |request: &String| {
            lines
                .iter()
                .any(|(section, line)| *section == Section::Asked && says(line, request))
        };
        if let Some(request) = in_progress.filter(|request| !is_listed(request)) {
            lines.insert(last.map_or(0, |last| last + 1), (Section::Asked, request));
        }
        let read = |(number, (section, text)): (usize, (Section, String))| PreviousLine {
            event: match section {
                Section::Calls | Section::Errors => CallLine::of(&text).event(number),
                Section::Files => Some(changed_files::changes(&text, number)),
                _ => None,
            },
            section,
            text,
        };
        Self {
            lines: lines.into_iter().enumerate().map(read).collect(),
            last_output,
        }
    }

    /// One that these turns follow: they may answer what was asked, and begin with what came of its last call.
    pub fn followed_by(body: &str, turns: &[SourceTurn<'_>], limits: LineLimits) -> Self {
        let mut previous = Self::of(body);
        previous.hear(turns, limits);
        previous
    }

    /// Adds to the call that ended its region what the turn behind it says of its output.
    fn hear(&mut self, turns: &[SourceTurn<'_>], limits: LineLimits) {
        let Some((heading, output)) = &self.last_output else {
            return;
        };
        let mut lines = self.lines.iter_mut().rev();
        let last = lines.find(|line| {
            line.section == Section::Calls && heading.starts_with(CallLine::of(&line.text).label)
        });
        let silent = last.filter(|line| verdicts::has_no_result(&line.text));
        if let Some(line) = silent
            && let Some(verdict) = verdicts::verdict_on_last(heading, output, turns, limits.line)
        {
            verdicts::push_verdict(&mut line.text, &verdict);
        }
    }

    /// The messages of people that it tells, as far as they still stand behind these turns.
    pub fn messages(&self, turns: &[SourceTurn<'_>], limits: LineLimits) -> Vec<UserMessage<'_>> {
        let lines = self.lines.iter().enumerate();
        let asked = lines.filter(|(_, line)| line.section == Section::Asked);
        MessagesSince::of(turns, limits).left_of(asked.map(|(number, line)| (number, line.text.as_str())))
    }

    /// The calls that its lines tell.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.lines.iter().filter_map(|line| line.event.as_ref())
    }

    /// Its lines as candidates: first in time, worth a little less than what is new. Lines under no heading of ours
    /// are told as `Earlier`, the first ones being worth most; of what was done, found and told of values the last ones are,
    /// and what was done again since, or overtaken, goes. Returns how often the calls that were done again had run.
    pub fn carry_over(
        &self,
        limits: LineLimits,
        stretch: &Stretch<'_>,
        files: &EndStates,
        candidates: &mut Vec<Candidate>,
    ) -> RunsBefore {
        if self.lines.is_empty() {
            return RunsBefore::default();
        }
        let (turns, actions) = (stretch.sources(), stretch.actions());
        let calls: Vec<&Event> = actions.iter().chain(stretch.earlier()).collect();
        let taken_out = TakenOut::of(&calls, turns);
        let again: FxHashMap<&str, bool> = actions
            .iter()
            .map(|action| (action.target.line.as_str(), action.is_answered))
            .collect();
        let mended = OnceCell::new();
        let later = || mended.get_or_init(|| Later::of(actions));
        let mut runs = RunsBefore::default();
        let mut done: FxHashSet<&str> = FxHashSet::default();
        let mut after: FxHashMap<Section, usize> = FxHashMap::default();
        for (number, line) in self.lines.iter().enumerate().rev() {
            let section = line.section;
            let call = CallLine::of(&line.text);
            let event = line.event.as_ref();
            let mark = event.and_then(|event| mark_of(event, actions, files));
            let is_past = match section {
                Section::Calls | Section::Errors => {
                    let is_overtaken = |event: &Event| {
                        // Of what was only looked at the line tells what was found, or nothing.
                        let is_looked_at = event.target.effect == Effect::Read;
                        let tells_nothing = matches!(call.ending, Some("ok" | "empty"));
                        is_looked_at && tells_nothing
                            || was_overtaken(event, actions, files)
                            || files.is_overtaken(event) && alone(event, actions).is_overtaken(event)
                    };
                    // A call whose answer is not in the region tells no more than one that says nothing of its end.
                    // A label that cuts its arguments may be of another call.
                    let is_cut = section == Section::Calls && call.label.ends_with("…)");
                    let is_answered = again.get(call.label).filter(|_| !is_cut);
                    let is_again =
                        is_answered.is_some_and(|is_answered| *is_answered || call.ending.is_none());
                    let is_newest = is_cut || done.insert(call.label);
                    if is_again && is_newest {
                        runs.insert(call.label.to_owned(), call.runs(call.status().1 == Some(true)));
                    }
                    // Of a call on arguments nothing but its line and its error is known.
                    let failed = call.failed_on_arguments();
                    let failed = event.or(failed.as_ref());
                    let is_made_good = || {
                        failed.is_some_and(|event| {
                            event.outcome.failed() == Some(true) && later().resolves(event)
                        })
                    };
                    let is_taken_out = |event: &Event| {
                        call.put_in
                            .is_some_and(|shown| taken_out.holds_shown(event, shown))
                    };
                    let is_bare = |event: &Event| {
                        call.ending == Some("ok") && call.put_in.is_none() && is_bare_edit(event)
                    };
                    let is_gone =
                        |event: &Event| is_overtaken(event) || is_taken_out(event) || is_bare(event);
                    is_again
                        || !is_newest
                        || section == Section::Calls && call.tells_nothing(event)
                        || call.is_edited_again()
                        || event.is_some_and(is_gone)
                        || is_made_good()
                }
                // Which files are changed is told anew, and messages are chosen by themselves.
                Section::Files | Section::Asked => true,
                _ => false,
            };
            if is_past {
                continue;
            }
            let text = match mark {
                Some(mark) => call.marked(mark),
                None => line.text.clone(),
            };
            let Some(text) = shortened(&text, 2 * limits.line).filter(|text| !text.is_empty()) else {
                continue;
            };
            let after = after.entry(section).or_default();
            let (base, rank) = match section {
                Section::Calls | Section::Findings => (1.6, *after),
                Section::Errors => (1.2, number),
                Section::Recent | Section::Files | Section::Asked => (0.0, number),
                Section::Earlier => (5.0, number),
            };
            *after += 1;
            candidates.push(Candidate {
                section,
                order: order(0, 0).min(number),
                text: text.into_owned(),
                value: base / (1.0 + 0.08 * rank as f64),
            });
        }
        runs
    }
}

/// What the calls of the region make of one before it. `files` says of all calls what they did; in what order the calls of a summary
/// ran is not known.
fn mark_of(event: &Event, actions: &[Event], files: &EndStates) -> Option<&'static str> {
    let mark = files.mark_of(event)?;
    let by_region = alone(event, actions).mark_of(event);
    let is_put_back = mark == BEFORE_EDITS && files.puts_back_from(FIRST_NUMBER);
    if is_put_back {
        return Some(mark);
    }
    by_region.filter(|by_region| *by_region == mark)
}

/// What a call and those of the region behind it did to files.
fn alone(event: &Event, actions: &[Event]) -> EndStates {
    let newest = actions.len().saturating_sub(MAX_BEHIND);
    EndStates::of(std::iter::once(event).chain(actions.iter().skip(newest)))
}

/// The line of a call with what it ran, which is quoted behind it where the line names its tool alone.
fn with_command_within(line: &str) -> Option<String> {
    let mut places = line.match_indices(": ");
    places.find_map(|(at, _)| with_arguments(line.get(..at)?, &[line.get(at + 2..)?], true))
}

/// The line of a call with what it ran or what it was given, which is quoted below it where the line names its tool alone.
fn with_arguments(line: &str, quoted: &[&str], only_commands: bool) -> Option<String> {
    let tool = CallLine::of(line).label;
    let rest = line.strip_prefix(tool).filter(|_| !tool.contains([' ', '(']))?;
    let tool = if tool == RAN { "" } else { tool };
    let mut fields: Vec<(String, String)> = Vec::new();
    for text in quoted {
        match (text.split_once(": "), fields.last_mut()) {
            (Some((key, value)), _) if is_key(key) => fields.push((key.to_owned(), value.to_owned())),
            (_, Some((_, value))) => value.extend(["\n", text]),
            _ => {}
        }
    }
    // A command may hold lines that read as arguments.
    let of_command = fields.iter().enumerate().find_map(|(at, (key, value))| {
        let lines = fields
            .iter()
            .skip(at + 1)
            .map(|(key, value)| [key, ": ", value].concat());
        let value: Vec<String> = std::iter::once(value.clone()).chain(lines).collect();
        let target = target(
            &SourceCall::tagged(tool, vec![(key.clone(), value.join("\n"))]),
            None,
        );
        target.is_run.then_some(target)
    });
    let target = of_command.or_else(|| {
        let target = target(&SourceCall::tagged(tool, fields), None);
        (target.line.contains('(') && !only_commands).then_some(target)
    });
    Some([target?.line.as_str(), rest].concat())
}

/// Letters of the longest name of an argument.
const MAX_KEY: usize = 24;

fn is_key(text: &str) -> bool {
    let is_of_key = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    text.len() <= MAX_KEY
        // `Thought: …` is what was said before.
        && text.starts_with(|sign: char| sign.is_ascii_lowercase())
        && text.chars().all(is_of_key)
}
