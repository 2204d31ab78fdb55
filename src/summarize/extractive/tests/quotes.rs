//! Quotations of recent work.

use super::*;

const EDIT: &str = r#"{"command": "str_replace", "path": "/w/a.py", "old_str": "def total(rows):\n    return sum(rows)", "new_str": "def total(rows):\n    return sum(row.price for row in rows)"}"#;

fn quoting(turns: &[TurnView<'_>], max_tokens: usize) -> String {
    summary_of(turns, None, &[], max_tokens).text
}

#[test]
fn the_newest_edit_is_quoted_with_what_it_puts_in_and_is_told_once() {
    let turns = [
        turn(Role::Human, "Mend the sum."),
        call("", "editor", EDIT),
        answer("No replacement was performed, old_str did not appear verbatim in /w/a.py."),
    ];
    let text = quoting(&turns, 400);
    let (before, quoted) = text.split_once("Recent work:\n").unwrap();
    assert!(!before.contains("editor str_replace /w/a.py ->"), "{text}");
    for line in [
        "- turn -2, editor str_replace /w/a.py -> failed",
        "```\nnew_str: def total(rows):\n    return sum(row.price for row in rows)\n```",
    ] {
        assert!(quoted.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("old_str:"), "{text}");
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
        text.contains("print(second29)\n") && !text.contains("print(first29)\n"),
        "{text}"
    );
    assert!(text.contains("\n```\n…\nprint(second"), "{text}");
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
fn words_are_quoted_that_tell_more_than_the_next_step() {
    let turns = [
        call("Let me look at the tests.", "bash", r#"{"command": "ls tests"}"#),
        answer("a.py\nb.py"),
        turn(
            Role::Assistant,
            "The refund of 35.90 EUR went out today.\n\nIt arrives in 5 days.",
        ),
    ];
    let text = quoting(&turns, 400);
    assert!(!text.contains("Let me look"), "{text}");
    assert!(
        text.contains("- turn -1, said:\n```\nThe refund of 35.90 EUR"),
        "{text}"
    );
}

#[test]
fn earlier_edits_of_a_file_are_quoted_too() {
    let edit = |new: &str| {
        serde_json::json!({"command": "str_replace", "path": "/w/a.py", "old_str": "x = 1", "new_str": format!("x = {new}\ny = {new}")}).to_string()
    };
    let (first, second) = (edit("first"), edit("second"));
    let edited = "The file /w/a.py has been edited.";
    let turns = [
        call("", "editor", &first),
        answer(edited),
        call("", "editor", &second),
        answer(edited),
    ];
    let text = quoting(&turns, 400);
    assert!(
        text.contains("x = first\n") && text.contains("x = second\n"),
        "{text}"
    );
}

#[test]
fn long_outputs_leave_room_for_what_was_written_before() {
    let script: Vec<String> = (0..20).map(|line| format!("print(script{line})")).collect();
    let script = serde_json::json!({ "command": script.join("\n") }).to_string();
    let output: Vec<String> = (0..900)
        .map(|line| format!("row {line} of a long output"))
        .collect();
    let output = output.join("\n");
    let look = r#"{"command": "cat rows.txt"}"#;
    let turns = [
        call("", "bash", &script),
        answer("ok"),
        call("", "bash", look),
        answer(&output),
    ];
    let text = quoting(&turns, 500);
    assert!(
        text.contains("print(script19)") && text.contains("row 899 of"),
        "{text}"
    );
}

#[test]
fn of_quotations_in_an_earlier_summary_stays_how_the_calls_ended() {
    let previous = "Recent work:\n- said: Fine.\n- bash -> exit 1: boom:\n````\ncommand: run\n```\nCalls:\n````\nKey references: a";
    let text = summary_of(&[], Some(previous), &[], 400).text;
    assert_eq!(
        text,
        "[CONTEXT SUMMARY]:\nOpen errors:\n- bash: run -> exit 1: boom"
    );
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

#[test]
fn an_edit_that_was_undone_is_not_quoted() {
    let turns = [
        turn(Role::Human, "Mend the sum."),
        call("", "editor", EDIT),
        answer("The file /w/a.py has been edited."),
        call("", "bash", r#"{"command": "cd /w && git checkout a.py"}"#),
        answer("Updated 1 path from the index\nExit code: 0"),
    ];
    let text = quoting(&turns, 400);
    assert!(!text.contains("editor"), "{text}");
}

#[test]
fn a_page_is_quoted_until_something_was_done_with_it() {
    let page: Vec<String> = (0..30)
        .map(|link| format!("\t[{link}] link 'Item {link}'"))
        .collect();
    let page = format!("RootWebArea 'Shop', focused\n{}", page.join("\n"));
    let (open, click) = (r#"{"code": "goto('http://shop')"}"#, r#"{"code": "click('29')"}"#);
    let turns = [
        call("", "browser", open),
        answer(&page),
        call("", "browser", click),
    ];
    assert!(quoting(&turns[..2], 500).contains("Item 29"));
    let text = quoting(&turns, 500);
    assert!(
        text.contains("click('29')") && !text.contains("Item 29"),
        "{text}"
    );
}

#[test]
fn edits_say_what_they_were_for_or_what_they_put_in() {
    let explained =
        serde_json::json!({"filePath": "/w/a.go", "explanation": "Add the retry.", "code": "func retry() {"});
    let planned = serde_json::json!({"filePath": "/w/b.go", "explanation": "I will add it.", "code": "// ...\nfunc flush() {}"});
    let blocks = "<<<<<<< SEARCH\n:start_line:3\n-------\nretries = 1\n=======\nimport os\nretries = 2\n>>>>>>> REPLACE";
    let blocks = serde_json::json!({"path": "/w/c.py", "diff": blocks});
    for (tool, arguments, expected) in [
        ("insert_edit_into_file", explained, "a.go -> ok: Add the retry\n"),
        ("insert_edit_into_file", planned, "b.go -> ok: + func flush() {}"),
        ("apply_diff", blocks, "c.py -> ok: + retries = 2"),
    ] {
        let arguments = arguments.to_string();
        let text = told(&[call("", tool, &arguments), answer("The file was edited.")]) + "\n";
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let typed = bash("edit 91:93\n    public Backoff build() {\n        throw new Bad(jitter);\nend_of_edit");
    let turns = [
        call("", "", &typed),
        answer("[File: /w/Backoff.java (95 lines total)]"),
    ];
    assert!(
        told(&turns).contains(": + throw new Bad(jitter);"),
        "{}",
        told(&turns)
    );
}

#[test]
fn a_command_is_not_told_in_the_heading_and_below_it() {
    let command = "source install/setup.bash && colcon build --packages-select wheel_odom";
    let heading = "turn -6, Bash: colcon build --packages-select wheel_odom -> ok";
    let told = quoted::with_argument(heading, &format!("command: {command}"));
    assert_eq!(told, Some(format!("turn -6, Bash: {command} -> ok")));
    assert_eq!(quoted::with_argument(heading, "command: make"), None);
}

#[test]
fn what_a_file_held_before_later_edits_is_quoted_as_that() {
    let shown = format!(
        "def load():\n{}",
        "    rows = read_rows(path, limit)\n".repeat(12)
    );
    let view = r#"{"command": "view", "path": "/w/app/main.py"}"#;
    let edit = r#"{"command": "str_replace", "path": "/w/app/main.py", "old_str": "read_rows", "new_str": "stream_rows"}"#;
    let turns = [
        call("", "editor", view),
        answer(&shown),
        call("", "editor", edit),
        answer("The file /w/app/main.py has been edited."),
    ];
    let text = summary_of(&turns, None, &[Anchor::new("read_rows", 1)], 400).text;
    let heading = text
        .lines()
        .find(|line| line.contains("output of editor view /w/app/main.py"));
    assert!(
        heading.is_some_and(|line| line.ends_with("(before later edits):")),
        "{text}"
    );
}
