//! Sentences of human and assistant turns, without code, boilerplate and small talk.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::{Candidate, LineLimits, Section, order};
use super::sentences::{CODE, sentences, without_number};
use super::small_talk::{asks, is_idle, specifics};
use super::superseded::LatestStatements;
use crate::events::line::{cleaned_line, is_fence, lines_of, shortened, without_bullet};
use crate::events::source::SourceTurn;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::trajectory::Role;

/// Sentences looked at in one turn.
const MAX_SENTENCES: usize = 60;

/// The worth of a demand, which enters before anything else.
const DEMAND: f64 = 30.0;

/// A turn of a person or the assistant, as sentences with the kinds of their phrases.
pub(super) struct Said<'t> {
    turn: usize,
    role: Role,
    sentences: Vec<(Cow<'t, str>, Kinds)>,
}

/// The words of people in these turns, the latest first.
pub(super) fn said<'t>(turns: &'t [SourceTurn<'_>]) -> Vec<Said<'t>> {
    let spoken = turns.iter().enumerate().rev();
    let spoken = spoken.filter(|(_, turn)| {
        matches!(turn.role, Role::Assistant | Role::Human | Role::System) && !turn.prose.trim().is_empty()
    });
    spoken
        .map(|(index, turn)| {
            let lines = prose_lines(&turn.prose, turn.role != Role::Assistant);
            let sentences = lines.into_iter().flat_map(|line| match line {
                Cow::Borrowed(line) => sentences(line)
                    .map(|text| Cow::Borrowed(without_number(text)))
                    .collect::<Vec<_>>(),
                Cow::Owned(line) => sentences(&line)
                    .map(|text| Cow::Owned(without_number(text).to_owned()))
                    .collect(),
            });
            Said {
                turn: index,
                role: turn.role,
                sentences: sentences
                    .map(|text| {
                        let kinds = Kinds::of(&text);
                        (text, kinds)
                    })
                    .collect(),
            }
        })
        .collect()
}

/// The turns of the messages of people, latest first, before which the assistant ended its work in words and asked nothing back: it has
/// replied to what was asked before.
pub(super) fn replies(turns: &[SourceTurn<'_>]) -> impl Iterator<Item = usize> {
    let speaks = |turn: &SourceTurn<'_>| !turn.prose.trim().is_empty();
    let is_message = move |place: &usize| {
        let before = place.checked_sub(1).and_then(|before| turns.get(before));
        turns.get(*place).zip(before).is_some_and(|(turn, before)| {
            let is_spoken = turn.role == Role::Human && !turn.is_observed && !turn.is_behind_gap;
            let is_closing = before.role == Role::Assistant && before.calls.is_empty() && speaks(before);
            is_spoken && speaks(turn) && is_closing && !asks_back(&before.prose)
        })
    };
    (0..turns.len()).rev().filter(is_message)
}

/// If a sentence of a person tells something and asks for nothing: `My number is 4711.`
pub(super) fn is_fact(sentence: &str, kinds: Kinds) -> bool {
    !asks(sentence, kinds, true) && specifics(sentence) > 0
}

/// Sentences of an answer, from its end, of which one may ask something back.
const LAST_SENTENCES: usize = 8;

/// Words that begin a question which wants an answer.
const FIRST_OF_QUESTION: usize = 3;

/// If words end with a question that has to be answered: not whether there is anything else.
fn asks_back(prose: &str) -> bool {
    let lines = prose_lines(prose, false);
    let last = lines
        .iter()
        .rev()
        .flat_map(|line| sentences(line).collect::<Vec<_>>().into_iter().rev());
    let mut last = last.take(LAST_SENTENCES);
    last.any(|sentence| {
        let first: Vec<&str> = sentence.split(' ').take(FIRST_OF_QUESTION).collect();
        // `Would you like me to go on?` wants a yes.
        let proposes = || Kinds::of(&first.join(" ")).has(PhraseKind::Announcement);
        sentence.ends_with(['?', '？']) && (!Kinds::of(sentence).has(PhraseKind::GoOn) || proposes())
    })
}

/// Notes what the turns tell of which subject.
pub(super) fn note(said: &[Said<'_>], told: &mut LatestStatements) {
    for said in said.iter().filter(|said| said.role != Role::System) {
        // Demands are heard however long somebody talks.
        for (sentence, kinds) in said.sentences.iter().take(MAX_SENTENCES) {
            told.note(said.turn, sentence, *kinds);
            if said.role == Role::Human {
                told.withdrawals.note(said.turn, sentence, *kinds);
            }
        }
    }
}

/// If a sentence of a person demands or forbids something for all that follows: what they tell of themselves does not, nor what ends
/// in `yet`, which holds until they say otherwise.
pub(super) fn is_demand(sentence: &str, kinds: Kinds) -> bool {
    let last = sentence.rsplit(", ").next().unwrap_or(sentence);
    let is_hold =
        last.trim_end_matches(['.', '!']).ends_with(" yet") && Kinds::of(last).has(PhraseKind::Demand);
    // `New rule: don't resolve tickets until they confirm.`
    let head = sentence.split_once([':', '：']).map_or("", |(head, _)| head);
    let names_rule = kinds.has(PhraseKind::Rule) && Kinds::of(head).has(PhraseKind::Rule);
    (kinds.has(PhraseKind::Demand) || names_rule)
        && !kinds.has(PhraseKind::OfSelf)
        && !sentence.ends_with(['?', '？'])
        && !is_hold
}

/// Lines for what people demanded and asked: each demand by itself, of the rest what says something, as long as nobody said
/// otherwise later.
pub(super) fn asked(
    said: &[Said<'_>],
    told: &LatestStatements,
    turns: &[SourceTurn<'_>],
    limits: LineLimits,
    candidates: &mut Vec<Candidate>,
) {
    let people = || {
        said.iter()
            .filter(|said| matches!(said.role, Role::Human | Role::System))
    };
    let replied_before = replies(turns).next();
    let last = people().count().saturating_sub(1);
    let mut seen: FxHashSet<String> = FxHashSet::default();
    // The turn of a demand, by its words without numbers: one of an earlier turn was said anew.
    let mut demanded: FxHashMap<String, usize> = FxHashMap::default();
    for (rank, said) in people().enumerate() {
        let is_answer = said
            .sentences
            .first()
            .is_some_and(|(_, kinds)| kinds.has(PhraseKind::Answer));
        let (section, part) = if Some(said.turn) < replied_before {
            (Section::AskedEarlier, 0.5)
        } else {
            (Section::Asked, 1.0)
        };
        let base = part
            * match rank {
                0 => 6.0,
                _ if rank == last => 5.0,
                1..4 => 4.0,
                _ => 3.0,
            };
        let mut rest: Vec<(usize, Cow<'_, str>, Kinds)> = Vec::new();
        // What was chosen of what the assistant asked holds for that alone.
        let is_choice = said
            .turn
            .checked_sub(1)
            .and_then(|before| turns.get(before))
            .is_some_and(|before| before.role == Role::Assistant && asks_back(&before.prose));
        // The sentence that was replaced last.
        let mut replaced = None;
        // What follows a heading that names rules is one.
        let mut is_rule = false;
        for (number, (sentence, kinds)) in said.sentences.iter().enumerate() {
            let leans = leans_back(sentence);
            let is_of_replaced = leans && number > 0 && replaced == Some(number - 1);
            let is_replaced = || told.is_replaced(Some(said.turn), sentence, *kinds);
            if !asks(sentence, *kinds, true) && (is_of_replaced || is_replaced()) {
                replaced = Some(number);
                continue;
            }
            let is_demanded = is_rule || is_demand(sentence, *kinds);
            if told.withdrawals.give_up(Some(said.turn), sentence, is_demanded) {
                replaced = Some(number);
                continue;
            }
            // What a word stands for is told with it.
            let before = number.checked_sub(1).filter(|_| leans);
            if sentence.ends_with([':', '：']) {
                is_rule = kinds.has_any(&[PhraseKind::Demand, PhraseKind::Rule]);
                // The heading tells nothing without them.
                if is_rule {
                    continue;
                }
            } else if is_rule || is_demand(sentence, *kinds) && !(is_choice && is_short(sentence)) {
                let most = limits.line * 2;
                let fits = |named: &str| length(named) + length(sentence) < most as f64;
                let named = rest.pop_if(|(number, named, _)| before == Some(*number) && fits(named));
                let text = match named {
                    Some((_, named, _)) => Cow::Owned([&named, " ", sentence].concat()),
                    None => Cow::Borrowed(&**sentence),
                };
                let form = without_numbers(&text);
                let is_anew = *demanded.entry(form).or_insert(said.turn) != said.turn;
                let is_new = seen.insert(text.to_lowercase()) && !is_anew;
                if let Some(text) = shortened(&text, most).filter(|_| is_new) {
                    candidates.push(Candidate {
                        section: Section::Constraints,
                        order: order(said.turn, number),
                        value: DEMAND * root(&text),
                        text: text.into_owned(),
                    });
                }
                continue;
            }
            // What an answer says that names nothing was dealt with once something else was said.
            let is_settled = rank > 0 && is_answer && specifics(sentence) == 0;
            let is_told = number < MAX_SENTENCES && said.role == Role::Human && !is_idle(sentence, *kinds);
            if is_told && !is_settled {
                rest.push((number, Cow::Borrowed(sentence), *kinds));
            }
        }
        for (number, text, worth) in requests(&rest, limits) {
            if !text.is_empty() && seen.insert(text.to_lowercase()) {
                candidates.push(Candidate {
                    section,
                    order: order(said.turn, number),
                    value: base * worth * root(&text),
                    text: text.into_owned(),
                });
            }
        }
    }
}

/// Stands for sentences of a message that are told elsewhere, or not.
const GAP: &str = " … ";

/// The lines of a message: all of it in one where it is short, or else those of its sentences that say something.
fn requests<'r>(
    rest: &'r [(usize, Cow<'_, str>, Kinds)],
    limits: LineLimits,
) -> Vec<(usize, Cow<'r, str>, f64)> {
    let length: usize = rest.iter().map(|(_, text, _)| text.chars().count() + 1).sum();
    if length <= limits.asked {
        let mut text = String::new();
        let mut next = rest.first().map_or(0, |(number, ..)| *number);
        for (number, sentence, _) in rest {
            if !text.is_empty() {
                text.push_str(if *number == next { " " } else { GAP });
            }
            text.push_str(sentence);
            next = number + 1;
        }
        let worth = rest
            .iter()
            .map(|(_, text, kinds)| worth(text, *kinds))
            .fold(0.0, f64::max);
        let first = rest.first().map_or(0, |(number, ..)| *number);
        vec![(first, text.into(), worth)]
    } else {
        let lines = rest
            .iter()
            .enumerate()
            .filter_map(|(place, (number, text, kinds))| {
                // What a colon ends tells nothing without what follows.
                let text = shortened(text, limits.line * 2).filter(|text| !text.ends_with([':', '：']))?;
                let worth = worth(&text, *kinds) / (1.0 + 0.2 * place as f64);
                (text.chars().count() >= 8).then_some((*number, text, worth))
            });
        lines.collect()
    }
}

/// Words of a demand that does not say of what it is.
const SHORT: usize = 3;

fn is_short(sentence: &str) -> bool {
    sentence.split_whitespace().nth(SHORT).is_none()
}

/// Words at the start of a sentence in which one may stand for what the sentence before names.
const FIRST_WORDS: usize = 5;

/// If a sentence begins with a word for what the one before names: `Don't print it here.`
fn leans_back(sentence: &str) -> bool {
    let end = sentence.match_indices(' ').nth(FIRST_WORDS - 1);
    let first = end.and_then(|(at, _)| sentence.get(..at)).unwrap_or(sentence);
    Kinds::of(first).has(PhraseKind::Pronoun)
}

/// A sentence in small letters, without its numbers: those in names (`srv-101`) stay.
fn without_numbers(sentence: &str) -> String {
    let sentence = sentence.to_lowercase();
    let words = sentence.split(' ').map(|word| {
        let is_name = word.contains(char::is_alphabetic) && word.contains(['-', '_', '/', '#']);
        if is_name {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(word.replace(|c: char| c.is_numeric(), ""))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The worth of a sentence of a person: what asks or names something says most.
fn worth(sentence: &str, kinds: Kinds) -> f64 {
    let asks = asks(sentence, kinds, kinds.has(PhraseKind::Answer));
    let named = specifics(sentence).min(4) as f64;
    0.2 + if asks { 0.5 } else { 0.0 } + 0.25 * named
}

/// The square root of a line's length, where 100 characters are 1: the worth of a line for each of its tokens falls with that root
/// and not with its length.
fn root(text: &str) -> f64 {
    ((length(text) + 24.0) / 124.0).sqrt()
}

/// The letters of a text; one of a script that needs few counts as several.
fn length(text: &str) -> f64 {
    if text.is_ascii() {
        text.len() as f64
    } else {
        text.chars().map(|c| if c.is_ascii() { 1.0 } else { 2.5 }).sum()
    }
}

/// The lines of a text that are prose: no fenced code (`with_code` says where it stood), no comments of a template, no bare
/// tags, no data.
pub(super) fn prose_lines(text: &str, with_code: bool) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    let mut in_fence = false;
    let mut in_comment = false;
    let comment_end = LastEnd::new(text, "-->");
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
        if in_fence || was_comment || trimmed.is_empty() || is_bare_tag(trimmed) {
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

/// The byte offset of the last closing mark in a text, searched for on first use.
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
