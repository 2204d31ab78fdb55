//! Summaries of typical regions.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::*;
use crate::compress::anchors::{dangling, held_mask};
use crate::summarize::marker::SUMMARY_MARKER;

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
         The user said, in order:\n\
         - Please fix the failing test in core_a.py. Never touch setup.cfg.\n\
         Calls:\n\
         - bash: pytest core_a.py (x2, 1 failed earlier) -> ok: 13 passed in 2.0s\n\
         Files:\n- changed: /repo/core_a.py\n\
         Open errors:\n\
         - bash: ruff check . -> exit 127: bash: ruff: command not found"
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
        text.contains("- cancel(order_id: #W2417020, reason: no longer needed) -> failed: not allowed"),
        "{text}"
    );
    assert!(text.contains("Open errors:\n- cancel("), "{text}");
}

#[test]
fn errors_that_only_a_sentence_tells_are_no_success() {
    let turns = [
        call("", "edit", r#"{"path": "a.py", "text": "x"}"#),
        answer(
            "Your proposed edit has introduced new syntax error(s). Please read this error message carefully.",
        ),
        call("", "bash", r#"{"command": "python -m pytest 2>&1 | tail -3"}"#),
        answer("<returncode>0</returncode>\n<output>\n/usr/bin/python: No module named pytest\n</output>"),
    ];
    let text = told(&turns);
    assert!(text.contains("introduced new syntax error(s)"), "{text}");
    assert!(
        text.contains("exit 0 with an error: /usr/bin/python: No module named pytest"),
        "{text}"
    );
}

#[test]
fn an_error_that_later_succeeded_is_not_open() {
    let run = |exit: &'static str| [call("", "sh", r#"{"cmd": "make"}"#), answer(exit)];
    let [a, b] = run("Error: no rule\nExit code: 2");
    let [c, d] = run("built\nExit code: 0");
    let text = told(&[a.clone(), b.clone(), c.clone(), d.clone()]);
    assert!(text.contains("- sh: make (x2, 1 failed earlier) -> ok"), "{text}");
    assert!(!text.contains("Open errors"), "{text}");
    let text = told(&[c, d, a, b]);
    assert!(
        text.contains("Open errors:\n- sh: make (x2, 1 failed) -> exit 2: Error: no rule"),
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
    // That three lines were read tells nothing of them.
    assert!(text.contains("Calls:\n- python a.py -> ok: fine"), "{text}");
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
        ..ToolResponse::default()
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
            r#"{"orders": [{"name": "Laptop", "item_id": "8997785118"}, {"name": "Camera", "item_id": "1111222233"}]}"#,
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
    let previous = "Asked:\n- Build the parser first.\nCalls:\n- bash: make -> ok\nOdd: a line of another summarizer\nKey references: old_one";
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
    assert!(
        text.contains("The user said, in order:\n- Build the parser first.\n"),
        "{text}"
    );
    assert!(text.contains("Calls:\n- bash: make -> ok\n- Odd: a line of another summarizer\n- bash: make test -> 3 passed in 1s"), "{text}");
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
    anchors.push(Anchor::new("Tr0ub4dor&3", 9));
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
        turns: &Stretch::of(&turns),
        is_redacted: false,
        previous: None,
        in_progress: None,
        around: crate::summarize::Around::default(),
        files_follow: false,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens: 300,
        target_tokens: 300,
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
        "[CONTEXT SUMMARY]:\nThe user said, in order:\n- Fix red text (tag) and (tag) tags here. [code] Done so."
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
fn demands_of_a_long_request_are_told_first() {
    let mut long =
        "Here is some background on it. You must not change the public API. Keep it small.\n".to_owned();
    for n in 0..60 {
        let _ = write!(long, "Detail number {n} of the story. ");
    }
    let text = told(&[turn(Role::Human, &long)]);
    assert!(
        text.contains("- You must not change the public API. Keep it small."),
        "{text}"
    );
}

#[test]
fn too_small_a_budget_is_an_error_only_below_the_marker() {
    let counter = counter();
    let turns = [turn(Role::Human, "Do it now, please, all of it.")];
    let marker = counter.count(SUMMARY_MARKER);
    let stretch = Stretch::of(&turns);
    let request = |max_tokens| SummaryRequest {
        turns: &stretch,
        is_redacted: false,
        previous: None,
        in_progress: None,
        around: crate::summarize::Around::default(),
        files_follow: false,
        reuse: crate::compress::reuse::Reuse::none(),
        anchors: &[],
        max_tokens,
        target_tokens: max_tokens,
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

#[test]
fn a_secret_that_only_its_rendered_line_shows_is_redacted_too() {
    let value = "a8F3kQ9zL2mX7pR4tV6wB1nC5dE0";
    let said = format!("<function=login>\n<parameter=api_key>\n{value}\n</parameter>\n</function>");
    let turns = [turn(Role::Assistant, &said)];
    let anchors = [Anchor::new(value, 3)];
    let summary = summary_of(&turns, None, &anchors, 300);
    assert_eq!(
        summary.text,
        "[CONTEXT SUMMARY]:\nCalls:\n- login(api_key: [REDACTED:api-key])"
    );
    assert_eq!(summary.redactions, 1);
}

#[test]
fn an_earlier_summary_of_ours_survives_being_summarized_again() {
    let turns = [
        turn(Role::Human, "Please fix lib/core_a.py."),
        call("", "bash", r#"{"command": "pytest -x"}"#),
        answer("2 failed, 3 passed in 1s"),
    ];
    let first = told(&turns);
    let body = crate::summarize::marker::body_of(&first).expect("a summary");
    assert_eq!(summary_of(&[], Some(body), &[], 2_000).text, first);
}

#[test]
fn of_a_task_that_somebody_else_was_given_their_report_is_told() {
    let prompt = "Read every file of the decoder and look for states that it cannot leave again. ".repeat(6);
    let arguments = serde_json::json!({"description": "Review resync", "prompt": prompt}).to_string();
    let report = "A frame with a bad length leaves the decoder in state 2 for good. The escape before a start of frame is handled well.";
    let turns = [
        turn(Role::Human, "Mend the decoder."),
        call("A second pair of eyes.", "Task", &arguments),
        answer(report),
        turn(Role::Assistant, "The report is clear."),
    ];
    let text = summary_of(&turns, None, &[], 120).text;
    assert!(text.contains("leaves the decoder in state 2"), "{text}");
    assert!(!text.contains("Read every file"), "{text}");
}

#[test]
fn what_stands_under_a_heading_of_rules_demands() {
    let rules = "Falling back to EUR is wrong.\n\nTwo more rules while you're at it:\n- every change needs a regression test\n- no force-pushes, Magda reviews commit by commit";
    let reopened =
        "Reopen it, please. New rule as well: put tickets in 'Awaiting Caller' until they confirm.";
    let turns = [
        turn(Role::Human, rules),
        turn(Role::Assistant, "Fine."),
        turn(Role::Human, reopened),
        turn(Role::Assistant, "Reopened."),
    ];
    let text = told(&turns);
    for line in [
        "Two more rules while you're at it: every change needs a regression test; no force-pushes, Magda",
        "New rule as well: put tickets",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
