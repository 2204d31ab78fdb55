//! The pages of this project: what they name is there, what they show is what the program prints.

mod metrics;
mod pages;
mod sessions;
