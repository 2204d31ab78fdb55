//! Faults found by reading summaries of real trajectories.

use super::*;

#[test]
fn two_scripts_are_not_one_because_the_same_program_runs_them() {
    let scripts = [
        bash("python3 -c \"\nimport first_one\n\""),
        bash("python3 -c \"\nimport second_one\n\""),
    ];
    let turns = [
        call("", "bash", &scripts[0]),
        answer("ModuleNotFoundError: No module named 'first_one'\nExit code: 1"),
        call("", "bash", &scripts[1]),
        answer("fine\nExit code: 0"),
    ];
    let text = told(&turns);
    assert!(!text.contains("(x2"), "{text}");
}

#[test]
fn an_edit_that_succeeds_later_closes_the_error_of_the_one_before() {
    let (first, second) = (bash("edit 287:295"), bash("edit 287:296"));
    let turns = [
        call("", "bash", &first),
        answer("Error: Your proposed edit has introduced new syntax error(s)."),
        call("", "bash", &second),
        answer("File updated."),
    ];
    let text = told(&turns);
    assert!(!text.contains("Open errors:"), "{text}");
}

#[test]
fn an_error_of_an_earlier_summary_is_not_open_once_the_same_was_run_again() {
    let previous = "Open errors:\n- bash: pytest core_a.py -> exit 1: E ValueError: bad seed\n- bash: make all -> failed: No disk";
    let turns = [
        call("", "bash", "{\"command\": \"pytest core_a.py\"}"),
        answer("3 passed in 1s"),
    ];
    let text = summary_of(&turns, Some(previous), &[], 400).text;
    assert!(!text.contains("bad seed"), "{text}");
    assert!(text.contains("- bash: make all -> failed: No disk"), "{text}");
}

#[test]
fn the_later_statement_of_a_value_wins() {
    let said = [
        "The limit of zone_alpha_7 is now 40 units for all",
        "The limit of zone_alpha_7 is now 95 units for all",
    ];
    let turns = said.map(|text| turn(Role::Tool, text));
    let anchors = [Anchor::new("zone_alpha_7", 1)];
    let text = summary_of(&turns, None, &anchors, 60).text;
    assert!(text.contains("95 units") && !text.contains("40 units"), "{text}");
}

#[test]
fn a_field_that_changed_back_is_told_as_it_is_now() {
    let plans =
        ["basic", "premium", "basic"].map(|plan| format!("{{\"plan\": \"{plan}\", \"zone\": \"north\"}}"));
    let mut turns = Vec::new();
    for plan in &plans {
        turns.push(call("", "get_line", "{\"line\": \"L1\"}"));
        turns.push(answer(plan));
    }
    let text = told(&turns);
    assert!(text.contains("get_line(line: L1) (x3) -> plan: basic"), "{text}");
    assert!(!text.contains("premium"), "{text}");
}

#[test]
fn courtesies_bare_names_and_sentences_that_must_be_cut_are_no_findings() {
    let text = "If you still experience any issues or need more, please let me know at once! \
        check_network_mode_preference_now_on_device.\n\nThe table of the archive was built from seven sources that had been merged before by \
        the importer and is therefore not sorted by the date of the entries, which the reader of the table had always expected to be the case";
    let text = told(&[turn(Role::Assistant, text)]);
    assert_eq!(text, SUMMARY_MARKER);
}

#[test]
fn what_a_shells_wrapper_says_of_itself_is_no_part_of_an_error() {
    let turns = [
        call("", "bash", "{\"command\": \"python3 run.py\"}"),
        answer(
            "ValueError: empty sequence[Python Interpreter: /opt/bin/python]\n[Command finished with exit code 1]",
        ),
    ];
    let text = told(&turns);
    assert!(
        text.contains("exit 1: ValueError: empty sequence") && !text.contains("Interpreter"),
        "{text}"
    );
}

#[test]
fn line_ends_written_in_code_belong_to_no_name() {
    let mut names = Vec::new();
    let code = r#"print("\nTestCase_a ran\tMoreOf_it") in src\new_file.py"#;
    crate::compress::anchors::identifiers(code, |name| names.push(name.to_owned()));
    assert!(
        names.contains(&"TestCase_a".to_owned()) && names.contains(&"MoreOf_it".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"new_file.py".to_owned()), "{names:?}");
}

