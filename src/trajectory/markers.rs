//! The markers of a summary in a turn, and of what is no text.

/// Begins every summary.
pub const SUMMARY_MARKER: &str = "[CONTEXT SUMMARY]:";

/// Separates a summary from a text after it in the same turn.
pub const END_MARKER: &str = "[END OF CONTEXT SUMMARY]";

/// Begins the last message of the user behind a summary that took it in.
pub const MESSAGE_MARKER: &str = "[USER MESSAGE]:";

/// The same where turns of the summary came after the message.
pub const FOLLOWED_MESSAGE_MARKER: &str = "[USER MESSAGE; steps followed it]:";

/// Stands for an image.
pub const IMAGE_MARKER: &str = "[image]";
