//! The calls that a text has in the way of a row of the table.

use std::borrow::Cow;

use super::object::of_object;
use super::python;
use super::row::{CallForm, CallParts, MAX_CALLS};
use super::tagged::tagged;
use crate::events::source_call::{CallArguments, SourceCall};

/// Bytes from a label to the sign behind it, and of the name of a tool.
const MAX_LABEL: usize = 8;
const MAX_NAME: usize = 80;

/// The words beside calls.
pub(super) enum Prose {
    /// The text up to a byte.
    Until(usize),
    Said(String),
}

/// The calls that a text has in the way of a row.
pub(super) fn found(row: &CallForm, text: &str) -> Option<(Prose, Vec<SourceCall<'static>>)> {
    let one = |(at, call): (usize, SourceCall<'static>)| (Prose::Until(at), vec![call]);
    match row.form {
        CallParts::Block | CallParts::Code => block(row, text).map(one),
        CallParts::Line => line(row, text).map(one),
        CallParts::Named | CallParts::Edit => several(row, text),
        CallParts::Object => of_object(row, text).map(|(said, calls)| (Prose::Said(said), calls)),
        CallParts::Python => python::calls(row, text).map(|(at, calls)| (Prose::Until(at), calls)),
        CallParts::Tagged => tagged(row, text).map(|(at, calls)| (Prose::Until(at), calls)),
        CallParts::Elements => elements(row, text).map(one),
    }
}

/// The block that a text ends with, and where it begins.
fn block(row: &CallForm, text: &str) -> Option<(usize, SourceCall<'static>)> {
    let before = text.trim_end().strip_suffix(row.closes.as_str())?;
    let at = before.rfind(row.opens.as_str())?;
    let body = before.get(at + row.opens.len()..)?;
    // Else another block stands between.
    let is_one = (row.closes.is_empty() || !body.contains(row.closes.as_str())) && !body.trim().is_empty();
    let fields = || vec![(row.argument.clone(), body.trim().to_owned())];
    is_one.then(|| (at, SourceCall::tagged(&row.tool, fields())))
}

/// The last line of a text that begins with a label, `Action 3: go to desk 1`, and where it begins.
fn line(row: &CallForm, text: &str) -> Option<(usize, SourceCall<'static>)> {
    let at = text.rfind(row.opens.as_str())?;
    let before = text.get(..at)?;
    let is_at_start =
        before.trim_end_matches([' ', '*']).is_empty() || before.trim_end_matches([' ', '*']).ends_with('\n');
    let rest = text.get(at + row.opens.len()..)?;
    let (number, rest) = rest
        .split_once(':')
        .filter(|(number, _)| number.len() <= MAX_LABEL)?;
    let is_number = number
        .trim_matches([' ', '*'])
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    // The action may stand below its label, in a fence.
    let rest = rest.trim_start_matches('*').trim_start();
    let rest = rest.strip_prefix("```\n").unwrap_or(rest);
    let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    let line = line.trim_matches([' ', '*', '`', '\r']);
    let behind = behind.trim().trim_matches('`');
    // What stands behind it is more than one action, or words about it.
    if !is_at_start || !is_number || line.is_empty() || !behind.trim().is_empty() {
        return None;
    }
    let inner = line.strip_suffix(']').and_then(|line| line.split_once('['));
    let call = match inner.filter(|(name, _)| is_name(name)) {
        Some((name, _)) if row.says(name) => return None,
        None if row.says(line) => return None,
        Some((name, value)) => SourceCall::tagged(name, vec![(row.argument.clone(), value.to_owned())]),
        None if line.len() > MAX_NAME => {
            SourceCall::tagged("", vec![(row.argument.clone(), line.to_owned())])
        }
        None => SourceCall::tagged(line, Vec::new()),
    };
    Some((at, call))
}

/// The calls between marks, each with the name of its tool or of its file.
fn several(row: &CallForm, text: &str) -> Option<(Prose, Vec<SourceCall<'static>>)> {
    let mut calls = Vec::new();
    let mut first = None;
    let mut rest = 0;
    while let Some(at) = text.get(rest..)?.find(row.opens.as_str()).map(|at| rest + at) {
        let Some((name, behind)) = text.get(at + row.opens.len()..)?.split_once(row.until.as_str()) else {
            break;
        };
        let body = match row.closes.as_str() {
            "" => behind,
            closes => behind.split_once(closes).map_or(behind, |(body, _)| body),
        };
        let found = match row.form {
            CallParts::Edit => file_above(text.get(..at)?).map(|file| {
                let fields = [("path", file), ("old_string", name), ("new_string", body)];
                let fields = fields.map(|(key, value)| (key.to_owned(), value.to_owned()));
                SourceCall::tagged(&row.tool, fields.into())
            }),
            _ => named(row, name, body),
        };
        if let Some(found) = found.filter(|_| calls.len() < MAX_CALLS) {
            first.get_or_insert(at);
            calls.push(found);
        }
        rest = text.len() - behind.len() + body.len();
    }
    Some((Prose::Until(first?), calls))
}

/// The name of a file in the line above a block, or above the fence that it stands in.
fn file_above(text: &str) -> Option<&str> {
    let mut lines = text.lines().rev().map(str::trim);
    let name = lines.find(|line| !line.is_empty() && !line.starts_with("```"))?;
    let name = name.trim_matches(['`', '*', ':', '#', ' ']);
    (name.len() <= MAX_NAME && name.contains(['.', '/']) && !name.contains(' ')).then_some(name)
}

/// A call by the name of its tool, without a number and a space of names, and its arguments.
fn named(row: &CallForm, name: &str, body: &str) -> Option<SourceCall<'static>> {
    let name = name.trim().trim_matches('`');
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let end = name.find([':', ' ', '<', '[', '\n']).unwrap_or(name.len());
    let name = name.get(..end)?;
    let is_told = !name.is_empty() && name.len() <= MAX_NAME && !row.says(name);
    let body = body.trim();
    let arguments = match row.argument.as_str() {
        argument if !argument.is_empty() && !body.starts_with('{') => {
            CallArguments::Tagged(vec![(argument.to_owned(), body.to_owned())])
        }
        _ => CallArguments::Json(Cow::Owned(body.to_owned())),
    };
    is_told.then(|| SourceCall {
        id: None,
        name: Cow::Owned(name.to_owned()),
        arguments,
    })
}

