//! The files of a run that has read all of its input, before they get their final names.

use super::journal::{Journal, Milestone};
use super::output::PartialFile;
use crate::metrics::Totals;

/// The files of a run that has read all of its input.
pub struct FinishedFiles {
    /// The journal, if there is one.
    pub journal: Option<Journal>,
    /// True if there are rejects.
    pub rejects: bool,
    /// The file of the totals, which is empty.
    pub summary: Option<PartialFile>,
    /// The other files, whole.
    pub open: [Option<PartialFile>; 3],
    /// The totals.
    pub totals: Totals,
    /// The last milestone.
    pub milestone: Milestone,
}
