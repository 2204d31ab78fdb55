//! Values that a later call set anew.

use rustc_hash::FxHashSet;

use crate::events::event::Event;
use crate::events::outcome::later_calls::is_id;
use crate::events::outcome::text::tool_of;
use crate::knowledge::tool_names::sets;

/// What calls that went well set.
pub(crate) fn values(all: &[Event]) -> FxHashSet<String> {
    all.iter().filter_map(value).collect()
}

/// Marks calls whose values a later call of the same tool set anew.
pub(crate) fn mark_set_again(all: &mut [Event]) {
    let mut again: FxHashSet<String> = FxHashSet::default();
    for event in all.iter_mut().rev() {
        if let Some(value) = value(event) {
            event.is_outdated |= !again.insert(value);
        }
    }
}

fn value(event: &Event) -> Option<String> {
    let went_well = event.is_answered && event.outcome.failed() != Some(true) && !event.target.is_run;
    value_of(&event.target.line).filter(|_| went_well)
}

/// What the line of a call sets: the tool, its object and all it was given but the last value; `None` where it sets nothing, or words.
pub(crate) fn value_of(line: &str) -> Option<String> {
    let tool = tool_of(line);
    let given = line.strip_prefix(tool)?.strip_prefix('(')?.strip_suffix(')')?;
    let (_, first) = given.split(", ").next()?.split_once(": ")?;
    let (object, value) = given.rsplit_once(": ")?;
    let is_value = !value.contains([' ', '…']) && object.contains(", ");
    (is_value && sets(tool) && is_id(first)).then(|| [tool, " ", object].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_set_anew_where_all_but_the_last_argument_is_the_same() {
        let is_again = |one: &str, other: &str| {
            let [one, other] = [one, other].map(value_of);
            one.is_some() && one == other
        };
        for (one, other, expected) in [
            (
                "assign_room(booking: BK20962, room: 205)",
                "assign_room(booking: BK20962, room: 209)",
                true,
            ),
            (
                "assign_room(booking: BK20962, room: 205)",
                "assign_room(booking: BK20963, room: 209)",
                false,
            ),
            (
                "update_line(order: PO-88215, line: 1, qty: 50)",
                "update_line(order: PO-88215, line: 1, qty: 80)",
                true,
            ),
            (
                "update_line(order: PO-88215, line: 1, qty: 50)",
                "update_line(order: PO-88215, line: 2, qty: 80)",
                false,
            ),
            (
                "update_ticket(id: INC-48213, comment: One)",
                "update_ticket(id: INC-48213, status: Two)",
                false,
            ),
            (
                "update_ticket(id: INC-48213, comment: One done)",
                "update_ticket(id: INC-48213, comment: Two done)",
                false,
            ),
            (
                "order_item(order: PO-88215, item: HW-1)",
                "order_item(order: PO-88215, item: HW-2)",
                false,
            ),
            ("set_mode(fast)", "set_mode(slow)", false),
        ] {
            assert_eq!(is_again(one, other), expected, "{one} / {other}");
        }
    }
}
