//! What is told where not all is: of which time, and what before what.

use super::*;

#[test]
fn how_things_are_currently_is_told_of_the_latest_turns_only() {
    let turns = [
        turn(
            Role::Assistant,
            "The line of your phone is currently suspended by the provider.",
        ),
        turn(Role::Human, "I paid it."),
        turn(
            Role::Assistant,
            "The bill was paid with the card that ends in 4417.",
        ),
        turn(
            Role::Assistant,
            "The data mode is currently limited to the older networks.",
        ),
    ];
    let text = told(&turns);
    assert!(
        text.contains("- The data mode is currently limited") && !text.contains("suspended"),
        "{text}"
    );
}

#[test]
fn what_is_to_be_done_or_may_be_is_no_finding() {
    let said = "To restore your service, you will need to pay the overdue bill of $40. The bill should be paid by 4417. \
                Let me look at bill B17. The bill was paid with the card that ends in 4417.";
    let text = told(&[turn(Role::Assistant, said)]);
    assert_eq!(
        text,
        "[CONTEXT SUMMARY]:\nFindings:\n- The bill was paid with the card that ends in 4417."
    );
}

#[test]
fn what_was_changed_comes_before_what_was_looked_up() {
    let ids: Vec<String> = (0..9).map(|id| format!("{{\"id\": \"U{id}\"}}")).collect();
    let mut turns = vec![
        call("", "refuel_data", "{\"line\": \"L1\"}"),
        answer("{\"message\": \"Added 2 GB\"}"),
    ];
    for id in &ids {
        turns.extend([
            call("", "get_user", id),
            answer("{\"plan\": \"basic of the year\"}"),
        ]);
    }
    let text = summary_of(&turns, None, &[], 60).text;
    assert!(text.contains("refuel_data(line: L1)"), "{text}");
    assert!(text.matches("get_user").count() < 9, "{text}");
}

