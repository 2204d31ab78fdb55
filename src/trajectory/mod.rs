//! The formats: how a JSON line becomes turns with byte spans, and back.

mod calls;
mod chat;
mod decode;
mod edit;
mod fields;
mod groups;
mod in_parts;
pub mod json;
pub mod leaves;
mod mark;
mod mend;
mod pairing;
mod parse;
mod parts;
mod record;
mod responses;
mod results;
mod role;
mod shape;
mod structure;
#[cfg(test)]
mod tests;
mod turn;
mod view;
mod views;

pub use chat::{Chat, NoChat, TemplateArguments, call_list_with, chat, tool_list};
pub use decode::{view, view_with};
pub use edit::{Edit, append_text, apply, new_turn, replace_text};
pub use groups::answered_turns;
pub use mark::{is_only_marked, marked};
pub use mend::{Mended, NO_RESULT, STRAY_END, STRAY_OUTPUT, mend};
pub use pairing::OpenCalls;
pub use parse::{ParseError, parse, turn_of};
pub use record::{Format, Record};
pub use responses::{with_responses, without_responses};
pub use role::Role;
pub use structure::{Faults, faults};
pub use turn::{Piece, Turn};
pub use view::{ToolCall, ToolResponse, TurnView};
pub use views::{Turns, Views, most_views};
