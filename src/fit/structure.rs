//! What is broken in a record: told in its row, and mended before all else where that is asked for.

use super::{FitSettings, Fitted, Fitter};
use crate::metrics::{Row, Status};
use crate::summarize::marker::SUMMARY_MARKER;
use crate::trajectory::{self, Faults, Mended, Record};

/// What is broken in a record.
pub fn faults_of(record: &Record<'_>) -> Faults {
    trajectory::faults(record, SUMMARY_MARKER)
}

/// The record mended; `None` where that is not asked for, or nothing can be.
pub fn mended(record: &Record<'_>, settings: &FitSettings, found: Faults) -> Option<Mended> {
    let is_wanted = settings.sanitize && found.total() > 0;
    is_wanted
        .then(|| trajectory::mend(record, SUMMARY_MARKER))
        .flatten()
}

/// Tells in a row what was found in the record as it came.
pub fn note(row: &mut Row, found: Faults) {
    row.orphan_responses = found.orphan_responses as u64;
    row.unanswered_calls = found.unanswered_calls as u64;
    row.repeated_ids = found.repeated_ids as u64;
    row.packed_responses = found.packed_responses as u64;
    row.same_role_neighbours = found.same_role_neighbours as u64;
}

impl Fitter {
    /// Fits a mended record in place of the one that was read; its figures are those of the mended one.
    pub(super) async fn fit_mended(&self, record: &Record<'_>, mended: Mended) -> Fitted {
        let Ok(whole) = trajectory::parse(mended.text.as_bytes(), Some(record.format)) else {
            return self.fit_record(record).await;
        };
        let mut fitted = self.fit_record(&whole).await;
        if fitted.row.status == Status::Failed {
            return fitted;
        }
        let found = faults_of(record).total();
        fitted.row.mended_faults = found.saturating_sub(mended.left.total()) as u64;
        if !self.settings.dry_run {
            fitted.text.get_or_insert(mended.text);
        }
        fitted
    }
}