#[test]
fn what_a_call_or_anybody_changed_is_told_as_it_is_now() {
    let states = "Your line is suspended since the bill is late.";
    let resumed = call("", "resume_line", r#"{"line_id": "L1"}"#);
    let is_told = |turns: Vec<TurnView<'_>>| told(&turns).contains("is suspended since");
    assert!(is_told(vec![turn(Role::Assistant, states)]));
    let calls = |output| {
        vec![
            turn(Role::Assistant, states),
            turn(Role::Human, "Go on with it."),
            resumed.clone(),
            answer(output),
        ]
    };
    assert!(!is_told(calls(r#"{"status": "Active"}"#)));
    assert!(is_told(calls(r#"{"error": "Access denied"}"#)));
    assert!(!is_told(vec![
        turn(Role::Assistant, states),
        turn(Role::Human, "My line is active again, thanks."),
    ]));
    // Lines of an earlier summary are taken back as well.
    let previous = "Findings:\n- Your line is suspended since the bill is late.\n- The bill was paid.";
    let turns = [turn(Role::Assistant, "I have now reactivated your line.")];
    let text = summary_of(&turns, Some(previous), &[], 2_000).text;
    assert!(
        text.contains("- The bill was paid.") && !text.contains("suspended"),
        "{text}"
    );
}

#[test]
fn demands_of_a_long_request_come_before_what_it_explains_and_courtesies_are_left_out() {
    let explained: Vec<String> = (10..40)
        .map(|part| format!("Part {part} takes the records of the one before and hands them on."))
        .collect();
    let request = format!(
        "Thanks for checking! Rework the importer. {} Never write to the production table. I'd rather you use httpx.",
        explained.join(" ")
    );
    let text = summary_of(&[turn(Role::Human, &request)], None, &[], 120).text;
    for line in [
        "- Never write to the production table.",
        "- I'd rather you use httpx.",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("Thanks"), "{text}");
}

#[test]
fn that_tests_fail_is_told_until_they_pass() {
    let run = |output: &'static str| {
        [
            call("", "bash", r#"{"command": "pytest tests/test_io.py"}"#),
            answer(output),
        ]
    };
    let said = turn(
        Role::Assistant,
        "There are 2 failing tests in the suite of the reader.",
    );
    let failed = || run("==== 2 failed, 3 passed in 0.4s ====");
    let passed = || run("==== 5 passed in 0.4s ====");
    let mut turns = vec![turn(Role::Human, "Mend the reader.")];
    turns.extend(failed());
    turns.push(said);
    let text = told(&turns);
    assert!(text.contains("- There are 2 failing tests"), "{text}");
    turns.extend(passed());
    let text = told(&turns);
    assert!(!text.contains("failing tests"), "{text}");
}

#[test]
fn lines_of_a_command_are_no_findings() {
    let edit = "The reader drops the last line of each file.\n<command>\nedit\nclock = TimeDelta(precision=\"days\")\nend_of_edit\n</command>\nThe writer keeps the first line of each of them.";
    let text = told(&[turn(Role::Human, "Mend the reader."), turn(Role::Assistant, edit)]);
    let findings = text.split_once("Findings:").map_or("", |(_, findings)| findings);
    assert!(
        findings.contains("drops the last line") && findings.contains("keeps the first line"),
        "{text}"
    );
    assert!(!findings.contains("TimeDelta"), "{text}");
}

#[test]
fn what_is_never_closed_hides_no_finding() {
    for open in ["<command>", "<!-- a note"] {
        let said = [
            "The reader drops the last line.\n",
            open,
            "\nThe writer keeps the first line of each of them.",
        ]
        .concat();
        let text = told(&[
            turn(Role::Human, "Mend the reader."),
            turn(Role::Assistant, &said),
        ]);
        assert!(text.contains("keeps the first line"), "{text}");
    }
    let said = "<!-- one -->\nThe reader drops the last line.\n<!--\nThe writer keeps the first line of each of them.";
    let text = told(&[turn(Role::Human, "Mend the reader."), turn(Role::Assistant, said)]);
    assert!(text.contains("keeps the first line"), "{text}");
}

#[test]
fn what_was_found_by_something_else_is_missing_no_more() {
    let by_name = || call("", "find_user_by_name", r#"{"name": "Ann"}"#);
    let by_email = || call("", "find_user_by_email", r#"{"email": "ann@example.com"}"#);
    let (missing, found) = (|| answer("Error: User not found"), || answer("ann_smith_12"));
    let both = [
        TurnView {
            calls: [by_email().calls, by_name().calls].concat(),
            ..turn(Role::Assistant, "")
        },
        TurnView {
            responses: [found().responses, missing().responses].concat(),
            ..turn(Role::Tool, "")
        },
    ];
    for turns in [&both[..], &[by_name(), missing(), by_email(), found()]] {
        let text = told(turns);
        assert!(text.contains("Ann) -> failed: Error: User not found"), "{text}");
        assert!(!text.contains("Open errors:"), "{text}");
    }
    // Whoever is looked for later may be somebody else, and an empty answer finds nobody.
    for turns in [
        [by_email(), found(), by_name(), missing()],
        [by_name(), missing(), by_email(), answer("")],
    ] {
        let text = told(&turns);
        assert!(text.contains("Open errors:\n- Error: User not found"), "{text}");
    }
}

#[test]
fn halves_of_sentences_are_no_findings() {
    let said = "The reader handles these:\n- Property with getter at once\n- `setter` of a property without 1\nThis confirms it.\n\
                The pattern of the parser is too strict.";
    let text = told(&[turn(Role::Human, "Mend it."), turn(Role::Assistant, said)]);
    assert!(
        text.ends_with("Findings:\n- The pattern of the parser is too strict."),
        "{text}"
    );
}

#[test]
fn problems_that_were_worked_on_and_verified_are_told_no_more() {
    let problem = turn(Role::Assistant, "The `read` function doesn't close a.py.");
    let edit = [
        call("", "edit", r#"{"path": "a.py", "text": "x"}"#),
        answer("The file a.py has been edited."),
    ];
    let run = [
        call("", "bash", r#"{"command": "python check.py"}"#),
        answer("fine\nExit code: 0"),
    ];
    let mut turns = vec![problem];
    turns.extend(edit);
    assert!(told(&turns).contains("doesn't close"));
    turns.extend(run);
    assert!(!told(&turns).contains("doesn't close"));
}

#[test]
fn demands_of_people_come_first_and_the_later_of_two_stands() {
    let turns = [
        turn(
            Role::Human,
            "Please rename the importer. Keep each answer under 200 words, always.",
        ),
        turn(Role::Human, "Keep each answer under 90 words, always."),
        turn(Role::Human, "Okay, thanks! What should I do next?"),
        turn(
            Role::Human,
            "Ab jetzt nie ohne Rückfrage löschen. Die Tabelle heißt kunden_2.",
        ),
    ];
    assert_eq!(
        told(&turns),
        "[CONTEXT SUMMARY]:\nAsked:\n- Please rename the importer.\n- Die Tabelle heißt kunden_2.\nConstraints:\n\
         - Keep each answer under 90 words, always.\n- Ab jetzt nie ohne Rückfrage löschen."
    );
}
