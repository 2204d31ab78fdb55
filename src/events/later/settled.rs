//! Calls that only began something: the state that it came to stands in a later lookup of its id.

use crate::events::event::Event;
use crate::events::outcome::later_calls::is_id;
use crate::knowledge::errors::is_pending;

/// Calls behind one that are looked at.
const MAX_LATER: usize = 64;

/// Fields that tell a state.
const STATES: [&str; 5] = ["status", "state", "estado", "statut", "phase"];

/// Puts the last state that later lookups tell of a call's id in the place of one that was not the last: `status: running` becomes
/// `status: done (later)`.
pub(crate) fn settle(all: &mut [Event]) {
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
        let told = later.iter().take(MAX_LATER).filter(|event| event.is_lookup());
        let told = told.filter(|event| names_id_of(result, &event.target.line));
        let ended = told.filter_map(|event| {
            let result = event
                .outcome
                .result
                .as_deref()
                .or(event.outcome.error.as_deref())?;
            Some(match state_in(result) {
                Some((_, value)) => value.to_owned(),
                None if event.outcome.failed() == Some(true) => "failed".to_owned(),
                None => return None,
            })
        });
        if let Some(ended) = ended.last().filter(|ended| !is_pending(ended)) {
            let settled = result.replacen(
                &format!("{state}: {value}"),
                &format!("{state}: {ended} (later)"),
                1,
            );
            begun.outcome.result = Some(settled);
        }
    }
}

/// The field that tells a state, and its value.
fn state_in(result: &str) -> Option<(&str, &str)> {
    let fields = result.split([',', ';']).map(str::trim);
    fields
        .filter_map(|field| field.split_once(": "))
        .map(|(key, value)| (key.rsplit(' ').next().unwrap_or(key), value))
        .find(|(key, value)| STATES.contains(key) && !value.bytes().all(|byte| byte.is_ascii_digit()))
}

/// If the line of a call names an id that a result tells.
fn names_id_of(result: &str, line: &str) -> bool {
    let mut words = result.split([' ', ',', ';']);
    words.any(|word| is_id(word) && line.contains(word))
}
