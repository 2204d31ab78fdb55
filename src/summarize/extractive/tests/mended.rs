//! Failures that nothing is left of, and lines that say what failed.

use super::endings::done;

#[test]
fn an_error_is_closed_by_a_mended_call_and_none_is_made_of_a_look_for_a_file() {
    let book = |arguments: &str, answer: &str| ("book_slot", arguments.to_owned(), answer.to_owned());
    let wrong = book(
        r#"{"member": "M1", "branch": "BR-22"}"#,
        r#"{"error": "branch must match [0-9]+"}"#,
    );
    let told = |calls: &[(&str, String, String)]| {
        let calls: Vec<(&str, &str, &str)> = calls
            .iter()
            .map(|(tool, with, out)| (*tool, with.as_str(), out.as_str()))
            .collect();
        done(&calls)
    };
    let mended = book(r#"{"member": "M1", "branch": "22"}"#, r#"{"status": "booked"}"#);
    let other = book(r#"{"member": "M2", "branch": "31"}"#, r#"{"status": "booked"}"#);
    for (later, is_open) in [(mended, false), (other, true)] {
        let text = told(&[wrong.clone(), later]);
        assert_eq!(text.contains("must match"), is_open, "{text}");
    }
    // What the error does not allow was left out.
    let both = book(
        r#"{"member": "M1", "adults": 3}"#,
        r#"{"error": "book_slot() got an unexpected argument 'adults'"}"#,
    );
    let without = book(r#"{"member": "M1"}"#, r#"{"status": "booked"}"#);
    assert!(!told(&[both, without]).contains("unexpected argument"));
    let look = (
        "read_file",
        r#"{"path": "src/z.py"}"#.to_owned(),
        "File not found: src/z.py".to_owned(),
    );
    assert!(!told(&[look]).contains("Open errors"));
}

#[test]
fn tests_that_failed_behind_a_build_are_closed_by_the_tests_alone() {
    let run = |command: &str| serde_json::json!({ "command": command }).to_string();
    let failed = run("cmake --build build | grep error; ctest --test-dir build -R frame");
    let later = run("ctest --test-dir build --output-on-failure");
    let other = run("ctest --test-dir build32");
    let bad = "50% tests passed, 1 tests failed out of 2";
    let good = "100% tests passed, 0 tests failed out of 4";
    let beside = run("terraform apply; ctest --test-dir build -R frame");
    let piped = run("ctest --test-dir build -R frame | tee t.log && terraform apply");
    let chained = run("RAILS_ENV=test bin/rails db:migrate >/dev/null && ctest --test-dir build -R frame");
    for (failed, later, is_open) in [
        (&failed, &later, false),
        (&failed, &other, true),
        // Tests ran last, and failed.
        (&beside, &later, false),
        (&chained, &later, false),
        (&piped, &later, false),
    ] {
        let text = done(&[("sh", failed, bad), ("sh", later, good)]);
        assert_eq!(text.contains("Open errors"), is_open, "{text}");
    }
}

#[test]
fn a_file_that_is_written_before_a_run_does_not_stand_for_it_alone() {
    let command =
        serde_json::json!({ "command": "cat > tests/a.rs <<'E'\n#[test]\nfn a() {}\nE\ncargo test" });
    let failed = "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\nExit code: 101";
    let text = done(&[("sh", &command.to_string(), failed)]);
    assert!(
        text.contains("cat > tests/a.rs; cargo test -> exit 101"),
        "{text}"
    );
    // A run that changes nothing says so, however long it is.
    let set = "--set image.tag=1.88.0,replicas=3 ".repeat(6);
    let command =
        serde_json::json!({ "command": format!("helm upgrade api charts/api {set}--dry-run=server") });
    let text = done(&[("sh", &command.to_string(), "api has been installed\nExit code: 0")]);
    assert!(text.contains("… --dry-run=server"), "{text}");
}

#[test]
fn an_edit_that_was_taken_back_is_told_no_more_and_one_that_stands_is() {
    let edit = |old: &str| {
        let arguments = serde_json::json!({"command": "str_replace", "path": "/w/a.py", "old_str": old, "new_str": "timeout = 9"});
        (
            "str_replace_editor",
            arguments.to_string(),
            "The file /w/a.py has been edited.".to_owned(),
        )
    };
    let undo = |answer: &str| {
        let arguments = serde_json::json!({"command": "undo_edit", "path": "/w/a.py"});
        ("str_replace_editor", arguments.to_string(), answer.to_owned())
    };
    let gone = "Last edit to /w/a.py undone successfully.";
    for (calls, stands) in [
        (vec![edit("a"), undo(gone)], false),
        (vec![edit("a"), undo("No edit history found for /w/a.py.")], true),
        (vec![edit("a"), edit("b"), undo(gone)], true),
    ] {
        let calls: Vec<(&str, &str, &str)> = calls
            .iter()
            .map(|(tool, with, out)| (*tool, with.as_str(), out.as_str()))
            .collect();
        let text = done(&calls);
        assert_eq!(text.contains("str_replace /w/a.py"), stands, "{text}");
    }
}

#[test]
fn a_command_is_mended_by_its_last_program_whatever_stood_before_it_or_chose_nothing() {
    let run = |command: &str| serde_json::json!({ "command": command }).to_string();
    let fails = "--- FAIL: TestMove (0.00s)\nFAIL\nexit code: 1";
    let passes = "ok  \tledger\t0.28s\nexit code: 0";
    let counted =
        "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nexit code: 101";
    let denied = "Failed to dial target host: connection refused\nexit code: 1";
    let fine = "{\"id\": \"t-1\"}\nexit code: 0";
    let edit = r#"{"path": "src/lib.rs", "old_str": "one()", "new_str": "two()"}"#;
    for (failed, error, later, out, is_open) in [
        // Times choose no tests, other words do.
        (
            "go test -run TestMove -timeout 20s",
            fails,
            "go test -run TestMove -timeout 60s",
            passes,
            false,
        ),
        (
            "go test -run TestMove -timeout 20s",
            fails,
            "go test -run TestKeep -timeout 60s",
            passes,
            true,
        ),
        (
            "sbt 'core/testOnly a.B'",
            fails,
            "sbt '++3.3; core/testOnly a.B'",
            passes,
            false,
        ),
        (
            "molecule converge; molecule verify",
            fails,
            "molecule verify",
            passes,
            false,
        ),
        (
            "go build -o x && grpcurl :50051 list",
            denied,
            "grpcurl :7071 list",
            fine,
            false,
        ),
        ("gh run watch 17", denied, "git status", fine, true),
        ("pytest && flake8", counted, "flake8", fine, true),
    ] {
        let text = done(&[
            ("str_replace", edit, "The file has been edited."),
            ("sh", &run(failed), error),
            ("sh", &run(later), out),
        ]);
        assert_eq!(
            text.contains("Open errors"),
            is_open,
            "{failed} / {later}: {text}"
        );
    }
}

#[test]
fn a_code_of_zero_behind_a_pipe_or_a_semicolon_is_not_that_of_a_check_before_it() {
    let run = |command: &str| serde_json::json!({ "command": command }).to_string();
    for (command, output, is_ok) in [
        (
            "make lint | tail -3; git status",
            "API check failed\nclean\nExit code: 0",
            false,
        ),
        ("cargo check && git commit -m x", "clean\nExit code: 0", true),
        ("pytest -q | tail -1", "5 passed in 0.1s\nExit code: 0", true),
    ] {
        let text = done(&[("sh", &run(command), output)]);
        assert_eq!(
            text.contains(&[command, " -> ok"].concat()),
            is_ok,
            "{command}: {text}"
        );
    }
}

#[test]
fn an_edit_that_shows_nothing_tells_what_the_one_before_it_put_in() {
    let edit = |old: &str, new: &str| {
        serde_json::json!({"command": "str_replace", "path": "/w/app/models.py", "old_str": old, "new_str": new}).to_string()
    };
    let column = "    cancelled_at: Mapped[datetime] = mapped_column(DateTime)";
    let edits = [
        edit("    id: int", column),
        edit("import a", "import a\nimport datetime"),
    ];
    let edited = "The file /w/app/models.py has been edited.";
    let [first, second] = edits.each_ref().map(|edit| ("editor", edit.as_str(), edited));
    let text = done(&[first, second, ("bash", r#"{"command": "ls out"}"#, "a")]);
    assert!(text.contains("models.py -> ok: + cancelled_at: Mapped"), "{text}");
    // Not once it was taken out again.
    let out = edit(column, "    pass");
    let text = done(&[
        first,
        ("editor", &out, edited),
        second,
        ("bash", r#"{"command": "ls out"}"#, "a"),
    ]);
    assert!(!text.contains("cancelled_at"), "{text}");
}

#[test]
fn a_call_on_another_object_leaves_an_error_open() {
    let failed = "Error: not allowed for this one";
    for (tool, first, later, is_open) in [
        (
            "cancel_reservation",
            r#"{"user_id": "u-7", "reservation_id": "AB12"}"#,
            r#"{"user_id": "u-7", "reservation_id": "ZZ99"}"#,
            true,
        ),
        (
            "pay",
            r#"{"payer": "A-1", "payee": "B-2"}"#,
            r#"{"payer": "A-1", "payee": "C-3"}"#,
            true,
        ),
        ("delete_user", r#"{"name": "anna"}"#, r#"{"name": "bert"}"#, true),
        (
            "run_sql",
            r#"{"query": "DELETE FROM orders"}"#,
            r#"{"query": "SELECT 1"}"#,
            true,
        ),
        (
            "send_email",
            r#"{"to": "ceo@acme.io", "body": "The plan."}"#,
            r#"{"to": "bob@acme.io", "body": "The plan."}"#,
            true,
        ),
        (
            "delete_user",
            r#"{"name": "administrator"}"#,
            r#"{"name": "administrative_bot"}"#,
            true,
        ),
        (
            "create_ticket",
            r#"{"queue": "Q1", "host": "db-1", "priority": "P9"}"#,
            r#"{"queue": "Q1", "host": "db-1", "priority": "P2"}"#,
            false,
        ),
    ] {
        let text = done(&[(tool, first, failed), (tool, later, r#"{"status": "done"}"#)]);
        assert_eq!(text.contains("Open errors"), is_open, "{first}: {text}");
    }
}

#[test]
fn a_line_put_in_goes_with_what_a_command_changed_between_two_edits() {
    let edit = |old: &str, new: &str| {
        serde_json::json!({"path": "/w/m.py", "old_str": old, "new_str": new}).to_string()
    };
    let edits = [
        edit("a", "total_amount = compute_sum(rows)"),
        edit("import a", "import b"),
    ];
    let edited = "The file /w/m.py has been edited.";
    for (between, is_told) in [("ls", true), ("sed -i '/total_amount/d' /w/m.py", false)] {
        let run = serde_json::json!({ "command": between }).to_string();
        let text = done(&[
            ("str_replace", &edits[0], edited),
            ("bash", &run, "Exit code: 0"),
            ("str_replace", &edits[1], edited),
            ("bash", r#"{"command": "mkdir out"}"#, "Exit code: 0"),
        ]);
        let line = text
            .lines()
            .find(|line| line.contains("str_replace /w/m.py"))
            .unwrap_or_default();
        assert_eq!(line.contains("total_amount"), is_told, "{text}");
    }
}

#[test]
fn what_failed_with_an_edit_that_was_put_back_is_open_no_more() {
    let run = |command: &str| serde_json::json!({ "command": command }).to_string();
    let edit = r#"{"path": "src/lib.rs", "old_str": "one()", "new_str": "two()"}"#;
    let counted =
        "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nexit code: 101";
    for (back, is_open) in [("git checkout src/lib.rs", false), ("git checkout -b next", true)] {
        let text = done(&[
            ("str_replace", edit, "The file has been edited."),
            ("sh", &run("cargo test"), counted),
            ("sh", &run(back), "exit code: 0"),
        ]);
        assert_eq!(text.contains("Open errors"), is_open, "{back}: {text}");
    }
}

#[test]
fn tests_are_closed_by_a_run_of_as_many_and_calls_by_the_same_without_what_was_wrong() {
    let run = |command: &str| serde_json::json!({ "command": command }).to_string();
    let one = (
        "sh",
        run("npx vitest run a.test.ts"),
        " Tests  1 failed (1)\nexit code: 1",
    );
    let whole = ("sh", run("pnpm test"), " Tests  24 passed (24)\nexit code: 0");
    let many = (
        "sh",
        run("pnpm test"),
        " Tests  5 failed | 19 passed (24)\nexit code: 1",
    );
    let few = (
        "sh",
        run("npx vitest run b.test.ts"),
        " Tests  3 passed (3)\nexit code: 0",
    );
    let money = (
        "sh",
        run("pnpm --filter money test"),
        " Tests  5 failed | 49 passed (54)\nexit code: 1",
    );
    let both = (
        "sh",
        run("pnpm --filter money --filter invoicing test"),
        "money test:  Tests  54 passed (54)\nexit code: 0",
    );
    let checks = (
        "sh",
        run("pnpm test; pnpm eslint src"),
        " Tests  40 passed (40)\n\n/w/src/a.ts\n  1:22  error  'money' is defined but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\nexit code: 1",
    );
    let linted = (
        "sh",
        run("pnpm eslint src && echo LINT_OK"),
        "LINT_OK\nexit code: 0",
    );
    let find = |id: &str, answer: &'static str| {
        (
            "find_booking",
            serde_json::json!({ "pnr": id }).to_string(),
            answer,
        )
    };
    let wrong = find("R8TT4C", "Error: No active booking R8TT4C");
    let right = find("R8TI4C", r#"{"pnr": "R8TI4C", "name": "Silva"}"#);
    let python = (
        "sh",
        run("pytest -q"),
        "=== 3 failed, 37 passed in 2.0s ===\nexit code: 1",
    );
    let api = ("sh", run("npx tsc -p packages/api"), "failed\nexit code: 1");
    let web = ("sh", run("npx tsc -p packages/web"), "done\nexit code: 0");
    let stopped = ("sh", run("node mock.js"), "KeyboardInterrupt\nexit code: 130");
    let copied = (
        "sh",
        run("cp a b"),
        "cp: cannot create regular file '/home/user/b': Permission denied\nexit code: 1",
    );
    let denied = (
        "sh",
        run("rm -rf build"),
        "The user rejected this command.\nexit code: 1",
    );
    for (calls, is_open) in [
        (vec![&one, &whole], false),
        (vec![&many, &few], true),
        (vec![&money, &both], false),
        (vec![&checks], true),
        (vec![&checks, &linted], false),
        (vec![&wrong], true),
        (vec![&wrong, &right], false),
        (vec![&denied], false),
        (vec![&copied], true),
        (vec![&stopped], false),
        // Other tests, and another package.
        (vec![&python, &whole], true),
        (vec![&api, &web], true),
    ] {
        let calls: Vec<(&str, &str, &str)> = calls
            .iter()
            .map(|(tool, with, out)| (*tool, with.as_str(), *out))
            .collect();
        let text = done(&calls);
        assert_eq!(text.contains("Open errors"), is_open, "{text}");
    }
}
