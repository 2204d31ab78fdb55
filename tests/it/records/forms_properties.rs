//! Properties of records in other forms: what is said, called and answered stays, there and back.

use crate::support::counter;
use crate::support::generate::made;
use crate::support::oracle::parts;
use proptest::prelude::*;
use serde_json::Value;
use trajfit::internals::fit::TurnCounter;
use trajfit::internals::trajectory::{
    ArgumentsForm, Converted, Format, OutputForm, Record, Role, convert, parse, view,
};

const SHAREGPT: OutputForm = OutputForm {
    form: Format::ShareGpt,
    arguments: ArgumentsForm::Object,
};
const MESSAGES: OutputForm = OutputForm {
    form: Format::Messages,
    arguments: ArgumentsForm::String,
};

/// What happens in a trajectory, whatever form it has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Said(&'static str, String),
    Called(String, String),
    Answered(Option<String>, String),
}

/// What happens, in order; answers that stand together in the order of what they say.
fn events(record: &Record<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut answers: Vec<Event> = Vec::new();
    for (index, turn) in record.turns.iter().enumerate() {
        let view = view(turn, index);
        let responses = view.responses.iter().map(|response| {
            Event::Answered(
                response.id.as_deref().map(str::to_owned),
                response.content.trim().to_owned(),
            )
        });
        answers.extend(responses);
        if view.role == Role::Tool {
            continue;
        }
        answers.sort();
        events.append(&mut answers);
        events.push(Event::Said(view.role.label(), view.text.trim().to_owned()));
        for call in &view.calls {
            let arguments: Value =
                serde_json::from_str(&call.arguments).unwrap_or(Value::from(&*call.arguments));
            events.push(Event::Called(call.name.to_string(), arguments.to_string()));
        }
    }
    answers.sort();
    events.append(&mut answers);
    events
}

fn text_in(text: &str, form: Format, target: OutputForm) -> Converted {
    convert(&parse(text.as_bytes(), Some(form)).unwrap(), target).unwrap()
}

/// Tokens by values.
fn cost(text: &str, form: Format) -> usize {
    let counter = counter();
    let mut counter = TurnCounter::new(counter.as_ref(), 0);
    let record = parse(text.as_bytes(), Some(form)).unwrap();
    record.turns.iter().map(|turn| counter.turn(turn).tokens()).sum()
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn nothing_that_happens_changes_there_and_back(made in made()) {
        let line = made.line();
        let record = parse(line.as_bytes(), None).unwrap();
        let before = events(&record);
        for (there, back) in [(SHAREGPT, MESSAGES), (MESSAGES, SHAREGPT)] {
            let once = convert(&record, there).unwrap();
            let parsed = parse(once.text.as_bytes(), Some(there.form)).unwrap();
            if once.losses.total() == 0 {
                prop_assert_eq!(&events(&parsed), &before, "{}", once.text);
            }
            // All other fields keep their bytes, and what is in the form stays.
            prop_assert_eq!(parts(&once.text).1, parts(&line).1);
            prop_assert_eq!(&text_in(&once.text, there.form, there).text, &once.text);
            let twice = convert(&parsed, back).unwrap();
            let again = text_in(&twice.text, back.form, there);
            if once.losses.total() + twice.losses.total() + again.losses.total() == 0 {
                let parsed = parse(again.text.as_bytes(), Some(there.form)).unwrap();
                prop_assert_eq!(&events(&parsed), &before, "{}", again.text);
            }
        }
    }

    #[test]
    fn a_chat_costs_the_words_of_the_syntax_more(made in made()) {
        let line = made.line();
        let record = parse(line.as_bytes(), None).unwrap();
        let messages = convert(&record, MESSAGES).unwrap();
        let sharegpt = text_in(&messages.text, Format::Messages, SHAREGPT);
        let [less, more] = [cost(&messages.text, Format::Messages), cost(&sharegpt.text, Format::ShareGpt)];
        let is_marked = sharegpt.text.contains("<tool_");
        prop_assert!(less <= more, "{less} {more}");
        prop_assert!(is_marked || less == more, "{less} {more} {}", sharegpt.text);
    }
}
