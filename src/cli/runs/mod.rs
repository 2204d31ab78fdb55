//! The runs that commands start: the summarizer, threads and signals, and the report as printed.

pub(super) mod execute;
pub(super) mod one_record;
pub(super) mod running;
pub(super) mod summarizer;
pub(super) mod survey;
