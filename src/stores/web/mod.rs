//! Objects of web servers: ranges over HTTP where the server has them, and retries.

mod address;
mod content_range;
mod look;
mod ranges;
mod whole;

pub use address::Address;
