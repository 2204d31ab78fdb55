//! Calls that come again, and calls that only look as if they did.

use super::*;

#[test]
fn repeated_runs_are_counted_once_and_say_how_many_failed() {
    let failed = "<returncode>1</returncode>\n<output>\n==== 3 failed in 2.1s ====\n</output>";
    let passed = "<returncode>0</returncode>\n<output>\n==== 13 passed in 2.0s ====\n</output>";
    let plain = bash("pytest core_a.py");
    let turns = [
        call("", "bash", &plain),
        answer(failed),
        call("", "bash", &plain),
        answer(failed),
        call("", "bash", &plain),
        answer(passed),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- bash: pytest core_a.py (x3, 2 failed earlier) -> ok: 13 passed in 2.0s"),
        "{text}"
    );
    assert_eq!(text.matches("pytest").count(), 1, "{text}");
    let text = told(&turns[..4]);
    assert!(
        text.contains("- bash: pytest core_a.py (x2) -> exit 1: 3 failed in 2.1s"),
        "{text}"
    );
}

#[test]
fn runs_of_a_program_with_other_filters_are_not_counted_as_one() {
    let [all, one] = ["mix check | grep -v note", "mix check | grep user_live"].map(bash);
    let found = "lib/user_live.ex:25: The guard clause can never succeed.";
    let turns = [
        call("", "bash", &all),
        answer(found),
        call("", "bash", &one),
        answer(found),
    ];
    let text = told(&turns);
    assert!(text.contains("user_live") && !text.contains("(x2"), "{text}");
}

#[test]
fn calls_that_differ_in_what_a_line_does_not_tell_are_not_counted_as_one() {
    let query = |table: &str| {
        let sql = format!(
            "SELECT column_name, data_type, is_nullable FROM warehouse.information_schema.columns WHERE table_name = '{table}'"
        );
        serde_json::json!({"sql": sql}).to_string()
    };
    let queries = ["orders", "payments"].map(query);
    let turns = [
        call("", "execute_sql", &queries[0]),
        answer(r#"{"rows": 11}"#),
        call("", "execute_sql", &queries[1]),
        answer(r#"{"rows": 8}"#),
    ];
    let text = told(&turns);
    assert!(
        !text.contains("(x2") && text.contains("rows: 11") && text.contains("rows: 8"),
        "{text}"
    );
}

#[test]
fn directories_are_told_where_commands_ran_in_several() {
    let call_in = |folder: &str| serde_json::json!({"cmd": "npx vitest run", "cwd": folder}).to_string();
    let build = |folder: &str| serde_json::json!({"cmd": "npx tsc", "cwd": folder}).to_string();
    for (folders, is_told) in [
        (["/w/money", "/w/billing"], true),
        (["/w/money", "/w/money"], false),
    ] {
        let (tests, build) = (call_in(folders[0]), build(folders[1]));
        let turns = [
            call("", "Bash", &tests),
            answer("Tests  13 passed (13)\nExit code: 0"),
            call("", "Bash", &build),
            answer("Exit code: 0"),
        ];
        let text = told(&turns);
        assert!(text.contains("npx vitest run"), "{text}");
        assert_eq!(text.contains("cd /w/money && npx vitest run"), is_told, "{text}");
    }
}
