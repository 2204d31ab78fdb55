//! Calls that are written as tags, an element for each argument: `<invoke name="bash"><parameter name="command">ls</parameter></invoke>`.

use std::borrow::Cow;

use super::row::{CallForm, MAX_CALLS, Parameter};
use crate::events::source_call::{CallArguments, SourceCall};

/// The calls of a text, and where the first of them begins.
pub(super) fn tagged(row: &CallForm, text: &str) -> Option<(usize, Vec<SourceCall<'static>>)> {
    let parameter = row.parameter.as_ref()?;
    let mut calls = Vec::new();
    let mut first = None;
    let mut from = 0;
    while let Some((at, name, body)) = next(row, parameter, text, from) {
        let rest = text.get(body..)?;
        let (fields, behind) = parameter.fields(rest, &row.closes);
        // A mark whose argument was cut is passed over.
        let past = body + rest.chars().next().map_or(0, char::len_utf8);
        from = past.max(text.len() - behind.len());
        // What stands in quotes is talked about.
        let is_quoted = text.get(..at)?.ends_with(['`', '"', '\'']);
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        let is_cut = row.opens.is_empty() && fields.is_empty();
        if is_quoted || !is_name || is_cut || calls.len() >= MAX_CALLS {
            continue;
        }
        let arguments = if fields.is_empty() && rest.trim_start().starts_with('{') {
            let json = rest
                .split_once(row.closes.as_str())
                .map_or(rest, |(json, _)| json);
            CallArguments::Json(Cow::Owned(json.trim().to_owned()))
        } else {
            CallArguments::Tagged(fields)
        };
        first.get_or_insert(at);
        calls.push(SourceCall {
            id: None,
            name: Cow::Owned(name.to_owned()),
            arguments,
        });
    }
    first.map(|at| (at, calls))
}

/// The next call behind `from`: where it begins, the name of its tool, and where its arguments begin.
fn next<'t>(
    row: &CallForm,
    parameter: &Parameter,
    text: &'t str,
    from: usize,
) -> Option<(usize, &'t str, usize)> {
    let rest = text.get(from..)?;
    if row.opens.is_empty() {
        // The name is all that stands between the line, or the tag, before and the first argument.
        let body = from + rest.find(parameter.opens.as_str())?;
        let name = text.get(from..body)?.trim_end();
        let at = from + name.rfind(['\n', '>']).map_or(0, |at| at + 1);
        return Some((at, text.get(at..body)?.trim(), body));
    }
    let at = from + rest.find(row.opens.as_str())?;
    let name = text.get(at + row.opens.len()..)?;
    let (name, body) = name.split_once(row.until.as_str())?;
    Some((at, name.trim(), text.len() - body.len()))
}

impl Parameter {
    /// The arguments that follow each other, and what is behind them.
    fn fields<'t>(&self, text: &'t str, closes: &str) -> (Vec<(String, String)>, &'t str) {
        let mut fields = Vec::new();
        let mut rest = text.strip_prefix('>').unwrap_or(text);
        while let Some((key, behind)) = rest
            .trim_start()
            .strip_prefix(self.opens.as_str())
            .and_then(|field| field.split_once(self.key_ends.as_str()))
        {
            let value = behind
                .split_once(self.value_opens.as_str())
                .map_or(behind, |(_, value)| value);
            // The last one may have been cut.
            let (value, behind) = value
                .split_once(self.closes.as_str())
                .unwrap_or_else(|| (value.split(closes).next().unwrap_or(value), ""));
            if fields.len() < MAX_CALLS {
                fields.push((key.to_owned(), value.trim_matches('\n').to_owned()));
            }
            rest = behind;
        }
        (fields, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::found;
    use super::super::row::{examples, rows};
    use super::*;

    #[test]
    fn calls_that_were_cut_anywhere_are_read_to_their_end() {
        for example in examples() {
            for (end, _) in example.text.char_indices() {
                let text = &example.text[..end];
                for row in rows() {
                    let (prose, tail) = (found(row, text), format!("{text} <arg_key> tags"));
                    let calls = prose.map_or(0, |(_, calls)| calls.len());
                    assert!(calls <= MAX_CALLS && found(row, &tail).is_none_or(|(_, calls)| calls.len() < 3));
                }
            }
        }
        let row = rows().iter().find(|row| row.closes == "</tool_call>").unwrap();
        assert!(tagged(row, "GLM opens keys with <arg_key> tags.").is_none());
        assert!(tagged(row, "<tool_call>bash\n<arg_key>comm").is_none());
    }
}
