//! A tool call as the summary reads it: its name, and its arguments as they were written.

use std::borrow::Cow;

use crate::trajectory::ToolResponse;

/// A tool call.
pub(crate) struct SourceCall<'a> {
    pub id: Option<&'a str>,
    pub name: Cow<'a, str>,
    pub arguments: CallArguments<'a>,
}

impl SourceCall<'static> {
    /// A call with these arguments, by name.
    pub fn tagged(tool: impl Into<String>, fields: Vec<(String, String)>) -> Self {
        Self {
            id: None,
            name: Cow::Owned(tool.into()),
            arguments: CallArguments::Tagged(fields),
        }
    }
}

/// A call's arguments as they were written.
pub(crate) enum CallArguments<'a> {
    /// JSON text, or whatever stood in its place.
    Json(Cow<'a, str>),
    /// Names and values of `<parameter=…>` tags.
    Tagged(Vec<(String, String)>),
}

impl<'a> CallArguments<'a> {
    /// The text of arguments that are one.
    pub fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Json(text) => text,
            Self::Tagged(_) => Cow::Borrowed(""),
        }
    }

    /// The texts in them.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Json(json) => vec![json.as_ref()],
            Self::Tagged(fields) => fields.iter().map(|(_, value)| value.as_str()).collect(),
        }
    }
}

/// The flags of an answer that stand beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AnswerFlags {
    pub is_error: Option<bool>,
    pub exit_code: Option<i32>,
}

impl From<&ToolResponse<'_>> for AnswerFlags {
    fn from(response: &ToolResponse<'_>) -> Self {
        Self {
            is_error: response.is_error,
            exit_code: response.exit_code,
        }
    }
}

/// Marks around a model's thoughts.
const THOUGHT_MARKS: [&str; 4] = ["<think>", "</think>", "<thinking>", "</thinking>"];

/// The words of an assistant without the marks around its thoughts.
pub(crate) fn without_thought_marks(words: Cow<'_, str>) -> Cow<'_, str> {
    if !THOUGHT_MARKS.iter().any(|mark| words.contains(mark)) {
        return words;
    }
    let plain = THOUGHT_MARKS
        .iter()
        .fold(words.into_owned(), |words, mark| words.replace(mark, ""));
    Cow::Owned(plain.trim().to_owned())
}

/// If a call could not be read: its arguments are a text with calls in it.
pub(crate) fn is_unread(name: &str, arguments: &str) -> bool {
    name.is_empty() && !arguments.trim_start().starts_with(['{', '['])
}

/// The text of a turn whose calls could not be read: it is prose with calls in it.
pub(crate) fn with_unread<'t>(
    text: Cow<'t, str>,
    unread: impl Iterator<Item = Cow<'t, str>>,
) -> Cow<'t, str> {
    unread.fold(text, |text, unread| {
        if text.is_empty() {
            return unread;
        }
        Cow::Owned([text.as_ref(), unread.as_ref()].join("\n"))
    })
}

/// A part of a text.
pub(super) fn part_of(text: Cow<'_, str>, part: impl Fn(&str) -> &str) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_words_without_their_marks() {
        for (said, words) in [
            ("<think>\nI look.\n</think>\n\nDone.", "I look.\n\n\nDone."),
            ("I think>so", "I think>so"),
        ] {
            assert_eq!(without_thought_marks(said.into()), words);
        }
    }
}