/// The element that a text ends with, which holds nothing but elements, and where it begins.
fn elements(row: &CallForm, text: &str) -> Option<(usize, SourceCall<'static>)> {
    let text = text.trim_end();
    let (_, tool) = text.strip_suffix('>')?.rsplit_once("</")?;
    // Other elements are those of a page.
    if !is_name(tool) || !tool.contains('_') || row.says(tool) {
        return None;
    }
    let at = text.rfind(&["<", tool, ">"].concat())?;
    let body = text.get(at + tool.len() + 2..text.len() - tool.len() - 3)?;
    let mut fields = fields_of(body)?;
    for _ in 0..MAX_DEPTH {
        let inner = |(name, value): (String, String)| {
            let is_group = row.groups.contains(&name);
            let inner = is_group.then(|| fields_of(&value)).flatten();
            inner.unwrap_or_else(|| vec![(name, value)])
        };
        fields = fields.into_iter().flat_map(inner).take(MAX_CALLS).collect();
    }
    (!fields.is_empty()).then(|| (at, SourceCall::tagged(tool, fields)))
}

/// Groups of elements within each other at most.
const MAX_DEPTH: usize = 3;

/// If a word may be the name of an element.
fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_of_name)
}

/// The elements that a text consists of, by name; `None` if it has anything else.
fn fields_of(text: &str) -> Option<Vec<(String, String)>> {
    let mut fields = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, behind) = rest.strip_prefix('<')?.split_once('>')?;
        let (value, behind) = behind.split_once(&["</", name, ">"].concat())?;
        if !is_name(name) || fields.len() >= MAX_CALLS {
            return None;
        }
        fields.push((name.to_owned(), value.trim_matches('\n').to_owned()));
        rest = behind.trim();
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::super::row::rows;
    use super::*;

    #[test]
    fn elements_in_groups_are_arguments_and_those_of_a_text_are_none() {
        let row = rows().iter().find(|row| row.form == CallParts::Elements);
        let row = row.expect("the table has the form");
        for (text, expected) in [
            (
                "<read_file>\n<args>\n<file>\n<path>a.py</path>\n</file>\n</args>\n</read_file>",
                &[("path", "a.py")][..],
            ),
            (
                "<write_to_file>\n<path>a.html</path>\n<content><b>x</b></content>\n</write_to_file>",
                &[("path", "a.html"), ("content", "<b>x</b>")],
            ),
        ] {
            let (_, call) = elements(row, text).expect("a call");
            let crate::events::source_call::CallArguments::Tagged(fields) = call.arguments else {
                panic!("no fields");
            };
            let fields: Vec<(&str, &str)> = fields
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            assert_eq!(fields, expected, "{text}");
        }
        let nested = "<args>".repeat(4_000);
        assert!(elements(row, &format!("<read_file>{nested}</read_file>")).is_none());
    }
}
