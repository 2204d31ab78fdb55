//! Trainers: each one's rules for records, as data, and a judge that applies them to a record.

mod action;
mod arrow_kinds;
mod content;
mod findings;
mod form;
mod judged;
mod known;
mod length;
mod messages;
mod order;
mod rules;
mod shape;
mod structure;
mod table;
mod turn;
mod verdict;

pub use findings::{Finding, FindingKind, TrainingOutcome, whole};
pub use form::{FormRules, ToolsTreatment};
pub use judged::Judged;
pub use known::{TrainerName, trainer};
pub use length::{Lengths, over_length};
pub use messages::{fits_in_prefixes, list, messages, same_alone};
pub use rules::{CompressSettings, DatasetReader, MarkedTurns, RenderedPieces, Renderer, Trainer};
pub use structure::{Judgement, judge};
pub use table::DatasetColumns;
pub use turn::trimmed;
pub use verdict::Verdict;
