//! Parses the bytes of one JSON object to a [`Record`]: spans only, nothing decoded.

pub(super) mod calls;
pub(super) mod content;
pub(super) mod in_parts;
pub(super) mod parts;
pub(super) mod raw_call;
pub(super) mod record;
pub(super) mod results;
pub(super) mod turn;

use serde_json::error::Category;
use serde_json::value::RawValue;

use super::json::fields::{Elements, Fields, each_element, fields, fields_and_lists};
use super::{Format, Record, Role, Turn, json};
use results::is_list_of_results;
use turn::{TurnFields, TurnKeys};

/// The reason why a record has no readable trajectory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes are not UTF-8.
    #[error("invalid UTF-8 at byte {at}")]
    Utf8 {
        /// The byte offset of the first invalid byte in the record.
        at: usize,
    },
    /// The text is not JSON.
    #[error("{message}")]
    Json {
        /// The error, with its column.
        message: String,
    },
    /// The record nests deeper than `json::MAX_DEPTH`.
    #[error("nested deeper than {} levels", json::MAX_DEPTH)]
    TooDeep,
    /// The record has so many short turns that it would take too much memory.
    #[error("too many turns for its length: they have less than {LEAST_BYTES} bytes each")]
    TooManyTurns,
    /// The text is JSON, but has no list of turns.
    #[error("expected an object with a list `conversations` or `messages`, found {found}")]
    NoTrajectory {
        /// The kind of value found instead.
        found: String,
    },
}

impl ParseError {
    /// Returns the reason code of metrics and rejects.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Utf8 { .. } => "invalid_utf8",
            Self::Json { .. } => "invalid_json",
            Self::TooDeep => "too_deep",
            Self::TooManyTurns => "too_many_turns",
            Self::NoTrajectory { .. } => "no_trajectory",
        }
    }
}

/// Least bytes per turn of a record on average, which bounds its memory.
const LEAST_BYTES: usize = 20;

/// Number of turns that a record of any length may have.
const FEW_TURNS: usize = 16 * 1024;

/// Keys of a record that are read. The first two hold its turns; those from the fifth on are names of the record, of
/// which the first present is used.
const TOP_KEYS: [&str; 10] = [
    "conversations",
    "messages",
    "system",
    "tools",
    "id",
    "instance_id",
    "trajectory_id",
    "traj_id",
    "task_id",
    "uuid",
];

impl<'a> Record<'a> {
    /// Reads one line: a JSON object with a list `conversations` or `messages`.
    ///
    /// # Errors
    ///
    /// The line is no JSON, or holds no trajectory.
    pub fn parse(line: &'a str) -> Result<Self, ParseError> {
        parse(line.as_bytes(), None)
    }
}

/// Reads a record. `format` forces one of the two; without it, the object's keys decide.
pub fn parse(bytes: &[u8], format: Option<Format>) -> Result<Record<'_>, ParseError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ParseError::Utf8 {
        at: error.valid_up_to(),
    })?;
    // Keys are read as bytes, without a check for control characters: lines that contain any are checked separately.
    if text.bytes().fold(u8::MAX, u8::min) < b' '
        && let Err(error) = serde_json::from_str::<&RawValue>(text)
    {
        return Err(json_error(&error, text));
    }
    let turns = Elements {
        names: &TURN_KEYS,
        make: turn_with,
        most: most_turns(text),
    };
    let (fields, turns) = match fields_and_lists(text, &TOP_KEYS, turns) {
        Some(read) => read,
        None => (
            fields(text, &TOP_KEYS).map_err(|error| json_error(&error, text))?,
            [None, None],
        ),
    };
    let Fields {
        values,
        repeated,
        too_deep,
        ..
    } = fields;
    let [turns_of_conversations, turns_of_messages] = turns;
    let [conversations, messages, system, tools, ids @ ..] = values;
    let [conversations_repeated, messages_repeated, ..] = repeated;
    let is_list = |value: Option<&str>| value.is_some_and(|value| value.starts_with('['));
    let chosen = format.unwrap_or(match (is_list(conversations), is_list(messages)) {
        (false, true) => Format::Messages,
        _ => Format::ShareGpt,
    });
    let (key, list, objects, ambiguous) = match chosen {
        Format::ShareGpt => (
            "conversations",
            conversations,
            turns_of_conversations,
            conversations_repeated,
        ),
        Format::Messages => ("messages", messages, turns_of_messages, messages_repeated),
    };
    let turns = match (list, objects) {
        (Some(_), Some(turns)) => turns,
        (Some(list), None) if list.starts_with('[') => turns_of(list, most_turns(text))?,
        _ => return Err(no_trajectory(format, key, list, conversations.or(messages))),
    };
    if too_deep || tools.is_some_and(json::too_deep) {
        return Err(ParseError::TooDeep);
    }
    let id = ids.into_iter().flatten().find(|id| !id.starts_with(['[', '{']));
    Ok(Record {
        text,
        format: chosen,
        id,
        system: system.filter(|system| system.starts_with('"')),
        tools,
        turns,
        ambiguous,
    })
}

