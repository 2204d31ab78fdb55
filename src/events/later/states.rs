//! States of things that later answers tell otherwise: a ticket that was opened, and is closed.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::line::cleaned;
use crate::events::outcome::later_calls::is_id;
use crate::events::source::SourceTurn;
use crate::trajectory::json::leaves::leaves;

/// Keys of a state.
const STATES: [&str; 2] = ["status", "state"];

/// Things that are followed, and bytes and fields of an answer that is looked at for them.
const MAX_THINGS: usize = 64;
const MAX_ANSWER: usize = 20_000;
const MAX_FIELDS: usize = 400;

/// Letters of the longest state that is told.
const MAX_STATE: usize = 40;

/// Stands before the state that a later answer tells.
const LATER: &str = ", later ";

/// A thing with an id of its own and its state, as the result of a call tells them: `status: open, ticket_id: FAC-11820`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToldState<'r> {
    id: &'r str,
    key: &'r str,
    state: &'r str,
}

impl<'r> ToldState<'r> {
    /// The state of what a call made: its line does not name it.
    pub fn of(line: &str, result: &'r str) -> Option<Self> {
        let (fields, _) = result.split_once("; ").unwrap_or((result, ""));
        let pairs = || fields.split(", ").filter_map(|field| field.split_once(": "));
        let (key, state) = pairs().find(|(key, _)| STATES.contains(key))?;
        let is_own = |key: &str, value: &str| is_of_id(key) && is_id(value) && !line.contains(value);
        let (_, id) = pairs().find(|(key, value)| is_own(key, value))?;
        Some(Self { id, key, state })
    }
}

/// The last states that answers tell of things, with the turn.
pub(crate) struct LastStates(FxHashMap<String, (usize, LastState)>);

/// A state with its key; `None` for what a later call was made on.
type LastState = Option<(&'static str, String)>;

impl LastStates {
    /// The states that lookups among these calls tell of things with these ids.
    pub fn of<'i>(ids: impl Iterator<Item = &'i str>, calls: &[&Event], turns: &[SourceTurn<'_>]) -> Self {
        let mut last = FxHashMap::default();
        for id in ids.take(MAX_THINGS) {
            let answered = calls.iter().filter(|call| call.is_answered).filter_map(|call| {
                let is_made_on = call.target.line.contains(id);
                if !call.is_lookup() {
                    return is_made_on.then_some((call.turn, None));
                }
                let answer = call.answer(turns)?.trim();
                let may_tell =
                    answer.len() <= MAX_ANSWER && answer.starts_with(['{', '[']) && answer.contains(id);
                let told = may_tell.then(|| state_in(answer, id, is_made_on)).flatten()?;
                Some((call.turn, Some(told)))
            });
            last.extend(
                answered
                    .max_by_key(|(turn, _)| *turn)
                    .map(|told| (id.to_owned(), told)),
            );
        }
        Self(last)
    }

    /// A result with the state that an answer behind a turn tells of the thing, if it is another one: `status: open, later rejected`.
    pub fn added_to(&self, result: &str, told: &ToldState<'_>, turn: usize) -> Option<String> {
        let (at, last) = self.0.get(told.id)?;
        let (key, state) = last.as_ref()?;
        let is_news = *at > turn && *key == told.key && state != told.state;
        let (before, after) = result.split_once(told.state).filter(|_| is_news)?;
        Some([before, told.state, LATER, state, after].concat())
    }
}

/// The state that an answer has of the thing with an id: in the object of which that is the first, the outermost one if the lookup was
/// made with it.
fn state_in(answer: &str, id: &str, is_asked_for: bool) -> Option<(&'static str, String)> {
    let fields = leaves(answer, MAX_FIELDS)?;
    let own = fields.iter().find(|leaf| leaf.is_string && leaf.value() == id)?;
    let beside = || {
        fields
            .iter()
            .filter(|leaf| leaf.is_beside(own) && leaf.depth == own.depth)
    };
    let first = beside().find(|leaf| is_of_id(&leaf.key()))?;
    let is_one = first == own && (!is_asked_for || own.record == 0);
    STATES.into_iter().filter(|_| is_one).find_map(|key| {
        let state = cleaned(&beside().find(|leaf| leaf.is_under(&[key]))?.value());
        let is_plain = !state.is_empty() && state.len() <= MAX_STATE && !state.contains([',', ';']);
        is_plain.then_some((key, state))
    })
}

/// If a field holds an id, by its key.
fn is_of_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("Id")
}

