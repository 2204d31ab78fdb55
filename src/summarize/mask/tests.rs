//! Masks of the usual tools and of any other.

use super::*;
use crate::trajectory::views_of;

/// The masks of a chat in which each tool is called and answers.
fn masked(calls: &[(&str, &str, &str)]) -> Vec<Mask> {
    let turns: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(number, (name, arguments, output))| {
            let call = serde_json::json!({"role": "assistant", "content": "", "tool_calls": [
                {"id": format!("call_{number}"), "function": {"name": name, "arguments": arguments}}]});
            let answer = serde_json::json!({"role": "tool", "tool_call_id": format!("call_{number}"), "content": output});
            format!("{call},{answer}")
        })
        .collect();
    let record = format!(r#"{{"messages": [{}]}}"#, turns.join(","));
    let views = views_of(&record);
    masks(&views, &views, |_| Vec::new())
}

#[track_caller]
fn becomes(name: &str, arguments: &str, output: &str, expected: &str) {
    let masks = masked(&[(name, arguments, output)]);
    let text = masks.first().map(|mask| mask.text.as_str());
    assert_eq!(text, Some(expected));
}

fn lines(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n} of some output\n")).collect();
    lines.concat()
}

#[test]
fn terminals_say_what_ran_and_how_it_ended() {
    becomes(
        "terminal",
        r#"{"command": "cd /w && npm test"}"#,
        &format!("{}FAILED: 3 of 7 suites\nexit code: 1", lines(45)),
        "[terminal] ran \"npm test\" -> exit 1, 47 lines; FAILED: 3 of 7 suites",
    );
    becomes(
        "bash",
        r#"{"command": "make"}"#,
        &format!(
            "<returncode>2</returncode>\n<output>\n{}a.c:1: error: x\nb.c:2: error: y\n</output>",
            lines(20)
        ),
        "[bash] ran \"make\" -> exit 2, 22 lines; a.c:1: error: x\nb.c:2: error: y",
    );
    becomes(
        "terminal",
        r#"{"command": "ls"}"#,
        &lines(30),
        "[terminal] ran \"ls\", 30 lines",
    );
    becomes(
        "terminal",
        r#"{"command": "grep \"x\" a"}"#,
        &serde_json::json!({"output": lines(30), "exit_code": 0, "error": null}).to_string(),
        "[terminal] ran `grep \"x\" a` -> exit 0, 30 lines",
    );
}

