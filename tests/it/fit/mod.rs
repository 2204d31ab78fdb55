//! Compression as a whole: invariants, plans, metrics, real data.

mod invariants;
mod metrics;
mod plans;
mod real_data;
