//! Compression as a whole: invariants, plans, metrics, real data; unrolling.

mod invariants;
mod metrics;
mod plans;
mod real_data;
mod unroll;
mod unroll_summaries;
