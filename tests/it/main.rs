//! The integration tests, in one binary: `cargo test --test it fit::` runs one folder.
// Tests may fail loudly, print what they skip, and compare what they computed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::float_cmp,
    clippy::cast_possible_wrap,
    clippy::type_complexity,
    clippy::format_collect,
    clippy::too_many_lines
)]

mod architecture;
mod batch;
mod cache;
mod chat;
mod cli;
mod docs;
mod files;
mod fit;
mod records;
mod summaries;
mod support;
mod tokens;
mod trainers;
