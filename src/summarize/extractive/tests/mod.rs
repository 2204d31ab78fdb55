//! A counter and turns for the tests of the embedded summarizer.

mod carried;
mod choice;
mod content;
mod endings;
mod later;
mod mended;
mod promises;
mod quotes;
mod reads_well;
mod repeats;
mod screens;
mod unused;
mod verdicts;

use std::borrow::Cow;

use super::*;
use crate::summarize::Stretch;
use crate::tokens::TokenCounter;
use crate::tokens::words::WordCounter;
use crate::trajectory::{Role, ToolCall, ToolResponse, TurnView};

/// One token per word, four letters at most, and one per any other character.
fn counter() -> WordCounter {
    WordCounter::counting(|text| {
        let mut tokens = 0;
        let mut run = 0;
        for c in text.chars() {
            run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
            tokens += usize::from(run % 4 == 1 || (run == 0 && c != ' '));
        }
        tokens
    })
}

fn turn(role: Role, text: &str) -> TurnView<'_> {
    TurnView::of_text(0, role, text)
}

fn call<'a>(text: &'a str, name: &'a str, arguments: &'a str) -> TurnView<'a> {
    let call = ToolCall {
        id: None,
        name: Cow::Borrowed(name),
        arguments: Cow::Borrowed(arguments),
    };
    TurnView {
        calls: vec![call],
        ..turn(Role::Assistant, text)
    }
}

/// The arguments of a call that runs a command.
fn bash(command: &str) -> String {
    format!("{{\"command\": {command:?}}}")
}

fn answer(content: &str) -> TurnView<'_> {
    let response = ToolResponse {
        id: None,
        name: None,
        content: Cow::Borrowed(content),
        ..ToolResponse::default()
    };
    TurnView {
        responses: vec![response],
        ..turn(Role::Tool, "")
    }
}

fn summary_of(
    turns: &[TurnView<'_>],
    previous: Option<&str>,
    anchors: &[Anchor],
    max_tokens: usize,
) -> Summary {
    let counter = counter();
    let stretch = Stretch::of(turns);
    let request = SummaryRequest {
        previous,
        anchors,
        max_tokens,
        target_tokens: max_tokens,
        ..request(&stretch, &counter)
    };
    pollster::block_on(Extractive::default().summarize(request)).expect("fits")
}

/// The lines of a summary, without quotations.
fn told(turns: &[TurnView<'_>]) -> String {
    let counter = counter();
    let stretch = Stretch::of(turns);
    let request = request(&stretch, &counter);
    Extractive::default()
        .composed(None, &request, false)
        .expect("fits")
        .text
}

fn request<'a>(turns: &'a Stretch<'a>, counter: &'a WordCounter) -> SummaryRequest<'a> {
    SummaryRequest {
        turns,
        is_redacted: false,
        previous: None,
        in_progress: None,
        around: crate::summarize::Around::default(),
        files_follow: false,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens: 2_000,
        target_tokens: 2_000,
        counter,
    }
}
