//! The formats: how a JSON line becomes turns with byte spans, and back.

mod calls;
mod chat;
mod content;
mod convert;
mod decode;
mod edit;
mod faults;
mod fields;
mod groups;
mod in_parts;
pub mod json;
pub mod leaves;
mod mark;
mod markers;
mod members;
mod mend;
mod pairing;
mod parse;
mod parts;
mod pieces;
mod raw_call;
mod record;
mod record_fields;
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

pub use chat::{TemplateArguments, call_list_with, chat, tool_list};
pub use convert::{Arguments, Converted, Losses, NotConvertible, OutputForm, convert};
pub use decode::view;
#[cfg(test)]
pub(crate) use decode::views_of;
pub use edit::{Edit, append_part, append_text, apply, new_turn, new_turn_of, prepend_text, replace_text};
pub use faults::Faults;
pub use groups::answered_turns;
pub use mark::{is_marked_copy, is_only_marked, marked, marked_anew, value_of, without_mark};
pub use markers::{END_MARKER, SUMMARY_MARKER};
pub use mend::{NO_REQUEST, SYSTEM_MESSAGE, Sanitized, TidyCounts, Wishes, mend, sanitize};
pub use pairing::OpenCalls;
pub use parse::{ParseError, TURN_KEYS, parse, turn_of};
pub use pieces::Piece;
pub use record::{Format, Record};
pub use record_fields::{field_of, with_fields};
pub use responses::{with_responses, without_responses};
pub use role::Role;
pub use structure::faults;
pub use turn::Turn;
pub use view::{ToolCall, ToolResponse, TurnView};
pub use views::{Turns, Views, most_views};
