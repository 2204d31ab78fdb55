//! The region as the summary reads it: redacted, with prose, calls and answers told apart in every format.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::observation::{Place, behind_label, is_summary, observed_from};
use super::written_block::last_block;
use crate::trajectory::{Role, ToolResponse, TurnView};

/// The first place in a trajectory where a turn may answer an assistant's, whatever stands before it.
const FIRST_ANSWERED: usize = 3;

/// A turn of the region.
pub(crate) struct SourceTurn<'a> {
    /// The role; a human turn that only holds an environment's output counts as a tool's, and another program's summary as none.
    pub role: Role,
    /// The text without its calls.
    pub prose: Cow<'a, str>,
    /// The tool calls.
    pub calls: Vec<SourceCall<'a>>,
    /// The answers of tools, each with the id of its call.
    pub answers: Vec<(Option<&'a str>, Cow<'a, str>)>,
    /// The tools that brought them back, one for each of them that says so at all.
    pub tools: Vec<Option<&'a str>>,
    /// The flags that stand beside the text of each answer.
    pub flags: Vec<Flags>,
    /// The turn has a person's role and an environment's output.
    pub is_observed: bool,
}

/// The flags of an answer that stand beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub is_error: Option<bool>,
    pub exit_code: Option<i32>,
}

impl From<&ToolResponse<'_>> for Flags {
    fn from(response: &ToolResponse<'_>) -> Self {
        Self {
            is_error: response.is_error,
            exit_code: response.exit_code,
        }
    }
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

impl Arguments<'_> {
    /// The texts in them.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Json(json) => vec![json.as_ref()],
            Self::Tagged(fields) => fields.iter().map(|(_, value)| value.as_str()).collect(),
        }
    }
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
            flags: turn.responses.iter().map(Flags::from).collect(),
            is_observed: false,
        };
        match turn.role {
            Role::Tool if answers.is_empty() => answers.push((None, text)),
            Role::Human if is_summary(&text) => {
                source.role = Role::Other;
                source.prose = text;
            }
            Role::Human => match observed_from(&text, place(sources.last(), turn.index)) {
                Some(0) => {
                    source.role = Role::Tool;
                    source.is_observed = true;
                    let from = behind_label(&text);
                    answers.push((None, from_byte(text, from)));
                }
                Some(at) => source.prose = until(text, at),
                None => source.prose = text,
            },
            Role::Assistant if is_unread(&source.calls) => {
                let text = match source.calls.pop().map(|call| call.arguments) {
                    Some(Arguments::Json(said)) => said,
                    _ => text,
                };
                (source.prose, source.calls) = written_calls(text);
            }
            Role::Assistant if source.calls.is_empty() => {
                (source.prose, source.calls) = written_calls(text);
            }
            _ => source.prose = text,
        }
        source.answers = answers;
        sources.push(source);
    }
    sources
}

/// A text from a byte on.
fn from_byte(text: Cow<'_, str>, from: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(from..).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(from..).unwrap_or_default().to_owned()),
    }
}

/// The place of a turn by the turn before it, which may lie before the region.
fn place(before: Option<&SourceTurn<'_>>, index: usize) -> Place {
    match before {
        Some(before) if before.role != Role::Assistant => Place::Anywhere,
        Some(before) if before.calls.is_empty() => Place::AfterAssistant,
        Some(_) => Place::AfterCall,
        None if index >= FIRST_ANSWERED => Place::AfterAssistant,
        None => Place::Anywhere,
    }
}

/// Returns true if the calls of a turn could not be read: the turn is prose with calls in it.
fn is_unread(calls: &[SourceCall<'_>]) -> bool {
    matches!(calls, [SourceCall { id: None, name, arguments: Arguments::Json(text) }]
        if name.is_empty() && !text.trim_start().starts_with(['{', '[']))
}

/// The beginning of a call that is written as tags.
static FUNCTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("<function="));

/// The prose of an assistant turn and the calls that it writes in its text: `<function=…>` tags, or a block at its end.
pub(super) fn written_calls(text: Cow<'_, str>) -> (Cow<'_, str>, Vec<SourceCall<'_>>) {
    if let Some(at) = FUNCTION.find(text.as_bytes()) {
        let calls = tagged_calls(text.get(at..).unwrap_or_default());
        return (until(text, at), calls);
    }
    if let Some((block, at, body)) = last_block(&text) {
        let call = SourceCall {
            id: None,
            name: Cow::Borrowed(&block.tool),
            arguments: Arguments::Tagged(vec![(block.argument.clone(), body.to_owned())]),
        };
        return (until(text, at), vec![call]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::views_of;

    /// The roles, prose, calls and answers of the turns of a record.
    fn read(record: &str) -> Vec<(Role, String, Vec<String>, usize)> {
        let views = views_of(record);
        let turns = source_turns(&views, Into::into);
        let of = |turn: &SourceTurn<'_>| {
            let calls = turn.calls.iter().map(|call| call.name.to_string()).collect();
            (turn.role, turn.prose.trim().to_owned(), calls, turn.answers.len())
        };
        turns.iter().map(of).collect()
    }

    #[test]
    fn calls_are_read_in_the_turns_of_agents_that_write_them_as_text() {
        let tagged =
            "I look.\n\n<function=browser>\n<parameter=code>\nclick(bid=\"1\")\n</parameter>\n</function>";
        let fenced = "I look.\n\n```bash\ngrep -n x a.py\n```";
        for (role, said, tool) in [
            ("function_call", tagged, "browser"),
            ("gpt", tagged, "browser"),
            ("function_call", fenced, ""),
            ("gpt", fenced, ""),
        ] {
            let turn = serde_json::json!({"from": role, "value": said});
            let shown = "[Current URL: None]\nRootWebArea 'Maps'";
            let record = serde_json::json!({"conversations": [turn, {"from": "human", "value": shown}]});
            let found = read(&record.to_string());
            let expected = (Role::Assistant, "I look.".to_owned(), vec![tool.to_owned()], 0);
            assert_eq!(found[0], expected, "{role} {said}");
            assert_eq!(
                found[1],
                (Role::Tool, String::new(), Vec::new(), 1),
                "{role} {said}"
            );
        }
        let said = r#"{"conversations": [{"from": "function_call", "value": "I am done."}]}"#;
        assert_eq!(read(said)[0].1, "I am done.");
    }

    #[test]
    fn a_task_that_a_terminal_follows_is_a_task_and_a_summary_is_none() {
        let terminal = "(Open file: n/a)\n(Current directory: /w)\nbash-$";
        let record = serde_json::json!({"messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": format!("Mend it.\n{terminal}")},
            {"role": "assistant", "content": "So.\n```\nls\n```"},
            {"role": "user", "content": format!("a.py\n{terminal}")},
            {"role": "user", "content": "This session is being continued from a previous conversation."},
        ]});
        let found = read(&record.to_string());
        assert_eq!((found[1].0, found[1].1.as_str()), (Role::Human, "Mend it."));
        assert_eq!((found[3].0, found[3].3), (Role::Tool, 1));
        assert_eq!(found[4].0, Role::Other);
    }
}
