//! How results are shown to people and machines.

pub mod figures;
mod run_figures;
mod summary_table;

pub use run_figures::{DryRunFigures, OverLimitFigures, Reasons, RecordFigures, RequestFigures, RunFigures};
pub use summary_table::summary_table;
