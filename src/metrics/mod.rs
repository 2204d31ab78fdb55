//! A row for each record, and totals: the tokens of each record, and sums over all.

mod both_counts;
mod census;
#[cfg(feature = "cli")]
mod csv_file;
mod csv_safe;
mod distribution;
mod grounding;
mod largest;
mod lint_census;
mod measure;
mod pair_row;
mod prices;
mod record_metrics;
mod reject;
mod row;
#[cfg(feature = "cli")]
mod row_json;
mod segment;
mod totals;
mod unroll_row;
mod unroll_sums;

pub use both_counts::BothCounts;
pub use census::{Census, ComparedCount, Complaint};
#[cfg(feature = "cli")]
pub use csv_file::{Columns, csv_header, csv_rows, read_rows, read_rows_written};
pub use distribution::Distribution;
pub use grounding::{GroundedRecord, WorstGrounded, is_grounded, share_held};
pub use largest::LargeRecord;
pub use lint_census::{LintCensus, LintChanges, LintExample, NewLoss};
pub use measure::{Measure, Parts, Unreadable};
pub use pair_row::PairRow;
#[cfg(feature = "cli")]
pub use pair_row::{read_pair_rows, read_written_rows};
pub use prices::{Prices, RequestTotals, Tokens};
pub use record_metrics::record_metrics;
pub use reject::Reject;
pub use row::{Row, Status};
#[cfg(feature = "cli")]
pub use row_json::{row_json, row_of_json, typed_row};
pub use segment::{AgentCalls, SegmentRow};
pub use totals::{Sums, Totals};
pub use unroll_row::merged;
pub use unroll_sums::{AgentPrices, UnrollSums};
