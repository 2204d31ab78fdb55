//! The contents that a file had, as the events that made them: a copy that is put back later brings back an earlier one.

/// Events that are looked at for one that a content holds, and contents of an event for a copy of it.
const MAX_EVENTS: usize = 256;

/// A content, by its place among all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileContent(usize);

/// The contents of all files of a stretch.
#[derive(Debug, Default)]
pub(super) struct FileContents(Vec<Made>);

/// A content, by the event that made it and the content that this event changed or copied.
#[derive(Debug)]
struct Made {
    event: usize,
    from: Option<FileContent>,
    /// The content that the last change made: this one, or the one that copies led from; `None` for the one at the beginning.
    original: Option<FileContent>,
}

impl FileContents {
    /// The content that an event made by changing another one; of a copy it is the same.
    pub fn make(&mut self, event: usize, from: Option<FileContent>, is_change: bool) -> FileContent {
        let content = FileContent(self.0.len());
        self.0.push(Made {
            event,
            from,
            original: if is_change {
                Some(content)
            } else {
                self.original(from)
            },
        });
        content
    }

    /// The content that another one was made from.
    pub fn before(&self, content: Option<FileContent>) -> Option<FileContent> {
        self.0.get(content?.0)?.from
    }

    /// If a content is another one than at the beginning.
    pub fn is_changed(&self, content: Option<FileContent>) -> bool {
        self.original(content).is_some()
    }

    fn original(&self, content: Option<FileContent>) -> Option<FileContent> {
        self.0.get(content?.0)?.original
    }

    /// If an event had a part in a content, or put back a copy of the same one.
    pub fn holds(&self, content: Option<FileContent>, event: usize) -> bool {
        self.is_made_by(content, event) || self.is_copied_by(self.original(content), event)
    }

    /// If an event made a copy of a content that a change made.
    fn is_copied_by(&self, original: Option<FileContent>, event: usize) -> bool {
        let first = self.0.partition_point(|made| made.event < event);
        let made = self.0.iter().enumerate().skip(first);
        let made = made.take(MAX_EVENTS).take_while(|(_, made)| made.event == event);
        let mut copies = made.filter(|(place, made)| made.original != Some(FileContent(*place)));
        copies.any(|(_, copy)| copy.original == original)
    }

    fn is_made_by(&self, content: Option<FileContent>, event: usize) -> bool {
        let made = |content: FileContent| self.0.get(content.0);
        let first = content.and_then(made);
        let mut events = std::iter::successors(first, |later| later.from.and_then(made));
        // Of contents with more events than that nothing is known.
        let found = events.by_ref().take(MAX_EVENTS).find(|made| made.event <= event);
        found.map_or_else(|| events.next().is_some(), |made| made.event == event)
    }
}
