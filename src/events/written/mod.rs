//! Calls that an assistant writes in its text, where the record has no place of its own for them.

pub(crate) mod forms;
mod object;
mod python;
mod read;
pub(crate) mod row;
mod tagged;

use std::borrow::Cow;

use super::source_call::{SourceCall, part_of};
use forms::Forms;
use read::{Prose, found};
use row::{AnswerBy, rows};

/// An object or a list of objects that Python printed, as JSON.
pub(crate) fn printed_object(text: &str) -> Option<String> {
    let text = text.trim();
    let opens = text.starts_with("{'") || text.starts_with("[{'");
    opens.then(|| python::json_of(text)).flatten()
}

/// An assistant's text, read.
pub(crate) struct Written<'a> {
    /// The text without its calls.
    pub prose: Cow<'a, str>,
    pub calls: Vec<SourceCall<'static>>,
    pub answer: AnswerBy,
}

/// The prose of an assistant's text and the calls in it, in the `forms` that its record has.
pub(crate) fn written(text: Cow<'_, str>, forms: Forms) -> Written<'_> {
    let mut believed = rows().iter().enumerate().filter(|(number, _)| forms.has(*number));
    let found = believed.find_map(|(number, row)| Some((number, row, found(row, &text)?)));
    let Some((number, row, (prose, calls))) = found else {
        return Written {
            prose: text,
            calls: Vec::new(),
            answer: AnswerBy::Tool,
        };
    };
    let is_said = calls.iter().all(|call| row.says(&call.name));
    Written {
        prose: match prose {
            Prose::Until(at) => part_of(text, |text| without_mark(text.get(..at).unwrap_or_default())),
            Prose::Said(said) => without_mark(&said).to_owned().into(),
        },
        answer: if is_said {
            AnswerBy::Tool
        } else {
            forms.answer(number)
        },
        calls,
    }
}

/// A text without the mark at its end behind which the calls of a turn stand.
fn without_mark(text: &str) -> &str {
    let marks = [("<|", "|>"), ("<｜", "｜>"), ("[", "]"), ("<", ">")];
    let found = marks.iter().find_map(|(opens, closes)| {
        let before = text.trim_end().strip_suffix(closes)?;
        let at = before.rfind(opens)?;
        let name = before.get(at + opens.len()..)?;
        let is_name = |name: &str| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte))
        };
        (!name.is_empty() && name.rsplit('｜').all(is_name)).then_some(text.get(..at)?)
    });
    found.unwrap_or(text)
}
