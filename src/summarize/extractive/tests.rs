//! Properties of summaries, and what they tell of typical regions.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::compress::anchors::{dangling, identifiers};
use crate::summarize::marker::{END_MARKER, SUMMARY_MARKER};
use crate::tokens::{TokenCounter, TokenizerIdentity};
use crate::trajectory::{Role, ToolCall, ToolResponse, TurnView};

/// One token per word, four letters at most, and one per any other character.
struct Words(TokenizerIdentity);

impl TokenCounter for Words {
    fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let mut run = 0;
        for c in text.chars() {
            run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
            tokens += usize::from(run % 4 == 1 || (run == 0 && c != ' '));
        }
        tokens
    }

    fn identity(&self) -> &TokenizerIdentity {
        &self.0
    }
}

fn counter() -> Words {
    Words(TokenizerIdentity {
        name: "words".to_owned(),
        sha256: String::new(),
        engine: "test".to_owned(),
    })
}

fn turn<'a>(role: Role, text: &'a str) -> TurnView<'a> {
    TurnView {
        index: 0,
        role,
        text: Cow::Borrowed(text),
        calls: Vec::new(),
        responses: Vec::new(),
    }
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

fn answer(content: &str) -> TurnView<'_> {
    let response = ToolResponse {
        id: None,
        name: None,
        content: Cow::Borrowed(content),
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
    let request = SummaryRequest {
        turns,
        previous,
        anchors,
        max_tokens,
        counter: &counter,
    };
    pollster::block_on(Extractive::default().summarize(request)).expect("fits")
}

