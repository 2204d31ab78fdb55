//! Lines that later calls decide: which of several things found is told, and what is out of date.

use super::*;

/// The lines of calls with their answers, each call by its tool and arguments.
fn told_of(calls: &[(&str, &str, &str)]) -> String {
    let pairs = calls.iter();
    let turns: Vec<TurnView<'_>> = pairs
        .flat_map(|(name, arguments, output)| [call("", name, arguments), answer(output)])
        .collect();
    told(&turns)
}

#[track_caller]
fn says(text: &str, expected: &[&str], absent: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part} in {text}");
    }
    for part in absent {
        assert!(!text.contains(part), "no {part} in {text}");
    }
}

const BASH: &str = "bash";

#[test]
fn what_was_only_looked_at_was_not_done() {
    let search = (
        BASH,
        r#"{"command": "grep -rn 'def total' src"}"#,
        "src/cart.py:9:def total(rows):",
    );
    let edit = (BASH, r#"{"command": "sed -i s/a/b/ src/cart.py"}"#, "");
    let install = (
        BASH,
        r#"{"command": "pip install pytest"}"#,
        "Successfully installed pytest-9.0.3",
    );
    let compile = (BASH, r#"{"command": "python -m py_compile src/cart.py"}"#, "");
    let tests = (BASH, r#"{"command": "pytest"}"#, "=== 3 passed in 0.1s ===");
    says(
        &told_of(&[search, edit, install, compile, tests]),
        &["sed -i", "pytest -> 3 passed"],
        &["def total", "install", "py_compile"],
    );
    says(&told_of(&[compile, edit]), &["py_compile"], &[]);
}

#[test]
fn of_many_records_the_one_is_told_that_a_later_call_names() {
    let variant = |id: u64, color: &str| serde_json::json!({"item_id": id.to_string(), "color": color, "available": true, "text": "x".repeat(60)});
    let variants: Vec<_> = (0..9)
        .map(|n| variant(1_000_000 + n, "red"))
        .chain([variant(2_000_000, "blue")])
        .collect();
    let answer = serde_json::json!({"variants": variants, "name": "Lamp", "status": "on sale", "payments": [{"paid": 12, "by": "card"}]}).to_string();
    let product = ("get_product", r#"{"product_id": "P1"}"#, answer.as_str());
    let exchange = ("exchange", r#"{"item_id": "2000000"}"#, r#"{"status": "done"}"#);
    says(
        &told_of(&[product, exchange]),
        &["status: on sale; one of 10: available: true, color: blue, item_id: 2000000"],
        &["1000000"],
    );
    let other = ("close", r#"{"ticket": "T-77"}"#, r#"{"status": "done"}"#);
    says(
        &told_of(&[product, other]),
        &["status: on sale, name: Lamp; variants: 10 records"],
        &["1000000"],
    );
}

#[test]
fn a_lookup_of_what_a_later_call_changed_says_so() {
    let look = ("get_line", r#"{"id": "L1002"}"#, r#"{"roaming_enabled": false}"#);
    let other = ("get_line", r#"{"id": "L2002"}"#, r#"{"roaming_enabled": true}"#);
    let change = ("enable_roaming", r#"{"id": "L1002"}"#, r#"{"status": "done"}"#);
    says(
        &told_of(&[look, other, change]),
        &["get_line(id: L1002) (changed later) ->", "get_line(id: L2002) ->"],
        &[],
    );
    says(
        &told_of(&[change, look]),
        &["get_line(id: L1002) ->"],
        &["changed later"],
    );
}

#[test]
fn a_call_that_was_left_without_an_answer_says_so() {
    let copy = call("", BASH, r#"{"command": "cp a.py b.py"}"#);
    let stop = turn(Role::Human, "Stop, do not copy it. Use c.py.");
    says(&told(&[copy.clone(), stop]), &["cp a.py b.py -> no answer"], &[]);
    says(&told(&[copy]), &["cp a.py b.py"], &["no answer"]);
}

#[test]
fn edits_tell_the_first_line_that_they_put_in() {
    let edit = r#"{"command": "str_replace", "path": "/w/a.py", "old_str": "def f(a):", "new_str": "def f(a):\n    import b\n    return b.total(a)"}"#;
    says(
        &told_of(&[("editor", edit, "The file /w/a.py has been edited.")]),
        &["editor str_replace /w/a.py -> ok: + return b.total(a)"],
        &[],
    );
    says(
        &told_of(&[(
            "editor",
            edit,
            "No replacement was performed, old_str did not appear.",
        )]),
        &["-> failed"],
        &["+ return"],
    );
}

#[test]
fn runs_whose_changes_were_put_back_and_edits_of_files_made_anew_are_not_told() {
    let write = r#"{"command": "cat > fix.py <<'E'\nopen('src/a.py', 'w').write('x')\nE"}"#;
    let run = (
        BASH,
        r#"{"command": "python fix.py"}"#,
        "Fix applied successfully!",
    );
    let undo = (BASH, r#"{"command": "git checkout src/a.py"}"#, "");
    let read = (BASH, r#"{"command": "cat src/a.py"}"#, "a\nb\nc");
    says(&told_of(&[read, (BASH, write, ""), run]), &["Fix applied"], &[]);
    says(
        &told_of(&[read, (BASH, write, ""), run, undo]),
        &[],
        &["Fix applied"],
    );

    let edit = |old: &str| {
        serde_json::json!({"command": "str_replace", "path": "/w/r.py", "old_str": old, "new_str": "y = 12"})
            .to_string()
    };
    let (first, second) = (edit("x = 1"), edit("x = 2"));
    let refused = "No replacement was performed, old_str did not appear.";
    let create = r#"{"command": "create", "path": "/w/r.py", "file_text": "z = 1"}"#;
    let failed = [
        ("editor", first.as_str(), "The file /w/r.py has been edited."),
        ("editor", second.as_str(), refused),
    ];
    says(&told_of(&failed), &["Open errors:"], &[]);
    let anew = [
        failed[0],
        failed[1],
        (BASH, r#"{"command": "rm /w/r.py"}"#, ""),
        ("editor", create, "File created."),
    ];
    says(&told_of(&anew), &[], &["Open errors:"]);
}

#[test]
fn diagnostics_behind_head_are_a_part_of_them() {
    let error = |line: usize| format!("src/a.ts({line},1): error TS2663: Cannot find name 'b'.");
    let errors: Vec<String> = (1..=5).map(error).collect();
    let text = told_of(&[(
        BASH,
        r#"{"command": "npx tsc --noEmit 2>&1 | head -5"}"#,
        &errors.join("\n"),
    )]);
    says(&text, &["5 or more errors"], &[]);
    let text = told_of(&[(
        BASH,
        r#"{"command": "npx tsc --noEmit 2>&1 | head -50"}"#,
        &errors.join("\n"),
    )]);
    says(&text, &["5 errors"], &["or more"]);
}

#[test]
fn a_script_that_an_earlier_call_wrote_tells_what_it_writes_when_it_runs() {
    let script = r#"{"command": "cat > fix.py <<'E'\nopen('src/a.py', 'w').write(x)\nopen('test/b.py', 'w').write(y)\nE"}"#;
    let run = (BASH, r#"{"command": "cd /w && python fix.py"}"#, "Applied");
    says(
        &told_of(&[(BASH, script, ""), run]),
        &["bash: python fix.py (writes src/a.py, test/b.py) -> Applied"],
        &["cat > fix.py"],
    );
    let undo = (BASH, r#"{"command": "git checkout src/a.py test/b.py"}"#, "");
    says(&told_of(&[(BASH, script, ""), run, undo]), &[], &["Applied"]);
    let patch =
        r#"{"command": "cat > fix.patch <<'E'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\nE"}"#;
    let apply = (BASH, r#"{"command": "git apply fix.patch"}"#, "");
    says(
        &told_of(&[(BASH, patch, ""), apply]),
        &["bash: git apply fix.patch"],
        &["cat > fix.patch"],
    );
    // A script that failed may have written nothing, but it ran.
    let failed = (
        BASH,
        r#"{"command": "cd /w && python fix.py"}"#,
        "<returncode>1</returncode>\n<output>\nKeyError: 'x'\n</output>",
    );
    says(
        &told_of(&[(BASH, script, ""), failed]),
        &["bash: python fix.py -> exit 1: KeyError: 'x'"],
        &["writes", "cat > fix.py"],
    );
}

#[test]
fn a_run_whose_output_says_nothing_by_itself_tells_its_last_line() {
    let output = "<returncode>0</returncode>\n<output>\nCase 1: Sum is 3\nCase 2: Sum is 5\nStill 1 case off\n</output>";
    let turns = [
        call("", BASH, r#"{"command": "python check.py"}"#),
        answer(output),
    ];
    let stretch = Stretch::of(&turns);
    let label = work::line_of_run(&stretch.actions()[0], "python check.py", LineLimits::within(600));
    assert_eq!(label, "python check.py -> exit 0; last line: Still 1 case off");
}

#[test]
fn of_the_ids_of_a_change_the_first_that_was_looked_up_is_changed_unless_it_is_an_owners() {
    let line = (
        "get_line",
        r#"{"customer": "C1001", "line": "L1002"}"#,
        r#"{"roaming": false}"#,
    );
    let bills = ("get_bills", r#"{"customer": "C1001"}"#, r#"{"status": "Paid"}"#);
    let change = (
        "enable_roaming",
        r#"{"customer": "C1001", "line": "L1002"}"#,
        r#"{"status": "done"}"#,
    );
    says(
        &told_of(&[bills, line, change]),
        &["line: L1002) (changed later) ->", "get_bills(customer: C1001) ->"],
        &[],
    );
    let order = ("get_order", r##"{"order": "#W77"}"##, r#"{"status": "open"}"#);
    let item = ("get_item", r#"{"item": "4400123"}"#, r#"{"price": "12"}"#);
    let exchange = (
        "exchange_item",
        r##"{"order": "#W77", "old": "5500123", "new": "6600123", "pay": "card_81"}"##,
        r#"{"status": "done"}"#,
    );
    let cancel = (
        "cancel_order",
        r##"{"order": "#W77", "refund_to": "card_8123"}"##,
        r#"{"status": "done"}"#,
    );
    let card = ("get_card", r#"{"card": "card_8123"}"#, r#"{"status": "valid"}"#);
    let hands_over = ("hand_over", r#"{"summary": "The order #W77 waits."}"#, "done");
    says(
        &told_of(&[order, card, cancel]),
        &["(order: #W77) (changed later) ->", "get_card(card: card_8123) ->"],
        &["card_8123) (changed later)"],
    );
    says(
        &told_of(&[order, hands_over]),
        &["(order: #W77) ->"],
        &["changed later"],
    );
    says(
        &told_of(&[line, order, item, exchange]),
        &["(order: #W77) (changed later) ->", "get_item(item: 4400123) ->"],
        &["line: L1002) (changed later)"],
    );
}

#[test]
fn a_browsers_call_names_the_element_that_the_page_before_it_shows() {
    let page = "[Action executed successfully.]\nRootWebArea 'Map'\n\t[44] banner ''\n\t\t[171] button 'Go', focused\n\t\t[17] link 'Home'";
    let open = ("browser", r#"{"code": "goto(\"http://x.example\")"}"#, page);
    let click = |number: &str| serde_json::json!({"code": format!("click(bid=\"{number}\")")}).to_string();
    let (go, banner) = (click("171"), click("44"));
    let calls = [
        open,
        ("browser", go.as_str(), page),
        ("browser", banner.as_str(), page),
    ];
    says(
        &told_of(&calls),
        &[r#"click(bid="171") (button 'Go')"#, r#"click(bid="44")"#],
        &["(banner"],
    );
}

#[test]
fn runs_of_tests_and_code_say_that_files_were_changed_after_them() {
    let bash = |command: &str| serde_json::json!({ "command": command }).to_string();
    let tests = bash("pytest tests/a.py");
    let edit = r#"{"command": "str_replace", "path": "/w/a.py", "old_str": "x = 1", "new_str": "x = 2"}"#;
    let new = r#"{"command": "create", "path": "/w/notes.md", "file_text": "x"}"#;
    let passed = "=== 3 passed in 0.1s ===";
    let edited = ("editor", edit, "The file /w/a.py has been edited.");
    let made = ("editor", new, "New file created at /w/notes.md");
    let ran = ("bash", tests.as_str(), passed);
    let look = bash("cat /w/a.py");
    let anew = bash("cat > /w/a.py <<'E'\nx = 3\nE");
    let undo = bash("git checkout /w/a.py");
    let look = ("bash", look.as_str(), "x = 1");
    let anew = ("bash", anew.as_str(), "");
    let undo = ("bash", undo.as_str(), "Updated 1 path from the index");
    let kept = bash("git diff a.py > /tmp/a.patch && cat /tmp/a.patch");
    let mark = "pytest tests/a.py (before later edits) -> 3 passed";
    let check = bash("python -m py_compile /w/a.py");
    let text = told_of(&[("bash", check.as_str(), ""), edited]);
    assert!(
        text.contains("py_compile /w/a.py (before later edits) -> ok"),
        "{text}"
    );
    for (calls, is_marked) in [
        (vec![ran, edited], true),
        (vec![edited, ran], false),
        (vec![ran, made], false),
        (vec![ran, ("bash", kept.as_str(), "+x = 2")], false),
        (vec![ran, edited, ran], false),
        (vec![look, ran, anew], true),
        (vec![ran, edited, undo], false),
    ] {
        let text = told_of(&calls);
        assert_eq!(text.contains(mark), is_marked, "{text}");
        assert!(text.contains("3 passed"), "{text}");
    }
}
