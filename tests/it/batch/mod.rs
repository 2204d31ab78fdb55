//! Batches of requests: queues, answers that are missing, kills.

mod kill;
mod missing;
mod queue;
mod requests;
mod run;
