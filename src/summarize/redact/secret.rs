//! A secret in a text, and the marker that replaces it.

use std::ops::Range;

/// The beginning of a marker.
pub const MARKER: &str = "[REDACTED:";

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The place where it stands.
    pub span: Range<usize>,
    /// Its kind, as the marker names it.
    pub kind: &'static str,
}
