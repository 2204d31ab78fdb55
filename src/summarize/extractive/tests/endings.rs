//! Outcomes of calls in lines: a success only where the record says so.

use super::*;

/// The lines under `Calls:` for calls with their answers, and all that follows.
pub(super) fn done(calls: &[(&str, &str, &str)]) -> String {
    let turns = calls
        .iter()
        .flat_map(|(name, arguments, output)| [call("", name, arguments), answer(output)]);
    let text = told(&turns.collect::<Vec<_>>());
    text.split_once("Calls:\n")
        .map_or(text.clone(), |(_, done)| done.to_owned())
}

#[test]
fn ok_is_an_exit_code_of_zero_or_an_edit_that_says_so_or_nothing_at_all() {
    let text = done(&[
        ("search", r#"{"from": "JFK"}"#, "[]"),
        ("ping", r#"{"n": 8}"#, ""),
        ("write_file", r#"{"path": "a.txt"}"#, "Wrote 5 bytes to a.txt"),
        ("write_file", r#"{"path": "b.txt"}"#, "Maybe later: b.txt"),
        ("write_file", r#"{"path": "c.txt"}"#, "1\n2\n3"),
        (
            "bash",
            r#"{"command": "make"}"#,
            "<returncode>0</returncode>\n<output>\n</output>",
        ),
        (
            "cancel",
            r#"{"id": "Z"}"#,
            r#"{"message": "We are unable to cancel this reservation because the fare class does not allow it."}"#,
        ),
    ]);
    assert_eq!(
        text,
        "- search(from: JFK) -> empty\n\
             - ping(n: 8) -> ok\n\
             - write_file b.txt -> Maybe later: b.txt\n\
             - write_file c.txt\n\
             - bash: make -> ok\n\
             - cancel(id: Z) -> message: We are unable to cancel this reservation because the fare class does not allow it.\n\
             Files:\n- changed: a.txt"
    );
}

#[test]
fn that_a_server_answered_does_not_say_that_it_went_well() {
    let command = r#"{"command": "curl -s -o /dev/null -w '%{http_code}' http://localhost:3000/cart"}"#;
    let text = done(&[(
        "bash",
        command,
        "<returncode>0</returncode>\n<output>\n500\n</output>",
    )]);
    assert!(text.ends_with("-> exit 0: 500"), "{text}");
}

#[test]
fn of_several_runs_in_one_output_the_last_is_told_as_one_of_them() {
    let suites = ["a.sh", "b.sh", "c.sh"].map(|suite| format!("bash tests/{suite}"));
    let run = serde_json::json!({ "command": suites.join(" && ") }).to_string();
    let text = done(&[(
        "bash",
        &run,
        "== 20 passed in 0.04s ==\n== 31 passed in 0.08s ==\n== 18 passed in 0.03s ==",
    )]);
    assert!(text.contains("last of 3 runs: 18 passed in 0.03s"), "{text}");
}

#[test]
fn tests_that_failed_stay_open_until_counts_show_that_they_pass() {
    let failed = "FAILED t.py::a - AssertionError: no\n=== 1 failed, 2 passed in 0.1s ===";
    for (command, printed, is_open) in [
        (
            "pytest t.py | head -2",
            "=== test session starts ===\nplatform linux",
            true,
        ),
        ("pytest t.py", "no tests ran in 0.01s", true),
        ("pytest .", "=== no tests ran in 0.01s ===", true),
        ("pytest .", "=== 9 passed in 0.1s ===", false),
        ("pytest t.py | tail -1", "=== 3 passed in 0.1s ===", false),
    ] {
        let output = format!("<returncode>0</returncode>\n<output>\n{printed}\n</output>");
        let arguments = format!(r#"{{"command": "{command}"}}"#);
        let text = done(&[
            ("bash", r#"{"command": "pytest t.py"}"#, failed),
            ("bash", &arguments, &output),
        ]);
        assert_eq!(text.contains("Open errors:\n- "), is_open, "{command}: {text}");
    }
}

#[test]
fn an_edit_that_was_refused_is_no_change() {
    let text = done(&[
        (
            "editor",
            r#"{"command": "str_replace", "path": "/a/b.py"}"#,
            "The file /a/b.py has been edited.",
        ),
        (
            "editor",
            r#"{"command": "str_replace", "path": "/a/b.py"}"#,
            "No replacement was performed, old_str `q` did not appear verbatim in /a/b.py.\nMake sure\nthat it\nis there",
        ),
        (
            "editor",
            r#"{"command": "create", "path": "/a/c.py"}"#,
            "ERROR:\nInvalid `path` parameter: /a/c.py. File already exists.",
        ),
        (
            "sh",
            r#"{"cmd": "rm /a/d.lock"}"#,
            "rm: cannot remove '/a/d.lock': Operation not permitted",
        ),
        (
            "sh",
            r#"{"cmd": "cat > e.py <<E\nx\nE\npython e.py"}"#,
            "ValueError: x",
        ),
    ]);
    for line in [
        "- editor str_replace /a/b.py (x2, 1 failed) -> failed: No replacement was performed, old_str `q`",
        "- editor create /a/c.py -> failed: Invalid `path` parameter: /a/c.py. File already exists.",
        "- sh: rm /a/d.lock -> failed: rm: cannot remove",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn a_repeated_call_tells_its_last_answer_in_full() {
    let first = r#"{"plan": "gold plan", "city": "Fort Worth"}"#;
    let last = r#"{"plan": "gold plan", "city": "Fort Worth", "note": "very important"}"#;
    let get = r#"{"id": "u_77"}"#;
    let text = done(&[
        ("get", get, first),
        ("get", get, first),
        ("find", get, first),
        ("get", get, last),
    ]);
    assert_eq!(
        text,
        "- find(id: u_77) -> plan: gold plan, city: Fort Worth\n\
         - get(id: u_77) (x3) -> plan: gold plan, city: Fort Worth, note: very important"
    );
    let text = done(&[("get", get, first), ("get", get, first), ("get", get, last)]);
    assert_eq!(
        text,
        "- get(id: u_77) (x3) -> plan: gold plan, city: Fort Worth, note: very important"
    );
}

#[test]
fn an_error_about_something_missing_is_open_until_it_is_there() {
    let is_open = |command: &str, error: &str, later: &str, output: &str| {
        let command = serde_json::json!({ "command": command }).to_string();
        let later = serde_json::json!({ "command": later }).to_string();
        done(&[("sh", &command, error), ("sh", &later, output)]).contains("Open errors:\n")
    };
    let module = "ModuleNotFoundError: No module named 'ruamel'\nExit code: 1";
    let tool = "bash: line 1: rg: command not found\nExit code: 127";
    let file = "python3: can't open file '/w/../a.py': [Errno 2] No such file or directory\nExit code: 2";
    for (command, error, later, output, expected) in [
        (
            "python a.py",
            module,
            "pip install ruamel",
            "ERROR: none found\nExit code: 1",
            true,
        ),
        ("python a.py", module, "ls", "b.py\nExit code: 0", true),
        ("rg x", tool, "grep -r rg .", "Exit code: 0", true),
        (
            "python3 ../a.py",
            file,
            "cd /w && python3 a.py",
            "fine\nExit code: 0",
            false,
        ),
        (
            "python3 src/a/a.py",
            "python3: can't open file 'src/a/a.py': [Errno 2] No such file or directory\nExit code: 2",
            "cat src/b/a.py",
            "x\nExit code: 0",
            true,
        ),
        (
            "python3 ../a.py",
            file,
            "find / -name a.py",
            "none\nExit code: 0",
            true,
        ),
    ] {
        assert_eq!(
            is_open(command, error, later, output),
            expected,
            "{error} / {later}"
        );
    }
}

#[test]
fn an_error_is_open_until_the_same_went_well_in_other_words() {
    let is_open = |failing: (&str, &str, &str), later: (&str, &str, &str)| {
        let arguments = |name: &str, what: &str| match name {
            "sh" => serde_json::json!({ "command": what }).to_string(),
            _ => serde_json::json!({ "path": what }).to_string(),
        };
        let (before, after) = (arguments(failing.0, failing.1), arguments(later.0, later.1));
        done(&[(failing.0, &before, failing.2), (later.0, &after, later.2)]).contains("Open errors:\n")
    };
    let failing = "KeyError: 'k'\nExit code: 1";
    let edit = (
        "edit",
        "/w/a.py",
        "No replacement was performed, old_str `x` did not appear verbatim in /w/a.py.",
    );
    for (before, after, expected) in [
        (
            ("sh", "python a.py", failing),
            ("sh", "python a.py --verbose", "fine\nExit code: 0"),
            false,
        ),
        (
            ("sh", "python a.py", failing),
            ("sh", "python a.py --verbose", failing),
            true,
        ),
        (
            ("sh", "pytest tests/test_a.py -x", "1 failed in 1s"),
            ("sh", "pytest tests -q", "8 passed in 1s"),
            false,
        ),
        (
            ("sh", "pytest tests/test_a.py -x", "KeyError: 'k'\n1 failed in 1s"),
            ("sh", "pytest tests/test_b.py", "8 passed in 1s"),
            true,
        ),
        (edit, ("sh", "sed -i 's/a/b/' /w/a.py", ""), false),
        (edit, ("sh", "sed -i 's/a/b/' /w/b.py", ""), true),
        (edit, ("write", "/w/a.py", "ok"), false),
    ] {
        assert_eq!(is_open(before, after), expected, "{before:?} / {after:?}");
    }
}

#[test]
fn a_terminals_envelope_is_opened() {
    let text = done(&[
        (
            "terminal",
            r#"{"command": "pytest -q"}"#,
            r#"{"output": "E  ValueError: bad seed\n=== 1 failed, 12 passed in 2.0s ===", "exit_code": 1}"#,
        ),
        (
            "terminal",
            r#"{"command": "npm test || true"}"#,
            r#"{"stdout": "one\nTests: 3 failed, 9 passed", "stderr": "", "exit_code": 0}"#,
        ),
        (
            "terminal",
            r#"{"command": "make it"}"#,
            r#"{"output": "late", "exit_code": 124, "error": "timed out"}"#,
        ),
    ]);
    for line in [
        "- terminal: pytest -q -> exit 1: 1 failed, 12 passed in 2.0s; E ValueError: bad seed\n",
        "- terminal: npm test || true -> exit 0 with an error: Tests: 3 failed, 9 passed\n",
        "- terminal: make it -> exit 124: timed out",
        "Open errors:\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn crosses_are_told_and_blocked_commands_that_stopped_nothing_are_not() {
    let text = done(&[
        ("bash", r#"{"command": "rm -rf /w"}"#, "Command blocked by policy"),
        ("bash", r#"{"command": "cat > a.py <<E\nx\nE"}"#, "Exit code: 0"),
        ("bash", r#"{"command": "cat > b.py <<E\nx\nE"}"#, "Exit code: 0"),
        ("bash", r#"{"command": "cd /w && rm a.py"}"#, "Exit code: 0"),
        (
            "bash",
            r#"{"command": "python -c 'if a' > [model._meta.get_field(f).column"}"#,
            "Exit code: 0",
        ),
        (
            "bash",
            r#"{"command": "python check.py"}"#,
            "case 1\n❌ passed but should have failed\nExit code: 0",
        ),
        (
            "bash",
            r#"{"command": "python final.py"}"#,
            "Test case 1: FAIL\nTest case 2: ok\nExit code: 0",
        ),
    ]);
    assert!(
        text.contains("python check.py -> exit 0: ❌ passed but should have failed\n")
            && text.contains("python final.py -> exit 0: Test case 1: FAIL")
            && !text.contains("blocked by policy"),
        "{text}"
    );
}

#[test]
fn a_patch_in_a_list_of_words_is_an_edit_of_its_files() {
    let patch =
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch";
    let arguments = serde_json::json!({"command": ["apply_patch", patch]}).to_string();
    let answer = r#"{"output": "Success. Updated the following files:\nM src/a.py\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}"#;
    let text = done(&[("shell", &arguments, answer)]);
    assert!(text.contains("Files:\n- changed: b.py, src/a.py"), "{text}");
}

#[test]
fn tests_that_fail_are_open_however_many_edits_went_well_after_them() {
    let text = done(&[
        (
            "bash",
            r#"{"command": "npm test"}"#,
            "  1 passing (3ms)\n  1 failing\n\n  1) upload\n       rejects a big file:\n     AssertionError: expected 500 to equal 413",
        ),
        ("write_file", r#"{"path": "a.txt"}"#, "Wrote 5 bytes to a.txt"),
        ("write_file", r#"{"path": "b.txt"}"#, "Wrote 5 bytes to b.txt"),
        ("write_file", r#"{"path": "c.txt"}"#, "Wrote 5 bytes to c.txt"),
    ]);
    assert!(
        text.contains("Open errors:\n- bash: npm test -> failed: 1 passing (3ms), 1 failing"),
        "{text}"
    );
}

#[test]
fn tests_of_which_none_passed_are_not_ok() {
    for (printed, told) in [
        ("23 deselected, 1 warning in 0.01s", "-> exit 0: 23 deselected"),
        ("5 skipped in 0.10s", "-> exit 0: 5 skipped"),
        ("1 passed, 22 deselected in 0.01s", "-> ok: 1 passed"),
    ] {
        let output = format!("<returncode>0</returncode>\n<output>\n{printed}\n</output>");
        let text = done(&[("bash", r#"{"command": "pytest t.py -k a | tail -5"}"#, &output)]);
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn a_row_of_numbers_is_no_last_line_nor_is_what_stands_before_it() {
    let script = r#"{"command": "python merge.py"}"#.to_owned();
    let table = "reading stores\nreading calendar\nmerging\ntreated   post\n0         402.1   21873.9\n1         540.5   27375.3".to_owned();
    let text = done(&[("bash", &script, &table)]);
    assert!(!text.contains("last line"), "{text}");
}

#[test]
fn an_answer_that_is_only_counted_has_no_line() {
    let state = |number: usize| serde_json::json!({"entity_id": format!("light.kitchen_ceiling_{number}"), "state": "on", "since": "2026-01-20T03:07:02"});
    let states: Vec<_> = (0..6).map(state).collect();
    let answer = serde_json::json!({"count": 6, "filter": "light.*", "states": states}).to_string();
    let text = done(&[
        ("ha_states", r#"{"filter": "light.*"}"#, &answer),
        ("ping", r#"{"n": 8}"#, r#"{"status": "pending"}"#),
    ]);
    assert!(!text.contains("ha_states") && text.contains("pending"), "{text}");
}
