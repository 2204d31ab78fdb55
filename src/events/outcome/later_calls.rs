//! Values that later calls are made with: of several things that a call found, those are the ones that it was made for.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::compress::anchors::{argument_values, identifiers};
use crate::events::pairing::Place;
use crate::events::shell::last_step;
use crate::events::source::SourceTurn;
use crate::events::source_call::{CallArguments, SourceCall};

/// The calls of a stretch, with the values in their arguments once they are asked for.
pub(crate) struct Calls<'t> {
    turns: &'t [SourceTurn<'t>],
    places: Vec<Place>,
    /// For each value the number of the last call with it.
    last_use: OnceCell<FxHashMap<String, usize>>,
}

impl<'t> Calls<'t> {
    pub fn new(turns: &'t [SourceTurn<'t>], places: Vec<Place>) -> Self {
        Self {
            turns,
            places,
            last_use: OnceCell::new(),
        }
    }

    /// The calls after a call.
    pub fn after(&self, number: usize) -> LaterCalls<'_> {
        LaterCalls {
            calls: (number + 1 < self.places.len()).then_some(self),
            number,
        }
    }

    /// The ids among the arguments of a call, in order: words of letters and digits, and long numbers.
    pub fn ids(&self, number: usize) -> Vec<String> {
        let mut ids = Vec::new();
        if let Some(call) = self.call(number) {
            each_argument(call, |value, is_whole| {
                if is_whole && is_id(value) {
                    ids.push(value.to_owned());
                }
            });
        }
        ids
    }

    fn call(&self, number: usize) -> Option<&SourceCall<'t>> {
        let (turn, call) = self.places.get(number)?;
        self.turns.get(*turn)?.calls.get(*call)
    }

    fn last_use(&self) -> &FxHashMap<String, usize> {
        self.last_use.get_or_init(|| {
            let mut last_use: FxHashMap<String, usize> = FxHashMap::default();
            for number in 0..self.places.len() {
                let Some(call) = self.call(number) else {
                    continue;
                };
                each_value(call, |value| match last_use.get_mut(last_step(value)) {
                    Some(last) => *last = number,
                    None => {
                        last_use.insert(last_step(value).to_owned(), number);
                    }
                });
            }
            last_use
        })
    }
}

/// The calls after a call, as far as the stretch has any.
#[derive(Clone, Copy, Default)]
pub(crate) struct LaterCalls<'c> {
    calls: Option<&'c Calls<'c>>,
    number: usize,
}

impl LaterCalls<'_> {
    /// Returns true if there are none.
    pub fn is_empty(self) -> bool {
        self.calls.is_none()
    }

    /// Returns true if one of them is made with a text or an identifier in it.
    pub fn use_any_of(self, text: &str) -> bool {
        let Some(last_use) = self.calls.map(Calls::last_use) else {
            return false;
        };
        let is_used = |value: &str| {
            let last = last_use.get(last_step(value));
            last.is_some_and(|last| *last > self.number)
        };
        let mut any = is_used(text);
        if !any {
            identifiers(text, |value| any |= is_used(value));
        }
        any
    }
}

/// Bytes of an id at the least.
const MIN_ID: usize = 4;

/// Returns true if a value names one of many things: `#W123`, `L1001`, `8997785118`.
pub(crate) fn is_id(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_named = has(|byte| byte.is_ascii_alphabetic() || *byte == b'#');
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.len() >= MIN_ID
        && has(u8::is_ascii_digit)
        && !value.contains([' ', '.', '/'])
        && (is_named || is_number)
}

/// Goes through the values and identifiers of a call's arguments.
fn each_value(call: &SourceCall<'_>, mut on_value: impl FnMut(&str)) {
    each_argument(call, |text, is_whole| {
        if is_whole {
            on_value(text);
        } else {
            identifiers(text, &mut on_value);
        }
    });
}

/// Goes through the arguments of a call: values, and texts that may hold some.
fn each_argument(call: &SourceCall<'_>, mut on_argument: impl FnMut(&str, bool)) {
    match &call.arguments {
        CallArguments::Json(json) => {
            for value in argument_values(json) {
                on_argument(&value.text, value.is_whole);
            }
        }
        CallArguments::Tagged(fields) => fields.iter().for_each(|(_, text)| on_argument(text, false)),
    }
}
