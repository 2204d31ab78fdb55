//! Reads the body of a successful response: the text that a model wrote, or the failure.

pub(in crate::summarize) mod error_names;
pub(in crate::summarize) mod lasting;
pub(crate) mod retry;

use serde_json::Value;

use super::api::Api;

use crate::summarize::failure::Failure;

/// An answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelAnswer {
    /// The text; never blank.
    pub text: String,
    /// Prompt tokens, if the server reports them.
    pub prompt_tokens: Option<u64>,
    /// Completion tokens, if the server reports them.
    pub completion_tokens: Option<u64>,
}

/// An unusable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAnswer {
    /// The failure.
    pub failure: Failure,
    /// Another attempt would fail in the same way.
    pub is_final: bool,
    /// The error in the body, if it holds one.
    pub error: Option<ErrorBody>,
    /// Prompt and completion tokens, if the server reports them.
    pub tokens: (Option<u64>, Option<u64>),
}

/// An error in the body of a successful response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorBody {
    /// The status that it names.
    pub status: Option<u16>,
    /// The whole error, as JSON text.
    pub text: String,
}

impl BadAnswer {
    /// An answer with that failure, and no other details.
    pub fn new(name: &'static str, detail: &str) -> Self {
        Self {
            failure: Failure::new(name, detail),
            // The model would refuse again, be cut off at the same place, or stream again.
            is_final: matches!(
                name,
                "summary_refused" | "summary_cut_by_length" | "summary_streamed"
            ),
            error: None,
            tokens: (None, None),
        }
    }
}

/// Reads the body of a response whose status was a success.
pub fn read(api: Api, body: &[u8]) -> Result<ModelAnswer, BadAnswer> {
    let body: Value = serde_json::from_slice(body).map_err(|error| {
        let (name, detail) = no_json(body).unwrap_or_else(|| {
            let detail = format!("the answer is no JSON: {error}");
            ("summary_invalid_json", detail)
        });
        BadAnswer::new(name, &detail)
    })?;
    // Some servers put the error into the choice that it ended.
    if let Some(error) = error_of(&body).or_else(|| error_of(body.pointer("/choices/0")?)) {
        let error_body = ErrorBody {
            status: status_of(error),
            text: error.to_string(),
        };
        return Err(BadAnswer {
            error: Some(error_body),
            ..BadAnswer::new("summary_error_body", &message_of(error))
        });
    }
    let tokens = match api {
        Api::OpenAi => (
            count(&body, "/usage/prompt_tokens"),
            count(&body, "/usage/completion_tokens"),
        ),
        Api::Anthropic => anthropic_tokens(&body),
    };
    let said = match api {
        Api::OpenAi => openai(&body),
        Api::Anthropic => anthropic(&body),
    };
    match said.and_then(AnswerParts::text) {
        Ok(text) => Ok(ModelAnswer {
            text,
            prompt_tokens: tokens.0,
            completion_tokens: tokens.1,
        }),
        Err((name, detail)) => Err(BadAnswer {
            tokens,
            ..BadAnswer::new(name, &detail)
        }),
    }
}

/// The message in the body of an error: its own field, the words of a page, or the body itself.
pub fn error_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') {
        return page_text(&text);
    }
    serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|body| error_of(&body).map(message_of))
        .unwrap_or_else(|| text.into_owned())
}

type Wrong = (&'static str, String);

/// The failure of a body that is plainly no JSON: a stream of events, or a page.
fn no_json(body: &[u8]) -> Option<Wrong> {
    let body = body.trim_ascii_start();
    let begins = |marks: &[&[u8]]| marks.iter().any(|mark| body.starts_with(mark));
    if begins(&[b"data:", b"event:", b"id:", b"retry:", b": "]) {
        let detail =
            "the server streams its answers, which nobody asked for: \"stream\": false in --body may help";
        return Some(("summary_streamed", detail.to_owned()));
    }
    let page = || {
        let text = String::from_utf8_lossy(body);
        format!("the answer is a page: {}", page_text(&text))
    };
    begins(&[b"<"]).then(|| ("summary_html", page()))
}

/// The words of a page, without its tags.
pub fn page_text(page: &str) -> String {
    let pieces = page
        .split('<')
        .map(|piece| piece.split_once('>').map_or(piece, |(_, words)| words).trim());
    let words: Vec<&str> = pieces.filter(|words| !words.is_empty()).collect();
    words.join(" ")
}

/// The failure that a reason to finish stands for, as servers call it; `None` if the model was done.
fn unfinished(reason: &str) -> Option<Wrong> {
    let (name, detail) = match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            ("summary_cut_by_length", "the token limit cut the answer")
        }
        "content_filter" | "safety" | "recitation" | "prohibited_content" | "blocklist" | "spii" => {
            ("summary_refused", "the server's filter kept the answer back")
        }
        "refusal" => ("summary_refused", "the model refused"),
        "tool_calls" | "tool_use" | "function_call" | "malformed_function_call" => {
            ("summary_tool_call", "the model called a tool, though it has none")
        }
        "error" | "abort" | "aborted" | "cancelled" | "canceled" | "insufficient_system_resource" => {
            ("summary_finish_error", "the server broke the answer off")
        }
        _ => return None,
    };
    Some((name, format!("{detail} ({reason})")))
}

/// The parts of an answer, whichever API it came by.
#[derive(Default)]
struct AnswerParts {
    text: String,
    /// It holds reasoning beside the text.
    reasoned: bool,
    refusal: Option<String>,
    /// The reason to finish.
    finish: String,
    /// It calls a tool.
    calls: bool,
}

