//! The worker pool: batches are fitted on all threads, and taken in input order.

pub(super) mod block_on;
pub(super) mod ordered;
mod record_metrics;
pub(super) mod reorder_buffer;
pub(super) mod spill;
pub(super) mod stream;
mod window;
pub(super) mod worker;
