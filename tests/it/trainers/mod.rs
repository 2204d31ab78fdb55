//! What trainers read: their rules, placements and marks.

mod docs;
mod marking;
mod matrix;
mod placement;
mod rules;
