//! Reading: sources, plain or compressed, split into batches of records.

pub(super) mod batch;
pub(super) mod data_names;
mod extent;
pub(super) mod feed;
mod foreign;
mod hashing;
pub(super) mod inputs;
pub(super) mod reader;
pub(super) mod records;
pub(super) mod sample;
pub(super) mod shard;
pub(super) mod source;
