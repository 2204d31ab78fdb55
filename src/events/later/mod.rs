//! The consequences of later calls for earlier ones: errors are closed, runs covered, lookups outdated.

mod covered;
pub(crate) mod outdated;
pub(crate) mod resolved;
