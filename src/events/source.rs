//! The region as the summary reads it: redacted, with prose, calls and answers told apart in every format.

use std::borrow::Cow;

use memchr::memmem;

use crate::trajectory::{Role, STRAY_OUTPUT, TurnView};

/// A turn of the region.
pub(crate) struct SourceTurn<'a> {
    /// Who speaks; a human turn that only carries what a command printed is a tool's.
    pub role: Role,
    /// What was said, calls left out.
    pub prose: Cow<'a, str>,
    /// What was asked of tools.
    pub calls: Vec<SourceCall<'a>>,
    /// What tools brought back, with the id of the call.
    pub answers: Vec<(Option<&'a str>, Cow<'a, str>)>,
    /// The tools that brought them back, one for each of them that says so at all.
    pub tools: Vec<Option<&'a str>>,
}

/// A tool call.
pub(crate) struct SourceCall<'a> {
    pub id: Option<&'a str>,
    pub name: Cow<'a, str>,
    pub arguments: Arguments<'a>,
}

/// A call's arguments as they were written.
pub(crate) enum Arguments<'a> {
    /// JSON text, or whatever stood in its place.
    Json(Cow<'a, str>),
    /// Names and values of `<parameter=…>` tags.
    Tagged(Vec<(String, String)>),
}

/// The turns as they are read, each text after `clean` (which replaces secrets, say).
pub(crate) fn source_turns<'a>(
    turns: &'a [TurnView<'a>],
    mut clean: impl FnMut(&'a str) -> Cow<'a, str>,
) -> Vec<SourceTurn<'a>> {
    let mut sources: Vec<SourceTurn<'a>> = Vec::with_capacity(turns.len());
    for turn in turns {
        let text = clean(&turn.text);
        let calls: Vec<SourceCall<'a>> = turn
            .calls
            .iter()
            .map(|call| SourceCall {
                id: call.id.as_deref(),
                name: clean(&call.name),
                arguments: Arguments::Json(clean(&call.arguments)),
            })
            .collect();
        let mut answers: Vec<(Option<&'a str>, Cow<'a, str>)> = turn
            .responses
            .iter()
            .map(|response| (response.id.as_deref(), clean(&response.content)))
            .collect();
        let mut source = SourceTurn {
            role: turn.role,
            prose: Cow::Borrowed(""),
            calls,
            answers: Vec::new(),
            tools: turn
                .responses
                .iter()
                .map(|response| response.name.as_deref())
                .collect(),
        };
        let after_call = sources
            .last()
            .is_some_and(|last| last.role == Role::Assistant && !last.calls.is_empty());
        match turn.role {
            Role::Tool if answers.is_empty() => answers.push((None, text)),
            Role::Human if is_printed(&text, after_call) => {
                source.role = Role::Tool;
                answers.push((None, text));
            }
            Role::Assistant if source.calls.is_empty() => {
                let (prose, calls) = written_calls(text);
                source.prose = prose;
                source.calls = calls;
            }
            _ => source.prose = text,
        }
        source.answers = answers;
        sources.push(source);
    }
    sources
}

/// Whether a turn that is human by its role carries what a call printed; some marks count only right after a call.
fn is_printed(text: &str, after_call: bool) -> bool {
    let text = text.trim();
    let starts = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
    starts(&[
        "EXECUTION RESULT of",
        "OBSERVATION:",
        "Observation:",
        "<returncode>",
        "[File: ",
        STRAY_OUTPUT,
    ]) || text.ends_with("\nbash-$")
        || (after_call && (starts(&["<output>", "Traceback (most recent"]) || text.ends_with('$')))
}

/// The prose of an assistant turn and the calls that it writes in its text: `<function=…>` tags, or a last fenced command.
fn written_calls(text: Cow<'_, str>) -> (Cow<'_, str>, Vec<SourceCall<'_>>) {
    if let Some(at) = memmem::find(text.as_bytes(), b"<function=") {
        let calls = tagged_calls(text.get(at..).unwrap_or_default());
        return (until(text, at), calls);
    }
    let trimmed = text.trim_end();
    if let Some(inner) = trimmed.strip_suffix("```")
        && let Some(at) = inner.rfind("```")
    {
        let block = inner.get(at + 3..).unwrap_or_default();
        let (language, command) = block.split_once('\n').unwrap_or(("", block));
        if matches!(language.trim(), "" | "bash" | "sh" | "shell" | "console") && !command.trim().is_empty() {
            let arguments = Arguments::Tagged(vec![("command".to_owned(), command.trim().to_owned())]);
            let call = SourceCall {
                id: None,
                name: Cow::Borrowed(""),
                arguments,
            };
            return (until(text, at), vec![call]);
        }
    }
    (text, Vec::new())
}

fn until(text: Cow<'_, str>, at: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(..at).unwrap_or_default()),
        Cow::Owned(mut text) => {
            text.truncate(at);
            Cow::Owned(text)
        }
    }
}

fn tagged_calls(text: &str) -> Vec<SourceCall<'static>> {
    text.split("<function=")
        .skip(1)
        .filter_map(|block| {
            let (name, body) = block.split_once('>')?;
            let parameters = body
                .split("<parameter=")
                .skip(1)
                .filter_map(|parameter| {
                    let (key, value) = parameter.split_once('>')?;
                    let value = value.split_once("</parameter>").map_or(value, |(value, _)| value);
                    Some((key.to_owned(), value.trim_matches('\n').to_owned()))
                })
                .collect();
            Some(SourceCall {
                id: None,
                name: Cow::Owned(name.to_owned()),
                arguments: Arguments::Tagged(parameters),
            })
        })
        .collect()
}
