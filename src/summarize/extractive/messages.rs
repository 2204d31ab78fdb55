//! Messages of people: each as the sentences of it that say something, with the reply to it.

use std::borrow::Cow;

use super::candidate::{LineLimits, holds, order};
use super::replies::{ClosingReply, REPLY, first_reply, replies, reply_to};
use super::sentences::{prose_lines, sentences, without_number};
use super::small_talk::{asks, is_idle, specifics};
use crate::events::line::shortened;
use crate::events::source::SourceTurn;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::trajectory::Role;

/// Messages that may stand in an earlier summary too: those that were kept behind it.
const MAX_KEPT: usize = 8;

/// Stands for sentences of a message that say nothing, or that have no room.
const GAP: &str = " … ";

/// Sentences looked at in one message; demands are heard however long it is.
const MAX_SENTENCES: usize = 60;

/// A sentence of a message.
struct Sentence<'t> {
    number: usize,
    text: Cow<'t, str>,
    kinds: Kinds,
    is_demand: bool,
}

/// A message of a person.
pub(super) struct UserMessage<'t> {
    /// Its time.
    pub order: usize,
    /// The reply to it.
    pub reply: Option<ClosingReply>,
    sentences: Vec<Sentence<'t>>,
}

/// The messages in these turns, in order.
pub(super) fn messages<'t>(turns: &'t [SourceTurn<'_>], limits: LineLimits) -> Vec<UserMessage<'t>> {
    let spoken = turns.iter().enumerate();
    let spoken = spoken.filter(|(_, turn)| matches!(turn.role, Role::Human | Role::System));
    let last = turns.iter().rposition(|turn| turn.role == Role::Human);
    let read = spoken.map(|(index, turn)| {
        let sentences = prose_lines(&turn.prose, true).into_iter().flat_map(sentences_of);
        UserMessage {
            order: order(index, 0),
            reply: reply_to(turns, index, limits),
            sentences: telling(sentences.collect(), turn.role, last == Some(index)),
        }
    });
    read.filter(|message| !message.sentences.is_empty()).collect()
}

fn sentences_of(line: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    match line {
        Cow::Borrowed(line) => sentences(line).map(|text| without_number(text).into()).collect(),
        Cow::Owned(line) => sentences(&line)
            .map(|text| without_number(text).to_owned().into())
            .collect(),
    }
}

/// The sentences of a message that say something.
fn telling(texts: Vec<Cow<'_, str>>, role: Role, is_newest: bool) -> Vec<Sentence<'_>> {
    let sentences = texts.into_iter().enumerate().map(|(number, text)| Sentence {
        kinds: Kinds::of(&text),
        number,
        text,
        is_demand: false,
    });
    let mut sentences: Vec<Sentence<'_>> = sentences.collect();
    // What only agrees was dealt with once something else was said.
    let agrees = |Sentence { text, kinds, .. }: &Sentence<'_>| {
        let agrees = kinds.has_any(&[PhraseKind::Agreement, PhraseKind::GoOn]) || is_idle(text, *kinds);
        agrees && specifics(text) == 0 && !text.ends_with(['?', '？'])
    };
    let is_told = is_newest || !sentences.iter().all(agrees);
    // The sentences after a heading that names rules are demands.
    let mut is_rule = false;
    sentences.retain_mut(|sentence| {
        let kinds = sentence.kinds;
        if sentence.text.ends_with([':', '：']) {
            is_rule = kinds.has_any(&[PhraseKind::Demand, PhraseKind::Rule]);
        }
        sentence.is_demand = is_rule || is_demand(&sentence.text, kinds);
        let is_heard = sentence.number < MAX_SENTENCES && role == Role::Human;
        sentence.is_demand || is_heard && is_told && !is_idle(&sentence.text, kinds)
    });
    sentences
}

impl<'t> UserMessage<'t> {
    /// A message that a line of an earlier summary tells.
    pub fn earlier(line: &'t str, order: usize, limits: LineLimits) -> Self {
        let (said, reply) = line.split_once(REPLY).unwrap_or((line, ""));
        let texts = sentences(said).map(Cow::Borrowed).collect();
        Self {
            order,
            reply: ClosingReply::of(reply, limits),
            sentences: telling(texts, Role::Human, true),
        }
    }

    /// If it demands or forbids something.
    pub fn is_demanded(&self) -> bool {
        self.sentences.iter().any(|sentence| sentence.is_demand)
    }

    /// If a line says all of it.
    pub fn is_told_in(&self, line: &str) -> bool {
        self.sentences.iter().all(|sentence| holds(line, &sentence.text))
    }

    /// The letters of its sentences.
    pub fn len(&self) -> usize {
        self.sentences
            .iter()
            .map(|sentence| sentence.text.len() + 1)
            .sum()
    }

    /// Its sentences in about `most` letters: as a whole, or those that say most.
    pub fn within(&self, most: usize) -> String {
        let mut by_worth: Vec<usize> = (0..self.sentences.len()).collect();
        if self.len() > most {
            let worth = |place: &usize| self.sentences.get(*place).map_or(0.0, Sentence::worth);
            by_worth.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        }
        let mut left = most;
        let mut told: Vec<(usize, Cow<'_, str>)> = Vec::new();
        for place in by_worth {
            let Some(sentence) = self.sentences.get(place) else {
                continue;
            };
            if sentence.text.len() < left {
                left -= sentence.text.len() + 1;
                told.push((place, Cow::Borrowed(&sentence.text)));
            } else if told.is_empty() {
                // A part of a sentence is told only where else nothing is.
                let part = shortened(&sentence.text, most).filter(|part| !part.is_empty());
                told.push((place, part.unwrap_or_else(|| cut(&sentence.text, most).into())));
                break;
            }
        }
        told.sort_by_key(|(place, _)| *place);
        self.joined(&told)
    }

    fn joined(&self, told: &[(usize, Cow<'_, str>)]) -> String {
        let mut text = String::new();
        let mut next = None;
        for (place, sentence) in told {
            let number = self.sentences.get(*place).map_or(0, |sentence| sentence.number);
            if !text.is_empty() {
                text.push_str(match next == Some(number) {
                    true if text.ends_with(char::is_alphanumeric) => "; ",
                    true => " ",
                    false => GAP,
                });
            }
            text.push_str(sentence);
            next = Some(number + 1);
        }
        text
    }
}

impl Sentence<'_> {
    /// Its worth: one that demands something says most, then one that asks or names something.
    fn worth(&self) -> f64 {
        let asks = asks(&self.text, self.kinds, self.kinds.has(PhraseKind::Answer));
        let named = specifics(&self.text).min(4) as f64;
        0.2 + if asks { 0.5 } else { 0.0 } + 0.25 * named + if self.is_demand { 10.0 } else { 0.0 }
    }
}

/// The messages that turns hold behind an earlier summary.
pub(super) struct MessagesSince {
    /// The number of replies of the assistant, 2 at most.
    replies: usize,
    /// The first reply.
    reply: Option<ClosingReply>,
    messages: Vec<String>,
    limits: LineLimits,
}

impl MessagesSince {
    pub fn of(turns: &[SourceTurn<'_>], limits: LineLimits) -> Self {
        let people = turns.iter().filter(|turn| turn.role == Role::Human);
        Self {
            replies: replies(turns).take(2).count(),
            reply: first_reply(turns, limits),
            limits,
            messages: people
                .take(MAX_KEPT)
                .map(|turn| told_words(&turn.prose))
                .collect(),
        }
    }

    /// The messages of the earlier summary that are not said anew, and were not replied to twice where they name nothing; the first reply is
    /// to the last of them.
    pub fn left_of<'t>(&self, lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<UserMessage<'t>> {
        let lines =
            lines.map(|(number, line)| UserMessage::earlier(line, order(0, 0).min(number), self.limits));
        let mut messages: Vec<UserMessage<'_>> = Vec::new();
        for message in lines {
            let said: Vec<String> = message
                .sentences
                .iter()
                .map(|sentence| told_words(&sentence.text))
                .collect();
            let is_in = |other: &str| said.iter().all(|said| other.contains(said.as_str()));
            let is_said_again = self.messages.iter().any(|later| is_in(later));
            let names = || {
                message
                    .sentences
                    .iter()
                    .any(|sentence| specifics(&sentence.text) > 0)
            };
            if !said.is_empty() && !is_said_again && (self.replies < 2 || message.is_demanded() || names()) {
                messages.push(message);
            }
        }
        if let Some(last) = messages.last_mut().filter(|last| last.reply.is_none()) {
            last.reply.clone_from(&self.reply);
        }
        messages
    }
}

/// The words of a text, each between blanks, as far as it is told.
pub(super) fn told_words(text: &str) -> String {
    let text = text.strip_suffix('…').unwrap_or(text);
    let mut words = String::from(" ");
    for word in text
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        words.extend([word, " "]);
    }
    words
}

/// The first letters of a text without words.
fn cut(text: &str, most: usize) -> String {
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
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
