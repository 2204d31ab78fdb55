//! The files and the vendors of batches: responses that came back, and runs that have a Batch API answer their requests.
//!
//! ```text
//!  requests (files) ─► rounds ─► vendor ─► wire ─► a Batch API
//!                        │ state                        │
//!  responses (index) ◄── answers (files) ◄──────────────┘
//! ```

mod body;
mod error;
mod queue_backoff;
mod responses;
mod rounds;
mod split;
mod state;
mod submit;
mod vendor;
mod wire;

pub use error::{BatchError, RUN_AGAIN};
pub use responses::ResponseFiles;
pub use rounds::{Event, Rounds};
pub use state::{Batch, Folder, Spent, State, part_of};
pub use vendor::Vendor;