#[test]
fn a_command_in_words_is_told_as_it_would_be_typed() {
    for (arguments, ran) in [
        (
            r#"{"command": ["bash", "-lc", "cd /w && npm test"], "workdir": "/w"}"#,
            "npm test",
        ),
        (r#"{"cmd": ["/bin/sh", "-c", "make"]}"#, "make"),
        (
            r#"{"command": ["git", "status", "--short"]}"#,
            "git status --short",
        ),
    ] {
        becomes(
            "shell",
            arguments,
            &lines(12),
            &format!("[shell] ran \"{ran}\", 12 lines"),
        );
    }
}

#[test]
fn files_searches_patches_webs_and_tasks_are_known() {
    let long = "x y z\n".repeat(50);
    becomes(
        "read_file",
        r#"{"path": "src/a.rs"}"#,
        &long,
        "[read_file] src/a.rs, 300 chars",
    );
    becomes(
        "str_replace_editor",
        r#"{"command": "view", "path": "/w/a.py", "view_range": [1, 50]}"#,
        &long,
        "[str_replace_editor] view /w/a.py lines 1 to 50, 300 chars",
    );
    becomes(
        "search_files",
        r#"{"pattern": "def run", "path": "src"}"#,
        &long,
        "[search_files] \"def run\" in src, 300 chars",
    );
    becomes(
        "patch",
        &serde_json::json!({"patch": "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x\n+y\n*** Add File: c.md"}).to_string(),
        &long,
        "[patch] a/b.py, c.md, 300 chars",
    );
    becomes(
        "apply_patch",
        "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x\n+y\n*** End Patch",
        &long,
        "[apply_patch] a/b.py, 300 chars",
    );
    becomes(
        "web_search",
        r#"{"query": "rust mask"}"#,
        &long,
        "[web_search] \"rust mask\", 300 chars",
    );
    becomes(
        "web_extract",
        r#"{"urls": ["https://a.example/x", "https://b.example"]}"#,
        &long,
        "[web_extract] https://a.example/x and 1 more, 300 chars",
    );
    becomes(
        "web_fetch",
        r#"{"url": " ", "URL": "https://a.example", "Link": "https://b.example"}"#,
        &long,
        "[web_fetch] https://a.example and 1 more, 300 chars",
    );
    becomes(
        "browser_navigate",
        r#"{"url": "https://a.example"}"#,
        &long,
        "[browser_navigate] https://a.example, 300 chars",
    );
    becomes(
        "execute_code",
        r#"{"code": "import os\n# list\nprint(os.listdir())"}"#,
        &lines(12),
        "[execute_code] ran \"print(os.listdir())\" (3 lines), 12 lines",
    );
    becomes(
        "delegate_task",
        r#"{"goal": "Find the bug", "context": "none"}"#,
        &long,
        "[delegate_task] \"Find the bug\", 300 chars",
    );
    becomes(
        "get_reservation",
        r#"{"reservation_id": "ZFA04Y"}"#,
        &long,
        "[get_reservation] reservation_id: ZFA04Y, 300 chars",
    );
}

#[test]
fn what_failed_or_was_blocked_says_so() {
    let long = lines(20);
    let texts = [
        (
            format!("Command blocked: not on the list\n{long}"),
            "blocked: not on the list",
        ),
        (
            format!("{long}bash: line 1: foo: command not found"),
            "foo: command not found",
        ),
        (
            format!("{long}Operation timed out after 60 s"),
            "timed out after 60 s",
        ),
        (
            serde_json::json!({"success": false, "message": "no such row", "log": long}).to_string(),
            " -> failed",
        ),
        (
            serde_json::json!({"status": "blocked", "log": long}).to_string(),
            " -> refused",
        ),
        (
            serde_json::json!({"error": "Permission denied", "log": long}).to_string(),
            "Permission denied",
        ),
        (
            serde_json::json!({"exit_code": 124, "timed_out": true, "output": long}).to_string(),
            " -> exit 124",
        ),
    ];
    for (output, told) in texts {
        let masks = masked(&[("run", r#"{"command": "x"}"#, &output)]);
        let text = &masks[0].text;
        assert!(text.contains(told), "{text}");
        assert!(!text.contains("exit 0") && !text.contains("ok"), "{text}");
    }
}

#[test]
fn a_refused_edit_and_a_long_message_are_told() {
    let refused = format!(
        "ERROR:\nInvalid `path` parameter: /w/a.py. File already exists. {}",
        "x ".repeat(80)
    );
    let masks = masked(&[("editor", r#"{"command": "create", "path": "/w/a.py"}"#, &refused)]);
    let start = "[editor] create /w/a.py -> refused, 223 chars; Invalid `path` parameter: /w/a.py. File already exists.";
    assert!(masks[0].text.starts_with(start), "{}", masks[0].text);
    let message = format!("We are unable to cancel it. {}", "It is too late. ".repeat(20));
    let answer = serde_json::json!({"message": message}).to_string();
    let masks = masked(&[("cancel", r#"{"id": "Z"}"#, &answer)]);
    assert!(
        masks[0]
            .text
            .contains("; message: We are unable to cancel it. It is"),
        "{}",
        masks[0].text
    );
}

#[test]
fn every_error_line_is_kept() {
    let output = format!(
        "{}ValueError: a\n{}ValueError: a\nTypeError: b\n",
        lines(9),
        lines(9)
    );
    let masks = masked(&[("run", r#"{"command": "x"}"#, &output)]);
    let text = &masks[0].text;
    assert_eq!(
        text,
        "[run] ran \"x\" -> failed, 21 lines; ValueError: a\nValueError: a\nTypeError: b"
    );
    assert_eq!((error_lines(&output), error_lines(text)), (3, 3));
}

#[test]
fn an_error_line_that_only_its_end_tells_stays_one() {
    let place = "/a/long/path".repeat(25);
    for error in [
        format!("ls: {place}: No such file or directory"),
        format!("{place}/x.c:3:1: error: expected ';'"),
    ] {
        let output = format!("{}{error}\n{}", lines(30), lines(30));
        let masks = masked(&[("terminal", r#"{"command": "make"}"#, &output)]);
        let text = &masks.first().unwrap().text;
        assert_eq!((error_lines(&output), error_lines(text)), (1, 1), "{text}");
        assert!(text.contains(&error), "{text}");
    }
}

#[test]
fn what_comes_once_more_later_refers_to_it() {
    let output = lines(20);
    let masks = masked(&[
        ("read_file", r#"{"path": "a"}"#, &output),
        ("read_file", r#"{"path": "b"}"#, &lines(21)),
        ("read_file", r#"{"path": "a"}"#, &output),
    ]);
    let references: Vec<Option<&str>> = masks.iter().map(|mask| mask.reference.as_deref()).collect();
    let expected = "[read_file] a, 450 chars, the same as later in call_2";
    assert_eq!(references, [Some(expected), None, None]);
}

#[test]
fn a_mask_is_not_masked_again_and_short_outputs_stay() {
    let output: Vec<String> = (0..30).map(|n| format!("Error: number {n} of many\n")).collect();
    let output = output.concat();
    let call = ("run", r#"{"command": "x"}"#);
    let once = masked(&[(call.0, call.1, &output)]).remove(0).text;
    assert!(once.chars().count() > SHORT);
    assert_eq!(masked(&[(call.0, call.1, &once)]), []);
    assert_eq!(masked(&[(call.0, call.1, &"é".repeat(SHORT))]), []);
    assert_eq!(masked(&[(call.0, call.1, &"é".repeat(SHORT + 1))]).len(), 1);
}

#[test]
fn an_answer_without_an_id_goes_to_the_call_of_its_name() {
    let call = |name: &str| format!("<tool_call>\n{{\"name\": \"{name}\"}}\n</tool_call>");
    let answer = |name: &str, count| {
        let answer = serde_json::json!({"name": name, "content": lines(count)});
        format!("<tool_response>\n{answer}\n</tool_response>")
    };
    let record = serde_json::json!({"conversations": [
        {"from": "gpt", "value": call("alpha") + &call("beta")},
        {"from": "tool", "value": answer("beta", 20) + &answer("alpha", 30)}]});
    let record = record.to_string();
    let views = views_of(&record);
    let masks = masks(&views, &views, |_| Vec::new());
    let tool = |mask: &Mask| mask.text.split(']').next().unwrap_or_default().to_owned();
    assert_eq!(masks.iter().map(tool).collect::<Vec<_>>(), ["[beta", "[alpha"]);
}

#[test]
fn an_answer_without_a_call_and_odd_names_are_no_trouble() {
    let record = serde_json::json!({"conversations": [{"from": "tool", "value":
        format!("<tool_response>\n{}\n</tool_response>", serde_json::json!({"name": "a]b\n", "content": lines(20)}))}]});
    let record = record.to_string();
    let views = views_of(&record);
    assert_eq!(masks(&views, &views, |_| Vec::new())[0].text, "[ab], 450 chars");
    assert_eq!(
        masks(&views, &views, |_| vec![2])[0].text,
        "[ab], 450 chars, 2 images"
    );
}
