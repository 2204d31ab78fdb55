//! The contents that a file had, as the events that made them: a copy that is put back later brings back an earlier one.

/// Events before an event that are looked at for one that a content holds.
const MAX_EVENTS: usize = 256;

/// A content, by its place among all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content(usize);

/// The contents of all files of a stretch.
#[derive(Debug, Default)]
pub(super) struct Contents(Vec<Made>);

/// A content, by the event that made it and the content that this event changed or copied.
#[derive(Debug)]
struct Made {
    event: usize,
    from: Option<Content>,
    is_changed: bool,
}

impl Contents {
    /// The content that an event made by changing another one; of a copy it is the same.
    pub fn make(&mut self, event: usize, from: Option<Content>, is_change: bool) -> Content {
        self.0.push(Made {
            event,
            from,
            is_changed: is_change || self.is_changed(from),
        });
        Content(self.0.len() - 1)
    }

    /// If a content is another one than at the beginning.
    pub fn is_changed(&self, content: Option<Content>) -> bool {
        content
            .and_then(|content| self.0.get(content.0))
            .is_some_and(|made| made.is_changed)
    }

    /// If an event had a part in a content.
    pub fn holds(&self, content: Option<Content>, event: usize) -> bool {
        let made = |content: Content| self.0.get(content.0);
        let first = content.and_then(made);
        let mut events = std::iter::successors(first, |later| later.from.and_then(made));
        // Of contents with more events than that nothing is known.
        let found = events.by_ref().take(MAX_EVENTS).find(|made| made.event <= event);
        found.map_or_else(|| events.next().is_some(), |made| made.event == event)
    }
}
