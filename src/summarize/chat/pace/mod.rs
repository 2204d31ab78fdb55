//! The pace of requests: the user's limits, those of the server, and what a server that is down stops.

pub(super) mod allowance;
pub(super) mod breaker;
mod flow;
pub(crate) mod limits;
pub(super) mod places;
mod rate;
