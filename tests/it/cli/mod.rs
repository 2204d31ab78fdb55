//! The command line: help, configuration, printed results.

mod check;
mod config;
mod config_properties;
mod outputs;
mod sessions;
mod show;
mod unroll;
#[cfg(not(feature = "stores"))]
mod urls;
