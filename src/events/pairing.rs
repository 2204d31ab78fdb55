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
            if turn.is_behind_gap {
                // What was left out has the answers to the calls before it, and the calls that come to be answered.
                open = OpenCalls::default();
                asking = index;
            }
            // A command that a person ran stands with what it printed.
            if turn.role == Role::Assistant || turn.makes_calls() {
                asking = index;
                open = OpenCalls::new(turn.calls.iter().map(|call| call.name.as_ref()));
                // Of two calls with one id in a turn the first has it.
                for (place, call) in turn.calls.iter().enumerate().rev() {
                    by_id.extend(call.id.map(|id| (id, (index, place))));
                }
            }
            if turn.role == Role::Assistant {
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
            if turn.is_observed && asked.len() > 1 && turn.answers.len() == 1 && asking + 1 == index {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::source::{Context, source_turns};
    use crate::trajectory::{TurnView, views_of};

    #[test]
    fn an_answer_behind_turns_that_are_left_out_is_to_none_of_the_calls_before_them() {
        let record = serde_json::json!({"messages": [
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "First:\n```\ncreate a.py\n```"},
            {"role": "user", "content": "[CONTEXT SUMMARY]:\nDone:\n- python a.py"},
            {"role": "tool", "content": "Traceback (most recent call last):\nValueError: 3"},
        ]});
        let record = record.to_string();
        let views = views_of(&record);
        let answered = |views: &[TurnView<'_>]| {
            let sources = source_turns(Context::of(views), views, Into::into);
            Pairing::of(&sources).answer((1, 0)).is_some()
        };
        let left_out = [&views[..2], &views[3..]].concat();
        assert!(!answered(&left_out));
        let answer = TurnView {
            index: 2,
            ..views[3].clone()
        };
        assert!(answered(&[&views[..2], &[answer]].concat()));
    }

    #[test]
    fn what_a_person_ran_stands_with_what_it_printed_and_not_with_the_edit_before_it() {
        let edit = "src/a.rs\n```rust\n<<<<<<< SEARCH\nlet a = 1;\n=======\nlet a = 2;\n>>>>>>> REPLACE\n```";
        let linted = "# Fix any errors below, if possible.\n\n## Running: cargo clippy\n\nerror: unused `a`";
        let ran = "I ran this command:\n\ncargo test\n\nAnd got this output:\n\n1 passed; 0 failed";
        let record = serde_json::json!({"messages": [
            {"role": "user", "content": "Make it 2."},
            {"role": "assistant", "content": edit},
            {"role": "user", "content": linted},
            {"role": "assistant", "content": "Please run the tests."},
            {"role": "user", "content": ran},
        ]});
        let record = record.to_string();
        let views = views_of(&record);
        let turns = source_turns(Context::of(&views), &views, Into::into);
        let pairing = Pairing::of(&turns);
        let answers = [(1, 0), (2, 0), (4, 0)].map(|call| pairing.answer(call));
        assert_eq!(answers, [None, Some((2, 0)), Some((4, 0))]);
        let command = |turn: usize| turns[turn].calls[0].arguments.texts();
        assert_eq!([command(2), command(4)], [["cargo clippy"], ["cargo test"]]);
    }
}
