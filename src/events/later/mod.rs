//! The consequences of later calls for earlier ones: errors are closed, runs covered, lookups outdated, calls undone.

mod covered;
pub(crate) mod outdated;
pub(crate) mod resolved;
pub(crate) mod settled;
pub(crate) mod undone;
