//! A response as a line of a file: its request and its outcome. The form is detected line by line.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::summarize::chat::answer::error_names;
use crate::summarize::chat::answer::retry::{self, RetryVerdict};
use crate::summarize::chat::answer::{self, BadAnswer, ModelAnswer};
use crate::summarize::chat::api::Api;
use crate::summarize::chat::dialect::{DialectFix, RequestShape};
use crate::summarize::failure::Failure;

/// One line.
#[derive(Debug)]
pub struct Response {
    /// The id of the request that it answers.
    pub custom_id: String,
    /// The outcome of the request.
    pub outcome: ResponseOutcome,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum ResponseOutcome {
    /// An answer that can be used.
    Answer(ModelAnswer),
    /// A failure.
    Failed(FailedResponse),
}

/// A response without a usable answer.
#[derive(Debug)]
pub enum FailedResponse {
    /// An unusable answer.
    Answer(BadAnswer),
    /// A status that is no success, with the body.
    Status(u16, Vec<u8>),
    /// The request was not sent, or its result was lost; another attempt may do better.
    NotDone(Failure),
}

/// A line that is no response.
#[derive(Debug, PartialEq, Eq)]
pub enum NoResponse {
    /// A request: a file of requests is among those of responses.
    Request,
    /// It cannot be understood.
    Broken(String),
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    custom_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    response: Option<HttpResponse<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<AnthropicResult<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

/// A response of `OpenAI`'s form. vLLM leaves the body out where there is an error.
#[derive(Deserialize)]
struct HttpResponse<'a> {
    status_code: Option<u16>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct AnthropicResult<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a line.
///
/// # Errors
///
/// If the line is no response.
pub fn read(line: &[u8]) -> Result<Response, NoResponse> {
    let broken = |what: &str| NoResponse::Broken(what.to_owned());
    let parsed: Line<'_> =
        serde_json::from_slice(line).map_err(|error| NoResponse::Broken(format!("no response: {error}")))?;
    let outcome = if let Some(result) = parsed.result {
        from_anthropic(&result)
    } else if let Some(response) = parsed.response {
        Ok(from_http(&response, parsed.error))
    } else if let Some(error) = parsed.error {
        Ok(ResponseOutcome::Failed(FailedResponse::NotDone(not_done(error))))
    } else if parsed.params.is_some() || parsed.body.is_some() {
        return Err(NoResponse::Request);
    } else {
        Err("no response: neither a response nor a result is in it")
    };
    let outcome = outcome.map_err(broken)?;
    let custom_id = parsed.custom_id.ok_or_else(|| broken("no custom_id is in it"))?;
    Ok(Response {
        custom_id: custom_id.into_owned(),
        outcome,
    })
}

fn from_http(response: &HttpResponse<'_>, error: Option<&RawValue>) -> ResponseOutcome {
    let said = response.body.or(error).map_or("", RawValue::get);
    match response.status_code.unwrap_or(200) {
        200..=299 if response.body.is_none() && error.is_some() => {
            ResponseOutcome::Failed(FailedResponse::NotDone(error.map_or_else(unknown, not_done)))
        }
        200..=299 => ResponseOutcome::of(answer::read(Api::OpenAi, said.as_bytes())),
        status => ResponseOutcome::Failed(FailedResponse::Status(status, said.as_bytes().to_vec())),
    }
}

fn from_anthropic(result: &AnthropicResult<'_>) -> Result<ResponseOutcome, &'static str> {
    let failed = |name, detail| {
        Ok(ResponseOutcome::Failed(FailedResponse::NotDone(Failure::new(
            name, detail,
        ))))
    };
    match (&*result.kind, result.message, result.error) {
        ("succeeded", Some(message), _) => {
            let read = answer::read(Api::Anthropic, message.get().as_bytes());
            Ok(ResponseOutcome::of(read))
        }
        ("succeeded", None, _) => Err("no response: it succeeded, but there is no message"),
        ("errored", _, Some(error)) => {
            let said = error.get().as_bytes().to_vec();
            Ok(ResponseOutcome::Failed(FailedResponse::Status(
                status_of(error),
                said,
            )))
        }
        ("errored", ..) => failed("summary_batch_error", "it failed, and nothing says why"),
        ("expired", ..) => failed("summary_expired", "the batch expired before it was its turn"),
        ("canceled" | "cancelled", ..) => failed(
            "summary_canceled",
            "the batch was cancelled before it was its turn",
        ),
        _ => Err("no response: its result is of no known type"),
    }
}

/// The HTTP status that the error of a batch would have online.
fn status_of(error: &RawValue) -> u16 {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    let kind = |error: &Value| error.get("type").and_then(Value::as_str).map(str::to_owned);
    let inner = error.get("error").and_then(kind);
    let name = inner.or_else(|| kind(&error)).unwrap_or_default();
    error_names::status_of(&name).unwrap_or(500)
}

/// An error that came without a response: a code and a message.
fn not_done(error: &RawValue) -> Failure {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    let text = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    let (code, message) = (text("code"), text("message"));
    match code {
        "batch_expired" => Failure::new("summary_expired", message),
        "batch_cancelled" | "batch_canceled" => Failure::new("summary_canceled", message),
        _ if code.is_empty() && message.is_empty() => Failure::new("summary_batch_error", &error.to_string()),
        _ => Failure::new("summary_batch_error", &format!("{code} {message}")),
    }
}

fn unknown() -> Failure {
    Failure::new("summary_batch_error", "nothing says why")
}

impl ResponseOutcome {
    fn of(read: Result<ModelAnswer, BadAnswer>) -> Self {
        match read {
            Ok(answer) => Self::Answer(answer),
            Err(bad) => Self::Failed(FailedResponse::Answer(bad)),
        }
    }

    /// Returns true if the request was refused for its length.
    pub fn is_too_long(&self) -> bool {
        let is_long = |failed: &FailedResponse| {
            matches!(failed.verdict(RequestShape::default()), RetryVerdict::Shorten(..))
        };
        matches!(self, Self::Failed(failed) if is_long(failed))
    }

    /// The change to the form of requests that the failure asks for.
    pub fn lesson(&self) -> Option<DialectFix> {
        match self {
            Self::Answer(_) => None,
            Self::Failed(failed) => match failed.verdict(RequestShape::default()) {
                RetryVerdict::Relearn(_, lesson) => Some(lesson),
                _ => None,
            },
        }
    }
}

impl FailedResponse {
    /// The verdict on a request that was written in that form.
    pub fn verdict(&self, manner: RequestShape) -> RetryVerdict {
        match self {
            Self::Answer(bad) => retry::after_answer(bad.clone(), None, manner, ""),
            Self::Status(status, body) => retry::after_status(*status, None, body, manner, ""),
            Self::NotDone(failure) => RetryVerdict::Retry(failure.clone(), None),
        }
    }

    /// Prompt and completion tokens, if they are reported all the same.
    pub fn tokens(&self) -> (Option<u64>, Option<u64>) {
        match self {
            Self::Answer(bad) => bad.tokens,
            Self::Status(..) | Self::NotDone(_) => (None, None),
        }
    }

    /// Name of the failure.
    pub fn name(&self) -> &'static str {
        self.verdict(RequestShape::default()).failure().name
    }
}

#[cfg(test)]
mod tests;
