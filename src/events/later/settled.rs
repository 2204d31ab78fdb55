//! Calls that only began something: the state that it came to stands in a later lookup of its id.

use crate::events::event::Event;
use crate::events::outcome::later_calls::is_id;
use crate::events::source::SourceTurn;
use crate::knowledge::errors::{is_id_of_other, is_pending, is_state};
use crate::trajectory::json::leaves::leaves;

/// Calls behind one that are looked at.
const MAX_LATER: usize = 64;

/// Fields of an answer in which its id is looked for.
const MAX_FIELDS: usize = 32;

/// Puts the last state that a later lookup of a call's own id tells in the place of one that was not the last: `status: running`
/// becomes `status: done (later)`.
pub(crate) fn settle(all: &mut [Event], turns: &[SourceTurn<'_>]) {
    for number in 0..all.len() {
        let Some((begun, later)) = all.get_mut(number..).and_then(<[Event]>::split_first_mut) else {
            continue;
        };
        let Some(result) = &begun.outcome.result else {
            continue;
        };
        let Some((state, value)) = state_in(result).filter(|(_, value)| is_pending(value)) else {
            continue;
        };
        let Some(id) = own_id(result) else { continue };
        let told = later.iter().take(MAX_LATER).filter(|event| event.is_lookup());
        let mut told = told.filter(|event| {
            names(&event.target.line, id) && is_of(event.answer(turns).unwrap_or_default(), id)
        });
        // The same lookup again tells how it went on, another one may be of a part.
        let Some(first) = told.next() else { continue };
        let again = told.filter(|event| event.target.line == first.target.line);
        let state_of = |event: &Event| {
            let (key, value) = state_in(event.outcome.result.as_deref()?)?;
            (key == state).then(|| value.to_owned())
        };
        let ended = std::iter::once(first)
            .chain(again)
            .filter_map(state_of)
            .next_back();
        if let Some(ended) = ended.filter(|ended| !is_pending(ended)) {
            let settled = result.replacen(
                &format!("{state}: {value}"),
                &format!("{state}: {ended} (later)"),
                1,
            );
            begun.outcome.result = Some(settled);
        }
    }
}

fn fields(result: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = result.split([',', ';']).map(str::trim);
    fields.filter_map(|field| field.split_once(": "))
}

/// The field that tells a state, and its value.
fn state_in(result: &str) -> Option<(&str, &str)> {
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    fields(result).find(|(key, value)| is_state(key) && !is_number(value))
}

/// If a field holds the id of an object: `id`, `job_id`, `jobId`.
fn is_own_id(key: &str) -> bool {
    let is_id = key.eq_ignore_ascii_case("id") || ["_id", " id", "Id"].iter().any(|end| key.ends_with(end));
    is_id && !is_id_of_other(key)
}

/// The first id of a result: its own, where others say whose it is.
fn own_id(result: &str) -> Option<&str> {
    let (_, id) = fields(result).find(|(key, value)| is_own_id(key) && is_id(value))?;
    Some(id)
}

/// If an answer is an object with this id: the first of its own.
fn is_of(answer: &str, id: &str) -> bool {
    let Some(fields) = names(answer, id)
        .then(|| leaves(answer.trim(), MAX_FIELDS))
        .flatten()
    else {
        return false;
    };
    let first = fields.iter().find(|leaf| is_own_id(&leaf.key()));
    first.is_some_and(|leaf| leaf.value() == id)
}

/// If a text names an id as a whole.
fn names(text: &str, id: &str) -> bool {
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, id.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + id.len()))
    })
}
