//! The budget of bytes for rendering a chat: for the output and all values that the template makes.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::{Arc, Weak};

use minijinja::{Error, Value};

use super::arguments::fault;

/// Bytes that rendering may hold, beside [`TIMES`] those of the chat. Most templates hold a few times the chat.
const MOST: usize = 16 << 20;
const TIMES: usize = 8;

/// Maximum bytes of a text that a value stores inline.
const WITHIN: usize = 22;

/// Maximum nesting depth of values.
pub const DEEPEST: usize = 500;

/// The error message for a template that exceeds the budget.
pub const TOO_MUCH: &str = "the template makes more text than any sensible one does";

thread_local! {
    static BUDGET: Budget = const { Budget {
        most: Cell::new(0),
        used: Cell::new(0),
        of_texts: Cell::new(0),
        is_spent: Cell::new(false),
        texts: RefCell::new(Vec::new()),
    } };
}

/// The budget of the chat that this thread renders.
struct Budget {
    most: Cell<usize>,
    used: Cell<usize>,
    /// The used bytes that belong to texts.
    of_texts: Cell<usize>,
    /// A request was refused.
    is_spent: Cell<bool>,
    /// The texts made so far. Their ends are not reported, so they are checked when the budget is used up.
    texts: RefCell<Vec<Weak<str>>>,
}

impl Budget {
    fn begin(&self, chat: usize) {
        self.most.set(MOST.saturating_add(chat.saturating_mul(TIMES)));
        self.used.set(0);
        self.end();
        self.is_spent.set(false);
    }

    fn end(&self) {
        self.of_texts.set(0);
        self.texts.take();
    }

    fn has_room(&self, bytes: usize) -> bool {
        let needed = || self.used.get().saturating_add(bytes);
        if !self.is_spent.get() && needed() > self.most.get() {
            self.collect();
            // If almost nothing was freed, the next check would follow too soon.
            self.is_spent.set(needed() > self.most.get() / 8 * 7);
        }
        !self.is_spent.get()
    }

    /// Gives back the bytes of texts that are no longer in use.
    fn collect(&self) {
        let mut texts = self.texts.borrow_mut();
        texts.retain(|text| text.strong_count() > 0);
        texts.sort_unstable_by_key(|text| text.as_ptr().cast::<u8>());
        texts.dedup_by(|one, other| one.ptr_eq(other));
        let lengths = texts.iter().filter_map(Weak::upgrade).map(|text| text.len());
        let bytes = lengths.sum();
        let before = self.of_texts.replace(bytes);
        self.used
            .set(self.used.get().saturating_sub(before).saturating_add(bytes));
    }
}

/// Begins the budget of a chat of this many bytes.
pub fn begin(chat: usize) {
    BUDGET.with(|budget| budget.begin(chat));
}

/// Ends the budget; [`is_spent`] keeps its value.
pub fn end() {
    BUDGET.with(Budget::end);
}

/// Returns true if the budget was exceeded.
pub fn is_spent() -> bool {
    BUDGET.with(|budget| budget.is_spent.get())
}

/// Fails if the budget has no room for this many bytes that are about to be made.
pub fn room(bytes: usize) -> Result<(), Error> {
    if BUDGET.with(|budget| budget.has_room(bytes)) {
        Ok(())
    } else {
        Err(fault(TOO_MUCH))
    }
}

/// Takes this many bytes from the budget.
pub fn charge(bytes: usize) -> Result<(), Error> {
    room(bytes)?;
    BUDGET.with(|budget| budget.used.set(budget.used.get().saturating_add(bytes)));
    Ok(())
}

/// Gives this many bytes back to the budget.
pub fn give_back(bytes: usize) {
    BUDGET.with(|budget| budget.used.set(budget.used.get().saturating_sub(bytes)));
}

/// Takes the bytes of a value from the budget, if it is a text, for as long as it is in use.
pub fn count(value: &Value) -> Result<(), Error> {
    let length = value.as_str().map_or(0, str::len);
    if length <= WITHIN {
        return Ok(());
    }
    let Some(text) = value.to_str() else {
        return Ok(());
    };
    charge(length)?;
    BUDGET.with(|budget| {
        budget.of_texts.set(budget.of_texts.get().saturating_add(length));
        budget.texts.borrow_mut().push(Arc::downgrade(&text));
    });
    Ok(())
}

/// A new text as a value, charged to the budget.
pub fn text(text: impl Into<Value>) -> Result<Value, Error> {
    let value = text.into();
    count(&value)?;
    Ok(value)
}

/// Output that is charged to the budget as it grows.
#[derive(Default)]
pub struct BoundedOutput(pub Vec<u8>);

impl io::Write for BoundedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        charge(bytes.len()).map_err(io::Error::other)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