impl AnswerParts {
    fn text(self) -> Result<String, Wrong> {
        if let Some(refusal) = self.refusal {
            return Err(("summary_refused", refusal));
        }
        let finish = if self.calls { "tool_calls" } else { &self.finish };
        let (text, thought) = without_thoughts(&self.text);
        let unfinished = unfinished(finish);
        let is_cut = |wrong: &Wrong| wrong.0 == "summary_cut_by_length";
        if let Some(wrong) = unfinished.as_ref().filter(|wrong| !is_cut(wrong)) {
            return Err(wrong.clone());
        }
        if text.is_empty() && (self.reasoned || thought) {
            let detail = "thoughts but no answer: the model may need more --max-output-tokens";
            return Err(("summary_reasoning_only", detail.to_owned()));
        }
        if let Some(wrong) = unfinished {
            return Err(wrong);
        }
        if text.is_empty() {
            return Err(("summary_empty", "the answer is empty".to_owned()));
        }
        Ok(text.to_owned())
    }
}

fn openai(body: &Value) -> Result<AnswerParts, Wrong> {
    let shape = |what: &str| ("summary_wrong_shape", format!("the answer has no {what}"));
    let choice = body
        .pointer("/choices/0")
        .ok_or_else(|| shape(&format!("choices: {body}")))?;
    let message = choice.get("message").ok_or_else(|| shape("message"))?;
    let finish = choice
        .get("finish_reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(AnswerParts {
        text: content(message.get("content")).ok_or_else(|| shape("text in its message"))?,
        reasoned: ["reasoning_content", "reasoning"]
            .iter()
            .any(|field| text_at(message, field).is_some()),
        refusal: text_at(message, "refusal"),
        finish: finish.to_owned(),
        calls: message
            .get("tool_calls")
            .and_then(Value::as_array)
            .is_some_and(|calls| !calls.is_empty())
            || message.get("function_call").is_some_and(Value::is_object),
    })
}

fn anthropic(body: &Value) -> Result<AnswerParts, Wrong> {
    let blocks = body
        .get("content")
        .ok_or_else(|| ("summary_wrong_shape", "the answer has no content".to_owned()))?;
    let stop = body
        .get("stop_reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let has = |kind: &str| {
        let blocks = blocks.as_array().map(Vec::as_slice).unwrap_or_default();
        blocks
            .iter()
            .any(|block| block.get("type").and_then(Value::as_str) == Some(kind))
    };
    Ok(AnswerParts {
        text: content(Some(blocks)).unwrap_or_default(),
        reasoned: has("thinking") || has("redacted_thinking"),
        refusal: None,
        finish: stop.to_owned(),
        calls: has("tool_use"),
    })
}

/// A content's text: a string, null, or a list of parts. `None` for anything else.
fn content(content: Option<&Value>) -> Option<String> {
    match content {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| {
                let is_text = part
                    .get("type")
                    .is_none_or(|kind| kind == "text" || kind == "output_text");
                part.get("text").and_then(Value::as_str).filter(|_| is_text)
            });
            Some(texts.collect())
        }
        Some(_) => None,
    }
}

/// A text without the reasoning that some servers leave before it, and true if there was any.
fn without_thoughts(text: &str) -> (&str, bool) {
    let text = text.trim();
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        // Some templates open the reasoning in the prompt, so that only its end is in the answer.
        if let Some((thoughts, rest)) = text.split_once(close)
            && (thoughts.starts_with(open) || !thoughts.contains(open))
        {
            return (rest.trim(), true);
        }
        if text.starts_with(open) {
            return ("", true);
        }
    }
    (text, false)
}

fn text_at(object: &Value, field: &str) -> Option<String> {
    let text = object.get(field)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn error_of(body: &Value) -> Option<&Value> {
    if body.get("type").and_then(Value::as_str) == Some("error") {
        return body.get("error").or(Some(body));
    }
    if body.get("object").and_then(Value::as_str) == Some("error") {
        return Some(body);
    }
    body.get("error").filter(|error| !error.is_null())
}

fn message_of(error: &Value) -> String {
    let message = error
        .get("message")
        .or_else(|| error.get("detail"))
        .unwrap_or(error);
    message
        .as_str()
        .map_or_else(|| message.to_string(), str::to_owned)
}

/// The status that an error stands for, by its number or by its name.
fn status_of(error: &Value) -> Option<u16> {
    let fields = ["code", "status", "type"]
        .iter()
        .filter_map(|field| error.get(field));
    let mut statuses = fields.filter_map(|field| {
        let text = field.as_str().unwrap_or_default();
        let number = field.as_u64().or_else(|| text.parse().ok());
        let number = number.and_then(|number| u16::try_from(number).ok());
        number
            .filter(|status| (400..600).contains(status))
            .or_else(|| error_names::status_of(text))
    });
    statuses.next()
}

fn count(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer).and_then(Value::as_u64)
}

/// Prompt and completion tokens. Those read from the cache, or written to it, count as read.
fn anthropic_tokens(body: &Value) -> (Option<u64>, Option<u64>) {
    let read = count(body, "/usage/input_tokens").map(|tokens| {
        tokens
            + count(body, "/usage/cache_creation_input_tokens").unwrap_or(0)
            + count(body, "/usage/cache_read_input_tokens").unwrap_or(0)
    });
    (read, count(body, "/usage/output_tokens"))
}

#[cfg(test)]
mod tests;
