//! The results of calls in the assistant's own words: the sentence after an answer that repeats a fact of it, or speaks of it.

use rustc_hash::FxHashMap;

use super::candidate::Section;
use super::rank::Chosen;
use super::sentences::{prose_lines, sentences, without_number};
use crate::events::event::Event;
use crate::events::line::{cleaned, lines_of, shortened, without_bullet};
use crate::events::source::SourceTurn;
use crate::events::target::{Effect, ToolKind};
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

/// The words before the last line of an output, the least that a line tells of one.
pub(super) const LAST_LINE: &str = "last line: ";

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
        if let Some(verdict) = self.0.get(&action.number) {
            push_verdict(line, verdict);
        }
    }
}

/// The verdict on the call of an earlier summary after which its region ended: what the turn behind it says of the lines that quote its answer.
pub(super) fn verdict_on_last(
    label: &str,
    quoted: &str,
    turns: &[SourceTurn<'_>],
    limit: usize,
) -> Option<String> {
    verdict_in_words(turns.first()?, quoted, label, (&[], true), limit)
}

/// Appends a verdict to the line of a call that says nothing of its result but that it went well: it takes the place of the last line
/// that was printed.
pub(super) fn push_verdict(line: &mut String, verdict: &str) {
    let ending = line.rfind(" -> ").unwrap_or(line.len());
    if let Some(at) = line.get(ending..).and_then(|ending| ending.find(LAST_LINE)) {
        line.truncate(ending + at);
        let told = line.trim_end_matches(" -> ").trim_end_matches("; ").len();
        line.truncate(told);
    }
    line.push_str(if line.contains(" -> ") {
        AFTER_OUTCOME
    } else {
        ALONE
    });
    line.push_str(verdict);
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

/// Takes out the verdicts that stand in a quotation as well, and lines under `Calls` that have nothing else to tell. Where the trajectory
/// `goes_on` and the summary will be carried over, quotations are left behind then, and verdicts stay.
pub(super) fn take_out_repeated(lines: &mut Vec<Chosen>, goes_on: bool) {
    let is_quoted = |line: &Chosen| line.candidate.section == Section::Recent;
    let is_told = |line: &Chosen| verdict_in(&line.candidate.text).is_some();
    if goes_on || !lines.iter().any(is_told) {
        return;
    }
    let quoted = |line: &Chosen| {
        if is_quoted(line) {
            words_of(&line.candidate.text)
        } else {
            String::new()
        }
    };
    let mut texts: Vec<String> = lines.iter().map(quoted).collect();
    for (place, line) in lines.iter_mut().enumerate() {
        let Some(range) = verdict_in(&line.candidate.text) else {
            continue;
        };
        let verdict = line.candidate.text.get(range.clone()).unwrap_or_default();
        let said = verdict
            .trim_start_matches(AFTER_OUTCOME)
            .trim_start_matches(ALONE);
        let said = words_of(said.strip_suffix('…').unwrap_or(said));
        let mut others = texts.iter().enumerate().filter(|(other, _)| *other != place);
        if !others.any(|(_, other)| other.contains(&said)) {
            continue;
        }
        line.candidate.text.replace_range(range, "");
        if line.candidate.section == Section::Calls && tells_little(&line.candidate.text) {
            line.candidate.text.clear();
        }
        if let Some(text) = texts.get_mut(place) {
            *text = quoted(line);
        }
    }
    lines.retain(|line| !line.candidate.text.is_empty());
}

/// The words of a text without the marks around them, each between blanks.
fn words_of(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 1);
    words.push(' ');
    for word in text.split_whitespace() {
        let is_mark = |sign: char| !sign.is_alphanumeric();
        let end = word.trim_end_matches(is_mark);
        // The sign of a number counts.
        let start = end.trim_start_matches(|sign: char| is_mark(sign) && sign != '-');
        if !start.trim_start_matches('-').is_empty() {
            words.push_str(start);
            words.push(' ');
        }
    }
    words
}

/// If the line of a call has no ending but that it went well, or how many records came back.
pub(super) fn has_no_result(line: &str) -> bool {
    let ending = line.rsplit_once(" -> ").map_or("", |(_, ending)| ending);
    matches!(ending, "" | "ok" | "exit 0") || ending.ends_with(" records")
}

/// The same, and if it has no more than the last line of what was printed.
fn tells_little(line: &str) -> bool {
    has_no_result(line)
        || line
            .rsplit_once(" -> ")
            .is_some_and(|(_, ending)| ending.contains(LAST_LINE))
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
    if is_edit || action.target.puts_in.is_some() || outcome.hit.is_some() || outcome.failed() == Some(true) {
        return false;
    }
    let Some(result) = &outcome.result else {
        return true;
    };
    // What ran beside tests may have been measured.
    if outcome.tests.is_some() {
        return action.target.runs.len() > 1;
    }
    let is_field = || !result.contains([',', ';']) && result.contains(": ");
    let is_long = || {
        let answer = action.answer(turns).unwrap_or_default();
        answer.len() >= LONG_OBJECT && answer.trim_start().starts_with(['{', '['])
    };
    outcome.is_only_counted() || is_field() && is_long()
}

/// The first sentence of the next turn that repeats a fact of the answer, or else its first statement if that speaks of the answer.
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
    let target = &action.target;
    // Every sentence has a word of a file that was read.
    let is_read = target.effect == Effect::Read && target.kind != ToolKind::Web;
    let result = action.outcome.result.as_deref().unwrap_or_default();
    let may_speak = beside.is_empty() && !is_read && action.outcome.tests.is_none();
    let told = [&target.line, " ", result].concat();
    verdict_in_words(next, answer, &told, (&beside, may_speak), limit)
}

