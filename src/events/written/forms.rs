//! The forms of calls that a record is believed to have: a look-alike in a conversation between people and an assistant is none.

use std::borrow::{Borrow, Cow};

use super::read::found;
use super::row::{AnswerBy, CallParts, rows};
use crate::events::observation::openings::{OpeningCounts, Openings};
use crate::events::observation::{TurnPlace, observed_from};
use crate::events::source_call::{is_unread, with_unread};
use crate::trajectory::{Role, TurnView};

/// Turns at the beginning that may say how calls are written.
const FIRST: usize = 3;

/// The forms of calls in a record, by a bit for each row of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Forms {
    believed: u64,
    /// The answers of these are known by their own form.
    known: u64,
    /// The beginnings of the environment's answers.
    pub openings: Openings,
}

/// The facts about the calls of a row.
#[derive(Clone, Default)]
struct FormCalls {
    answered_by_environment: usize,
    /// The beginnings of other answers in a person's role.
    answered_in_persons_role: Vec<Option<u64>>,
    /// The mark that the first turns have if they tell how such calls are written, once there is one.
    mark: Option<String>,
}

impl Forms {
    /// The forms in the turns of a record.
    pub fn of<'v>(turns: impl IntoIterator<Item = impl Borrow<TurnView<'v>>>) -> Self {
        let mut calls = vec![FormCalls::default(); rows().len()];
        let mut first = String::new();
        let mut openings = OpeningCounts::default();
        let mut open: Option<usize> = None;
        let mut has_tools = false;
        for (place, turn) in turns.into_iter().enumerate() {
            let turn: &TurnView<'v> = turn.borrow();
            has_tools |= turn.role == Role::Tool;
            let answered = open.take().and_then(|row| calls.get_mut(row));
            if turn.role == Role::Human {
                let is_known =
                    || observed_from(&turn.text, TurnPlace::AfterCall, Openings::default()).is_some();
                match answered {
                    Some(calls) => {
                        let opening = openings.note_answer(&turn.text);
                        if is_known() {
                            calls.answered_by_environment += 1;
                        } else {
                            calls.answered_in_persons_role.push(opening);
                        }
                    }
                    None => openings.note_words(&turn.text),
                }
            } else if let Some(calls) = answered.filter(|_| turn.role == Role::Tool) {
                calls.answered_by_environment += 1;
            }
            if turn.role != Role::Assistant {
                if place < FIRST {
                    first.push_str(&turn.text);
                }
                continue;
            }
            let mut unread = turn.calls.iter();
            if !unread.all(|call| is_unread(&call.name, &call.arguments)) {
                continue;
            }
            let unread = turn.calls.iter().map(|call| Cow::Borrowed(&*call.arguments));
            let text = with_unread(Cow::Borrowed(&*turn.text), unread);
            let mut numbered = rows().iter().enumerate();
            let here = numbered.find_map(|(number, row)| Some((number, row, found(row, &text)?.1)));
            if let Some((number, row, found)) = here
                && let Some(calls) = calls.get_mut(number)
            {
                calls.mark.get_or_insert_with(|| match (row.form, found.first()) {
                    (CallParts::Elements, Some(call)) => ["<", &call.name, ">"].concat(),
                    (CallParts::Line, _) => [&row.opens, ":"].concat(),
                    (CallParts::Python, Some(call)) if row.opens.is_empty() => {
                        ["[", &call.name, "("].concat()
                    }
                    _ => row.opens.clone(),
                });
                open = Some(number);
            }
        }
        // Where the record has a place of its own for answers, they stand there.
        let openings = if has_tools {
            Openings::default()
        } else {
            openings.learned()
        };
        let mut forms = Self {
            openings,
            ..Self::default()
        };
        for ((number, row), calls) in rows().iter().enumerate().zip(&calls) {
            let Some(mark) = &calls.mark else { continue };
            let others = calls.answered_in_persons_role.iter();
            let learned = others.filter(|opening| forms.openings.has(**opening)).count();
            let environment = calls.answered_by_environment + learned;
            let person = calls.answered_in_persons_role.len() - learned;
            let is_mostly_known = environment > 0 && environment >= person;
            let is_believed = match (row.form, row.answer) {
                (CallParts::Code, _) => is_mostly_known,
                (CallParts::Block, AnswerBy::Anybody) => environment >= person,
                // JSON is written for people too.
                (CallParts::Object, _) if !row.is_token() => is_mostly_known || first.contains(mark.as_str()),
                // Marks of a model's own are no look-alikes.
                _ => environment > 0 || row.is_token() || first.contains(mark.as_str()),
            };
            forms.believed |= u64::from(is_believed) << number;
            forms.known |= u64::from(is_mostly_known) << number;
        }
        forms
    }

    /// If calls in the way of a row are calls.
    pub fn has(self, row: usize) -> bool {
        self.believed >> row & 1 == 1
    }

    /// The one that answers a call in the way of a row. Where the table knows the answers, what it does not know is a person's.
    pub fn answer(self, row: usize) -> AnswerBy {
        let answer = rows().get(row).map(|row| row.answer).unwrap_or_default();
        if self.known >> row & 1 == 1 && answer == AnswerBy::NextTurn {
            AnswerBy::Anybody
        } else {
            answer
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::written;
    use super::*;

    /// The number of calls that are read in the assistant's turns of a conversation that a person begins.
    fn calls(turns: &[&str]) -> usize {
        let roles = [Role::Human, Role::Assistant].into_iter().cycle();
        let views: Vec<TurnView<'_>> = turns
            .iter()
            .zip(roles)
            .enumerate()
            .map(|(index, (text, role))| TurnView::of_text(index, role, *text))
            .collect();
        let forms = Forms::of(&views);
        let said = turns.iter().skip(1).step_by(2);
        said.map(|text| written((*text).into(), forms).calls.len()).sum()
    }

    #[test]
    fn what_looks_like_a_call_between_people_is_none() {
        let talk = [
            [
                "Plan my week.",
                "Done.\nAction: ask Ann for a quote",
                "She wants too much.",
            ],
            [
                "Explain XML.",
                "So:\n<lesson_plan>\n<title>a</title>\n</lesson_plan>",
                "Drop it.",
            ],
            [
                "How do I list files?",
                "So:\n```bash\nls\n```",
                "It says: no such command.",
            ],
            ["Sort a list.", "So:\n```python\nsorted(a)\n```", "Thanks."],
            [
                "Explain it.",
                "It writes `<function=send>` and `<parameter=to>`.",
                "I see.",
            ],
            [
                "Name a client.",
                "{\"name\": \"Ann\", \"arguments\": {\"for\": \"us\"}}",
                "Who is she?",
            ],
        ];
        for turns in talk {
            assert_eq!(calls(&turns), 0, "{turns:?}");
        }
        let agents = [
            [
                "Write ACTION: and an action.",
                "ACTION: go to desk 1",
                "You see a pen.",
            ],
            ["Plan it.", "Action: look", "Observation: a pen"],
            [
                "Do it.",
                "<read_file>\n<path>a.py</path>\n</read_file>",
                "[read_file for 'a.py'] Result:\nx",
            ],
            ["Do it.", "So:\n```bash\nls\n```", "<returncode>0</returncode>"],
            [
                "Sort it.",
                "So:\n```python\nsorted(a)\n```",
                "Output:\n```\n1\n```",
            ],
            [
                "Do it.",
                "<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
                "a",
            ],
        ];
        for turns in agents {
            assert_eq!(calls(&turns), 1, "{turns:?}");
        }
    }

    #[test]
    fn answers_that_begin_alike_behind_code_are_an_environments() {
        let plan = |code: &str| format!("I try it.\n```python\n{code}\n```");
        let turns = [plan("a = 1"), plan("a = 2"), plan("a = 3")];
        let talk = |first: &str, label: &str| {
            let answer = |rest: &str| format!("{label}{rest}");
            let answers = [answer(" 1"), answer(" ValueError: 3"), answer(" none")];
            let mut all = vec![first.to_owned()];
            for (turn, answer) in turns.iter().zip(answers) {
                all.extend([turn.clone(), answer]);
            }
            calls(&all.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(talk("Find the best model.", "Result:"), 3);
        assert_eq!(talk("Result: none yet", "Result:"), 0);
        assert_eq!(talk("Find the best model.", ""), 0);
    }

    #[test]
    fn the_table_has_a_bit_for_each_row() {
        assert!(rows().len() <= u64::BITS as usize);
    }
}
