//! A row a record, and totals.
