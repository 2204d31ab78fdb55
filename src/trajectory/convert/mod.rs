//! Converts records between forms: the same turns, calls and answers as `ShareGPT` or as chat messages.

mod group;
mod losses;
mod message;
mod messages;
mod read;
mod rewrite;
mod sharegpt;
mod stays;
mod tagged;
mod target;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;

use super::{Format, Record, Role};
use group::Group;
use rewrite::RecordRewrite;
use value::ObjectBuilder;

pub use losses::Losses;
pub use target::{ArgumentsForm, OutputForm};

/// A converted record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The record's text.
    pub text: String,
    /// Data that the target form could not hold.
    pub losses: Losses,
}

/// The reason why a record cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotConvertible {
    /// A turn cannot be read.
    #[error("turn {0} has no readable role, or has a field twice")]
    Turn(usize),
    /// The record has the key of the trajectory twice.
    #[error("the trajectory's key stands in the record twice")]
    RepeatedKey,
}

/// Converts a record. Turns that are in the target form already, and all other fields of the record, keep their bytes.
///
/// # Errors
///
/// Its trajectory, or one of its turns, cannot be read unambiguously.
pub fn convert(record: &Record<'_>, target: OutputForm) -> Result<Converted, NotConvertible> {
    if record.ambiguous {
        return Err(NotConvertible::RepeatedKey);
    }
    if let Some(turn) = record.turns.iter().position(|turn| turn.opaque) {
        return Err(NotConvertible::Turn(turn));
    }
    let mut losses = Losses::default();
    let mut turns: Vec<Cow<'_, str>> = Vec::with_capacity(record.turns.len() + 1);
    let system = record
        .system
        .filter(|_| record.turns.iter().all(|turn| turn.role != Role::System));
    if let Some(system) = system {
        turns.push(Cow::Owned(system_turn(system, target.form)));
    }
    let mut group = Group::default();
    for turn in &record.turns {
        for message in read::read(turn, target, &mut losses) {
            if message.role == Role::Tool {
                group.answering.push(message);
                continue;
            }
            let next = Group {
                asking: Some(message),
                answering: Vec::new(),
            };
            write(
                std::mem::replace(&mut group, next),
                target,
                &mut turns,
                &mut losses,
            );
        }
    }
    write(group, target, &mut turns, &mut losses);
    let rewrite = RecordRewrite {
        record,
        target,
        turns,
        takes_system: system.is_some(),
    };
    let text = rewrite.text(&mut losses);
    Ok(Converted { text, losses })
}

fn write<'a>(group: Group<'a>, target: OutputForm, turns: &mut Vec<Cow<'a, str>>, losses: &mut Losses) {
    match target.form {
        Format::Messages => messages::write(group, target.arguments, turns, losses),
        Format::ShareGpt => sharegpt::write(group, target.arguments, turns, losses),
    }
}

/// Returns a top-level `system` string as a turn.
fn system_turn(system: &str, form: Format) -> String {
    let (role, text) = match form {
        Format::ShareGpt => ("\"from\"", "\"value\""),
        Format::Messages => ("\"role\"", "\"content\""),
    };
    let mut turn = ObjectBuilder::default();
    turn.field(role, "\"system\"");
    turn.field(text, system);
    turn.end()
}
