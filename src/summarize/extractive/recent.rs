//! Recent work: the newest words, calls and outputs, quoted as they stand.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::candidate::{Candidate, Section};
use super::quoted::{OUTPUT, SAID, SHOWN, cut, fenced, harmless, newest, tells, written};
use super::rank::{Chosen, cost};
use super::work::{line_of_call, order_of_call};
use super::{Limits, order};
use crate::compress::anchors::Matcher;
use crate::events::event::Event;
use crate::events::line::shortened;
use crate::events::source::SourceTurn;
use crate::events::target::Effect;
use crate::tokens::TokenCounter;
use crate::trajectory::Role;

/// Turns looked at, from the end on.
const MAX_TURNS: usize = 48;

/// Tokens below which nothing more is quoted, and below which nothing is quoted in part.
const LEAST: usize = 12;
const LEAST_PART: usize = 48;

/// The worth of a turn, as a part of the next one's.
const FADING: f64 = 0.75;

/// The part of the room for quotations that one output may take before all others had their turn.
const OUTPUT_SHARE: f64 = 0.4;

/// Turns at the end whose outputs nothing was made of yet.
const NEWEST: usize = 2;

/// Something that may be quoted.
struct Piece {
    order: usize,
    /// The time of the call whose line it makes needless.
    told: Option<usize>,
    /// The heading of the whole text, and of a part of it.
    headings: [String; 2],
    text: String,
    worth: f64,
    is_output: bool,
    /// The anchors in it, the cost of its whole line, and how many anchors each line holds: read when they are needed, once.
    held: OnceCell<usize>,
    cost: OnceCell<usize>,
    weights: OnceCell<Vec<usize>>,
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
    /// The times of the calls among them.
    calls: Vec<usize>,
}

impl Recent {
    /// The newest words, calls and outputs of `turns`, about `most_bytes` of them.
    pub fn of(
        turns: &[SourceTurn<'_>],
        actions: &[Event],
        earlier: &[Event],
        limits: Limits,
        most_bytes: usize,
    ) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut bytes, mut shown) = (0, 0);
        let mut freshness = 1.0;
        for (index, turn) in turns.iter().enumerate().rev().take(MAX_TURNS) {
            if bytes > most_bytes {
                break;
            }
            let at = At {
                index,
                back: turns.len() - index,
                freshness,
            };
            if turn.role == Role::Assistant {
                let found = pieces.len();
                spoken(turn, at, [actions, earlier], limits, &mut pieces);
                freshness *= FADING;
                bytes += bytes_from(&pieces, found);
                continue;
            }
            if shown > most_bytes {
                continue;
            }
            let found = pieces.len();
            let before = turns.get(..index).unwrap_or_default();
            let caller = before.iter().rposition(|turn| turn.role == Role::Assistant);
            let calls = caller.map_or_else(Vec::new, |caller| calls_of([actions, earlier], caller));
            outputs(turn, at, &calls, limits, most_bytes, &mut pieces);
            shown += bytes_from(&pieces, found);
        }
        let mut seen = FxHashSet::default();
        pieces.retain(|piece| seen.insert(piece.text.clone()));
        Self { pieces }
    }

    /// Quotations for at most `room` tokens, their heading included, that hold at the least what is quoted `already`. What
    /// they hold of the anchors makes room: `released` tokens each.
    pub fn quoted(
        &self,
        already: &[Chosen],
        room: usize,
        released: &[usize],
        matcher: &Matcher<'_>,
        counter: &dyn TokenCounter,
    ) -> Quoted {
        let mut line = String::new();
        let taken: usize = already.iter().map(|line| line.cost).sum();
        let heading = counter.count(Section::Recent.label()) + 1;
        let mut left = room.saturating_sub(heading + taken);
        let mut released = released.to_vec();
        let mut tokens = heading;
        let mut lines: Vec<Chosen> = Vec::new();
        let mut calls = Vec::new();
        let pieces = self.pieces.iter().map(|piece| {
            let held = *piece.held.get_or_init(|| number_held(&piece.text, matcher));
            (piece.worth * (1.0 + (held as f64).sqrt() / 2.0), piece)
        });
        let mut pieces: Vec<(f64, &Piece)> = pieces.collect();
        pieces.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.order.cmp(&a.1.order)));
        for (worth, piece) in pieces {
            let before = already.iter().find(|line| line.candidate.order == piece.order);
            left += before.map_or(0, |line| line.cost);
            if left < LEAST && before.is_none() {
                continue;
            }
            let cap = if piece.is_output && already.is_empty() {
                left.min((room as f64 * OUTPUT_SHARE) as usize)
            } else {
                left
            };
            let whole = || cost(&piece.line(&piece.text), &mut String::new(), counter);
            let whole = *piece.cost.get_or_init(whole);
            let is_part = whole > cap;
            let text = if is_part {
                let count = |text: &str| cost(&piece.line(text), &mut String::new(), counter);
                let weights = || {
                    piece
                        .text
                        .split_inclusive('\n')
                        .map(|line| number_held(line, matcher))
                };
                let weights = piece.weights.get_or_init(|| weights().collect());
                cut(&piece.text, whole, weights, cap, &count, counter)
            } else {
                Some(piece.text.clone())
            };
            let Some(text) = text.map(|text| piece.line(&text)) else {
                continue;
            };
            let cost = if is_part {
                cost(&text, &mut line, counter)
            } else {
                whole
            };
            if cost > left || (is_part && cost < LEAST_PART) {
                continue;
            }
            let held = matcher.held(&text).into_iter().enumerate();
            let held: Vec<usize> = held
                .filter(|(_, is_held)| *is_held)
                .map(|(index, _)| index)
                .collect();
            left -= cost;
            for index in &held {
                left += released.get_mut(*index).map_or(0, std::mem::take);
            }
            tokens += cost;
            // A part of an output does not tell all that the line of its call tells.
            calls.extend(piece.told.filter(|_| !(piece.is_output && is_part)));
            lines.push(Chosen {
                held,
                candidate: Candidate {
                    section: Section::Recent,
                    order: piece.order,
                    text,
                    value: worth,
                },
                cost,
                density: (worth * 1e6) as u64,
            });
        }
        if lines.is_empty() {
            tokens = 0;
        }
        lines.sort_by_key(|line| line.candidate.order);
        Quoted { lines, tokens, calls }
    }
}

