//! The chat client: requests, limits, retries, secrets.

mod answers;
mod client;
mod hanging;
mod limits;
mod retries;
mod secrets;
mod servers;
mod speed;
mod summaries;
mod unroll;