/// The verdict that a turn begins with on an `answer` of which a line tells `line_told`; the answers `beside` it came back with it. A
/// statement without a fact of it is one where that `may_speak` of nothing else.
fn verdict_in_words(
    next: &SourceTurn<'_>,
    answer: &str,
    line_told: &str,
    (beside, may_speak): (&[&str], bool),
    limit: usize,
) -> Option<String> {
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
    let mut statements = 0;
    let mut first = None;
    while let Some(sentence) = said.next() {
        let is_taken_back = said
            .peek()
            .is_some_and(|next| Kinds::of(next).has(PhraseKind::TakesBack));
        if is_taken_back {
            return None;
        }
        let sentence = without_thought_label(sentence);
        if !is_statement(sentence) {
            continue;
        }
        let told = cleaned(sentence.trim_end_matches('.'));
        let Some(told) = shortened(&told, limit) else {
            continue;
        };
        let mut words = told.split_whitespace().map(without_marks);
        let is_news = |word: &str| is_fact(word) && answer.contains(word) && !line_told.contains(word);
        if words.any(|word| is_news(word) && is_own(word)) {
            return Some(told.into_owned());
        }
        statements += 1;
        let may_speak = may_speak && first.is_none() && statements <= MAX_STATEMENTS;
        if may_speak && speaks_of(sentence, answer, line_told, statements == 1) {
            first = Some(told.into_owned());
        }
    }
    first
}

/// The label of a thought in the text of agents that reason and act by turns.
const THOUGHT_LABEL: &str = "Thought:";

fn without_thought_label(sentence: &str) -> &str {
    sentence
        .strip_prefix(THOUGHT_LABEL)
        .map_or(sentence, str::trim_start)
}

/// Kinds of sentences of which one states something of an answer.
const STATES: [PhraseKind; 4] = [
    PhraseKind::States,
    PhraseKind::Is,
    PhraseKind::Outcome,
    PhraseKind::Problem,
];

/// Statements behind an answer of which one may speak of it: later ones speak of what comes next.
const MAX_STATEMENTS: usize = 3;

/// Bytes of an answer in which a word is looked for whatever its case.
const MAX_SPOKEN_OF: usize = 8_000;

/// Words of a sentence that are looked for, and of those the fewest that show that a later one speaks of the answer.
const MAX_WORDS: usize = 40;
const MIN_SHARED: usize = 2;

/// Letters of a word that is no word of every text.
const MIN_WORD: usize = 5;

/// If a sentence states something with a word of an answer, and not of the call: one that is not the first has to share more.
fn speaks_of(sentence: &str, answer: &str, label: &str, is_first: bool) -> bool {
    let kinds = Kinds::of(sentence);
    let words = || sentence.split(|sign: char| !sign.is_alphanumeric());
    let telling = words()
        .filter(|word| word.chars().count() >= MIN_WORD)
        .take(MAX_WORDS);
    kinds.has_any(&STATES)
        && !kinds.has(PhraseKind::Leaning)
        && telling
            .filter(|word| contains(answer, word) && !contains(label, word))
            .nth(if is_first { 0 } else { MIN_SHARED - 1 })
            .is_some()
}

/// If a text contains a word, whatever the case of its ASCII letters.
fn contains(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..MAX_SPOKEN_OF).unwrap_or(bytes);
    let mut windows = bytes.windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// If a sentence states something: it is no plan, question, heading, and nothing with tags in it.
fn is_statement(sentence: &str) -> bool {
    let kinds = [PhraseKind::Announcement, PhraseKind::Open, PhraseKind::TakesBack];
    !Kinds::of(sentence).has_any(&kinds)
        && !sentence.starts_with('|')
        && !is_next_step(sentence)
        && !sentence.ends_with(['?', ':', '？', '：'])
        && !sentence.contains("</")
}

/// If a sentence begins with a verb of what comes next: `Run the tests.` or `Setting the limit.`, but not `Run 2 is better.`
fn is_next_step(sentence: &str) -> bool {
    let mut words = sentence.split(' ');
    let first = words.next().unwrap_or_default();
    let second = Kinds::of(words.next().unwrap_or_default());
    let third = Kinds::of(words.next().unwrap_or_default());
    let is_going_on = first.len() >= "Going".len() && first.ends_with("ing");
    (Kinds::of(sentence).has(PhraseKind::Imperative) || is_going_on)
        && !second.has_any(&STATES)
        && !third.has_any(&STATES)
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