/// The place of a turn, and what it is worth.
#[derive(Clone, Copy)]
struct At {
    index: usize,
    /// Turns from here to the end of the region, it included.
    back: usize,
    freshness: f64,
}

/// The words of an assistant's turn, with its first call, and its other calls.
fn spoken(
    turn: &SourceTurn<'_>,
    At {
        index,
        back,
        freshness,
    }: At,
    events: [&[Event]; 2],
    limits: Limits,
    pieces: &mut Vec<Piece>,
) {
    let mut said = harmless(&turn.prose);
    for (action, told) in calls_of(events, index) {
        let Some(call) = turn.calls.get(action.call) else {
            continue;
        };
        let written = written(call).map(|text| harmless(&text)).unwrap_or_default();
        let mut text = std::mem::take(&mut said);
        if !text.is_empty() && !written.is_empty() {
            text.push('\n');
        }
        text.push_str(&written);
        let base = match action.target.effect {
            _ if action.is_open => 1.4,
            Effect::Modify => 1.2,
            Effect::Read | Effect::Other => 1.0,
        };
        if text.is_empty() || written.is_empty() && !tells(&text) {
            continue;
        }
        pieces.push(Piece {
            order: order(index, action.call + 1),
            told,
            headings: [written.as_str(), ""].map(|written| {
                format!(
                    "turn -{back}, {}",
                    line_of_call(action, label(action, &call.name, written), limits)
                )
            }),
            text,
            worth: base * freshness,
            is_output: false,
            held: OnceCell::new(),
            cost: OnceCell::new(),
            weights: OnceCell::new(),
        });
    }
    if !said.is_empty() && tells(&said) {
        pieces.push(Piece {
            order: order(index, 0),
            told: None,
            headings: [SAID, SAID].map(|said| format!("turn -{back}, {said}")),
            text: said,
            worth: freshness,
            is_output: false,
            held: OnceCell::new(),
            cost: OnceCell::new(),
            weights: OnceCell::new(),
        });
    }
}

