//! The markers of a summary in a turn.

/// Begins every summary.
pub const SUMMARY_MARKER: &str = "[CONTEXT SUMMARY]:";

/// Separates a summary from a text after it in the same turn.
pub const END_MARKER: &str = "[END OF CONTEXT SUMMARY]";