fn no_trajectory(forced: Option<Format>, key: &str, list: Option<&str>, any: Option<&str>) -> ParseError {
    let found = match (list, any) {
        (Some(value), _) => format!("{} in `{key}`", kind_of(value)),
        (None, Some(value)) if forced.is_none() => format!("{} in `messages`", kind_of(value)),
        _ if forced.is_some() => format!("an object without a list `{key}`"),
        _ => "an object without either".to_owned(),
    };
    ParseError::NoTrajectory { found }
}

fn kind_of(value: &str) -> &'static str {
    match value.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn json_error(error: &serde_json::Error, text: &str) -> ParseError {
    let json: Result<&RawValue, serde_json::Error> = serde_json::from_str(text);
    match json {
        _ if json::too_deep(text) => ParseError::TooDeep,
        Ok(_) if error.classify() == Category::Data => ParseError::NoTrajectory {
            found: kind_of(text).to_owned(),
        },
        _ => {
            let message = error.to_string();
            let kind = message.split(" at line ").next().unwrap_or_default();
            ParseError::Json {
                message: format!("{kind} at column {}", error.column()),
            }
        }
    }
}

/// Returns the most turns that a record of this text may have.
fn most_turns(text: &str) -> usize {
    text.len() / LEAST_BYTES + FEW_TURNS
}

/// Returns the turns of a list that contains a non-object or an empty object: they are read one by one.
fn turns_of(list: &str, most: usize) -> Result<Vec<Turn<'_>>, ParseError> {
    let (mut turns, mut fault) = (Vec::new(), None);
    let read = each_element(list, |text| {
        fault = match turn_of(text) {
            _ if turns.len() >= most => Some(ParseError::TooManyTurns),
            None => Some(ParseError::TooDeep),
            Some(turn) => {
                turns.push(turn);
                None
            }
        };
        fault.is_none()
    });
    match (fault, read) {
        (Some(fault), _) => Err(fault),
        (None, read) => read.map(|()| turns).map_err(|error| json_error(&error, list)),
    }
}

/// The fields of a turn that are read, in any format.
pub const TURN_KEYS: [&str; 13] = [
    "from",
    "role",
    "value",
    "content",
    "reasoning_content",
    "reasoning",
    "thinking",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "tool_call_ids",
    "name",
    "tool_name",
];

/// Reads the text of one turn; `None` if it nests too deep.
pub fn turn_of(text: &str) -> Option<Turn<'_>> {
    match fields(text, &TURN_KEYS) {
        Ok(fields) => turn_with(text, &fields),
        Err(_) if json::too_deep(text) => None,
        Err(_) => Some(Turn::opaque(text)),
    }
}

/// Returns the turn with these fields; `None` if one of them nests too deep.
fn turn_with<'a>(text: &'a str, fields: &Fields<'a, { TURN_KEYS.len() }>) -> Option<Turn<'a>> {
    let Fields {
        values,
        repeated,
        too_deep,
        ..
    } = *fields;
    let nests_too_deep = |value: &&str| value.starts_with(['[', '{']) && json::too_deep(value);
    if too_deep || values.iter().flatten().any(nests_too_deep) {
        return None;
    }
    let [
        from,
        role,
        value,
        content,
        reasoning_content,
        reasoning,
        thinking,
        rest @ ..,
    ] = values;
    let [
        tool_calls,
        function_call,
        tool_call_id,
        tool_call_ids,
        name,
        tool_name,
    ] = rest;
    let Some(role_name) = from.or(role).filter(|role_name| role_name.starts_with('"')) else {
        return Some(Turn::opaque(text));
    };
    if repeated.contains(&true) {
        return Some(Turn::opaque(text));
    }
    let content = value.or(content);
    let role = match Role::from_name(&json::decode(role_name).0) {
        Role::Human if content.is_some_and(is_list_of_results) => Role::Tool,
        role => role,
    };
    let keys = TurnKeys {
        from: from.is_some(),
        value: value.is_some() || (content.is_none() && from.is_some()),
    };
    let fields = TurnFields {
        role_name: Some(role_name),
        content,
        reasoning: reasoning_content.or(reasoning).or(thinking),
        tool_calls,
        function_call,
        tool_call_id: tool_call_id.or(tool_call_ids),
        name: name.or(tool_name),
    };
    Some(Turn::new(text, role, keys, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_control_characters_are_refused_in_keys_too() {
        for line in [
            "{\"conversations\": [{\"from\": \"gpt\", \"va\tlue\": \"a\"}]}",
            "{\"no\ttes\": 1, \"conversations\": []}",
            "{\"conversations\": [{\"from\": \"gpt\", \"value\": \"a\u{0}\"}]}",
        ] {
            assert!(
                matches!(parse(line.as_bytes(), None), Err(ParseError::Json { .. })),
                "{line}"
            );
        }
        let spaced = "{\t\"conversations\":\t[{\"from\": \"gpt\", \"value\": \"a\"}]}";
        assert!(parse(spaced.as_bytes(), None).is_ok());
    }
}
