//! What people said: sentences of human and assistant turns, without code, boilerplate and small talk.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::announcement::{is_announcement, is_torn};
use super::candidate::{Candidate, Section};
use super::sentences::{sentences, without_number};
use super::small_talk::{is_fragment, is_numbered_step, is_one_word, is_small_talk, says_little, start_of};
use super::superseded::{Stated, Worth};
use super::{Limits, order};
use crate::events::event::Event;
use crate::events::line::{cleaned_line, is_fence, lines_of, shortened, without_bullet};
use crate::events::resolved::LOOKUPS;
use crate::events::resolved::tests_pass_since;
use crate::events::source::SourceTurn;
use crate::events::target::Effect;
use crate::events::words::starts_with_any;
use crate::trajectory::Role;

/// Sentences looked at in one turn.
const MAX_SENTENCES: usize = 60;

/// Turns of the assistant, from the end on, whose sentences may tell how things are currently.
const LATEST: usize = 2;

/// Starts and words of sentences that demand or forbid.
const DEMANDS: [&str; 12] = [
    "must ",
    "must not",
    "never ",
    "do not ",
    "don't ",
    "only ",
    "make sure",
    "should not ",
    "have to ",
    "without ",
    "not allowed",
    "required",
];
/// Starts of sentences that say how somebody wants something.
const WISHES: [&str; 17] = [
    "always ",
    "avoid ",
    "ensure ",
    "i prefer",
    "i want ",
    "i would like",
    "i would prefer",
    "i would rather",
    "i'd like",
    "i'd prefer",
    "i'd rather",
    "keep ",
    "leave ",
    "please keep ",
    "please use ",
    "prefer ",
    "use ",
];
const DEMANDS_ELSEWHERE: [&str; 18] = [
    "必须",
    "不要",
    "不得",
    "不能",
    "禁止",
    "务必",
    "只能",
    "不可",
    "应当",
    "してください",
    "しないで",
    "нельзя",
    "не надо",
    "должн",
    "nicht ",
    "muss ",
    "ne pas",
    "debe ",
];

/// Starts of sentences that tell a finding.
const FINDINGS: [&str; 17] = [
    "all tests",
    "i found",
    "i removed",
    "i restored",
    "i reverted",
    "i've found",
    "root cause",
    "the bug",
    "the error",
    "the fix",
    "the issue",
    "the problem",
    "the reason",
    "this confirms",
    "修复",
    "原因",
    "问题",
];

/// Those of them that tell much in few words.
const SHORT: [&str; 4] = ["all tests", "i removed", "i restored", "i reverted"];

/// Lines for what the human asked and demanded.
pub(super) fn asked(turns: &[SourceTurn<'_>], limits: Limits, candidates: &mut Vec<Candidate>) {
    let humans: Vec<usize> = turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| matches!(turn.role, Role::Human | Role::System))
        .map(|(index, _)| index)
        .collect();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (rank, index) in humans.iter().rev().enumerate() {
        let Some(turn) = turns.get(*index) else { continue };
        let lines = prose_lines(&turn.prose, true);
        let whole = lines.join(" ");
        let is_chatter = length(&whole) < 12.0 && !demands(&whole) || is_small_talk(&whole);
        let base = match rank {
            _ if is_chatter => 0.2,
            0 => 10.0,
            _ if rank + 1 == humans.len() => 7.0,
            1..4 => 6.0,
            _ => 4.0,
        };
        if whole.chars().count() <= limits.asked && turn.role == Role::Human {
            if !whole.is_empty() && seen.insert(whole.clone()) {
                candidates.push(Candidate {
                    section: Section::Asked,
                    order: order(*index, 0),
                    text: whole,
                    value: base,
                });
            }
            continue;
        }
        let mut place = 0.0;
        for (number, sentence) in lines.iter().flat_map(|line| sentences(line)).enumerate() {
            // However long somebody talks, demands are heard.
            let is_demand = demands(sentence);
            if number >= MAX_SENTENCES && !is_demand {
                continue;
            }
            let Some(text) = shortened(sentence, limits.line * 2) else {
                continue;
            };
            // What a colon ends tells nothing without what follows.
            if text.chars().count() < 8 || text.ends_with([':', '：']) || !seen.insert(text.to_string()) {
                continue;
            }
            if turn.role == Role::System && !is_demand || is_small_talk(&text) {
                continue;
            }
            let section = if is_demand {
                Section::Constraints
            } else {
                Section::Asked
            };
            let value = if is_demand {
                base
            } else {
                base / (1.0 + 0.35 * place)
            };
            place += 1.0;
            candidates.push(Candidate {
                section,
                order: order(*index, number),
                text: text.into_owned(),
                value,
            });
        }
    }
}

