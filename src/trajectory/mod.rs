//! The formats: how a JSON line becomes turns with byte spans, and back.

mod role;
mod view;

pub use role::Role;
pub use view::{ToolCall, ToolResponse, TurnView};