#[test]
fn no_budget_leaves_half_a_word_or_half_a_fence() {
    let text = "Please build `the parser` in src/parse_all.rs:\n```rust\nfn main() {}\n```\nand run every_test_there.";
    let turns = [
        turn(Role::Human, text),
        call(
            "",
            "bash",
            "{\"command\": \"cargo test --workspace --all-targets\"}",
        ),
        answer("test result: ok. 155 passed; 0 failed"),
    ];
    let words: Vec<String> = told(&turns).split_whitespace().map(str::to_owned).collect();
    for budget in 50..200 {
        let text = summary_of(&turns, None, &[], budget).text;
        assert_eq!(text.matches("```").count() % 2, 0, "{text}");
        assert_eq!(text.matches('`').count() % 2, 0, "{text}");
        for word in text.split_whitespace().filter(|word| *word != "…") {
            assert!(
                words.iter().any(|whole| whole == word || whole.starts_with(word)),
                "{word} in {text}"
            );
        }
    }
}

#[test]
fn what_passed_is_not_told_as_failed_nor_what_failed_as_passed() {
    let ending = |output: &str| {
        let command = bash("run_it");
        let text = told(&[call("", "bash", &command), answer(output)]);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("- bash: run_it -> "));
        line.unwrap_or_default().to_owned()
    };
    let passed = "test result: ok. 155 passed; 0 failed; 0 ignored; finished in 0.1s";
    assert_eq!(ending(passed), passed);
    let pytest = "<returncode>0</returncode>\n<output>\n== 3 passed, 1 xfailed in 0.12s ==\n</output>";
    assert_eq!(ending(pytest), "ok: 3 passed, 1 xfailed in 0.12s");
    let broken = "<returncode>0</returncode>\n<output>\n== 3 passed, 1 error in 0.12s ==\n</output>";
    assert_eq!(ending(broken), "exit 0 with an error: 3 passed, 1 error in 0.12s");
    let failed = "test result: FAILED. 3 passed; 2 failed; finished in 0.1s";
    assert_eq!(ending(failed), format!("failed: {failed}"));
    for marked in [
        "✗ FAIL (wrong order)",
        "[FAIL] wrong order",
        "not ok 2 - wrong order",
        "wrong order ... FAIL",
    ] {
        let output = format!("<returncode>0</returncode>\n<output>\nordering\n{marked}\nall done\n</output>");
        assert_eq!(ending(&output), format!("exit 0: {marked}"));
    }
    let writing = "<returncode>0</returncode>\n<output>\nwritten\n✗ not checked\n</output>";
    let text = told(&[call("", "bash", &bash("tee a.txt < b.txt")), answer(writing)]);
    assert!(text.contains("-> exit 0: ✗ not checked"), "{text}");
}

#[test]
fn json_answers_that_are_errors_are_told_as_such() {
    let ending = |output: &str| {
        let text = told(&[call("", "get_user", "{\"who\": \"Ann\"}"), answer(output)]);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("- get_user(who: Ann) -> "));
        line.unwrap_or_default().to_owned()
    };
    assert_eq!(
        ending(r#"{"error": {"code": 404, "message": "no such user"}}"#),
        "failed: no such user"
    );
    for output in [
        r#"{"isError": true, "text": "no such user"}"#,
        r#"{"error": true, "text": "no such user"}"#,
    ] {
        assert!(ending(output).starts_with("failed"), "{}", ending(output));
    }
    for output in [
        r#"{"error": {}, "text": "found"}"#,
        r#"{"error": false, "text": "found"}"#,
    ] {
        assert_eq!(ending(output), "text: found");
    }
}

#[test]
fn an_answer_is_told_of_the_call_that_it_answers_only() {
    let (mut both, mut one) = (call("", "get_a", "{}"), answer("the only line of b"));
    both.calls.extend(call("", "get_b", "{}").calls);
    for (call, id) in both.calls.iter_mut().zip(["id_a", "id_b"]) {
        call.id = Some(Cow::Borrowed(id));
    }
    one.responses[0].id = Some(Cow::Borrowed("id_b"));
    let text = told(&[both, one]);
    assert!(text.contains("- get_b -> the only line of b"), "{text}");
    assert!(text.contains("- get_a -> no answer\n"), "{text}");
}

#[test]
fn values_that_other_lines_tell_are_not_told_twice() {
    let finding = "The problem is that W123456 lacks its second item.";
    let turns = [
        call("", "get_order", "{\"who\": \"Ann\"}"),
        answer("orders: W123456, 3 pieces\nnothing else\nat all\nhere"),
        turn(Role::Assistant, finding),
    ];
    let anchors = [Anchor::new("W123456", 1)];
    let text = summary_of(&turns, None, &anchors, 400).text;
    assert!(text.contains(finding) && !text.contains("Values:"), "{text}");
}

