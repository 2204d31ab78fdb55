//! The lines that a program is asked in and answers with: JSON, described in docs/command.md.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::summarize::SummaryRequest;
use crate::summarize::failure::Failure;
use crate::summarize::prompt::{Prompt, ToolNames};
use crate::summarize::redact::redact;
use crate::trajectory::TurnView;

/// The version of the protocol: it grows when the meaning of a field changes, not with new fields.
const VERSION: u32 = 1;

/// The fields of a request besides its turns.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Identifiers to be kept.
    pub keep: &'a [&'a str],
    /// Tokens that the summary should have at most.
    pub max_tokens: usize,
    /// Maximum tokens of a verbatim summary.
    pub most_tokens: usize,
    /// The form of the summary.
    pub style: &'a str,
    /// The focus of the summary.
    pub focus: Option<&'a str>,
    /// The prompt for a language model.
    pub prompt: &'a Prompt,
    /// Secrets are replaced.
    pub redaction: bool,
}

/// The answer of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAnswer {
    /// Its content.
    pub said: Reply,
    /// Prompt and completion tokens, if it reports them.
    pub tokens: (u64, u64),
}

/// The content of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A summary.
    Summary(String),
    /// A summary to be used verbatim.
    Whole(String),
    /// The record is to be left unchanged, for that reason.
    Veto(String),
    /// The program failed.
    Failed(Failure),
}

#[derive(Serialize)]
struct Request<'a> {
    version: u32,
    turns: Vec<ProtocolTurn<'a>>,
    previous: Option<Cow<'a, str>>,
    keep: Vec<Cow<'a, str>>,
    max_tokens: usize,
    most_tokens: usize,
    style: &'a str,
    focus: Option<Cow<'a, str>>,
    prompt: PromptTexts<'a>,
}

#[derive(Serialize)]
struct PromptTexts<'a> {
    system: &'a str,
    user: &'a str,
}

#[derive(Serialize)]
struct ProtocolTurn<'a> {
    index: usize,
    role: &'static str,
    text: Cow<'a, str>,
    calls: Vec<ProtocolCall<'a>>,
    results: Vec<CallResult<'a>>,
}

#[derive(Serialize)]
struct ProtocolCall<'a> {
    tool: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

#[derive(Serialize)]
struct CallResult<'a> {
    tool: Cow<'a, str>,
    text: Cow<'a, str>,
}

/// A request without its id, which is derived from it: one line of JSON, without the newline.
pub fn request(request: &SummaryRequest<'_>, ask: &Ask<'_>) -> String {
    let redaction = ask.redaction;
    let calls = request.turns.iter().flat_map(|turn| &turn.calls);
    let tools: ToolNames<'_> = calls
        .filter_map(|call| Some((call.id.as_deref()?, call.name.as_ref())))
        .collect();
    let line = serde_json::to_string(&Request {
        version: VERSION,
        turns: request
            .turns
            .iter()
            .map(|view| turn(view, &tools, redaction))
            .collect(),
        previous: request.previous.map(|text| clean(text, redaction)),
        keep: ask.keep.iter().map(|text| clean(text, redaction)).collect(),
        max_tokens: ask.max_tokens,
        most_tokens: ask.most_tokens,
        style: ask.style,
        focus: ask.focus.map(|text| clean(text, redaction)),
        prompt: PromptTexts {
            system: &ask.prompt.system,
            user: &ask.prompt.user,
        },
    });
    // Texts and numbers always serialize.
    line.unwrap_or_default()
}

fn turn<'t>(view: &'t TurnView<'_>, tools: &ToolNames<'t>, redaction: bool) -> ProtocolTurn<'t> {
    let calls = view.calls.iter().map(|call| ProtocolCall {
        tool: clean(&call.name, redaction),
        arguments: clean(&call.arguments, redaction),
    });
    let results = view.responses.iter().map(|response| {
        let called = response.id.as_deref().and_then(|id| tools.get(id).copied());
        let tool = response.name.as_deref().or(called).unwrap_or_default();
        CallResult {
            tool: clean(tool, redaction),
            text: clean(&response.content, redaction),
        }
    });
    ProtocolTurn {
        index: view.index,
        role: view.role.label(),
        text: clean(&view.text, redaction),
        calls: calls.collect(),
        results: results.collect(),
    }
}

