//! The results of records that stay as they are, with the reason that their rows give.

use super::CompressionCase;
use super::rewrite::RewriteError;
use crate::compress::Reason;
use crate::fit::Fitted;
use crate::metrics::{Row, Status};

impl CompressionCase<'_> {
    /// Returns the result of a record that stays as it is because nothing smaller could be written.
    pub(super) fn not_smaller(&self, over_reason: Reason, row: Row, summary_input_tokens: usize) -> Fitted {
        let reason = if over_reason.code == Reason::PASSES_EXHAUSTED {
            over_reason
        } else {
            self.protected_reason()
                .unwrap_or_else(|| Reason::plain(Reason::NO_NET_SAVING))
        };
        Fitted {
            summary_input_tokens,
            ..Fitted::untouched(row.ended(Status::Kept, Some(&reason)))
        }
    }

    /// Returns the result of a record that stays as it is because nothing valid could be written.
    pub fn not_written(unwritten: RewriteError, row: Row) -> Fitted {
        let (status, reason) = match unwritten {
            RewriteError::NoPlace => {
                return Fitted::untouched(row.ended(Status::Kept, Some(&RewriteError::no_place())));
            }
            RewriteError::Refused(refusal) => {
                let reason = Reason::with(Reason::TEMPLATE_REFUSES_SUMMARY, refusal);
                (Status::Kept, reason)
            }
            RewriteError::Violation(violation) => {
                let reason = Reason::with("verify_failed", violation.to_string());
                (Status::Failed, reason)
            }
        };
        let row = Row {
            degraded: true,
            ..row
        };
        Fitted::untouched(row.ended(status, Some(&reason)))
    }
}
