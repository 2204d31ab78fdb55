//! The consequences of later calls for earlier ones: errors are closed, runs covered, lookups outdated.

mod covered;
pub(crate) mod outdated;
pub(crate) mod resolved;
pub(crate) mod set_again;
pub(crate) mod states;