fn clean(text: &str, redaction: bool) -> Cow<'_, str> {
    if redaction {
        redact(text).0
    } else {
        Cow::Borrowed(text)
    }
}

/// A request with its id, as it is sent.
pub fn line(id: &str, request: &str) -> Vec<u8> {
    let rest = request.strip_prefix('{').unwrap_or(request);
    format!("{{\"id\":\"{id}\",{rest}\n").into_bytes()
}

/// Reads an answer to the request with that id.
///
/// # Errors
///
/// If it is no valid answer. Its program is not to be trusted with another request.
pub fn read(line: &[u8], id: &str) -> Result<ProgramAnswer, Failure> {
    let wrong = |detail: &str| Failure::new("summary_command_answer", detail);
    let answer: Value =
        serde_json::from_slice(line).map_err(|error| wrong(&format!("the answer is no JSON: {error}")))?;
    let Some(answer) = answer.as_object() else {
        return Err(wrong("the answer is no JSON object"));
    };
    let field = |name: &str| answer.get(name).filter(|value| !value.is_null());
    match field("id") {
        Some(other) if other.as_str() != Some(id) => {
            return Err(wrong("the answer has another id than the request"));
        }
        _ => {}
    }
    let text = |name: &str| match field(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(wrong(&format!("{name} is no text"))),
    };
    let status = match field("status") {
        None => 0,
        Some(status) => status
            .as_u64()
            .ok_or_else(|| wrong("status is no whole number"))?,
    };
    let (summary, reason) = (text("summary")?, text("reason")?);
    let said = match status {
        0 | 2 if summary.trim().is_empty() => {
            Reply::Failed(Failure::new("summary_empty", "the summary is empty"))
        }
        0 => Reply::Summary(summary),
        1 => Reply::Veto(Failure::new("summary_vetoed", &reason).detail),
        2 => Reply::Whole(summary),
        _ => Reply::Failed(Failure::new(
            "summary_command_failed",
            &format!("status {status}: {reason}"),
        )),
    };
    let count = |name| field("usage").and_then(|usage| usage.get(name)?.as_u64());
    Ok(ProgramAnswer {
        said,
        tokens: (
            count("prompt_tokens").unwrap_or(0),
            count("completion_tokens").unwrap_or(0),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Result<Reply, &'static str> {
        read(line.as_bytes(), "7")
            .map(|answer| answer.said)
            .map_err(|failure| failure.name)
    }

    #[test]
    fn a_status_says_what_an_answer_is() {
        let text = || "Done.".to_owned();
        assert_eq!(said(r#"{"summary": "Done."}"#), Ok(Reply::Summary(text())));
        assert_eq!(
            said(r#"{"id": "7", "status": 0, "summary": "Done.", "more": 1}"#),
            Ok(Reply::Summary(text()))
        );
        assert_eq!(
            said(r#"{"status": 2, "summary": "Done."}"#),
            Ok(Reply::Whole(text()))
        );
        let veto = Reply::Veto("too dear\u{2026}".replace('\u{2026}', ""));
        assert_eq!(said(r#"{"status": 1, "reason": " too\n dear"}"#), Ok(veto));
        for (line, name) in [
            (r#"{"status": 3, "reason": "no luck"}"#, "summary_command_failed"),
            (r#"{"summary": " \n"}"#, "summary_empty"),
            (r#"{"status": 2}"#, "summary_empty"),
        ] {
            let Ok(Reply::Failed(failure)) = said(line) else {
                panic!("{line}")
            };
            assert_eq!(failure.name, name);
        }
    }

    #[test]
    fn what_is_no_answer_is_told_from_one() {
        for line in [
            "",
            "no JSON",
            "[1]",
            r#"{"summary": "half"#,
            r#"{"summary": 5}"#,
            r#"{"id": "8", "summary": "Another's."}"#,
            r#"{"status": -1, "summary": "x"}"#,
            r#"{"status": "done", "summary": "x"}"#,
        ] {
            assert_eq!(said(line), Err("summary_command_answer"), "{line}");
        }
    }

    #[test]
    fn tokens_are_taken_as_told() {
        let answer = read(br#"{"summary": "x", "usage": {"prompt_tokens": 5}}"#, "7").unwrap();
        assert_eq!(answer.tokens, (5, 0));
    }
}