/// Lines for what the assistant concluded: its last sentences that tell more than the next step, without what anybody
/// stated otherwise, or a call changed, later. What is stated comes back.
pub(super) fn findings(
    turns: &[SourceTurn<'_>],
    actions: &[Event],
    limits: Limits,
    candidates: &mut Vec<Candidate>,
) -> Stated {
    let speaking: Vec<(usize, Vec<Cow<'_, str>>)> = turns
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, turn)| {
            matches!(turn.role, Role::Assistant | Role::Human) && !turn.prose.trim().is_empty()
        })
        .map(|(index, turn)| (index, prose_lines(&turn.prose, false)))
        .collect();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    seen.reserve(4 * speaking.len());
    let mut stated = Stated::default();
    if let Some(turn) = tests_pass_since(actions) {
        stated.note_passed_tests(turn);
    }
    let mut rank = 0_usize;
    let mut changes = actions.iter().rev().filter_map(changed_thing).peekable();
    for (index, lines) in &speaking {
        while let Some((turn, named, arguments)) = changes.next_if(|(turn, ..)| turn >= index) {
            // What a turn calls comes after what it says.
            stated.note_changes(turn + 1, named, arguments);
        }
        let all: Vec<&str> = lines
            .iter()
            .flat_map(|line| sentences(line))
            .take(MAX_SENTENCES)
            .collect();
        if turns.get(*index).is_some_and(|turn| turn.role == Role::Human) {
            for sentence in all {
                stated.note(*index, sentence);
            }
            continue;
        }
        rank += 1;
        let last = all.len();
        for (number, sentence) in all.into_iter().enumerate() {
            let sentence = without_number(sentence);
            let worth = stated.note(*index, sentence);
            if worth == Worth::Stale {
                continue;
            }
            let lower = start_of(sentence);
            if is_announcement(&lower) || sentence.ends_with([':', '：', '?', '？']) {
                continue;
            }
            if is_one_word(sentence) || is_numbered_step(&lower) || is_torn(&lower, sentence) {
                continue;
            }
            // What is so at one time is not so for long.
            if rank > LATEST && sentence.contains(" currently ") {
                continue;
            }
            // A sentence that is a little too long tells more as a whole than cut.
            let Some(text) = shortened(sentence, limits.line * 3 / 2) else {
                continue;
            };
            let length = length(&text);
            // How things are is told in few words.
            let least = if worth == Worth::State || starts_with_any(&lower, &SHORT) {
                14.0
            } else {
                28.0
            };
            // What somebody was told to do is done by now, or told again.
            if length < least || says_little(&lower, sentence, rank > LATEST) || !seen.insert(sentence) {
                continue;
            }
            let is_finding = starts_with_any(&lower, &FINDINGS);
            let at_edge = number == 0 || number + 1 == last;
            let base = if is_finding {
                4.0
            } else if at_edge {
                2.6
            } else {
                1.0
            };
            // A short sentence, one that leans on the one before, or an item without its list tells little alone.
            let leans = starts_with_any(&lower, &LEANING)
                || !is_finding && worth == Worth::Plain && is_fragment(sentence);
            let weight = (length / 70.0).min(1.0) * if leans { 0.6 } else { 1.0 };
            let value = base * weight / (0.88 + 0.12 * rank as f64);
            candidates.push(Candidate {
                section: Section::Findings,
                order: order(*index, number),
                text: text.into_owned(),
                value,
            });
        }
    }
    for (turn, named, arguments) in changes {
        stated.note_changes(turn + 1, named, arguments);
    }
    stated
}

