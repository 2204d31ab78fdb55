//! Blocks: the texts of a region that may be quoted, each with its heading and what it is worth by itself.

use super::block::{Block, BlockCalls, BlockOrigin};
use super::candidate::{LineLimits, order};
use super::quoted::{OUTPUT, RAN, SAID, THOUGHT, harmless, tells, written};
use super::verdicts::Verdicts;
use super::work::{line_of_run, order_of_call, prepares, push_put_in};
use crate::compress::reuse::{Reuse, pieces};
use crate::events::event::Event;
use crate::events::files::end_states::EndStates;
use crate::events::line::shortened;
use crate::events::observation::shows_page;
use crate::events::outcome::envelope::shown;
use crate::events::shell::Step;
use crate::events::source::SourceTurn;
use crate::events::source_call::SourceCall;
use crate::events::stretch::Stretch;
use crate::events::target::{Effect, ToolKind};
use crate::knowledge::tool_names::is_thought;
use crate::trajectory::Role;

/// The chance that later turns repeat a byte of the newest calls, words and outputs: counted on real trajectories, of pieces that no
/// newer text has.
const CALLS: f32 = 0.4;
const WORDS: f32 = 0.15;
const OUTPUTS: f32 = 0.06;

/// The same of a file that was just read, as far as it is not longer than `READ_BYTES`: it is about to be worked on.
const READ: f32 = 0.15;
const READ_BYTES: usize = 8_000;

/// The worth of a script that was tried out, run and left, as a part of that of other calls: what comes again of it is mostly its
/// frame.
const TRIED: f32 = 0.5;

/// The same where it is known what later turns repeat.
const TRIED_AND_KNOWN: f32 = 0.25;

/// The chance of a turn as a fraction of that of the assistant's next turn.
const FADING: f32 = 0.93;

/// The chance if the next kept turns are known, as a fraction of the one if they are not: only later turns remain.
const KNOWN: f32 = 0.3;

/// The chance below which a block is quoted only for what later turns are known to repeat.
pub(super) const LEAST_CHANCE: f32 = 0.002;

/// Bytes of an output that the line of its call tells.
const SHORT_OUTPUT: usize = 120;

/// The blocks of a region, the newest first: those of the newest turns, and those that hold what later turns repeat. The
/// words of the turns in `replies` are told already.
pub(super) fn blocks(
    stretch: &Stretch<'_>,
    files: &EndStates,
    verdicts: &Verdicts,
    reuse: &Reuse,
    replies: &[usize],
    limits: LineLimits,
) -> Vec<Block> {
    let (turns, events) = (stretch.sources(), [stretch.actions(), stretch.earlier()]);
    let mut blocks = Vec::new();
    let mut is_last = true;
    let mut is_spoken_after = false;
    let mut freshness = if reuse.is_empty() { 1.0 } else { KNOWN };
    for (index, turn) in turns.iter().enumerate().rev() {
        if reuse.is_empty() && freshness * CALLS < LEAST_CHANCE {
            break;
        }
        let at = At {
            index,
            back: stretch.turns_from(index),
            is_followed: index + 1 < turns.len(),
            freshness,
            is_last,
            is_spoken_after,
            reuse,
            verdicts,
        };
        if turn.role == Role::Assistant {
            if !replies.contains(&index) {
                spoken(turn, at, events, files, limits, &mut blocks);
            }
            freshness *= FADING;
            is_last = false;
        }
        is_spoken_after |= turn.role == Role::Human && !turn.is_observed && !turn.prose.trim().is_empty();
        let before = turns.get(..=index).unwrap_or_default();
        let caller = before.iter().rposition(SourceTurn::makes_calls);
        let calls = caller.map_or_else(Vec::new, |caller| calls_of(events, caller));
        outputs(turn, at, &calls, files, limits, &mut blocks);
    }
    // What was written counts before what echoes it.
    blocks.sort_by_key(|block: &Block| block.is_output());
    blocks
}

/// The place of a turn.
#[derive(Clone, Copy)]
struct At<'r> {
    index: usize,
    /// Turns from here to the end of the region, it included.
    back: usize,
    /// If another turn follows it there.
    is_followed: bool,
    freshness: f32,
    /// If no assistant's turn stands behind it.
    is_last: bool,
    /// If a person speaks behind it in the region.
    is_spoken_after: bool,
    reuse: &'r Reuse,
    verdicts: &'r Verdicts,
}

impl At<'_> {
    /// The chance that later turns repeat words. Those that something followed were overtaken by it: where all that later turns
    /// repeat is known, they count for that only.
    fn of_words(&self, chance: f32) -> f32 {
        if self.is_followed && self.reuse.is_all_known() {
            0.0
        } else {
            chance
        }
    }

    /// If a text is worth a block.
    fn takes(&self, text: &str, chance: f32) -> bool {
        let is_wanted = |piece| self.reuse.wanted(piece) > 0.0;
        !text.is_empty() && (chance >= LEAST_CHANCE || !self.reuse.is_empty() && pieces(text).any(is_wanted))
    }
}

