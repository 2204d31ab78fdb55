//! The results of calls in the assistant's own words: the sentence after an answer that repeats a fact of it.

use rustc_hash::FxHashMap;

use super::candidate::Section;
use super::prose::prose_lines;
use super::rank::Chosen;
use super::sentences::{sentences, without_number};
use crate::events::event::Event;
use crate::events::line::{cleaned, lines_of, shortened, without_bullet};
use crate::events::source::SourceTurn;
use crate::events::target::Effect;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::trajectory::Role;

/// Sentences behind an answer that are looked at.
const MAX_SENTENCES: usize = 8;

/// Answers to the calls of one turn that are compared with one another at most: of more no words are told.
const MAX_BESIDE: usize = 32;

/// Bytes of an answer in which facts are looked for.
const MAX_SEARCHED: usize = 100_000;

/// The words before a verdict, behind an outcome and without one.
const AFTER_OUTCOME: &str = "; said: ";
const ALONE: &str = " -> said: ";

/// The verdicts on calls, by the numbers of their events.
#[derive(Debug, Default)]
pub(super) struct Verdicts(FxHashMap<usize, String>);

impl Verdicts {
    /// Those on calls of which nothing but a number of lines or records is known, none longer than `limit` characters.
    pub fn of(turns: &[SourceTurn<'_>], actions: &[Event], limit: usize) -> Self {
        let silent = actions.iter().filter(|action| is_silent(action, turns));
        let verdicts = silent.filter_map(|action| Some((action.number, verdict(turns, action, limit)?)));
        Self(verdicts.collect())
    }

    /// If there is one on a call.
    pub fn has(&self, action: &Event) -> bool {
        self.0.contains_key(&action.number)
    }

    /// Appends that on a call to its line.
    pub fn push_on(&self, action: &Event, line: &mut String) {
        let Some(verdict) = self.0.get(&action.number) else {
            return;
        };
        line.push_str(if line.contains(" -> ") {
            AFTER_OUTCOME
        } else {
            ALONE
        });
        line.push_str(verdict);
    }
}

/// The ending of a call's line without a verdict: what the assistant said is no output.
pub(super) fn without_verdict(ending: &str) -> &str {
    if ending.starts_with(ALONE.trim_start_matches(" -> ")) {
        return "";
    }
    ending
        .split_once(AFTER_OUTCOME)
        .map_or(ending, |(outcome, _)| outcome)
}

/// Takes out the verdicts that stand in another line as well, and lines under `Done` that have nothing else to tell.
pub(super) fn take_out_repeated(lines: &mut Vec<Chosen>) {
    let verdicts = |lines: &[Chosen], place: usize| verdict_in(&lines.get(place)?.candidate.text);
    if (0..lines.len()).all(|place| verdicts(lines, place).is_none()) {
        return;
    }
    let mut texts: Vec<String> = lines.iter().map(|line| letters(&line.candidate.text)).collect();
    for place in 0..lines.len() {
        let Some(range) = verdicts(lines, place) else {
            continue;
        };
        let Some(line) = lines.get_mut(place) else {
            continue;
        };
        let verdict = line.candidate.text.get(range.clone()).unwrap_or_default();
        let said = verdict
            .trim_start_matches(AFTER_OUTCOME)
            .trim_start_matches(ALONE);
        let said = letters(said.strip_suffix('…').unwrap_or(said));
        let mut others = texts.iter().enumerate().filter(|(other, _)| *other != place);
        if !others.any(|(_, other)| other.contains(&said)) {
            continue;
        }
        line.candidate.text.replace_range(range, "");
        if line.candidate.section == Section::Done && has_no_result(&line.candidate.text) {
            line.candidate.text.clear();
        }
        let left = letters(&line.candidate.text);
        if let Some(text) = texts.get_mut(place) {
            *text = left;
        }
    }
    lines.retain(|line| !line.candidate.text.is_empty());
}

/// The letters and digits of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).collect()
}

/// If the line of a call has no ending but that it went well, or how many records came back.
fn has_no_result(line: &str) -> bool {
    let ending = line.rsplit_once(" -> ").map_or("", |(_, ending)| ending);
    matches!(ending, "" | "ok" | "exit 0") || ending.ends_with(" records")
}

