//! Mends and tidies a record: each may enable the other, so both are repeated until nothing is left to do.

use super::tidy::{TidyCounts, Wishes, tidy};
use super::{Mended, mend};
use crate::trajectory::{Faults, Record, parse};

/// Most repetitions of both.
const MOST_ROUNDS: usize = 6;

/// A record that was mended or tidied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanitized {
    /// The record's text.
    pub text: String,
    /// The faults that were mended.
    pub mended: Faults,
    /// The changes of shape.
    pub shapes: TidyCounts,
}

/// Mends and tidies a record; `None` if nothing can be done. Sanitizing twice changes nothing more. `opening` is the
/// text that a summary turn begins with.
pub fn sanitize(record: &Record<'_>, wishes: Wishes, opening: &str) -> Option<Sanitized> {
    if record.ambiguous {
        return None;
    }
    let (mut mended, mut shapes) = (Faults::default(), TidyCounts::default());
    let mut text: Option<String> = None;
    for _ in 0..MOST_ROUNDS {
        let current = text
            .as_deref()
            .map(|text| parse(text.as_bytes(), Some(record.format)));
        let current = match &current {
            None => record,
            Some(Ok(current)) => current,
            Some(Err(_)) => break,
        };
        let written = if let Some((text, shaped)) = tidy(current, wishes) {
            shapes.add(&shaped);
            text
        } else if let Some(Mended {
            text, mended: more, ..
        }) = mend(current, opening)
        {
            mended = mended.and(&more);
            text
        } else {
            break;
        };
        text = Some(written);
    }
    Some(Sanitized {
        text: text?,
        mended,
        shapes,
    })
}