/// Tells of what calls made the state that a later answer tells.
pub(crate) fn tell_states(all: &mut [Event], turns: &[SourceTurn<'_>]) {
    let ids: Vec<String> = all
        .iter()
        .filter_map(|event| Some(told_by(event)?.id.to_owned()))
        .collect();
    if ids.is_empty() {
        return;
    }
    let last = LastStates::of(
        ids.iter().map(String::as_str),
        &all.iter().collect::<Vec<_>>(),
        turns,
    );
    for event in all {
        let answered = event.answered_at.map_or(event.turn, |(turn, _)| turn);
        let result = event.outcome.result.as_deref().unwrap_or_default();
        let news = told_by(event).and_then(|told| last.added_to(result, &told, answered));
        if let Some(news) = news {
            event.outcome.result = Some(news);
        }
    }
}

/// The state of what a call made that went well.
fn told_by(event: &Event) -> Option<ToldState<'_>> {
    let result = event.outcome.result.as_deref();
    let result = result.filter(|_| event.is_answered && event.outcome.failed() != Some(true));
    ToldState::of(&event.target.line, result?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::source::{Context, source_turns};
    use crate::trajectory::views_of;

    #[test]
    fn a_state_is_told_with_the_one_that_a_later_answer_tells_of_the_same_thing() {
        let marked = |answers: [&str; 2]| {
            let call = |tool: &str, arguments: &str| serde_json::json!({"role": "assistant", "tool_calls": [{"function": {"name": tool, "arguments": arguments}}]});
            let answer = |text: &str| serde_json::json!({"role": "tool", "content": text});
            let record = serde_json::json!({"messages": [
                call("create_ticket", r#"{"queue": "FACILITIES", "subject": "Transfer"}"#),
                answer(answers[0]),
                call("list_tickets", r#"{"queue": "FACILITIES"}"#),
                answer(answers[1]),
            ]})
            .to_string();
            let views = views_of(&record);
            let turns = source_turns(Context::of(&views), &views, Into::into);
            let events = crate::events::reading::events(&turns);
            let result = events.first().and_then(|event| event.outcome.result.clone());
            result.unwrap_or_default()
        };
        let open = r#"{"status": "open", "ticket_id": "FAC-11820"}"#;
        for (later, expected) in [
            (
                r#"{"ticket_id": "FAC-11820", "status": "rejected"}"#,
                "open, later rejected",
            ),
            (
                r#"[{"ticket_id": "FAC-1", "status": "open"}, {"ticket_id": "FAC-11820", "status": "done"}]"#,
                "open, later done",
            ),
            (r#"{"ticket_id": "FAC-11820", "status": "open"}"#, "open"),
            (
                r#"[{"ticket_id": "FAC-1", "status": "done"}, {"ticket_id": "FAC-11820", "status": "open"}]"#,
                "open",
            ),
            (r#"{"ticket_id": "FAC-1182", "status": "rejected"}"#, "open"),
            (
                r#"{"status": "ok", "tickets": [{"ticket_id": "FAC-11820"}]}"#,
                "open",
            ),
        ] {
            let expected = format!("status: {expected}, ticket_id: FAC-11820");
            assert_eq!(marked([open, later]), expected, "{later}");
        }
        assert_eq!(
            ToldState::of(
                "get_ticket(ticket_id: FAC-11820)",
                "status: open, ticket_id: FAC-11820"
            ),
            None
        );
    }
}
