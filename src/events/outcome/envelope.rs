//! The output and exit code of a terminal in a JSON answer that only wraps them: `{"output": "…", "exit_code": 1}`.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::terminal::{is_echo, without_echo, without_envelope};
use crate::events::written::printed_object;
use crate::knowledge::errors::says_done;
use crate::trajectory::json::leaves::{Leaf, leaves};

/// Fields of an answer that are looked at for what it shows.
const MAX_FIELDS: usize = 64;

/// Objects of an answer that are looked at before the last one.
const MAX_OBJECTS: usize = 16;

/// Fields that hold an exit code.
pub(crate) const EXIT_CODES: [&str; 4] = ["exit_code", "returncode", "exitCode", "return_code"];

/// The fields that hold what was printed.
const PRINTED: [&str; 4] = ["output", "stdout", "stderr", "content"];

/// The fields that hold a text of a program or a tool.
const TEXTS: [&str; 7] = ["output", "stdout", "stderr", "content", "result", "text", "log"];

/// The output, and the exit code where it is told; `None` if the answer is no such envelope, or has an error of its own.
pub(crate) fn unwrapped(fields: &[Leaf<'_>], target: &str) -> Option<(String, Option<i32>)> {
    let outermost = || fields.iter().filter(|leaf| leaf.depth == 1);
    // It may stand in an object beside what was printed: `"metadata": {"exit_code": 0}`.
    let mut near = fields.iter().filter(|leaf| leaf.depth <= 2 && leaf.record == 0);
    let told = near
        .find(|leaf| leaf.is_under(&EXIT_CODES))
        .and_then(|leaf| leaf.value().trim().parse().ok());
    let mut errors = outermost().filter(|leaf| leaf.is_under(&["error"]) && leaf.is_string);
    let error = errors
        .find(|leaf| !leaf.value().trim().is_empty())
        .map(|leaf| code_of(&leaf.value()));
    let code = match error {
        // It says no more than the code does.
        Some(Some(code)) => told.or(Some(code)),
        Some(None) => return None,
        None => told,
    };
    let is_of_terminal = |leaf: &Leaf<'_>| {
        leaf.is_under(&["stdout", "stderr"]) || leaf.is_string && is_echo(&leaf.value(), target)
    };
    if code.is_none() && !outermost().any(is_of_terminal) {
        return None;
    }
    let printed = outermost().filter(|leaf| leaf.is_string && leaf.is_under(&PRINTED));
    let printed: Vec<Cow<'_, str>> = printed
        .map(Leaf::value)
        .filter(|text| !text.trim().is_empty())
        .collect();
    (!printed.is_empty()).then(|| (printed.join("\n"), code))
}

/// Words before an exit code in an error that says nothing else, and the most bytes of them.
const EXITS: [&str; 5] = [
    "exit status",
    "exit code",
    "exited with code",
    "exited with status",
    "exited with",
];
const MAX_EXIT: usize = 48;

/// The code in an error that says nothing else: `exit status 20`, `Command failed with exit code 1`.
fn code_of(error: &str) -> Option<i32> {
    let (words, code) = error.trim().trim_end_matches('.').rsplit_once([' ', ':'])?;
    let words = words.trim_end_matches([':', ' ']).to_ascii_lowercase();
    let says_exit = EXITS.iter().any(|exit| words.ends_with(exit));
    code.parse().ok().filter(|_| says_exit && words.len() <= MAX_EXIT)
}

/// The text of an answer that is a list of text parts, as MCP has it, and its flag: `{"content": [{"type": "text", "text": "…"}], "isError": true}`.
pub(crate) fn text_of_parts(fields: &[Leaf<'_>]) -> Option<(String, Option<bool>)> {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    let mut flag = None;
    for leaf in fields {
        if leaf.depth == 1 && leaf.is_under(&["isError", "is_error"]) {
            flag = leaf.value().parse().ok();
        } else if leaf.record > 0 && leaf.list.key() == "content" && leaf.is_under(&["text"]) {
            texts.push(leaf.value());
        } else if !(leaf.record > 0 && leaf.is_under(&["type"]) && leaf.value() == "text") {
            return None;
        }
    }
    (!texts.is_empty()).then(|| (texts.join("\n"), flag))
}

/// The object that an answer holds as text, and that is all it holds: `{"error": "", "response": "{'temp': 21}"}`.
pub(crate) fn object_in(fields: &[Leaf<'_>]) -> Option<String> {
    let mut filled = fields
        .iter()
        .filter(|leaf| !leaf.is_string || !leaf.value().trim().is_empty());
    let leaf = filled.next().filter(|leaf| leaf.is_string && leaf.depth == 1)?;
    if filled.next().is_some() {
        return None;
    }
    let value = leaf.value();
    let text = value.trim();
    let is_json = || text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    printed_object(text).or_else(|| is_json().then(|| text.to_owned()))
}

/// The objects that an answer is made of, one after the other, where there are several: the first ones, and the last one. Beside it their
/// number.
pub(crate) fn objects_in(text: &str) -> Option<(Vec<&str>, usize)> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let (mut found, mut at, mut count) = (Vec::new(), 0, 0);
    while at < text.len() {
        let start = at;
        objects.next()?.ok()?;
        at = objects.byte_offset();
        count += 1;
        if found.len() > MAX_OBJECTS {
            found.pop();
        }
        found.push(text.get(start..at)?.trim());
    }
    (count > 1).then_some((found, count))
}

/// The text that a JSON answer printed: its longest text of several lines.
pub(crate) fn longest_text<'a>(fields: &[Leaf<'a>]) -> Option<Cow<'a, str>> {
    let texts = fields
        .iter()
        .filter(|leaf| leaf.is_string && leaf.depth <= 1 && leaf.is_under(&TEXTS));
    texts
        .map(Leaf::value)
        .filter(|text| text.contains('\n'))
        .max_by_key(|text| text.len())
}

