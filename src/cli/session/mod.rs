//! Records of other programs' own sources, fitted by the program's configuration on all cores.

mod builder;
mod core;
mod error;
mod fit;
mod fitting;
mod gathering;
mod survey;

pub use builder::SessionBuilder;
pub use core::Session;
pub use error::{SessionError, SessionErrorKind};
pub use fitting::{FittedRecord, Fitting};
pub use gathering::{GatheredLines, Gathering};
