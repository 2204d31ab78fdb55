//! Writing: output files, the journal of what is safely on disk, and files of requests.

pub(super) mod disk;
pub(super) mod journal;
mod open;
pub(super) mod output;
pub(super) mod requests;
pub(super) mod writer;
pub(super) mod written;