/// The calls of a turn, its last runs and the earlier ones, each with the time of the line that tells it.
fn calls_of(events: [&[Event]; 2], turn: usize) -> Vec<(&Event, Option<usize>)> {
    let [actions, earlier] = events.map(|events| of_turn(events, turn));
    let mut calls: Vec<(&Event, Option<usize>)> = Vec::new();
    calls.extend(actions.map(|(number, action)| (action, Some(order_of_call(action, number)))));
    calls.extend(earlier.map(|(_, action)| (action, None)));
    calls.sort_by_key(|(action, _)| action.call);
    calls
}

/// The bytes of the pieces from one on.
fn bytes_from(pieces: &[Piece], first: usize) -> usize {
    pieces.iter().skip(first).map(|piece| piece.text.len()).sum()
}

/// The anchors that a text holds.
fn number_held(text: &str, matcher: &Matcher<'_>) -> usize {
    matcher.held(text).into_iter().filter(|is_held| *is_held).count()
}

/// The events of a turn, each with its place among all.
fn of_turn(events: &[Event], turn: usize) -> impl Iterator<Item = (usize, &Event)> {
    let first = events.partition_point(|event| event.turn < turn);
    let numbered = events.iter().enumerate().skip(first);
    numbered.take_while(move |(_, event)| event.turn == turn)
}

/// The outputs that a turn shows; what an edit shows of itself is quoted with the edit.
fn outputs(
    turn: &SourceTurn<'_>,
    At {
        index,
        back,
        freshness,
    }: At,
    asked: &[(&Event, Option<usize>)],
    limits: Limits,
    most_bytes: usize,
    pieces: &mut Vec<Piece>,
) {
    for (place, (_, output)) in turn.answers.iter().enumerate() {
        let text = harmless(newest(output, most_bytes));
        // A short one is told by how its call ended.
        if text.len() <= 2 * SHOWN {
            continue;
        }
        let call = asked
            .get(place)
            .filter(|_| asked.len() == turn.answers.len())
            .copied();
        // The newest one is what comes next is about; edits show what was put in once more.
        let base = match call {
            Some((call, _))
                if call.target.effect == Effect::Modify && call.outcome.failed() != Some(true) =>
            {
                0.1
            }
            _ if back <= NEWEST => 0.8,
            _ => 0.2,
        };
        let line = call.and_then(|(call, _)| shortened(&call.target.line, limits.line));
        let tool = line.or_else(|| turn.tools.get(place).copied().flatten().map(Into::into));
        let heading = match tool {
            None => format!("turn -{back}, {OUTPUT}"),
            Some(tool) => format!("turn -{back}, {OUTPUT} of {tool}"),
        };
        pieces.push(Piece {
            order: order(index, place + 1),
            told: call.and_then(|(_, told)| told),
            headings: [heading.clone(), heading],
            text,
            worth: base * freshness,
            is_output: true,
            held: OnceCell::new(),
            cost: OnceCell::new(),
            weights: OnceCell::new(),
        });
    }
}

impl Quoted {
    /// If a line says what is quoted.
    pub fn tells(&self, line: &Candidate) -> bool {
        match line.section {
            Section::Done => self.calls.contains(&line.order),
            Section::Errors => self.calls.contains(&(line.order + 1)),
            Section::Findings | Section::Values => {
                let said = |quoted: &Chosen| quoted.candidate.text.contains(line.text.as_str());
                self.lines.iter().any(said)
            }
            _ => false,
        }
    }
}

impl Piece {
    /// The line that quotes `text`: all of it, or a part.
    fn line(&self, text: &str) -> String {
        let [whole, part] = &self.headings;
        let heading = if text.len() == self.text.len() {
            whole
        } else {
            part
        };
        match text {
            text if text.contains('\n') => [heading.as_str(), ":\n", &fenced(text)].concat(),
            text => [heading.as_str(), ": ", text].concat(),
        }
    }
}

/// The tool of a call where `written` says the rest of its line, else its line.
fn label<'a>(action: &'a Event, tool: &'a str, written: &str) -> &'a str {
    match tool {
        _ if written.is_empty() => &action.target.line,
        "" => "ran",
        tool => tool,
    }
}
