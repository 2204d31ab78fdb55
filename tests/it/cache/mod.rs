//! The cache of answers: files, processes, kills.

mod answers;
mod files;
mod kill;
mod processes;
mod speed;
