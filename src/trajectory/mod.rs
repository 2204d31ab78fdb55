//! The formats: how a JSON line becomes turns with byte spans, and back.

mod chat;
mod convert;
mod edit;
pub mod json;
mod markers;
mod mend;
mod parse;
mod role;
mod structure;
#[cfg(test)]
mod tests;
mod view;

pub use chat::{TemplateArguments, call_list_with, chat, tool_list};
pub use convert::{ArgumentsForm, Converted, Losses, NotConvertible, OutputForm, convert};
pub use edit::mark::{is_marked_copy, is_only_marked, marked, marked_anew, value_of, without_mark};
pub use edit::record_fields::{field_of, with_fields};
pub use edit::responses::{with_responses, without_responses};
pub use edit::{Edit, append_part, append_text, apply, new_turn, new_turn_of, prepend_text, replace_text};
pub use markers::{END_MARKER, FOLLOWED_MESSAGE_MARKER, IMAGE_MARKER, MESSAGE_MARKER, SUMMARY_MARKER};
pub use mend::{NO_REQUEST, SYSTEM_MESSAGE, Sanitized, TidyCounts, Wishes, mend, sanitize};
pub use parse::record::{Format, Record};
pub use parse::turn::Turn;
pub use parse::{ParseError, TURN_KEYS, parse, turn_of};
pub use role::Role;
pub use structure::faults;
pub use structure::faults::Faults;
pub use structure::groups::answered_turns;
pub use structure::pairing::OpenCalls;
pub use view::decode::view;
#[cfg(test)]
pub(crate) use view::decode::views_of;
pub use view::pieces::Piece;
pub use view::views::{Turns, Views, most_views};
pub use view::{ToolCall, ToolResponse, TurnView};
