//! The results of calls in the assistant's own words: the sentence after an answer that repeats a fact of it.

use rustc_hash::FxHashMap;

use super::candidate::{Section, holds};
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
        let silent = actions.iter().filter(|action| is_silent(action));
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
    for place in 0..lines.len() {
        let Some(range) = lines.get(place).and_then(|line| verdict_in(&line.candidate.text)) else {
            continue;
        };
        let text = |line: &Chosen| line.candidate.text.get(range.clone()).map(str::to_owned);
        let Some(verdict) = lines.get(place).and_then(text) else {
            continue;
        };
        let said = verdict
            .trim_start_matches(AFTER_OUTCOME)
            .trim_start_matches(ALONE);
        let mut others = lines.iter().enumerate().filter(|(other, _)| *other != place);
        let is_repeated = others.any(|(_, other)| holds(&other.candidate.text, said));
        if let Some(line) = lines.get_mut(place).filter(|_| is_repeated) {
            line.candidate.text.replace_range(range, "");
            if line.candidate.section == Section::Done && has_no_result(&line.candidate.text) {
                line.candidate.text.clear();
            }
        }
    }
    lines.retain(|line| !line.candidate.text.is_empty());
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

/// If a call ended well, as far as is known, and its answer tells nothing in a line but its size.
fn is_silent(action: &Event) -> bool {
    let outcome = &action.outcome;
    let is_edit = action.target.effect == Effect::Modify && !action.target.is_run;
    let is_told = is_edit || outcome.hit.is_some() || outcome.failed() == Some(true);
    !is_told && (outcome.result.is_none() || outcome.is_only_counted())
}

/// The first sentence of the next turn that repeats a fact of the answer.
fn verdict(turns: &[SourceTurn<'_>], action: &Event, limit: usize) -> Option<String> {
    let (turn, place) = action.answered_at?;
    let (_, answer) = turns.get(turn)?.answers.get(place)?;
    let mut end = answer.len().min(MAX_SEARCHED);
    while !answer.is_char_boundary(end) {
        end -= 1;
    }
    let answer = answer.get(..end)?;
    let next = turns
        .get(turn + 1..)?
        .iter()
        .find(|turn| turn.role != Role::Tool)?;
    if next.role != Role::Assistant || next.is_behind_gap {
        return None;
    }
    let lines = prose_lines(before_list(&next.prose), false);
    let said = lines.iter().flat_map(|line| sentences(line)).take(MAX_SENTENCES);
    let mut said = said.filter(|sentence| {
        let kinds = [PhraseKind::Announcement, PhraseKind::Open, PhraseKind::TakesBack];
        !Kinds::of(sentence).has_any(&kinds) && !sentence.ends_with(['?', ':', '？', '：'])
    });
    said.find_map(|sentence| {
        let told = cleaned(sentence.trim_end_matches('.'));
        let told = shortened(&told, limit)?;
        let mut words = told.split_whitespace().map(without_marks);
        let is_news =
            words.any(|word| is_fact(word) && answer.contains(word) && !action.target.line.contains(word));
        is_news.then(|| told.into_owned())
    })
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