/// The words of an assistant's turn, with its first call, and its other calls.
fn spoken(
    turn: &SourceTurn<'_>,
    at: At<'_>,
    events: [&[Event]; 2],
    files: &EndStates,
    limits: LineLimits,
    blocks: &mut Vec<Block>,
) {
    let chances = [WORDS, CALLS].map(|chance| chance * at.freshness);
    let mut said = if at.takes(&turn.prose, chances[0]) {
        harmless(&turn.prose)
    } else {
        String::new()
    };
    let calls = calls_of(events, at.index);
    let of_turn = BlockCalls::of(&calls);
    for (event, number) in calls {
        let Some(call) = turn.calls.get(event.call) else {
            continue;
        };
        let failed = event.outcome.failed() == Some(true);
        // Of a mended failure only what later turns repeat is news, where that is known.
        let is_old = failed && !event.is_open && !at.reuse.is_empty();
        // Of a task that somebody else was given their report tells.
        let is_reported = event.is_answered && event.target.kind == ToolKind::Task;
        let chances = if is_old || is_reported {
            [chances[0], 0.0]
        } else {
            chances
        };
        let written = written(call)
            .filter(|_| !files.is_void(event))
            .filter(|written| at.takes(&written.text, chances[1]));
        let is_all = written.as_ref().is_some_and(|written| written.is_all);
        let written = written.map(|written| harmless(&written.text)).unwrap_or_default();
        let mut text = std::mem::take(&mut said);
        // The line end behind them is none of them: the sentence before a call is as likely to be repeated as that.
        let words = text.len();
        if text.is_empty() && written.is_empty() || written.is_empty() && !tells(&text) {
            continue;
        }
        if !text.is_empty() && !written.is_empty() {
            // The sentence before it counts with what is written: it says what that is for.
            text.push('\n');
        }
        text.push_str(&written);
        // Thoughts are words, whatever tool takes them down.
        let is_thought = is_thought(&call.name);
        let words = if is_thought { text.len() } else { words };
        let worth = match event.target.effect {
            _ if event.is_open => 1.4,
            Effect::Modify => 1.2,
            Effect::Read | Effect::Other => 1.0,
        };
        let mark = files.mark_of(event);
        let heading = |is_all: bool| {
            let label = marked(label_of(call, event, is_all), mark);
            let mut line = format!("turn -{}, {}", at.back, line_of_run(event, &label, limits));
            at.verdicts.push_on(event, &mut line);
            // Of the quotation nothing is carried over.
            if at.reuse.goes_on() {
                push_put_in(event, &mut line, limits);
            }
            line
        };
        blocks.push(Block {
            order: order(at.index, event.call + 1),
            told: number.map(|number| order_of_call(event, number)),
            headings: [
                heading(is_all),
                heading(false),
                if is_thought {
                    format!("turn -{}, {THOUGHT}", at.back)
                } else {
                    format!(
                        "turn -{}, {SAID} before {}{}",
                        at.back,
                        event.target.line,
                        failure_mark(event)
                    )
                },
            ],
            text,
            words,
            calls: of_turn,
            is_answered: at.is_followed,
            weight: match (is_tried(event, files), at.reuse.is_empty()) {
                (false, _) => 1.0,
                (true, true) => TRIED,
                (true, false) => TRIED_AND_KNOWN,
            },
            chances: [chances[0], worth * chances[1]],
            origin: BlockOrigin::Assistant,
        });
    }
    if !said.is_empty() && tells(&said) {
        blocks.push(Block {
            order: order(at.index, 0),
            told: None,
            headings: std::array::from_fn(|_| said_at(at)),
            words: said.len(),
            calls: BlockCalls::None,
            is_answered: at.is_followed,
            text: said,
            weight: 1.0,
            chances: [at.of_words(chances[0]); 2],
            origin: BlockOrigin::Assistant,
        });
    }
}

/// The mark of words that messages of a person followed: these may have changed what they say.
const ANSWERED: &str = " (before later messages of the user)";

/// The heading of words.
fn said_at(at: At<'_>) -> String {
    let mark = if at.is_spoken_after { ANSWERED } else { "" };
    format!("turn -{}, {SAID}{mark}", at.back)
}

/// The mark of a call that failed.
fn failure_mark(event: &Event) -> &'static str {
    match event.outcome.failed() {
        Some(true) => " (failed)",
        _ => "",
    }
}

