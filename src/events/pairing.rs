//! Calls and their answers: by id, else by the name of the tool, else by place.

use rustc_hash::FxHashMap;

use super::source::SourceTurn;
use crate::trajectory::{OpenCalls, Role};

/// The place of a call or of an answer: its turn, and which one of that.
pub(crate) type Place = (usize, usize);

/// The answer of each call, and the call of each answer.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    answers: FxHashMap<Place, Place>,
    calls: FxHashMap<Place, Place>,
}

impl Pairing {
    /// Pairs the calls of `turns` with their answers.
    pub fn of(turns: &[SourceTurn<'_>]) -> Self {
        let mut pairing = Self::default();
        let mut by_id: FxHashMap<&str, Place> = FxHashMap::default();
        // The turn that is being answered.
        let mut asking = 0;
        let mut open = OpenCalls::default();
        for (index, turn) in turns.iter().enumerate() {
            if turn.role == Role::Assistant {
                asking = index;
                open = OpenCalls::new(turn.calls.iter().map(|call| call.name.as_ref()));
                // Of two calls with one id in a turn the first has it.
                for (place, call) in turn.calls.iter().enumerate().rev() {
                    by_id.extend(call.id.map(|id| (id, (index, place))));
                }
                continue;
            }
            if turn.role != Role::Tool && turn.answers.is_empty() {
                open = OpenCalls::default();
                continue;
            }
            let asked = turns.get(asking).map_or(&[][..], |turn| &turn.calls);
            for (place, (id, _)) in turn.answers.iter().enumerate() {
                if let Some(call) = id.and_then(|id| by_id.get(id).copied()) {
                    open.note((call.0 == asking).then_some(call.1));
                    pairing.note(call, (index, place));
                    continue;
                }
                let name = turn.tools.get(place).copied().flatten().filter(|_| id.is_none());
                let Some(number) = open.answered_by(name) else {
                    continue;
                };
                if asked
                    .get(number)
                    .is_some_and(|call| id.is_none() || call.id.is_none())
                {
                    pairing.note((asking, number), (index, place));
                }
            }
            if turn.is_observed && asked.len() > 1 && asking + 1 == index {
                // What a terminal shows after several commands tells how the last one ended, and that all ran.
                pairing.calls.insert((index, 0), (asking, asked.len() - 1));
                for number in 0..asked.len() {
                    pairing.answers.insert((asking, number), (index, 0));
                }
            }
        }
        pairing
    }

    fn note(&mut self, call: Place, answer: Place) {
        self.answers.entry(call).or_insert(answer);
        self.calls.insert(answer, call);
    }

    /// The first answer to a call.
    pub fn answer(&self, call: Place) -> Option<Place> {
        self.answers.get(&call).copied()
    }

    /// The call that an answer is to.
    pub fn call(&self, answer: Place) -> Option<Place> {
        self.calls.get(&answer).copied()
    }
}
