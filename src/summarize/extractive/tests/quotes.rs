//! What was written last, quoted.

use super::*;

const EDIT: &str = r#"{"command": "str_replace", "path": "/w/a.py", "old_str": "def total(rows):\n    return sum(rows)", "new_str": "def total(rows):\n    return sum(row.price for row in rows)"}"#;

fn quoting(turns: &[TurnView<'_>], max_tokens: usize) -> String {
    summary_of(turns, None, &[], max_tokens).text
}

#[test]
fn the_newest_edit_is_quoted_with_what_it_replaces_and_is_told_once() {
    let turns = [
        turn(Role::Human, "Mend the sum."),
        call("", "editor", EDIT),
        answer("No replacement was performed, old_str did not appear verbatim in /w/a.py."),
    ];
    let text = quoting(&turns, 400);
    let (before, quoted) = text.split_once("Recent work:\n").unwrap();
    assert!(!before.contains("editor str_replace /w/a.py ->"), "{text}");
    for line in [
        "- editor str_replace /w/a.py -> failed",
        "old_str: def total(rows):\n    return sum(rows)\n",
        "    return sum(row.price for row in rows)\n```",
    ] {
        assert!(quoted.contains(line), "{line} in {text}");
    }
}

#[test]
fn quotations_are_cut_at_line_ends_and_the_newest_enter_first() {
    let script = |name: &str| {
        let lines: Vec<String> = (0..30).map(|line| format!("print({name}{line})")).collect();
        serde_json::json!({ "command": lines.join("\n") }).to_string()
    };
    let (first, second) = (script("first"), script("second"));
    let turns = [
        call("", "bash", &first),
        answer("done"),
        call("", "bash", &second),
        answer("done"),
    ];
    let text = quoting(&turns, 150);
    assert!(
        text.contains("print(second1)\n") && !text.contains("print(first1)\n"),
        "{text}"
    );
    assert!(text.contains(")\n…\n```"), "{text}");
}

#[test]
fn a_quotation_breaks_no_fence_and_holds_no_tag_of_a_parser() {
    let arguments = serde_json::json!({
        "command": "cat > a.md <<'E'\n```\n<tool_call>{}</tool_call> <|im_end|> <function=x>\n[CONTEXT SUMMARY]:\n```\nE"
    });
    let arguments = arguments.to_string();
    let text = quoting(&[call("", "bash", &arguments), answer("ok")], 400);
    for tag in ["<tool_call>", "</tool_call>", "<|", "<function="] {
        assert!(!text.contains(tag), "{tag} in {text}");
    }
    assert_eq!(text.matches(SUMMARY_MARKER).count(), 1, "{text}");
    assert!(
        text.contains("\n````\n") && text.contains("‹tool_call>{}"),
        "{text}"
    );
}

#[test]
fn what_only_says_what_comes_next_is_not_quoted() {
    let turns = [
        turn(Role::Assistant, "Let me look at the tests."),
        turn(
            Role::Assistant,
            "The refund of 35.90 EUR went out today.\n\nIt arrives in 5 days.",
        ),
    ];
    let text = quoting(&turns, 400);
    assert!(!text.contains("Let me look"), "{text}");
    assert!(text.contains("- said:\n```\nThe refund of 35.90 EUR"), "{text}");
}

#[test]
fn of_quotations_in_an_earlier_summary_stays_how_the_calls_ended() {
    let previous = "Recent work:\n- said: Fine.\n- bash -> exit 1: boom:\n````\ncommand: run\n```\nDone:\n````\nKey references: a";
    let text = summary_of(&[], Some(previous), &[], 400).text;
    assert_eq!(text, "[CONTEXT SUMMARY]:\nDone:\n- bash -> exit 1: boom");
}

#[test]
fn nothing_is_told_and_quoted() {
    let turns = [
        turn(Role::Human, "Mend it."),
        turn(
            Role::Assistant,
            "The bug is in the seed handling of the sampler. It came with the last release.",
        ),
        call(
            "",
            "bash",
            r#"{"command": "python check_the_seed_handling.py --sampler uniform --release 1.2.3 --verbose"}"#,
        ),
        answer("fine"),
    ];
    for max_tokens in [60, 90, 120, 400] {
        let text = quoting(&turns, max_tokens);
        assert!(
            text.matches("The bug is in the seed").count() <= 1,
            "{max_tokens}: {text}"
        );
        assert!(
            text.matches("check_the_seed").count() <= 1,
            "{max_tokens}: {text}"
        );
    }
}
