//! The line that tells the request in progress, above the summary of what was done: a region may end in the middle of long work.

use super::Extractive;
use crate::events::line::{cleaned, shortened};
use crate::summarize::marker::{IN_PROGRESS, SUMMARY_MARKER};
use crate::summarize::redact::redact;
use crate::summarize::{Summary, SummaryError, SummaryRequest};
use crate::trajectory::{Role, TurnView};

/// The part of the budget that the line may take.
const SHARE: usize = 5;

/// Most characters of the request in it where the region has the request too, or where that was long ago.
const MAX_WORDS: usize = 240;

/// Most characters where the line is the only place that tells the request.
const MAX_ONLY: usize = 600;

impl Extractive {
    /// The summary with its first line; without it where it has no room.
    pub(super) fn with_request_in_progress(
        self,
        request: &SummaryRequest<'_>,
    ) -> Result<Summary, SummaryError> {
        let Some(words) = request.in_progress else {
            return self.summary(request);
        };
        let (words, secrets) = if self.redaction {
            redact(words)
        } else {
            (words.into(), 0)
        };
        let asks = |turn: &TurnView<'_>| turn.role == Role::Human && turn.text == words;
        let most: &[usize] = if request.turns.iter().any(asks) {
            &[MAX_ONLY, MAX_WORDS]
        } else {
            &[MAX_WORDS]
        };
        for most in most {
            if let Some(mut summary) = self.with_line_of(&words, *most, request)? {
                summary.redactions += secrets;
                return Ok(summary);
            }
        }
        self.summary(request)
    }

    /// The summary under a line of at most `most` characters; `None` where that has no room.
    fn with_line_of(
        self,
        words: &str,
        most: usize,
        request: &SummaryRequest<'_>,
    ) -> Result<Option<Summary>, SummaryError> {
        let words = cleaned(words);
        let Some(words) = shortened(&words, most).filter(|words| !words.is_empty()) else {
            return Ok(None);
        };
        let line = format!("{IN_PROGRESS} {words}");
        // A token may be lost at the joints on both sides.
        let cost = request.counter.count(&line) + 2;
        if cost > request.max_tokens / SHARE {
            return Ok(None);
        }
        let rest = SummaryRequest {
            max_tokens: request.max_tokens - cost,
            ..*request
        };
        let mut summary = self.composed(Some(&words), &rest, true)?;
        let body = summary.text.strip_prefix(SUMMARY_MARKER).unwrap_or(&summary.text);
        let text = format!("{SUMMARY_MARKER}\n{line}\n{}", body.trim_start());
        if request.counter.count(&text) > request.max_tokens {
            return Ok(None);
        }
        summary.text = text;
        Ok(Some(summary))
    }
}
