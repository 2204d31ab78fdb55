//! What the turn in progress is about, said before what was done: a stretch may end in the middle of long work.

use super::Extractive;
use super::line::{cleaned, shortened};
use crate::summarize::marker::SUMMARY_MARKER;
use crate::summarize::redact::redact;
use crate::summarize::{Summary, SummaryError, SummaryRequest};

/// What the line starts with.
pub(super) const IN_PROGRESS: &str = "In progress:";

/// The part of the budget that the line may take.
const SHARE: usize = 5;

/// Its words, in characters, at most.
const MAX_WORDS: usize = 240;

impl Extractive {
    /// The summary with its first line; without it where it has no room.
    pub(super) fn led(self, request: &SummaryRequest<'_>) -> Result<Summary, SummaryError> {
        let Some((line, secrets)) = request.in_progress.and_then(|words| self.line(words)) else {
            return self.summary(request);
        };
        // A token may be lost at the joints on both sides.
        let cost = request.counter.count(&line) + 2;
        if cost > request.max_tokens / SHARE {
            return self.summary(request);
        }
        let mut summary = self.summary(&SummaryRequest {
            max_tokens: request.max_tokens - cost,
            ..*request
        })?;
        let body = summary.text.strip_prefix(SUMMARY_MARKER).unwrap_or(&summary.text);
        let text = format!("{SUMMARY_MARKER}\n{line}\n{}", body.trim_start());
        if request.counter.count(&text) > request.max_tokens {
            return self.summary(request);
        }
        summary.text = text;
        summary.redactions += secrets;
        Ok(summary)
    }

    fn line(self, words: &str) -> Option<(String, usize)> {
        let (words, secrets) = if self.redaction {
            redact(words)
        } else {
            (words.into(), 0)
        };
        let words = cleaned(&words);
        let words = shortened(&words, MAX_WORDS)?;
        let line = format!("{IN_PROGRESS} {words}");
        (!words.is_empty()).then_some((line, secrets))
    }
}
