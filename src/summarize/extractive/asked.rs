//! Messages of people, as a whole and in order: which later words replace earlier ones is left to who reads them.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, LineLimits, Section, order, words};
use super::prose::prose_lines;
use super::replies::{REPLY, first_reply, replies, reply_to, without_reply};
use super::sentences::{sentences, without_number};
use super::small_talk::{asks, is_idle, specifics};
use crate::events::source::SourceTurn;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::trajectory::Role;

/// The worth of a demand, which enters before anything else.
const DEMAND: f64 = 30.0;

/// The worth of the first, the last and the newest messages, and of others.
const FIRST: f64 = 5.0;
const NEWEST: [f64; 4] = [6.0, 4.0, 4.0, 4.0];
const OTHER: f64 = 3.0;

/// The worth of what the assistant replied to, as a part of that of other messages.
const REPLIED: f64 = 0.5;

/// The worth that the newest message has more than the oldest one, as a part of it: it may change what that says.
const NEWER: f64 = 0.5;

/// Messages that may stand in an earlier summary too: those that were kept behind it.
const MAX_KEPT: usize = 8;

/// Stands for sentences of a message that say nothing.
const GAP: &str = " … ";

/// Sentences looked at in one message; demands are heard however long it is.
const MAX_SENTENCES: usize = 60;

/// A message, as sentences with the kinds of their phrases.
struct UserMessage<'t> {
    turn: usize,
    role: Role,
    sentences: Vec<(Cow<'t, str>, Kinds)>,
}

/// The messages in these turns, the latest first.
fn messages<'t>(turns: &'t [SourceTurn<'_>]) -> Vec<UserMessage<'t>> {
    let spoken = turns.iter().enumerate().rev();
    let spoken = spoken.filter(|(_, turn)| matches!(turn.role, Role::Human | Role::System));
    let read = spoken.map(|(index, turn)| {
        let sentences = prose_lines(&turn.prose, true)
            .into_iter()
            .flat_map(|line| match line {
                Cow::Borrowed(line) => sentences(line)
                    .map(|text| Cow::Borrowed(without_number(text)))
                    .collect::<Vec<_>>(),
                Cow::Owned(line) => sentences(&line)
                    .map(|text| Cow::Owned(without_number(text).to_owned()))
                    .collect(),
            });
        let with_kinds = sentences.map(|text| {
            let kinds = Kinds::of(&text);
            (text, kinds)
        });
        UserMessage {
            turn: index,
            role: turn.role,
            sentences: with_kinds.collect(),
        }
    });
    read.filter(|message| !message.sentences.is_empty()).collect()
}

/// Lines for the messages of people, behind those of an earlier summary.
pub(super) fn asked(turns: &[SourceTurn<'_>], limits: LineLimits, candidates: &mut Vec<Candidate>) {
    let people = messages(turns);
    let replied_before = replies(turns).next();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (rank, message) in people.iter().enumerate() {
        let newest = NEWEST.get(rank).copied();
        let first = (rank + 1 == people.len()).then_some(FIRST);
        let mut base = newest.or(first).unwrap_or(OTHER);
        if Some(message.turn) < replied_before {
            base *= REPLIED;
        }
        let sentences = telling(message, rank == 0);
        let mut parts = parts(&sentences, limits).into_iter().peekable();
        while let Some(part) = parts.next() {
            let mut text = part.text();
            if seen.insert(text.to_lowercase()) {
                if parts.peek().is_none()
                    && let Some(reply) = reply_to(turns, message.turn, limits.line)
                {
                    text.extend([REPLY, &reply]);
                }
                let (section, worth) = if part.is_demanded() {
                    (Section::Demanded, DEMAND)
                } else {
                    (Section::Asked, base * part.worth())
                };
                candidates.push(Candidate {
                    section,
                    order: order(message.turn, part.first()),
                    value: worth * root(&text),
                    text,
                });
            }
        }
    }
    raise_later(candidates);
}

/// Raises the worth of each message to that of all before it: it may change what they say.
fn raise_later(candidates: &mut [Candidate]) {
    let of_people = |line: &&mut Candidate| line.section.printed() == Section::Asked;
    let mut messages: Vec<&mut Candidate> = candidates.iter_mut().filter(of_people).collect();
    messages.sort_by_key(|line| line.order);
    let mut least: f64 = 0.0;
    let count = messages.len().max(1) as f64;
    for (number, line) in messages.into_iter().enumerate() {
        let root = root(&line.text);
        least = least.max(line.value / root);
        line.value = least * root * (1.0 + NEWER * number as f64 / count);
    }
}

/// A sentence of a message.
struct Sentence<'s> {
    number: usize,
    text: &'s str,
    kinds: Kinds,
    is_demand: bool,
}

/// The sentences of a message that say something.
fn telling<'s>(message: &'s UserMessage<'_>, is_newest: bool) -> Vec<Sentence<'s>> {
    // What only agrees was dealt with once something else was said.
    let only_agrees = message.sentences.iter().all(|(text, kinds)| {
        let agrees = kinds.has_any(&[PhraseKind::Agreement, PhraseKind::GoOn]) || is_idle(text, *kinds);
        agrees && specifics(text) == 0 && !text.ends_with(['?', '？'])
    });
    // The sentences after a heading that names rules are demands.
    let mut is_rule = false;
    let sentences = message.sentences.iter().enumerate();
    let told = sentences.filter_map(|(number, (text, kinds))| {
        if text.ends_with([':', '：']) {
            is_rule = kinds.has_any(&[PhraseKind::Demand, PhraseKind::Rule]);
        }
        let is_demand = is_rule || is_demand(text, *kinds);
        let says_something = || {
            let is_heard = number < MAX_SENTENCES && message.role == Role::Human;
            is_heard && !is_idle(text, *kinds) && (is_newest || !only_agrees)
        };
        (is_demand || says_something()).then(|| Sentence {
            number,
            text,
            kinds: *kinds,
            is_demand,
        })
    });
    told.collect()
}

/// Sentences of a message that are told in one line.
struct MessagePart<'p>(Vec<&'p Sentence<'p>>);

/// A message in one part where it is short, else in several.
fn parts<'p>(message: &'p [Sentence<'p>], limits: LineLimits) -> Vec<MessagePart<'p>> {
    let length = |sentence: &Sentence<'_>| sentence.text.chars().count() + 1;
    let whole: usize = message.iter().map(length).sum();
    let is_long = whole > limits.asked;
    let mut parts: Vec<MessagePart<'_>> = Vec::new();
    let mut filled = 0;
    for sentence in message {
        filled += length(sentence);
        match parts.last_mut() {
            // A word for what the sentence before names is told with it.
            Some(part) if leans_back(sentence.text) && filled <= limits.asked => part.0.push(sentence),
            // Of a long message a demand is told without what it explains.
            Some(part)
                if !is_long || part.is_demanded() == sentence.is_demand && filled <= 2 * limits.line =>
            {
                part.0.push(sentence);
            }
            _ => {
                filled = length(sentence);
                parts.push(MessagePart(vec![sentence]));
            }
        }
    }
    parts
}

impl MessagePart<'_> {
    /// The number of its first sentence.
    fn first(&self) -> usize {
        self.0.first().map_or(0, |first| first.number)
    }

    fn is_demanded(&self) -> bool {
        self.0.iter().any(|sentence| sentence.is_demand)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut next = self.first();
        for sentence in &self.0 {
            if !text.is_empty() {
                let is_next = sentence.number == next;
                text.push_str(match is_next {
                    true if text.ends_with(char::is_alphanumeric) => "; ",
                    true => " ",
                    false => GAP,
                });
            }
            text.push_str(sentence.text);
            next = sentence.number + 1;
        }
        text
    }

    /// The worth of its sentences, of which one that asks or names something says most.
    fn worth(&self) -> f64 {
        let worth = |sentence: &&Sentence<'_>| {
            let asks = asks(
                sentence.text,
                sentence.kinds,
                sentence.kinds.has(PhraseKind::Answer),
            );
            let named = specifics(sentence.text).min(4) as f64;
            0.2 + if asks { 0.5 } else { 0.0 } + 0.25 * named
        };
        self.0.iter().map(worth).fold(0.0, f64::max)
    }
}