#[test]
fn what_failed_in_one_place_is_not_closed_by_what_passed_in_another() {
    let (back, front) = (bash("cd backend && npm test"), bash("cd frontend && npm test"));
    let turns = [
        call("", "bash", &back),
        answer("Error: 2 tests broke\nExit code: 1"),
        call("", "bash", &front),
        answer("fine\nExit code: 0"),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- bash: cd backend && npm test -> exit 1")
            && text.contains("- bash: cd frontend && npm test -> ok")
            && text.contains("Open errors:\n- bash: cd backend && npm test -> exit 1: Error: 2 tests broke"),
        "{text}"
    );
}

#[test]
fn what_an_earlier_summary_tells_of_the_same_call_goes() {
    let previous = "Calls:\n- get_it(id: A1) -> status: new\n- make_it(id: B2) (x2) -> ok\n- make_it(id: B2) -> failed: full\n- get_it(id: C3) -> status: old\nFindings:\n- The first is of no use to anybody.\n- The last is of use to everybody.";
    let turns = [
        call("", "get_it", "{\"id\": \"A1\"}"),
        answer("{\"status\": \"sent\"}"),
        call("", "get_it", "{\"id\": \"C3\"}"),
    ];
    let text = summary_of(&turns, Some(previous), &[], 400).text;
    assert!(
        text.contains("Calls:\n- make_it(id: B2) -> failed: full\n- get_it(id: C3) -> status: old\n- get_it(id: A1) (x2) -> status: sent\n"),
        "{text}"
    );
    let text = summary_of(&[], Some(previous), &[], 32).text;
    assert!(text.contains("The last") && !text.contains("The first"), "{text}");
}

#[test]
fn code_is_told_as_such_where_a_human_wrote_it_and_not_at_all_from_an_earlier_summary() {
    let said = "Please fix this:\n```py\nx = one_two\n```\nand nothing else.";
    let text = summary_of(
        &[turn(Role::Human, said)],
        Some("It was so.\n```c\nint x = 1;"),
        &[],
        400,
    )
    .text;
    assert_eq!(
        text,
        "[CONTEXT SUMMARY]:\nEarlier:\n- It was so.\nThe user said, in order:\n- Please fix this: [code] and nothing else."
    );
}

#[test]
fn small_talk_goes_first() {
    let turns = [
        turn(Role::Human, "Cancel order A123 before it leaves the house."),
        turn(Role::Human, "Yes, thanks for checking!"),
        turn(Role::Human, "Take the money back to card B456 then."),
    ];
    let text = summary_of(&turns, None, &[], 50).text;
    assert!(
        text.contains("A123") && text.contains("B456") && !text.contains("thanks"),
        "{text}"
    );
}

#[test]
fn an_answer_that_names_its_tool_is_told_of_the_call_of_that_tool() {
    let mut both = call("", "get_a", "{}");
    both.calls.extend(call("", "get_b", "{}").calls);
    let named = |name: &'static str, content: &'static str| {
        let mut answer = answer(content);
        answer.responses[0].name = Some(Cow::Borrowed(name));
        answer
    };
    let text = told(&[
        both,
        named("get_b", "the line of b"),
        named("get_a", "the line of a"),
    ]);
    assert!(
        text.contains("- get_a -> the line of a\n- get_b -> the line of b"),
        "{text}"
    );
}

#[test]
fn a_command_that_writes_a_script_and_runs_it_is_reported_by_the_run() {
    let writes = "cat > fix.py <<'E'\ntext = open('src/a.py').read()\nopen('src/a.py', 'w').write(text)\nE\npython fix.py";
    let probes = "cat > probe.py <<'E'\nprint(1)\nE\npython probe.py";
    let (writes, probes) = (bash(writes), bash(probes));
    let turns = [
        call("", "bash", &writes),
        answer("<returncode>0</returncode>\n<output>\n</output>"),
        call("", "bash", &probes),
        answer("<returncode>0</returncode>\n<output>\n1\n</output>"),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- bash: python fix.py (writes src/a.py) -> ok\n"),
        "{text}"
    );
    assert!(text.contains("- bash: python probe.py -> ok: 1"), "{text}");
}

#[test]
fn a_run_that_a_later_one_covers_is_left_out() {
    let (part, whole) = (bash("pytest tests/test_a.py -k this"), bash("pytest tests"));
    let turns = [
        call("", "bash", &part),
        answer("2 passed in 0.1s\nExit code: 0"),
        call("", "bash", &whole),
        answer("9 passed in 0.4s\nExit code: 0"),
    ];
    let text = told(&turns);
    assert!(text.contains("9 passed") && !text.contains("2 passed"), "{text}");
}
