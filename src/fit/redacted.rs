//! What a summarizer is given to read: turns without the secrets that redaction recognizes.

use std::borrow::Cow;

use crate::summarize::redact::redact;
use crate::trajectory::{ToolCall, ToolResponse, TurnView};

/// Turns as summarizers see them, and how many secrets each lost. Text without secrets is borrowed.
///
/// What identifiers later turns rely on is worked out on these turns as well: a secret that is gone from the region is no
/// identifier that a summary could be asked to keep.
pub fn redacted<'v>(views: &'v [TurnView<'_>], redaction: bool) -> Vec<(TurnView<'v>, usize)> {
    let mut redactor = Redactor {
        redaction,
        secrets: 0,
    };
    views.iter().map(|view| redactor.turn(view)).collect()
}

struct Redactor {
    redaction: bool,
    /// Secrets found in the turn at hand.
    secrets: usize,
}

impl Redactor {
    fn turn<'v>(&mut self, view: &'v TurnView<'_>) -> (TurnView<'v>, usize) {
        self.secrets = 0;
        let text = self.text(&view.text);
        let calls = view.calls.iter().map(|call| ToolCall {
            id: call.id.as_deref().map(Cow::Borrowed),
            name: self.text(&call.name),
            arguments: self.text(&call.arguments),
        });
        let calls = calls.collect();
        let responses = view.responses.iter().map(|response| ToolResponse {
            id: response.id.as_deref().map(Cow::Borrowed),
            name: response.name.as_deref().map(Cow::Borrowed),
            content: self.text(&response.content),
        });
        let responses = responses.collect();
        let turn = TurnView {
            index: view.index,
            role: view.role,
            text,
            calls,
            responses,
        };
        (turn, self.secrets)
    }

    fn text<'v>(&mut self, text: &'v str) -> Cow<'v, str> {
        if !self.redaction {
            return Cow::Borrowed(text);
        }
        let (text, secrets) = redact(text);
        self.secrets += secrets;
        text
    }
}
