//! Lines of an earlier summary: what later calls make of the calls that they tell.

use super::*;

/// The lines of a summary that goes on from an earlier one, without quotations, where a command was answered.
#[track_caller]
fn says(previous: &str, (command, output): (&str, &str), expected: &[&str], absent: &[&str]) {
    let arguments = serde_json::json!({ "command": command }).to_string();
    let turns = [call("", "bash", &arguments), answer(output)];
    let (counter, stretch) = (counter(), Stretch::of(&turns));
    let request = SummaryRequest {
        previous: Some(previous),
        ..request(&stretch, &counter)
    };
    let summary = Extractive::default().composed(None, &request, false);
    let text = summary.expect("fits").text;
    for part in expected {
        assert!(text.contains(part), "{part} in {text}");
    }
    for part in absent {
        assert!(!text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn runs_before_an_edit_say_so_and_edits_that_are_put_back_go() {
    let previous = "Calls:
- bash: cat src/a.py -> ok
- bash: sed -i s/1/2/ src/a.py -> ok
- bash: pytest -q 2>&1 | tail -3 (x2, 1 failed earlier) -> ok: 5 passed in 0.1s";
    says(
        previous,
        ("sed -i s/2/3/ src/a.py", ""),
        &[
            "bash: sed -i s/1/2/ src/a.py -> ok",
            "tail -3 (x2, 1 failed earlier) (before later edits) -> ok: 5 passed in 0.1s",
        ],
        // What was only looked at was not done.
        &["cat src/a.py"],
    );
    says(
        previous,
        ("git checkout src/a.py", "Updated 1 path from the index"),
        &["(before later edits) -> ok: 5 passed"],
        &["s/1/2/"],
    );
    says(
        previous,
        ("ls", "src"),
        &["s/1/2/", "earlier) -> ok: 5 passed"],
        &["later edits"],
    );
    says(
        "Calls:\n- python fix.py (writes src/a.py) -> exit 0",
        ("git checkout src/a.py", ""),
        &[],
        &["fix.py"],
    );
}

#[test]
fn a_call_that_was_quoted_as_failed_is_open_until_what_it_ran_goes_well() {
    let previous = "Recent work:
- turn -8, bash -> exit 8: 0% tests passed, 2 tests failed out of 2: command: cmake --build build | grep error; ctest --test-dir build -R link
- turn -6, search(q: a) -> failed: quota exceeded";
    let open = "Open errors:\n- bash: cmake --build build";
    says(
        previous,
        ("ls", "src"),
        &[open, "- search(q: a) -> failed: quota"],
        &["Calls:"],
    );
    let passed = "100% tests passed, 0 tests failed out of 4";
    says(
        previous,
        ("ctest --test-dir build", passed),
        &["Open errors:\n- search"],
        &["cmake"],
    );
}

#[test]
fn calls_of_one_summary_make_nothing_of_each_other() {
    // What was quoted stands below, though it may have been done before.
    let previous = "Calls:
- bash: sed -i s/1/2/ src/b.py -> ok
- bash: pytest -q -> ok: 5 passed in 0.1s
Open errors:
- bash: make check -> exit 2: no rule to make target 'check'
Recent work:
- turn -9, bash: sed -i s/2/3/ src/a.py -> ok
- turn -8, bash: git checkout src/b.py -> ok";
    says(
        previous,
        ("pip install pytest", "Successfully installed pytest-8.4.1"),
        &["s/1/2/", "pytest -q -> ok", "make check -> exit 2"],
        &["later edits"],
    );
}

#[test]
fn failures_are_open_until_the_same_runs_again() {
    let previous = "Open errors:
- bash: pytest -q (x2) -> exit 1: ModuleNotFoundError: No module named 'yaml'
- bash: make -> exit 2: no rule to make target 'all'";
    says(
        previous,
        ("pip install pyyaml", "Successfully installed pyyaml-6.0"),
        &["make -> exit 2", "yaml'"],
        &[],
    );
    says(
        previous,
        ("pytest -q", "=== 3 passed in 0.1s ==="),
        &[
            "bash: pytest -q (x3, 2 failed earlier) -> 3 passed in 0.1s",
            "make -> exit 2",
        ],
        &["yaml"],
    );
}

#[test]
fn a_call_that_was_quoted_says_what_it_ran() {
    let previous = "Recent work:
- turn -4, bash (before later edits) -> exit 1: AssertionError: 3:
```
Once more:
command: cd /repo && python -c \"
total = 3
print(total)
\"
```
- turn -2, bash: make lint -> ok";
    says(
        previous,
        ("ls", "src"),
        &[
            "- bash: python -c # total = 3 (before later edits) -> exit 1: AssertionError: 3",
            "- bash: make lint -> ok",
        ],
        &["bash ("],
    );
}

#[test]
fn a_failed_check_stays_open_until_it_is_run_again() {
    for line in [
        "bash: cargo build -> exit 101: error: could not compile `x`; error[E0308]: mismatched types",
        "bash: make -> exit 2: 1 error; a.c:3:5: error: 'x' undeclared",
        "bash: pytest -q tests/a.py -> exit 1: FAILED tests/a.py::test_x - assert 3 == 4",
    ] {
        let previous = format!("Open errors:\n- {line}\nCalls:\n- bash: sed -i s/1/2/ src/a.py -> ok");
        let looks =
            ["ls", "cat a.py", "cat b.py"].map(|command| serde_json::json!({"command": command}).to_string());
        let turns: Vec<TurnView<'_>> = looks
            .iter()
            .flat_map(|look| [call("", "bash", look), answer("a\nb\nc")])
            .collect();
        let (counter, stretch) = (counter(), Stretch::of(&turns));
        let request = SummaryRequest {
            previous: Some(&previous),
            ..request(&stretch, &counter)
        };
        let text = Extractive::default()
            .composed(None, &request, false)
            .expect("fits")
            .text;
        assert!(text.contains(&format!("Open errors:\n- {line}")), "{text}");
        assert!(text.contains("s/1/2/"), "{text}");
    }
    says(
        "Calls:\n- bash: sed -i s/1/2/ src/a.py -> ok",
        (
            "git checkout src/a.py",
            "<returncode>128</returncode>\n<output>\nfatal: Unable to create '/w/.git/index.lock': File exists.\n</output>",
        ),
        &["s/1/2/"],
        &[],
    );
}

#[test]
fn the_earlier_request_in_progress_is_the_last_message_before_the_region() {
    says(
        "In progress: Move the meeting to Friday. From now on never write to Cecilia.\nAsked:\n- Find a room.\nCalls:\n- moveMeeting(id: 7) -> ok",
        ("ls", "src"),
        &["- Find a room.\n- Move the meeting to Friday. From now on never write to Cecilia.\n"],
        &[],
    );
}

#[test]
fn an_earlier_error_goes_once_the_call_was_made_with_what_it_names() {
    let previous = "Open errors:\n- suspend_line(line: L2, start: 2025-03-13) -> failed: missing required argument: 'until'\n- order_sim(line: L3) -> failed: no such line\n- cancel_order(order_id: O1) -> failed: order O1 is shipped already";
    let turns = [
        call(
            "",
            "suspend_line",
            r#"{"line": "L2", "start": "2025-03-13", "until": "2025-09-01"}"#,
        ),
        answer(r#"{"status": "suspended"}"#),
    ];
    let text = summary_of(&turns, Some(previous), &[], 400).text;
    assert!(
        !text.contains("missing required")
            && text.contains("no such line")
            && text.contains("O1 is shipped already"),
        "{text}"
    );
}

#[test]
fn what_the_request_in_progress_says_is_not_asked_again_sentence_by_sentence() {
    let words = "Take the kettle out again. Don't try any other coupon. Also add a descaler.";
    let turns = [
        turn(Role::Human, words),
        call("", "bash", r#"{"command": "make"}"#),
        answer("<returncode>0</returncode>\n<output>\n</output>"),
    ];
    let (counter, stretch) = (counter(), Stretch::of(&turns));
    let request = SummaryRequest {
        in_progress: Some(words),
        ..request(&stretch, &counter)
    };
    let text = pollster::block_on(Extractive::default().summarize(request))
        .expect("fits")
        .text;
    assert!(text.contains(words) && !text.contains("Asked:"), "{text}");
}

#[test]
fn a_failed_run_goes_once_its_file_was_changed_and_its_program_fails_otherwise() {
    let previous = "Open errors:
- bash: mvn -o test (before later edits) -> failed: [ERROR] /w/src/Backoff.java:[45,57] cannot find symbol";
    let edit = call(
        "",
        "edit",
        r#"{"path": "/w/src/Backoff.java", "old_str": "limt", "new_str": "limit"}"#,
    );
    let run = bash("mvn -o test -Dtest=BackoffTest");
    let failed =
        "[ERROR] /w/test/BackoffTest.java:[35,69] cannot find symbol\n[INFO] BUILD FAILURE\nExit code: 1";
    let after = |turns: &[TurnView<'_>]| summary_of(turns, Some(previous), &[], 600).text;
    let edited = [edit, answer("The file was edited.")];
    let ran = [call("", "bash", &run), answer(failed)];
    let both = after(&[&edited[..], &ran].concat());
    assert!(!both.contains("[45,57]") && both.contains("[35,69]"), "{both}");
    assert!(after(&edited).contains("[45,57]"), "{}", after(&edited));
}

#[test]
fn commands_that_no_tool_was_named_for_are_carried_over_without_one() {
    let previous = "Recent work:
- turn -2, ran -> ok:
```
Look.
command: make install
```";
    says(previous, ("pwd", "/w"), &["- make install -> ok"], &["ran:"]);
}

#[test]
fn what_only_asked_for_something_goes_with_the_quotation_that_told_what_came_back() {
    let previous = "Calls:
- run_sql(sql: select a from b)
- bash: python -c # total = 3
- bash: sbatch jobs/sweep.sbatch
- browser: type(value=\"Boston\", bid=\"4\")
- book_flight(id: HAT001)
- bash: python train.py (x4, 2 failed)
- run_sql(sql: select c from d) -> 3";
    says(
        previous,
        ("ls", "src"),
        &[
            "sbatch jobs",
            "Boston",
            "book_flight",
            "train.py",
            "select c from d) -> 3",
        ],
        &["select a", "total"],
    );
}

#[test]
fn a_call_that_was_quoted_says_what_it_was_given_and_no_output_is_that() {
    let previous = "Recent work:
- turn -4, promql_query -> value: 0.0011:
```
Thought: Look at the errors.
query: sum(rate(errors[5m]))
step: 60s
```
- turn -2, browser_snapshot -> Adapters
- turn -1, output of browser_snapshot:
```
url: /c/adapters
```";
    says(
        previous,
        ("ls", "src"),
        &[
            "- promql_query(query: sum(rate(errors[5m])), step: 60s) -> value: 0.0011",
            "- browser_snapshot -> Adapters",
        ],
        &["adapters)"],
    );
}

#[test]
fn tests_whose_command_was_cut_are_overtaken_by_a_run_of_all() {
    let previous = "Open errors:
- bash: timeout 90 cargo test --locked --features all,of,them 2>&1 | grep -E … -> exit 1: test result: FAILED. 4 passed; 1 failed";
    let passed =
        "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    says(previous, ("cargo test", passed), &["5 passed"], &["FAILED"]);
    says(previous, ("ls", "src"), &["FAILED"], &[]);
}