fn told(turns: &[TurnView<'_>]) -> String {
    summary_of(turns, None, &[], 2_000).text
}

#[test]
fn a_summary_tells_what_was_asked_done_and_left_open() {
    let turns = [
        turn(
            Role::Human,
            "Please fix the failing test in core_a.py. Never touch setup.cfg.",
        ),
        call(
            "Let me run it.",
            "bash",
            r#"{"command": "cd /repo && pytest core_a.py 2>&1"}"#,
        ),
        answer(
            "<returncode>1</returncode>\n<output>\nE   ValueError: bad seed 42\n==== 3 failed, 10 passed in 2.1s ====\n</output>",
        ),
        call(
            "",
            "editor",
            r#"{"command": "str_replace", "path": "/repo/core_a.py", "old_str": "a", "new_str": "b"}"#,
        ),
        answer("The file /repo/core_a.py has been edited."),
        call(
            "The bug is in the seed handling of the sampler.",
            "bash",
            r#"{"command": "cd /repo && pytest core_a.py"}"#,
        ),
        answer("<returncode>0</returncode>\n<output>\n==== 13 passed in 2.0s ====\n</output>"),
        call("", "bash", r#"{"command": "ruff check ."}"#),
        answer("bash: ruff: command not found\n[Command finished with exit code 127]"),
    ];
    let text = told(&turns);
    assert_eq!(
        text,
        "[CONTEXT SUMMARY]:\n\
         Asked:\n\
         - Please fix the failing test in core_a.py. Never touch setup.cfg.\n\
         Done:\n\
         - editor str_replace /repo/core_a.py -> ok\n\
         - bash: pytest core_a.py (x2) -> ok: 13 passed in 2.0s\n\
         - bash: ruff check . -> exit 127: bash: ruff: command not found\n\
         Files:\n\
         - changed: /repo/core_a.py\n\
         Open errors:\n\
         - bash: ruff: command not found (bash: ruff check .)\n\
         Findings:\n\
         - The bug is in the seed handling of the sampler."
    );
}

#[test]
fn answers_of_services_are_told_by_their_fields() {
    let turns = [
        turn(Role::Human, "My order is #W2417020, cancel it."),
        call("", "get_order", r##"{"order_id": "#W2417020"}"##),
        answer(r##"{"order_id": "#W2417020", "status": "pending", "total": 2674.40, "note": null}"##),
        call(
            "",
            "cancel",
            r##"{"order_id": "#W2417020", "reason": "no longer needed"}"##,
        ),
        answer(r#"{"error": "not allowed"}"#),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- get_order(order_id: #W2417020) -> status: pending, total: 2674.40\n"),
        "{text}"
    );
    assert!(
        text.contains("- cancel(order_id: #W2417020, reason: no longer needed) -> failed: not allowed\n"),
        "{text}"
    );
    assert!(text.contains("Open errors:\n- not allowed (cancel("), "{text}");
}

#[test]
fn an_error_that_later_succeeded_is_not_open() {
    let run = |exit: &'static str| [call("", "sh", r#"{"cmd": "make"}"#), answer(exit)];
    let [a, b] = run("Error: no rule\nExit code: 2");
    let [c, d] = run("built\nExit code: 0");
    let text = told(&[a.clone(), b.clone(), c.clone(), d.clone()]);
    assert!(text.contains("- sh: make (x2) -> ok"), "{text}");
    assert!(!text.contains("Open errors"), "{text}");
    let text = told(&[c, d, a, b]);
    assert!(
        text.contains("Open errors:\n- Error: no rule (sh: make)"),
        "{text}"
    );
}

#[test]
fn calls_written_in_the_text_and_their_printed_answers_are_understood() {
    let turns = [
        turn(
            Role::Assistant,
            "Look.\n<function=bash>\n<parameter=command>\ncat a.py\n</parameter>\n</function>",
        ),
        turn(Role::Human, "EXECUTION RESULT of [bash]:\nx = 1\ny = 2\nz = 3"),
        turn(Role::Assistant, "Now run it.\n```bash\npython a.py\n```"),
        turn(
            Role::Human,
            "<returncode>0</returncode>\n<output>\nfine\n</output>",
        ),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- bash: cat a.py -> 3 lines\n- python a.py -> ok: fine"),
        "{text}"
    );
    assert!(!text.contains("Asked"), "{text}");
}

#[test]
fn parallel_answers_go_to_their_calls_by_id() {
    let with_id = |id: &'static str, arguments: &'static str| ToolCall {
        id: Some(Cow::Borrowed(id)),
        name: Cow::Borrowed("get"),
        arguments: Cow::Borrowed(arguments),
    };
    let back = |id: &'static str, content: &'static str| ToolResponse {
        id: Some(Cow::Borrowed(id)),
        name: None,
        content: Cow::Borrowed(content),
    };
    let turns = [
        TurnView {
            calls: vec![with_id("c1", r#"{"k": "one"}"#), with_id("c2", r#"{"k": "two"}"#)],
            ..turn(Role::Assistant, "")
        },
        TurnView {
            responses: vec![back("c2", "second answer"), back("c1", "first answer")],
            ..turn(Role::Tool, "")
        },
    ];
    let text = told(&turns);
    assert!(
        text.contains("- get(k: one) -> first answer\n- get(k: two) -> second answer"),
        "{text}"
    );
}

#[test]
fn values_that_later_turns_use_stand_in_the_line_they_came_from() {
    let turns = [
        call("", "list_orders", "{}"),
        answer(
            r##"{"orders": [{"name": "Laptop", "item_id": "8997785118"}, {"name": "Camera", "item_id": "1111222233"}]}"##,
        ),
    ];
    let after = [call("", "return_item", r#"{"item_id": "1111222233"}"#)];
    let anchors = dangling(&[], &turns, &after);
    let text = summary_of(&turns, None, &anchors, 2_000).text;
    assert!(text.contains("name: Camera, item_id: 1111222233"), "{text}");
}

#[test]
fn anchors_come_before_all_else_when_room_is_short() {
    let filler = "A long sentence about nothing in particular that fills the room. ".repeat(40);
    let turns = [
        turn(Role::Human, &filler),
        answer("made dir/alpha_one.rs and dir/beta_two.rs"),
    ];
    let after = [turn(Role::Assistant, "open dir/alpha_one.rs and dir/beta_two.rs")];
    let anchors = dangling(&[], &turns, &after);
    assert_eq!(anchors.len(), 2);
    let text = summary_of(&turns, None, &anchors, 45).text;
    assert_eq!(held_mask(&anchors, &text), [true, true], "{text}");
}

#[test]
fn an_earlier_summary_is_carried_over_into_its_sections() {
    let previous = "Asked:\n- Build the parser first.\nDone:\n- bash: make -> ok\nOdd: a line of another summarizer\nKey references: old_one";
    let text = summary_of(
        &[
            call("", "bash", r#"{"command": "make test"}"#),
            answer("3 passed in 1s"),
        ],
        Some(previous),
        &[],
        400,
    )
    .text;
    assert!(text.contains("Asked:\n- Build the parser first.\n"), "{text}");
    assert!(text.contains("Done:\n- bash: make -> ok\n- Odd: a line of another summarizer\n- bash: make test -> 3 passed in 1s"), "{text}");
    assert!(!text.contains("old_one"), "{text}");
}

#[test]
fn secrets_are_neither_told_nor_listed() {
    let secret = format!("ghp_{}", "a8F3kQ9zL2mX7pR4tV6wB1nC5dE0gHjKsTyU");
    let said = format!("Use the token {secret} and password: \"Tr0ub4dor&3\" for repo_main.");
    let turns = [turn(Role::Human, &said)];
    let later = format!("push with {secret} and \"Tr0ub4dor&3\" to repo_main");
    let after = [turn(Role::Assistant, &later)];
    let mut anchors = dangling(&[], &turns, &after);
    anchors.push(Anchor {
        text: "Tr0ub4dor&3".to_owned(),
        uses: 9,
    });
    let summary = summary_of(&turns, None, &anchors, 300);
    assert_eq!(summary.redactions, 2);
    assert!(
        !summary.text.contains(&secret) && !summary.text.contains("Tr0ub4dor"),
        "{}",
        summary.text
    );
    assert!(
        summary.text.contains("[REDACTED:github-token]") && summary.text.contains("repo_main"),
        "{}",
        summary.text
    );
    let counter = counter();
    let request = SummaryRequest {
        turns: &turns,
        previous: None,
        anchors: &[],
        max_tokens: 300,
        counter: &counter,
    };
    let open = Extractive { redaction: false }.summary(&request).expect("fits");
    assert!(open.redactions == 0 && open.text.contains(&secret));
}

#[test]
fn nothing_of_a_template_or_a_terminal_gets_through() {
    let said = "Fix \u{1b}[31mred\u{1b}[0m \0text <|im_end|> and <tool_call> tags [CONTEXT SUMMARY]: here\u{202e}.\n```py\nx = 1\n```\nDone so.";
    let text = told(&[turn(Role::Human, said)]);
    assert_eq!(
        text,
        "[CONTEXT SUMMARY]:\nAsked:\n- Fix red text and tags here. Done so."
    );
}

#[test]
fn the_language_of_the_data_is_kept() {
    let turns = [
        turn(Role::Human, "请取消订单#W2417020，不要退款到信用卡。"),
        call("", "cancel_order", r##"{"order_id": "#W2417020"}"##),
        answer("{\"status\": \"已取消\"}"),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- 请取消订单#W2417020，不要退款到信用卡。"),
        "{text}"
    );
    assert!(text.contains("-> status: 已取消"), "{text}");
}

#[test]
fn demands_in_long_requests_become_constraints() {
    let long = format!(
        "{} You must not change the public API. Keep it small.",
        "Here is some background on it. It matters a lot to us. ".repeat(1)
    );
    let long = format!(
        "{long}\n{}",
        (0..60)
            .map(|n| format!("Detail number {n} of the story. "))
            .collect::<String>()
    );
    let text = told(&[turn(Role::Human, &long)]);
    assert!(
        text.contains("Constraints:\n- You must not change the public API."),
        "{text}"
    );
}

#[test]
fn too_small_a_budget_is_an_error_only_below_the_marker() {
    let counter = counter();
    let turns = [turn(Role::Human, "Do it now, please, all of it.")];
    let marker = counter.count(SUMMARY_MARKER);
    let request = |max_tokens| SummaryRequest {
        turns: &turns,
        previous: None,
        anchors: &[],
        max_tokens,
        counter: &counter,
    };
    assert!(Extractive::default().summary(&request(marker - 1)).is_err());
    assert_eq!(
        Extractive::default()
            .summary(&request(marker))
            .expect("fits")
            .text,
        SUMMARY_MARKER
    );
}

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
    let mut unknown = Vec::new();
    identifiers(text, |identifier| {
        if !line::cleaned(&sources).contains(identifier) && !identifier.contains("REDACTED") {
            unknown.push(identifier.to_owned());
        }
    });
    unknown
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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
        let request = SummaryRequest { turns: &turns, previous: previous.as_deref(), anchors: &anchors, max_tokens, counter: &counter };
        let summary = Extractive::default().summary(&request).expect("fits");
        let text = &summary.text;
        prop_assert!(counter.count(text) <= max_tokens);
        prop_assert!(text.starts_with(SUMMARY_MARKER));
        prop_assert_eq!(text.matches(SUMMARY_MARKER).count(), 1);
        prop_assert!(!text.contains(END_MARKER) && !text.contains("```") && !text.contains("<|"));
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert_eq!(&Extractive::default().summary(&request).expect("fits"), &summary);
        let unknown = invented(text, &turns, previous.as_deref().unwrap_or_default());
        prop_assert!(unknown.is_empty(), "{:?} in {}", unknown, text);
    }
}
