//! Replies: the words with which the assistant ended its work on a message.

use super::candidate::LineLimits;
use super::sentences::{prose_lines, sentences, without_number};
use super::small_talk::is_idle;
use crate::events::line::shortened;
use crate::events::source::SourceTurn;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::trajectory::Role;

/// Stands between a message and the reply to it.
pub(super) const REPLY: &str = " -> said: ";

/// A reply.
#[derive(Debug, Clone)]
pub(super) struct ClosingReply {
    /// Its turn, if it stands in the region.
    pub turn: Option<usize>,
    /// It in a line.
    pub line: String,
    /// As much of it as is told where there is room.
    pub whole: String,
}

/// The letters of a reply that is told as a whole, as a multiple of those of a line.
const WHOLE: usize = 4;

impl ClosingReply {
    /// A reply in these words.
    pub fn of(text: &str, limits: LineLimits) -> Option<Self> {
        Some(Self {
            turn: None,
            line: told(text, limits.line)?,
            whole: told(text, WHOLE * limits.line)?,
        })
    }
}

/// The reply to the message of a turn, if another message follows it.
pub(super) fn reply_to(turns: &[SourceTurn<'_>], message: usize, limits: LineLimits) -> Option<ClosingReply> {
    let next = (message + 1..turns.len()).find(|turn| turns.get(*turn).is_some_and(is_message))?;
    reply_before(turns, next, limits).filter(|_| next > message + 1)
}

/// The reply to the message before these turns.
pub(super) fn first_reply(turns: &[SourceTurn<'_>], limits: LineLimits) -> Option<ClosingReply> {
    reply_before(turns, turns.iter().position(is_message)?, limits)
}

fn reply_before(turns: &[SourceTurn<'_>], next: usize, limits: LineLimits) -> Option<ClosingReply> {
    let reply = ClosingReply::of(&closing(turns, next)?.prose, limits)?;
    let turn = next.checked_sub(1);
    Some(ClosingReply { turn, ..reply })
}

/// If a turn is a message of a person.
fn is_message(turn: &SourceTurn<'_>) -> bool {
    turn.role == Role::Human && !turn.is_observed && !turn.is_behind_gap && !turn.prose.trim().is_empty()
}

/// The turn before another one, if the assistant ended its work in words there.
fn closing<'t, 'r>(turns: &'t [SourceTurn<'r>], next: usize) -> Option<&'t SourceTurn<'r>> {
    let before = turns.get(next.checked_sub(1)?)?;
    let is_closing = before.role == Role::Assistant && before.calls.is_empty();
    Some(before).filter(|before| is_closing && !before.prose.trim().is_empty())
}

/// The first sentences of a reply that say something, and what it asks at its end.
fn told(prose: &str, most: usize) -> Option<String> {
    let lines = prose_lines(prose, false);
    let all = || lines.iter().flat_map(|line| sentences(line).collect::<Vec<_>>());
    let says_something = |sentence: &&str| {
        let kinds = Kinds::of(sentence);
        !is_idle(sentence, kinds) && !kinds.has(PhraseKind::GoOn)
    };
    let mut text = String::new();
    for sentence in all().filter(says_something).map(without_number) {
        let room = most.saturating_sub(text.len());
        let told = shortened(sentence, room).unwrap_or_default();
        // A part of a sentence is told only where else too little is.
        let is_cut = told.len() < sentence.len();
        if is_cut && (told.is_empty() || text.len() > most / 2) {
            text.push_str(if text.is_empty() { "" } else { " …" });
            break;
        }
        if !text.is_empty() {
            text.push_str(if text.ends_with(char::is_alphanumeric) {
                "; "
            } else {
                " "
            });
        }
        text.push_str(&told);
        if is_cut {
            break;
        }
    }
    if text.ends_with('…') {
        let question = question_of(prose).filter(|question| !text.contains(question.as_str()));
        text.extend(question.iter().flat_map(|question| [" ", question]));
    }
    Some(text).filter(|text| !text.is_empty())
}

/// Most letters of a question that is told.
const MAX_QUESTION: usize = 120;

/// The turns of the messages of people, latest first, before which the assistant ended its work in words and asked nothing back: it has
/// replied to what was asked before.
pub(super) fn replies(turns: &[SourceTurn<'_>]) -> impl Iterator<Item = usize> {
    let is_replied_before = |next: &usize| {
        let reply = closing(turns, *next).filter(|_| turns.get(*next).is_some_and(is_message));
        reply.is_some_and(|reply| question_of(&reply.prose).is_none())
    };
    (0..turns.len()).rev().filter(is_replied_before)
}

/// Sentences of an answer, from its end, of which one may ask something back.
const LAST_SENTENCES: usize = 8;

/// Words that begin a question which wants an answer.
const FIRST_OF_QUESTION: usize = 3;

/// The question at the end of words that has to be answered: not whether there is anything else.
fn question_of(prose: &str) -> Option<String> {
    if !prose.contains(['?', '？']) {
        return None;
    }
    let lines = prose_lines(prose, false);
    let last = lines
        .iter()
        .rev()
        .flat_map(|line| sentences(line).collect::<Vec<_>>().into_iter().rev());
    let question = last.take(LAST_SENTENCES).find(|sentence| {
        let first: Vec<&str> = sentence.split(' ').take(FIRST_OF_QUESTION).collect();
        // `Would you like me to go on?` wants a yes.
        let proposes = || Kinds::of(&first.join(" ")).has(PhraseKind::Announcement);
        sentence.ends_with(['?', '？']) && (!Kinds::of(sentence).has(PhraseKind::GoOn) || proposes())
    })?;
    Some(shortened(question, MAX_QUESTION)?.into_owned())
}
