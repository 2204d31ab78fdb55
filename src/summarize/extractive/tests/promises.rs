//! Promises that every summary keeps, whatever the region and the budget.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::compress::anchors::{dangling, identifiers};
use crate::events::control::without_control;
use crate::summarize::marker::{END_MARKER, SUMMARY_MARKER};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "([A-Z]?[a-z]{2,8} ){1,12}[a-z]{2,6}[.!?]",
        2 => "(src|lib)/[a-z_]{3,9}\\.(rs|py)( [a-z]{3,7}_[a-z]{3,7}){0,4} #W[0-9]{4}",
        1 => "<returncode>[0-2]</returncode>\n<output>\n[A-Z][a-z]{3}Error: [a-z ]{5,30}\n</output>",
        1 => "\\{\"id\": \"[A-Z]{2}[0-9]{3,6}\", \"status\": \"(error|ok)\", \"price\": [1-9][0-9]{1,3}\\.50\\}",
        1 => "(订单|请|不要|状态。|，|#A[0-9]{3}|文件){1,20}",
        2 => "(\\PC|```|`|\n|\u{1b}\\[1m|\0|<\\||\\|>|\\[CONTEXT SUMMARY\\]:|\"|\\\\){0,40}",
    ]
}

fn any_turn() -> impl Strategy<Value = TurnView<'static>> {
    (0..4_u8, any_text(), any_text(), any_text()).prop_map(|(kind, text, other, name)| match kind {
        0 => TurnView {
            text: Cow::Owned(text),
            ..turn(Role::Human, "")
        },
        1 | 2 => {
            let arguments = serde_json::json!({ "command": other, "path": name.len() }).to_string();
            let call = ToolCall {
                id: None,
                name: Cow::Borrowed("run"),
                arguments: Cow::Owned(arguments),
            };
            TurnView {
                text: Cow::Owned(text),
                calls: vec![call],
                ..turn(Role::Assistant, "")
            }
        }
        _ => TurnView {
            responses: vec![ToolResponse {
                id: None,
                name: None,
                content: Cow::Owned(format!("{text}\n{other}")),
                ..ToolResponse::default()
            }],
            ..turn(Role::Tool, "")
        },
    })
}

/// Identifiers of a summary that no turn and no earlier summary holds; counts of lines and of repetitions are the
/// summary's own.
fn invented(text: &str, turns: &[TurnView<'_>], previous: &str) -> Vec<String> {
    let mut sources: String = previous.to_owned();
    for turn in turns {
        for text in turn.texts() {
            sources.push('\n');
            sources.push_str(text);
        }
        for call in &turn.calls {
            for value in crate::compress::anchors::argument_values(&call.arguments) {
                sources.push('\n');
                sources.push_str(&value.text);
            }
        }
    }
    let cleaned = crate::events::line::cleaned(&sources);
    // Quotations are without control characters and colours.
    let printable: String = without_control(&sources)
        .chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .collect();
    let mut unknown = Vec::new();
    identifiers(text, |identifier| {
        let texts = [&sources, &cleaned, &printable];
        let is_there = texts.iter().any(|text| text.contains(identifier));
        if !is_there && !identifier.contains("REDACTED") {
            unknown.push(identifier.to_owned());
        }
    });
    unknown
}

/// The fence that nothing closes: a line of as many backticks, and of nothing else.
fn open_fence(text: &str) -> Option<&str> {
    text.lines().fold(None, |open: Option<&str>, line| match open {
        Some(fence) if line == fence => None,
        None if line.starts_with("```") => Some(line),
        open => open,
    })
}

proptest! {
    #[test]
    fn a_summary_keeps_every_promise(
        turns in prop::collection::vec(any_turn(), 0..24),
        after in prop::collection::vec(any_turn(), 0..6),
        previous in prop::option::of(any_text()),
        max_tokens in prop_oneof![20..120_usize, 120..2_000_usize],
    ) {
        let counter = counter();
        let mut sharing = after;
        sharing.extend(turns.iter().filter(|turn| turn.role == Role::Assistant).take(3).cloned());
        let anchors = dangling(&[], &turns, &sharing);
        let request = SummaryRequest { turns: &Stretch::of(&turns), is_redacted: false, previous: previous.as_deref(), in_progress: None, around: crate::summarize::Around::default(), files_follow: false, reuse: crate::compress::reuse::Reuse::none(), anchors: &anchors, max_tokens, target_tokens: max_tokens, counter: &counter };
        let summary = Extractive::default().summary(&request).expect("fits");
        let text = &summary.text;
        prop_assert!(counter.count(text) <= max_tokens);
        prop_assert!(text.starts_with(SUMMARY_MARKER));
        prop_assert_eq!(text.matches(SUMMARY_MARKER).count(), 1);
        prop_assert!(!text.contains(END_MARKER) && !text.contains("<|"));
        prop_assert!(open_fence(text).is_none(), "a fence is open in {}", text);
        prop_assert!(!text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        prop_assert_eq!(&Extractive::default().summary(&request).expect("fits"), &summary);
        let unknown = invented(text, &turns, previous.as_deref().unwrap_or_default());
        prop_assert!(unknown.is_empty(), "{:?} in {}", unknown, text);
    }
}

#[test]
fn a_stretch_that_ends_in_the_middle_of_work_says_first_what_it_is_about() {
    let turns = [turn(
        Role::Assistant,
        "I found the `load_cfg` function in src/config.rs and fixed it.",
    )];
    let counter = counter();
    let request = SummaryRequest {
        turns: &Stretch::of(&turns),
        is_redacted: false,
        previous: Some("In progress: Something older.\nFindings:\n- earlier"),
        in_progress: Some("Make the loader\nfaster, please."),
        around: crate::summarize::Around::default(),
        files_follow: false,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens: 200,
        target_tokens: 200,
        counter: &counter,
    };
    let text = Extractive { redaction: true }
        .with_request_in_progress(&request)
        .unwrap()
        .text;
    assert!(
        text.starts_with("[CONTEXT SUMMARY]:\nIn progress: Make the loader faster, please.\n"),
        "{text}"
    );
    assert!(
        text.contains("- Something older.\n") && text.contains("earlier"),
        "{text}"
    );
    for max_tokens in 12..60 {
        let text = Extractive { redaction: true }
            .with_request_in_progress(&SummaryRequest {
                max_tokens,
                ..request
            })
            .unwrap()
            .text;
        assert!(counter.count(&text) <= max_tokens, "{max_tokens}: {text}");
    }
}

#[test]
fn what_the_first_line_asks_is_not_asked_again_and_a_long_request_is_told_whole() {
    let long = format!(
        "Make the loader faster. {}",
        "It must keep its order and its name. ".repeat(8)
    );
    let turns = [
        turn(Role::Human, &long),
        turn(
            Role::Assistant,
            "The problem is in src/load_it.rs, in one place only.",
        ),
    ];
    let counter = counter();
    let request = SummaryRequest {
        turns: &Stretch::of(&turns),
        is_redacted: false,
        previous: Some("Files:\n- read: an_old_file.rs"),
        in_progress: Some(&long),
        around: crate::summarize::Around::default(),
        files_follow: true,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens: 900,
        target_tokens: 900,
        counter: &counter,
    };
    let text = Extractive { redaction: true }
        .with_request_in_progress(&request)
        .unwrap()
        .text;
    assert!(
        text.contains(&format!("In progress: {}\n", long.trim())),
        "{text}"
    );
    assert_eq!(text.matches("Make the loader faster").count(), 1, "{text}");
    assert!(!text.contains("an_old_file"), "{text}");
}
