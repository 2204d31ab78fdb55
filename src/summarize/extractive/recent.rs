//! Recent work: what the assistant wrote last (edits, commands, words), quoted as it stands.

use std::borrow::Cow;

use super::candidate::{Candidate, Section};
use super::quoted::{cut, fenced, harmless};
use super::rank::{Chosen, cost};
use super::sentences::sentences;
use super::work::{line_of_call, order_of_call};
use super::{Limits, order};
use crate::compress::anchors::Matcher;
use crate::events::event::Event;
use crate::events::source::{Arguments, SourceCall, SourceTurn};
use crate::events::target::Effect;
use crate::knowledge::phrases::{Kind, Kinds};
use crate::tokens::TokenCounter;
use crate::trajectory::Role;
use crate::trajectory::leaves::leaves;

/// Assistant turns looked at, from the end on.
const MAX_TURNS: usize = 16;

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 24;

/// Characters of an argument that the line of its call shows in full.
const SHOWN: usize = 60;

/// Tokens below which nothing more is quoted.
const LEAST: usize = 16;

/// The worth of a turn, as a part of the next one's.
const FADING: f64 = 0.75;

/// The heading of words.
pub(super) const SAID: &str = "said";

/// Something that may be quoted.
struct Piece {
    order: usize,
    heading: String,
    text: String,
    worth: f64,
}

/// Everything that may be quoted of a region, the most telling first.
pub(super) struct Recent {
    pieces: Vec<Piece>,
}

/// The quotations of a summary, which other lines need not tell.
pub(super) struct Quoted {
    /// The quotations, in order of time.
    pub lines: Vec<Chosen>,
    /// Their tokens.
    pub tokens: usize,
}