/// The label of a call of which `is_all` is quoted, or a part.
fn label_of<'e>(call: &'e SourceCall<'_>, event: &'e Event, is_all: bool) -> &'e str {
    match call.name.as_ref() {
        _ if !is_all => &event.target.line,
        // The text of an edit does not say of which file it is.
        _ if event.target.puts_in.is_some() => &event.target.line,
        "" => RAN,
        tool => tool,
    }
}

/// A label with what later calls made of it.
fn marked(label: &str, mark: Option<&str>) -> String {
    match mark {
        Some(mark) => format!("{label} ({mark})"),
        None => label.to_owned(),
    }
}

/// The outputs that a turn shows; what an edit shows of itself is quoted with the edit.
fn outputs(
    turn: &SourceTurn<'_>,
    at: At<'_>,
    asked: &[(&Event, Option<usize>)],
    files: &EndStates,
    limits: LineLimits,
    blocks: &mut Vec<Block>,
) {
    for (place, (_, output)) in turn.answers.iter().enumerate() {
        let is_of = |event: &Event| event.answered_at == Some((at.index, place));
        let call = asked.iter().find(|(event, _)| is_of(event)).copied();
        let output = shown(output, call.map_or("", |(event, _)| &event.target.line));
        let is_edit = call.is_some_and(|(event, _)| {
            event.target.effect == Effect::Modify && event.outcome.failed() != Some(true)
        });
        let is_mended = call.is_some_and(|(event, _)| event.outcome.failed() == Some(true) && !event.is_open);
        let is_report = call.is_some_and(|(event, _)| event.target.kind == ToolKind::Task);
        let is_read = at.is_last && call.is_some_and(|(event, _)| reads_a_file(event));
        let chance = if at.reuse.is_all_known() || !at.is_last && shows_page(&output) {
            // Nobody chose to write it, and of the rest nobody made use; a page is no more once something was done with it.
            0.0
        } else if is_read {
            READ * (READ_BYTES as f32 / output.len().max(1) as f32).min(1.0) * at.freshness
        } else if is_report {
            WORDS * at.freshness
        } else {
            OUTPUTS * at.freshness
        };
        // A short one is told by how its call ended.
        let prepares = call.is_some_and(|(event, _)| prepares(event));
        let is_told = is_edit || is_mended || prepares || call.is_some() && output.len() <= SHORT_OUTPUT;
        if is_told || !at.takes(&output, chance) {
            continue;
        }
        let line = call.and_then(|(event, _)| shortened(&event.target.line, limits.line));
        let tool = line.or_else(|| turn.tools.get(place).copied().flatten().map(Into::into));
        let heading = match tool {
            None => format!("turn -{}, {OUTPUT}", at.back),
            Some(tool) => {
                let mark = call.and_then(|(event, _)| files.mark_of(event));
                let failed = call.map_or("", |(event, _)| failure_mark(event));
                format!("turn -{}, {OUTPUT} of {}{failed}", at.back, marked(&tool, mark))
            }
        };
        blocks.push(Block {
            order: order(at.index, place + 1),
            told: call.and_then(|(event, number)| Some(order_of_call(event, number?))),
            headings: std::array::from_fn(|_| heading.clone()),
            text: harmless(&output),
            words: 0,
            calls: BlockCalls::None,
            is_answered: false,
            weight: 1.0,
            chances: [chance; 2],
            origin: if is_read {
                BlockOrigin::ReadLast
            } else {
                BlockOrigin::Output
            },
        });
    }
}

/// If a call ran code that changed no file, or all that it did was undone or is told by a later call.
fn is_tried(event: &Event, files: &EndStates) -> bool {
    let mut scripts = event.own_touches().iter().flat_map(|touch| &touch.script);
    let changes = scripts.any(|(step, _)| *step != Step::Read);
    !changes && (event.runs_code() || files.is_overtaken(event))
}

/// If a call showed files and did nothing else.
fn reads_a_file(event: &Event) -> bool {
    let mut touches = event.own_touches().iter().peekable();
    touches.peek().is_some() && touches.all(|touch| touch.step == Step::Read)
}

/// The calls of a turn, its last runs and the earlier ones; a last run has its number among them.
fn calls_of(events: [&[Event]; 2], turn: usize) -> Vec<(&Event, Option<usize>)> {
    let [actions, earlier] = events.map(|events| of_turn(events, turn));
    let mut calls: Vec<(&Event, Option<usize>)> = Vec::new();
    calls.extend(actions.map(|(number, action)| (action, Some(number))));
    calls.extend(earlier.map(|(_, action)| (action, None)));
    calls.sort_by_key(|(action, _)| action.call);
    calls
}

/// The events of a turn, each with its place among all.
fn of_turn(events: &[Event], turn: usize) -> impl Iterator<Item = (usize, &Event)> {
    let first = events.partition_point(|event| event.turn < turn);
    let numbered = events.iter().enumerate().skip(first);
    numbered.take_while(move |(_, event)| event.turn == turn)
}