/// The bytes of a verdict in a line, or in the heading of a quotation.
fn verdict_in(text: &str) -> Option<std::ops::Range<usize>> {
    let first = text.lines().next()?;
    let end = if first.len() < text.len() {
        first.strip_suffix(':').unwrap_or(first)
    } else {
        first
    };
    let start = [AFTER_OUTCOME, ALONE]
        .into_iter()
        .find_map(|mark| end.find(mark))?;
    Some(start..end.len())
}

/// Bytes of a JSON answer of which a single field tells next to nothing.
const LONG_OBJECT: usize = 600;

/// If a call ended well, as far as is known, and its answer tells nothing in a line but its size, or a field of a long object.
fn is_silent(action: &Event, turns: &[SourceTurn<'_>]) -> bool {
    let outcome = &action.outcome;
    let is_edit = action.target.effect == Effect::Modify && !action.target.is_run;
    if is_edit || outcome.hit.is_some() || outcome.failed() == Some(true) {
        return false;
    }
    let Some(result) = &outcome.result else {
        return true;
    };
    let is_field = || !result.contains([',', ';']) && result.contains(": ");
    let is_long = || {
        let answer = action.answer(turns).unwrap_or_default();
        answer.len() >= LONG_OBJECT && answer.trim_start().starts_with(['{', '['])
    };
    outcome.is_only_counted() || is_field() && is_long()
}

/// The first sentence of the next turn that repeats a fact of the answer.
fn verdict(turns: &[SourceTurn<'_>], action: &Event, limit: usize) -> Option<String> {
    let (turn, _) = action.answered_at?;
    let whole = action.answer(turns)?;
    let mut end = whole.len().min(MAX_SEARCHED);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let answer = whole.get(..end)?;
    let mut behind = turns.get(turn + 1..)?.iter().take(MAX_BESIDE);
    let next_place = turn + 1 + behind.position(|turn| turn.role != Role::Tool)?;
    let next = turns.get(next_place)?;
    let beside: Vec<&str> = turns
        .get(action.turn..next_place)?
        .iter()
        .flat_map(|turn| turn.answers.iter().map(|(_, answer)| answer.as_ref()))
        .filter(|other| !std::ptr::eq(*other, whole))
        .take(MAX_BESIDE)
        .collect();
    if beside.len() >= MAX_BESIDE {
        return None;
    }
    if next.role != Role::Assistant || next.is_behind_gap {
        return None;
    }
    let lines = prose_lines(before_list(&next.prose), false);
    let mut said = lines
        .iter()
        .flat_map(|line| sentences(line))
        .take(MAX_SENTENCES)
        .peekable();
    // A fact of several answers does not say which of them is meant.
    let is_own = |word: &str| !beside.iter().any(|other| other.contains(word));
    while let Some(sentence) = said.next() {
        let is_taken_back = said
            .peek()
            .is_some_and(|next| Kinds::of(next).has(PhraseKind::TakesBack));
        if is_taken_back {
            return None;
        }
        if !is_statement(sentence) {
            continue;
        }
        let told = cleaned(sentence.trim_end_matches('.'));
        let Some(told) = shortened(&told, limit) else {
            continue;
        };
        let mut words = told.split_whitespace().map(without_marks);
        let is_news =
            |word: &str| is_fact(word) && answer.contains(word) && !action.target.line.contains(word);
        if words.any(|word| is_news(word) && is_own(word)) {
            return Some(told.into_owned());
        }
    }
    None
}

/// If a sentence states something: it is no plan, question, heading, and nothing with tags in it.
fn is_statement(sentence: &str) -> bool {
    let kinds = [PhraseKind::Announcement, PhraseKind::Open, PhraseKind::TakesBack];
    !Kinds::of(sentence).has_any(&kinds)
        && !sentence.ends_with(['?', ':', '？', '：'])
        && !sentence.contains("</")
}

/// The text before its first list: of several items none is the result.
fn before_list(text: &str) -> &str {
    let mut lines = lines_of(text);
    let list = lines.find(|line| {
        without_bullet(line).len() < line.trim().len() || without_number(line.trim()) != line.trim()
    });
    let end = list.map_or(text.len(), |line| line.as_ptr() as usize - text.as_ptr() as usize);
    text.get(..end).unwrap_or(text)
}

/// A word without the marks around it.
fn without_marks(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_alphanumeric())
}

/// If a word is a value or a name, and not one of every text.
fn is_fact(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_name = || word.len() >= 6 && word.contains(['_', '/', '-', '.']);
    word.len() >= 3 && has_digit || is_name()
}
