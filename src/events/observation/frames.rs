//! What a program puts around a task: an example of how to work, an order about the form of answers, a list of functions.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;

use super::searched::SearchedText;

/// The marks around what a program puts around a task.
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    opens: SearchedText,
    closes: SearchedText,
    #[cfg(test)]
    pub example: String,
    #[cfg(test)]
    pub counterexample: String,
}

/// A text without the frames of a table and lists of functions.
pub(super) fn without<'t>(text: Cow<'t, str>, frames: &[Frame]) -> Cow<'t, str> {
    let taken_out = |text: Cow<'t, str>, frame: Option<Range<usize>>| match frame {
        Some(frame) => {
            let parts = [text.get(..frame.start), text.get(frame.end..)].map(Option::unwrap_or_default);
            parts.concat().trim().to_owned().into()
        }
        None => text,
    };
    let text = frames.iter().fold(text, |text, row| {
        let frame = row.within(&text);
        taken_out(text, frame)
    });
    let functions = listed_functions(&text);
    taken_out(text, functions)
}

impl Frame {
    /// Its first place in a text.
    fn within(&self, text: &str) -> Option<Range<usize>> {
        let mut starts = self.opens.0.find_iter(text.as_bytes());
        let start = starts.find(|at| {
            at.checked_sub(1)
                .is_none_or(|before| text.as_bytes().get(before) == Some(&b'\n'))
        })?;
        let behind = text.as_bytes().get(start..)?;
        let end = start + self.closes.0.find(behind)? + self.closes.0.needle().len();
        Some(start..end)
    }
}

/// Most bytes of the line that introduces a list of functions.
const INTRODUCTION: usize = 200;

/// The list of functions that a text begins with, and the line that introduces it: signatures, each with indented lines that explain it.
fn listed_functions(text: &str) -> Option<Range<usize>> {
    let (first, rest) = text.split_once('\n')?;
    let begins = rest.trim_start_matches('\n');
    let introduces = first.len() <= INTRODUCTION && first.to_ascii_lowercase().contains("functions");
    if !introduces || !is_signature(begins.lines().next()?) {
        return None;
    }
    let mut end = text.len() - begins.len();
    let mut explained = false;
    for line in begins.split_inclusive('\n') {
        let is_explanation = line.starts_with([' ', '\t']);
        if !(is_explanation || line.trim().is_empty() || is_signature(line)) {
            break;
        }
        explained |= is_explanation;
        end += line.len();
    }
    explained.then_some(0..end)
}

/// If a line is the signature of a function: `select(bid: str) -> None`.
fn is_signature(line: &str) -> bool {
    let line = line.trim_end();
    let Some((name, rest)) = line.split_once('(') else {
        return false;
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
    !name.is_empty() && name.bytes().all(is_name) && (rest.ends_with(')') || rest.contains(") -> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_functions_before_a_task_is_no_part_of_it() {
        let list = "Available functions in browser: \n\nselect(bid: str, value: str) -> None\n    Select an option.\n    \n    Args:\n    ----\n\n\
                    submit()\n    Finish.\n\n";
        for (text, expected) in [
            (
                format!("{list}Find a hotel.\nIn Rome."),
                "Find a hotel.\nIn Rome.",
            ),
            (list.to_owned(), ""),
            (
                "Mend these functions:\nselect(bid)\nsubmit()\n".to_owned(),
                "Mend these functions:\nselect(bid)\nsubmit()\n",
            ),
            (
                "Test the functions.\n    As before.".to_owned(),
                "Test the functions.\n    As before.",
            ),
        ] {
            assert_eq!(without(text.as_str().into(), &[]), expected);
        }
    }
}