/// The messages that turns hold behind an earlier summary.
pub(super) struct MessagesSince {
    /// How often the assistant replied, 2 at most.
    pub replies: usize,
    /// The first reply.
    reply: Option<String>,
    messages: Vec<String>,
}

impl MessagesSince {
    pub fn of(turns: &[SourceTurn<'_>], limits: LineLimits) -> Self {
        let people = turns.iter().filter(|turn| turn.role == Role::Human);
        Self {
            replies: replies(turns).take(2).count(),
            reply: first_reply(turns, limits.line),
            messages: people.take(MAX_KEPT).map(|turn| words(&turn.prose)).collect(),
        }
    }

    /// Adds the first reply to the last message of the earlier summary, which it is of.
    pub fn push_reply(&self, message: &mut String) {
        if let Some(reply) = self.reply.as_deref().filter(|_| !message.contains(REPLY)) {
            message.extend([REPLY, reply]);
        }
    }

    /// The section of a message of the earlier summary; `None` for one that is said anew, or was replied to twice and names nothing.
    pub fn section_of(&self, line: &str) -> Option<Section> {
        let is_demanded = sentences(line).any(|sentence| is_demand(sentence, Kinds::of(sentence)));
        let stays = is_demanded || self.replies < 2 || specifics(line) > 0;
        let said = words(without_reply(line));
        let is_anew = self.messages.iter().any(|message| message.contains(&said));
        (stays && !is_anew).then_some(if is_demanded {
            Section::Demanded
        } else {
            Section::Asked
        })
    }
}

/// If a sentence of a person demands or forbids something for all that follows: what they tell of themselves does not.
fn is_demand(sentence: &str, kinds: Kinds) -> bool {
    // `New rule: don't resolve tickets until they confirm.`
    let head = sentence.split_once([':', '：']).map_or("", |(head, _)| head);
    let names_rule = kinds.has(PhraseKind::Rule) && Kinds::of(head).has(PhraseKind::Rule);
    (kinds.has(PhraseKind::Demand) || names_rule)
        && !kinds.has(PhraseKind::OfSelf)
        && !sentence.ends_with(['?', '？'])
}

/// Words at the start of a sentence in which one may stand for what the sentence before names.
const FIRST_WORDS: usize = 5;

/// If a sentence begins with a word for what the one before names: `Don't print it here.`
fn leans_back(sentence: &str) -> bool {
    let end = sentence.match_indices(' ').nth(FIRST_WORDS - 1);
    let first = end.and_then(|(at, _)| sentence.get(..at)).unwrap_or(sentence);
    Kinds::of(first).has(PhraseKind::Pronoun)
}

/// The square root of a line's length, where 100 characters are 1: the worth of a line for each of its tokens falls with that root
/// and not with its length.
pub(super) fn root(text: &str) -> f64 {
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
