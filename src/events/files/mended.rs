//! Failed calls that came to go well: their last run did.

use rustc_hash::FxHashMap;

use crate::events::event::Event;

/// The numbers of these events, which are in order.
pub(super) fn mended(events: &[&Event]) -> Vec<usize> {
    let mut is_well: FxHashMap<usize, bool> = FxHashMap::default();
    let mut mended = Vec::new();
    for event in events.iter().rev() {
        let failed = event.outcome.failed() == Some(true);
        // What a filter behind it took away says nothing.
        let went_well = event.outcome.failed() == Some(false) && !event.is_open;
        let ends_well = match event.superseded_by {
            Some(later) => is_well.get(&later) == Some(&true),
            None => went_well && event.is_answered,
        };
        is_well.insert(event.number, ends_well);
        if failed && ends_well && event.is_answered {
            mended.push(event.number);
        }
    }
    mended.reverse();
    mended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::outcome::status::CallStatus;

    #[test]
    fn failures_are_mended_if_the_last_run_of_the_same_call_went_well() {
        let event = |number: usize, failed: bool, superseded_by: Option<usize>| {
            let mut event = Event {
                number,
                superseded_by,
                is_answered: true,
                ..Event::default()
            };
            event.outcome.status = if failed {
                CallStatus::Failed
            } else {
                CallStatus::Ok
            };
            event
        };
        let events = [
            event(0, true, Some(2)),
            event(1, true, Some(3)),
            event(2, true, Some(4)),
            event(3, true, None),
            event(4, false, None),
            event(5, true, None),
        ];
        assert_eq!(mended(&events.iter().collect::<Vec<_>>()), [0, 2]);
        for change in [
            |event: &mut Event| event.is_open = true,
            |event: &mut Event| event.is_answered = false,
            |event: &mut Event| event.outcome.status = CallStatus::default(),
        ] {
            let mut last = event(1, false, None);
            change(&mut last);
            let first = event(0, true, Some(1));
            assert!(mended(&[&first, &last]).is_empty());
        }
    }
}
