//! The commands, a module each.

pub(super) mod batch;
pub(super) mod cache;
pub(super) mod check;
pub(super) mod completions;
pub(super) mod compress;
pub(super) mod config;
pub(super) mod count;
pub(super) mod explain;
pub(super) mod lint;
pub(super) mod merge;
pub(super) mod restore;
pub(super) mod show;
pub(super) mod unroll;
