//! The summarizer's input: turns without the secrets that redaction recognizes anywhere in their record.

use std::borrow::Cow;

use crate::summarize::redact::RecordSecrets;
use crate::trajectory::{Record, ToolCall, ToolResponse, Turn, TurnView, Turns, Views};

/// Most bytes of JSON syntax of a turn. If more bytes are not in its texts, other fields contain texts as well.
const SYNTAX: usize = 400;

/// Returns the secrets of a record: those in its turns, and those in the text around them.
pub fn secrets_of<'v>(record: &'v Record<'_>, views: &'v Views<'_>, personal: bool) -> RecordSecrets<'v> {
    let (before, after) = record.frame();
    let has_others = |turn: &Turn<'_>, view: &TurnView<'_>| {
        let told: usize = texts_of(view).map(str::len).sum();
        turn.text.len() > told + told / 4 + SYNTAX
    };
    let Some(kept) = views.kept() else {
        return RecordSecrets::of_passing(personal, |note| {
            for (turn, view) in record.turns.iter().zip(views.all()) {
                texts_of(&view).for_each(&mut *note);
                if has_others(turn, &view) {
                    note(turn.text);
                }
            }
            [before, after].into_iter().for_each(note);
        });
    };
    let texts = kept.iter().flat_map(texts_of);
    let others = record.turns.iter().zip(kept);
    let others = others.filter(|(turn, view)| has_others(turn, view));
    let others = others.map(|(turn, _)| turn.text);
    RecordSecrets::of(texts.chain(others).chain([before, after]), personal)
}

fn texts_of<'v>(view: &'v TurnView<'_>) -> impl Iterator<Item = &'v str> {
    let calls = view.calls.iter();
    let calls = calls.flat_map(|call| [call.name.as_ref(), call.arguments.as_ref()]);
    let responses = view.responses.iter().map(|response| response.content.as_ref());
    [view.text.as_ref()].into_iter().chain(calls).chain(responses)
}

/// Returns the turns as summarizers see them, each with the number of secrets redacted; unchanged without redaction.
/// Text without secrets is borrowed.
///
/// Anchors are computed from these turns as well: a secret that was redacted in the region is no identifier that a
/// summary could be asked to keep.
pub fn redacted<'v>(
    views: &'v [TurnView<'_>],
    secrets: Option<&RecordSecrets<'_>>,
) -> Vec<(TurnView<'v>, usize)> {
    let mut redactor = Redactor { secrets, count: 0 };
    views.iter().map(|view| redactor.turn(view)).collect()
}

/// Redacts one turn that is not needed unredacted any more.
pub fn redacted_alone<'v>(
    view: Cow<'_, TurnView<'v>>,
    secrets: Option<&RecordSecrets<'_>>,
) -> (TurnView<'v>, usize) {
    let mut view = view.into_owned();
    let mut redactor = Redactor { secrets, count: 0 };
    let calls = view.calls.iter_mut();
    let of_calls = calls.flat_map(|call| [&mut call.name, &mut call.arguments]);
    let responses = view.responses.iter_mut();
    let of_responses = responses.flat_map(|response| response.name.iter_mut().chain([&mut response.content]));
    for text in std::iter::once(&mut view.text)
        .chain(of_calls)
        .chain(of_responses)
    {
        if let Cow::Owned(without) = redactor.text(text) {
            *text = Cow::Owned(without);
        }
    }
    (view, redactor.count)
}

/// Calls `read` with the turns as a summary may quote them: without secrets.
pub fn with_redacted<T>(
    views: &Views<'_>,
    secrets: &RecordSecrets<'_>,
    read: impl FnOnce(Turns<'_>) -> T,
) -> T {
    if let Some(kept) = views.kept() {
        let told = redacted(kept, Some(secrets)).into_iter();
        let told: Vec<TurnView<'_>> = told.map(|(view, _)| view).collect();
        return read(Turns::Kept(&told));
    }
    let told = |turn: usize| Some(redacted_alone(views.get(turn)?, Some(secrets)).0);
    read(Turns::Made(views.turns().len(), &told))
}

struct Redactor<'s> {
    secrets: Option<&'s RecordSecrets<'s>>,
    /// Number of secrets found in the current turn.
    count: usize,
}

impl Redactor<'_> {
    fn turn<'v>(&mut self, view: &'v TurnView<'_>) -> (TurnView<'v>, usize) {
        self.count = 0;
        let text = self.text(&view.text);
        let calls = view.calls.iter().map(|call| ToolCall {
            id: call.id.as_deref().map(Cow::Borrowed),
            name: self.text(&call.name),
            arguments: self.text(&call.arguments),
        });
        let calls = calls.collect();
        let responses = view.responses.iter().map(|response| ToolResponse {
            id: response.id.as_deref().map(Cow::Borrowed),
            name: response.name.as_deref().map(|name| self.text(name)),
            content: self.text(&response.content),
            is_error: response.is_error,
            exit_code: response.exit_code,
        });
        let responses = responses.collect();
        let turn = TurnView {
            index: view.index,
            role: view.role,
            text,
            calls,
            responses,
        };
        (turn, self.count)
    }

    fn text<'v>(&mut self, text: &'v str) -> Cow<'v, str> {
        let Some(secrets) = self.secrets else {
            return Cow::Borrowed(text);
        };
        let (text, count) = secrets.redact(text);
        self.count += count;
        text
    }
}
