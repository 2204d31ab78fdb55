//! Inputs, outputs and side files of runs, and what happens when they fail.

mod bad_input;
mod bad_places;
mod disk_faults;
mod foreign_inputs;
mod hub;
mod inputs;
mod memory;
mod repeated_ids;
mod report_dir;
mod resume;
mod same_runs;
mod shards;
mod side_files;
mod stopping;
mod threads;
