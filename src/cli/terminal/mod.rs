//! The terminal: printing, colours, columns, progress, and text of the data made safe.

pub(super) mod cells;
pub(super) mod color;
pub(super) mod progress;
pub(super) mod stdout;
pub(super) mod visible;
