//! A turn on its way from one form to another: who speaks, what is said, called and answered. Literals that stay are borrowed.

use std::borrow::Cow;

use super::losses::{Loss, Losses};
use crate::trajectory::members::Member;
use crate::trajectory::{Role, json};

/// A text: a JSON string as it was written, or one that was put together.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    /// With its quotes and escapes.
    Literal(&'a str),
    /// Decoded.
    Made(String),
}

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    /// Its element of a list `tool_calls`, where it stood in one.
    pub element: Option<&'a str>,
    /// As JSON.
    pub id: Option<Cow<'a, str>>,
    /// As a JSON string.
    pub name: Cow<'a, str>,
    /// As JSON: a string, or any other value.
    pub arguments: Cow<'a, str>,
}

/// One answer.
#[derive(Debug, Clone)]
pub(super) struct Answer<'a> {
    /// As JSON.
    pub id: Option<Cow<'a, str>>,
    /// As a JSON string.
    pub name: Option<Cow<'a, str>>,
    /// What came back.
    pub content: Text<'a>,
    /// Whether the content is envelopes already.
    pub in_envelopes: bool,
}

/// One turn.
#[derive(Debug, Clone)]
pub(super) struct Message<'a> {
    /// The turn as it was written.
    pub turn: &'a str,
    /// Whether it is in the target form as it stands.
    pub stays: bool,
    /// Who speaks.
    pub role: Role,
    /// The name of the role, as a JSON string.
    pub role_name: &'a str,
    /// What is said beside calls and answers.
    pub content: Text<'a>,
    /// Thoughts: the key that they stood under, and their JSON.
    pub reasoning: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// What is called.
    pub calls: Vec<Call<'a>>,
    /// What is answered; a tool's turn has no other content.
    pub answers: Vec<Answer<'a>>,
    /// Fields that have no meaning here.
    pub extras: Vec<Member<'a>>,
}

impl Text<'_> {
    /// No text.
    pub const EMPTY: Self = Self::Literal("\"\"");

    /// Several texts, a line each; one alone stays as it is.
    pub fn joined(texts: Vec<Self>, losses: &mut Losses) -> Self {
        match <[Self; 1]>::try_from(texts) {
            Ok([text]) => text,
            Err(texts) => {
                let lines: Vec<Cow<'_, str>> = texts.iter().map(|text| text.decoded(losses)).collect();
                Self::Made(lines.join("\n"))
            }
        }
    }

    /// As a JSON string.
    pub fn literal(&self) -> Cow<'_, str> {
        match self {
            Self::Literal(literal) => Cow::Borrowed(literal),
            Self::Made(text) => Cow::Owned(json::quoted(text)),
        }
    }

    /// The text itself.
    pub fn decoded(&self, losses: &mut Losses) -> Cow<'_, str> {
        match self {
            Self::Literal(literal) => {
                let (text, exact) = json::decode(literal);
                if !exact {
                    losses.note(Loss::Surrogate);
                }
                text
            }
            Self::Made(text) => Cow::Borrowed(text),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Literal(literal) => *literal == "\"\"",
            Self::Made(text) => text.is_empty(),
        }
    }
}

impl Call<'_> {
    /// The tool's name, decoded.
    pub fn tool(&self) -> Cow<'_, str> {
        json::decode(&self.name).0
    }
}
