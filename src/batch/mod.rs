//! Batches: files of responses, and runs whose requests are answered by a vendor's Batch API.
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
pub use rounds::{BatchEvent, Rounds};
pub use state::{Batch, Folder, State, part_of};
pub use vendor::Vendor;
