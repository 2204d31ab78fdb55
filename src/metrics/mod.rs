//! A row a record, and totals.

mod both_counts;
mod csv_file;
mod distribution;
mod prices;
mod reject;
mod row;
mod totals;

pub use both_counts::BothCounts;
pub use csv_file::{csv_header, csv_rows, read_rows};
pub use prices::Prices;
pub use reject::Reject;
pub use row::{Row, Status};
pub use totals::{Sums, Totals};