impl Recent {
    /// The newest words and calls of `turns`.
    pub fn of(turns: &[SourceTurn<'_>], actions: &[Event], limits: Limits, most_bytes: usize) -> Self {
        let mut pieces = Vec::new();
        let speaking = turns.iter().enumerate().rev();
        let speaking = speaking.filter(|(_, turn)| turn.role == Role::Assistant);
        let mut bytes = 0;
        let mut last_action = actions.len();
        for (age, (index, turn)) in speaking.take(MAX_TURNS).enumerate() {
            if bytes > most_bytes {
                break;
            }
            let freshness = FADING.powi(i32::try_from(age).unwrap_or(i32::MAX));
            let said = harmless(&turn.prose);
            if tells(&said) {
                bytes += said.len();
                pieces.push(Piece {
                    order: order(index, 0),
                    heading: SAID.to_owned(),
                    text: said,
                    worth: freshness,
                });
            }
            while let Some(number) = last_action.checked_sub(1)
                && let Some(action) = actions.get(number).filter(|action| action.turn >= index)
            {
                last_action = number;
                let Some(call) = turn.calls.get(action.call).filter(|_| action.turn == index) else {
                    continue;
                };
                let Some(text) = written(call) else { continue };
                let text = harmless(&text);
                if text.is_empty() {
                    continue;
                }
                bytes += text.len();
                let base = match action.target.effect {
                    _ if action.is_open => 2.0,
                    Effect::Modify => 1.5,
                    Effect::Other => 1.2,
                    Effect::Read => 0.8,
                };
                pieces.push(Piece {
                    order: order_of_call(action, number),
                    heading: heading(action, &text, limits),
                    text,
                    worth: base * freshness,
                });
            }
        }
        pieces.sort_by(|a, b| b.worth.total_cmp(&a.worth).then(b.order.cmp(&a.order)));
        Self { pieces }
    }

    /// Quotations for at most `room` tokens, their heading included.
    pub fn quoted(&self, room: usize, matcher: &Matcher<'_>, counter: &dyn TokenCounter) -> Quoted {
        self.with_more(&[], room, matcher, counter)
    }

    /// Quotations for at most `room` tokens that hold at the least what is quoted `already`.
    pub fn with_more(
        &self,
        already: &[Chosen],
        room: usize,
        matcher: &Matcher<'_>,
        counter: &dyn TokenCounter,
    ) -> Quoted {
        let mut line = String::new();
        let taken: usize = already.iter().map(|line| line.cost).sum();
        let heading = counter.count(Section::Recent.label()) + 1;
        let mut left = room.saturating_sub(heading + taken);
        let mut lines: Vec<Chosen> = Vec::new();
        for piece in &self.pieces {
            let before = already.iter().find(|line| line.candidate.order == piece.order);
            left += before.map_or(0, |line| line.cost);
            if left < LEAST && before.is_none() {
                continue;
            }
            let count = |text: &str| cost(&piece.line(text), &mut String::new(), counter);
            let Some(text) = cut(&piece.text, left, &count) else {
                continue;
            };
            let text = piece.line(&text);
            let tokens = cost(&text, &mut line, counter);
            if tokens > left {
                continue;
            }
            left -= tokens;
            let held = matcher.held(&text).into_iter().enumerate();
            lines.push(Chosen {
                held: held
                    .filter(|(_, is_held)| *is_held)
                    .map(|(index, _)| index)
                    .collect(),
                candidate: Candidate {
                    section: Section::Recent,
                    order: piece.order,
                    text,
                    value: piece.worth,
                },
                cost: tokens,
                density: (piece.worth * 1e6) as u64,
            });
        }
        let tokens = if lines.is_empty() { 0 } else { room - left };
        lines.sort_by_key(|line| line.candidate.order);
        Quoted { lines, tokens }
    }
}

impl Quoted {
    /// If a line says what is quoted.
    pub fn tells(&self, line: &Candidate) -> bool {
        self.lines.iter().any(|quoted| match line.section {
            Section::Done => quoted.candidate.order == line.order,
            Section::Findings | Section::Values => quoted.candidate.text.contains(line.text.as_str()),
            _ => false,
        })
    }
}

impl Piece {
    /// The line that quotes `text`.
    fn line(&self, text: &str) -> String {
        if text.contains('\n') {
            [self.heading.as_str(), ":\n", &fenced(text)].concat()
        } else {
            [self.heading.as_str(), ": ", text].concat()
        }
    }
}

/// The tool of a call, or all that its line says where `text` does not say the same, and how it ended.
fn heading(action: &Event, text: &str, limits: Limits) -> String {
    let label = action.target.line.as_str();
    let said = |rest: &str| {
        let first = rest.trim_end_matches('…').trim_end();
        text.contains(first)
    };
    let label = match label.split_once(": ") {
        Some((tool, rest)) if said(rest) => tool,
        _ if said(label) => "ran",
        _ => label.split_once('(').map_or(label, |(tool, _)| tool),
    };
    line_of_call(action, label, limits)
}

/// If words tell more than the next step: announcements and courtesies are told by what came of them.
fn tells(said: &str) -> bool {
    said.lines()
        .flat_map(sentences)
        .any(|sentence| !Kinds::of(sentence).has(Kind::Announcement) && !sentence.ends_with([':', '：']))
}

/// The arguments of a call as lines, where its own line does not show them in full.
fn written<'c>(call: &'c SourceCall<'_>) -> Option<Cow<'c, str>> {
    let fields: Vec<(Cow<'c, str>, Cow<'c, str>)> = match &call.arguments {
        Arguments::Tagged(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect()
        }
        Arguments::Json(json) => match leaves(json, MAX_ARGUMENTS) {
            Some(leaves) => leaves
                .into_iter()
                .map(|leaf| (leaf.key(), leaf.value()))
                .collect(),
            None => vec![("".into(), json.as_ref().into())],
        },
    };
    let is_long = |(_, value): &(Cow<'_, str>, Cow<'_, str>)| value.len() > SHOWN || value.contains('\n');
    if !fields.iter().any(is_long) {
        return None;
    }
    let named = fields.iter().map(|(key, value)| [key, ": ", value].concat());
    Some(named.collect::<Vec<_>>().join("\n").into())
}
