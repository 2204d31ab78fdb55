//! Values that a later call set anew, as its answer says: `previous_room: 205`.

use rustc_hash::FxHashMap;

use crate::events::event::Event;
use crate::events::outcome::text::tool_of;

/// Words of a key whose value is no longer so.
const FORMER: [&str; 4] = ["previous", "old", "former", "replaced"];

/// What calls set, with the results of the last ones.
#[derive(Default)]
pub(crate) struct SetValues(FxHashMap<String, String>);

impl SetValues {
    pub fn of(all: &[Event]) -> Self {
        let mut last = Self::default();
        for event in all.iter().rev() {
            last.note(event);
        }
        last
    }

    /// If a later call set the value of a line anew.
    pub fn replace(&self, line: &str) -> bool {
        let Some((what, value)) = setting(line) else {
            return false;
        };
        let mut fields = self
            .0
            .get(&what)
            .into_iter()
            .flat_map(|result| result.split([',', ';']));
        fields.any(|field| {
            let is_former = |key: &str| FORMER.iter().any(|word| key.contains(word));
            field
                .trim()
                .split_once(": ")
                .is_some_and(|(key, former)| is_former(key) && former == value)
        })
    }

    fn note(&mut self, event: &Event) {
        let went_well = event.is_answered && event.outcome.failed() != Some(true) && !event.target.is_run;
        let result = event.outcome.result.as_deref().filter(|_| went_well);
        if let Some((result, (what, _))) = result.zip(setting(&event.target.line)) {
            let results = self.0.entry(what).or_default();
            results.push_str("; ");
            results.push_str(result);
        }
    }
}

/// Marks calls whose values later ones set anew.
pub(crate) fn mark_set_again(all: &mut [Event]) {
    let mut later = SetValues::default();
    for event in all.iter_mut().rev() {
        event.is_outdated |= later.replace(&event.target.line);
        later.note(event);
    }
}

/// What the line of a call sets (its tool, its object and all it was given but the last value), and to what.
fn setting(line: &str) -> Option<(String, &str)> {
    let tool = tool_of(line);
    let given = line.strip_prefix(tool)?.strip_prefix('(')?.strip_suffix(')')?;
    let (object, value) = given.rsplit_once(": ")?;
    object
        .contains(", ")
        .then(|| ([tool, " ", object].concat(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str, result: &str) -> Event {
        let mut event = Event {
            is_answered: true,
            ..Event::default()
        };
        line.clone_into(&mut event.target.line);
        event.outcome.result = Some(result.to_owned());
        event
    }

    #[test]
    fn a_value_is_set_anew_where_a_later_answer_names_it_as_the_former_one() {
        let room = "assign_room(booking: BK20962, room: 205)";
        for (line, later, result, expected) in [
            (
                room,
                "assign_room(booking: BK20962, room: 209)",
                "ok: true, previous_room: 205",
                true,
            ),
            (
                room,
                "assign_room(booking: BK20962, room: 209)",
                "ok: true",
                false,
            ),
            (
                room,
                "assign_room(booking: BK20963, room: 209)",
                "previous_room: 205",
                false,
            ),
            (
                "update_line(order: PO-8, line: 1, qty: 50)",
                "update_line(order: PO-8, line: 2, qty: 80)",
                "old_qty: 50",
                false,
            ),
            (
                "update_stock(sku: HW-1, delta: -5)",
                "update_stock(sku: HW-1, delta: -7)",
                "on_hand: 12",
                false,
            ),
        ] {
            let mut all = [event(line, "ok: true"), event(later, result)];
            mark_set_again(&mut all);
            assert_eq!(all[0].is_outdated, expected, "{line} / {later}");
            assert_eq!(
                SetValues::of(&all[1..]).replace(line),
                expected,
                "{line} / {later}"
            );
        }
    }
}
