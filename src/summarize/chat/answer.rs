//! From the body of a successful response to the text that a model wrote, or to the name of what is wrong with it.

use serde_json::Value;

use super::api::Api;
use crate::summarize::failure::Failure;

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text; never blank.
    pub text: String,
    /// Tokens that the server says it read, where it says so.
    pub prompt_tokens: Option<u64>,
    /// Tokens that the server says it wrote, where it says so.
    pub completion_tokens: Option<u64>,
}

/// An answer that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAnswer {
    /// What is wrong.
    pub failure: Failure,
    /// The status that an error in the body names.
    pub status: Option<u16>,
    /// Tokens read and written all the same, where the server says so.
    pub tokens: (Option<u64>, Option<u64>),
}

/// Reads the body of a response whose status was a success.
pub fn read(api: Api, body: &[u8]) -> Result<Answer, BadAnswer> {
    let bad = |name, detail: &str| BadAnswer {
        failure: Failure::new(name, detail),
        status: None,
        tokens: (None, None),
    };
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| bad("summary_invalid_json", &format!("the answer is no JSON: {error}")))?;
    if let Some(error) = error_of(&body) {
        return Err(BadAnswer {
            failure: Failure::new("summary_error_body", &message_of(error)),
            status: status_of(error),
            tokens: (None, None),
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
    match said.and_then(Said::text) {
        Ok(text) => Ok(Answer {
            text,
            prompt_tokens: tokens.0,
            completion_tokens: tokens.1,
        }),
        Err((name, detail)) => Err(BadAnswer {
            tokens,
            ..bad(name, &detail)
        }),
    }
}

/// What a server says in the body of an error: its message, or the body itself.
pub fn error_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|body| error_of(&body).map(message_of))
        .unwrap_or_else(|| text.into_owned())
}

type Wrong = (&'static str, String);

/// What there is in an answer, whichever interface it came by.
#[derive(Default)]
struct Said {
    text: String,
    /// Whether it holds thoughts beside the text.
    reasoned: bool,
    refusal: Option<String>,
    cut: bool,
}

impl Said {
    fn text(self) -> Result<String, Wrong> {
        if let Some(refusal) = self.refusal {
            return Err(("summary_refused", refusal));
        }
        let (text, thought) = without_thoughts(&self.text);
        if text.is_empty() && (self.reasoned || thought) {
            let detail = "thoughts but no answer: the model may need more --max-output-tokens";
            return Err(("summary_reasoning_only", detail.to_owned()));
        }
        if self.cut {
            return Err((
                "summary_cut_by_length",
                "the token limit cut the answer".to_owned(),
            ));
        }
        if text.is_empty() {
            return Err(("summary_empty", "the answer is empty".to_owned()));
        }
        Ok(text.to_owned())
    }
}

fn openai(body: &Value) -> Result<Said, Wrong> {
    let shape = |what: &str| ("summary_wrong_shape", format!("the answer has no {what}"));
    let choice = body.pointer("/choices/0").ok_or_else(|| shape("choices"))?;
    if let Some(error) = error_of(choice) {
        return Err(("summary_error_body", message_of(error)));
    }
    let message = choice.get("message").ok_or_else(|| shape("message"))?;
    let finish = choice
        .get("finish_reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let refusal = text_at(message, "refusal").or_else(|| {
        (finish == "content_filter").then(|| "the server's filter kept the answer back".to_owned())
    });
    Ok(Said {
        text: content(message.get("content")).ok_or_else(|| shape("text in its message"))?,
        reasoned: ["reasoning_content", "reasoning"]
            .iter()
            .any(|field| text_at(message, field).is_some()),
        refusal,
        cut: finish == "length",
    })
}

fn anthropic(body: &Value) -> Result<Said, Wrong> {
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
    Ok(Said {
        text: content(Some(blocks)).unwrap_or_default(),
        reasoned: has("thinking") || has("redacted_thinking"),
        refusal: (stop == "refusal").then(|| "the model refused".to_owned()),
        cut: matches!(stop, "max_tokens" | "model_context_window_exceeded"),
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

/// A text without the thoughts that some servers leave before it, and whether there were any.
fn without_thoughts(text: &str) -> (&str, bool) {
    let text = text.trim();
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        // Some templates open the thoughts in the prompt, so that only their end is in the answer.
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

/// The status that an error's code stands for.
fn status_of(error: &Value) -> Option<u16> {
    let code = error.get("code").or_else(|| error.get("status"))?;
    let number = code
        .as_u64()
        .or_else(|| code.as_str().and_then(|text| text.parse().ok()))?;
    u16::try_from(number)
        .ok()
        .filter(|status| (400..600).contains(status))
}

fn count(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer).and_then(Value::as_u64)
}

/// What was read from the cache, or written to it, was read as well.
fn anthropic_tokens(body: &Value) -> (Option<u64>, Option<u64>) {
    let read = count(body, "/usage/input_tokens").map(|tokens| {
        tokens
            + count(body, "/usage/cache_creation_input_tokens").unwrap_or(0)
            + count(body, "/usage/cache_read_input_tokens").unwrap_or(0)
    });
    (read, count(body, "/usage/output_tokens"))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