/// The text that an answer to a call shows: without what a terminal's wrapper writes around it and the command once more, of a
/// JSON object that is mostly a printed text only that.
pub(crate) fn shown<'a>(answer: &'a str, target: &str) -> Cow<'a, str> {
    match mostly_printed(answer) {
        Cow::Borrowed(text) => Cow::Borrowed(without_echo(without_envelope(text), target)),
        Cow::Owned(text) => Cow::Owned(without_echo(without_envelope(&text), target).to_owned()),
    }
}

/// Of a JSON object that is mostly a printed text only that.
fn mostly_printed(answer: &str) -> Cow<'_, str> {
    if !answer.trim_start().starts_with('{') {
        return Cow::Borrowed(answer);
    }
    let fields = leaves(answer.trim(), MAX_FIELDS).unwrap_or_default();
    let printed = fields
        .iter()
        .filter(|leaf| leaf.depth == 1 && leaf.is_string && leaf.is_under(&PRINTED));
    let longest = printed.map(Leaf::value).max_by_key(|text| text.len());
    longest
        .filter(|text| 2 * text.len() >= answer.len())
        .map_or(Cow::Borrowed(answer), |text| Cow::Owned(text.into_owned()))
}

/// The field that says why the first of the items of a list of results failed, and if all of them failed; nothing where none did.
pub(crate) fn failed_items<'f, 'l>(fields: &'f [Leaf<'l>]) -> Option<(Option<&'f Leaf<'l>>, bool)> {
    let is_of_item = |leaf: &&Leaf<'_>| leaf.record > 0 && !leaf.is_item && leaf.depth <= 3;
    let says_failed = |leaf: &&Leaf<'_>| {
        let value = || leaf.value();
        leaf.is_under(&["error"]) && leaf.is_string && !value().trim().is_empty()
            || leaf.is_under(&["success", "ok"]) && value() == "false"
    };
    let mut failed = fields.iter().filter(is_of_item).filter(says_failed).peekable();
    let first = failed.peek()?.record;
    let of_first = || fields.iter().filter(|leaf| leaf.record == first);
    let told = |names: &[&str]| of_first().find(|leaf| leaf.is_under(names));
    let why = told(&["error"]).or_else(|| told(&["message", "reason", "detail"]));
    let mut records: Vec<usize> = failed.map(|leaf| leaf.record).collect();
    records.dedup();
    let all = fields.iter().map(|leaf| leaf.record).max();
    Some((why, Some(records.len()) == all))
}

/// If a field counts what was done: `inserted: 3`.
pub(crate) fn counts_done(leaf: &Leaf<'_>) -> bool {
    leaf.depth == 1 && says_done(&leaf.key()) && leaf.value().parse::<u64>().is_ok_and(|count| count > 0)
}

/// If a field is of an item of a list of errors beside what was done: `{"results": […], "errors": [{"message": "…"}]}`.
pub(crate) fn is_listed_error(leaf: &Leaf<'_>) -> bool {
    leaf.record > 0 && leaf.depth <= 3 && leaf.list.key() == "errors"
}

/// The message of the first error of such a list.
pub(crate) fn error_listed<'f, 'l>(fields: &'f [Leaf<'l>]) -> Option<&'f Leaf<'l>> {
    let mut errors = fields
        .iter()
        .filter(|leaf| is_listed_error(leaf) && leaf.is_string);
    errors.find(|leaf| leaf.is_under(&["message", "reason", "detail", "error"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_shown_without_what_wraps_it() {
        let wrapped = r#"{"output": "32 passed in 1.0s\nall well, and that is most of it", "metadata": {"exit_code": 0}}"#;
        assert_eq!(
            shown(wrapped, ""),
            "32 passed in 1.0s\nall well, and that is most of it"
        );
        let fields = leaves(wrapped, MAX_FIELDS).unwrap();
        assert_eq!(unwrapped(&fields, "").unwrap().1, Some(0));
        let silent = r#"{"command": "argocd app sync a", "error": "exit status 20", "stderr": "rollback is refused\n"}"#;
        let fields = leaves(silent, MAX_FIELDS).unwrap();
        assert_eq!(
            unwrapped(&fields, "").unwrap(),
            ("rollback is refused\n".to_owned(), Some(20))
        );
        for other in [
            r#"{"output": "a", "order": {"id": 1, "state": "paid"}}"#,
            "{not json",
            "plain",
        ] {
            assert_eq!(shown(other, ""), other);
        }
        let printed = "$ cd /w && make all\nmade\n\n[Current working directory: /w]\n[Command finished with exit code 0]";
        assert_eq!(shown(printed, "bash: make all"), "made");
        let cell = "0.7253\n[Jupyter current working directory: /w]\n[Jupyter Python interpreter: /w/.venv/bin/python]";
        assert_eq!(shown(cell, "execute_ipython_cell: score()"), "0.7253");
        assert_eq!(shown("<output>\n    1  a\n</output>", "cat -n a"), "    1  a");
        for file in [
            "a\nprint('[Current working directory: ' + cwd)\nb",
            "[Command finished with exit code 0]\nthe log goes on",
            "<div>\n<output>\nkept\n</output>\n</div>",
            "Output</output>",
        ] {
            assert_eq!(shown(file, "cat a"), file);
        }
        let silent = "<returncode>1</returncode>\n<output>\n</output>";
        assert_eq!(shown(silent, "bash: grep x a.py"), "");
    }
}
