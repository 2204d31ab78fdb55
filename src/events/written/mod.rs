//! Calls that an assistant writes in its text, where the record has no place of its own for them.

pub(crate) mod forms;
mod object;
mod read;
pub(crate) mod row;

use std::borrow::Cow;

use super::source_call::{SourceCall, part_of};
use forms::Forms;
use read::{Prose, first_tag, found, tagged_calls};
use row::{AnswerBy, rows};

/// An assistant's text, read.
pub(crate) struct Written<'a> {
    /// The text without its calls.
    pub prose: Cow<'a, str>,
    pub calls: Vec<SourceCall<'static>>,
    pub answer: AnswerBy,
}

/// The prose of an assistant's text and the calls in it, in the `forms` that its record has.
pub(crate) fn written(text: Cow<'_, str>, forms: Forms) -> Written<'_> {
    if let Some(at) = first_tag(&text) {
        let calls = tagged_calls(text.get(at..).unwrap_or_default());
        return Written {
            prose: part_of(text, |text| text.get(..at).unwrap_or_default()),
            calls,
            answer: AnswerBy::Tool,
        };
    }
    let believed = rows().iter().enumerate().filter(|(number, _)| forms.has(*number));
    let mut found = believed.filter_map(|(number, row)| Some((number, found(row, &text)?)));
    let found = found.next();
    match found {
        Some((number, (prose, calls))) => Written {
            prose: match prose {
                Prose::Until(at) => part_of(text, |text| without_mark(text.get(..at).unwrap_or_default())),
                Prose::Said(said) => said.into(),
            },
            answer: if calls.is_empty() {
                AnswerBy::Tool
            } else {
                forms.answer(number)
            },
            calls,
        },
        None => Written {
            prose: text,
            calls: Vec::new(),
            answer: AnswerBy::Tool,
        },
    }
}

/// A text without the mark at its end behind which the calls of a turn stand.
fn without_mark(text: &str) -> &str {
    let marks = [("<|", "|>"), ("<｜", "｜>")];
    let found = marks.iter().find_map(|(opens, closes)| {
        let at = text.trim_end().strip_suffix(closes)?.rfind(opens)?;
        text.get(..at)
    });
    found.unwrap_or(text)
}
