//! Inputs and outputs that are URLs, on an S3 server that others wrote, on web servers and on the hub:
//! `cargo test --release --features stores --test stores`.
// Tests may fail loudly, and print what they skip.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod faults;
mod hub;
mod kill;
mod merge;
mod proxy;
mod round_trip;
mod s3;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, reason = "it is what all tests share")]
mod support;
mod web;
