//! The paths of a run: the names of its files, and the checks that they can be written.

pub(super) mod beside;
pub(super) mod existing;
pub(super) mod file_names;
mod named_files;
pub(super) mod remote;
pub(super) mod side_files;
pub(super) mod streams;
pub(super) mod targets;
mod urls;
