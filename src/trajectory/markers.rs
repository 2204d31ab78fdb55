//! The markers that stand around a summary in a turn.

/// Opens every summary.
pub const SUMMARY_MARKER: &str = "[CONTEXT SUMMARY]:";

/// Separates a summary from a text that follows it in the same turn.
pub const END_MARKER: &str = "[END OF CONTEXT SUMMARY]";
