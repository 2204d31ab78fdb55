//! The header that says which part of an object an answer is.

use std::ops::Range;

/// The header of an answer that is a part of the content.
#[derive(Debug, PartialEq, Eq)]
pub struct ContentRange {
    /// The part; `None` in an answer that has none of it.
    pub part: Option<Range<u64>>,
    /// The size of the whole; `None` if the server does not know it.
    pub size: Option<u64>,
}

impl ContentRange {
    /// Reads `bytes 0-99/1234`, `bytes 0-99/*` and `bytes */1234`.
    pub fn of(header: &str) -> Option<Self> {
        let (part, size) = header.strip_prefix("bytes")?.trim().split_once('/')?;
        let part = match part.split_once('-') {
            Some((first, last)) => Some(first.parse().ok()?..last.parse::<u64>().ok()? + 1),
            None => None,
        };
        Some(Self {
            part,
            size: size.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_from_its_header() {
        for (header, part, size) in [
            ("bytes 0-99/1234", Some(0..100), Some(1234)),
            ("bytes 5-5/*", Some(5..6), None),
            ("bytes */0", None, Some(0)),
        ] {
            assert_eq!(ContentRange::of(header), Some(ContentRange { part, size }));
        }
        for header in ["", "bytes", "bytes 1-/2", "items 0-9/10"] {
            assert_eq!(ContentRange::of(header), None, "{header}");
        }
    }
}
