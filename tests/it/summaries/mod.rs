//! Summaries, masks, footers: what they hold and what they must not hold.

mod command;
mod command_faults;
mod footer;
mod grounding;
mod mask_grounding;
mod masking;
mod merged;
mod orphans;
mod readings;
mod retained_model;
mod secrets;
mod unrolled;