/// How much a text says, in letters of scripts that need many.
fn length(text: &str) -> f64 {
    if text.is_ascii() {
        text.len() as f64
    } else {
        text.chars().map(|c| if c.is_ascii() { 1.0 } else { 2.5 }).sum()
    }
}

/// What a call changed that went well, as the name of its tool says (`pending_order` of `cancel_pending_order`), with its turn
/// and its arguments. A run of tests tells anew whether they pass.
fn changed_thing(action: &Event) -> Option<(usize, &str, &str)> {
    if action.outcome.tests.is_some() {
        return Some((action.turn, "all_tests", ""));
    }
    let (tool, arguments) = action.target.line.split_once('(')?;
    let (_, named) = tool.split_once('_')?;
    let went_well = action.is_answered && action.outcome.failed() != Some(true);
    let changes = action.target.effect == Effect::Other && !starts_with_any(tool, &LOOKUPS);
    (went_well && changes && !named.contains(' ')).then_some((action.turn, named, arguments))
}

/// Starts of sentences that lean on what was said before.
const LEANING: [&str; 12] = [
    "actually", "also", "and ", "but ", "great", "it ", "it's", "so ", "thank", "that's", "this ", "wait",
];

/// What stands for fenced code in what a human asked.
const CODE: &str = "[code]";

/// The lines of a text that are prose: no fenced code (`with_code` says where it stood), no comments of a template, no bare
/// tags, no data.
fn prose_lines(text: &str, with_code: bool) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    let mut in_fence = false;
    let mut in_comment = false;
    let mut in_call = false;
    let (comment_end, call_end) = (LastEnd::new(text, "-->"), LastEnd::new(text, "</command>"));
    for raw in lines_of(text) {
        let trimmed = raw.trim_ascii();
        if is_fence(trimmed) {
            in_fence = !in_fence;
            match lines.last_mut() {
                Some(last) if in_fence && with_code => {
                    let last = last.to_mut();
                    last.push(' ');
                    last.push_str(CODE);
                }
                None if in_fence && with_code => lines.push(Cow::Borrowed(CODE)),
                _ => {}
            }
            continue;
        }
        // What is never closed takes nothing away.
        let at = (raw.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        in_comment |= trimmed.starts_with("<!--") && comment_end.is_after(at);
        let was_comment = in_comment;
        in_comment = in_comment && !trimmed.contains("-->");
        // A command that is told as an action is no prose; of what was asked it may be an example.
        in_call |= !with_code && trimmed == "<command>" && call_end.is_after(at);
        in_call = in_call && trimmed != "</command>";
        if in_fence || was_comment || in_call || trimmed.is_empty() || is_bare_tag(trimmed) {
            continue;
        }
        let line = match cleaned_line(trimmed) {
            Cow::Borrowed(line) => Cow::Borrowed(without_bullet(line)),
            Cow::Owned(line) => Cow::Owned(without_bullet(&line).to_owned()),
        };
        if line.contains(char::is_alphabetic) {
            lines.push(line);
        }
    }
    lines
}

/// Where the last end of something stands in a text, looked for once it is asked for.
struct LastEnd<'t> {
    text: &'t str,
    end: &'static str,
    found: OnceCell<Option<usize>>,
}

impl<'t> LastEnd<'t> {
    fn new(text: &'t str, end: &'static str) -> Self {
        let found = OnceCell::new();
        Self { text, end, found }
    }

    fn is_after(&self, at: usize) -> bool {
        let (text, end) = (self.text.as_bytes(), self.end.as_bytes());
        let found = self.found.get_or_init(|| memchr::memmem::rfind(text, end));
        found.is_some_and(|found| found >= at)
    }
}

fn is_bare_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
}

fn demands(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    // `I don't know` demands nothing.
    let told_of_self = lower.starts_with("i ") || lower.starts_with("it ") || lower.starts_with("we ");
    starts_with_any(&lower, &WISHES)
        || (!told_of_self && DEMANDS.iter().any(|word| starts_or_holds(&lower, word)))
        || DEMANDS_ELSEWHERE.iter().any(|word| lower.contains(word))
}

fn starts_or_holds(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        at == 0
            || lower
                .get(..at)
                .is_some_and(|head| head.ends_with([' ', '(', '*']))
    })
}
