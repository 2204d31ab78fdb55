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
fn what_somebody_was_told_to_do_long_ago_is_not_told() {
    let turns = [
        turn(
            Role::Assistant,
            "To restore your service, you will need to pay the overdue bill.",
        ),
        turn(Role::Human, "I paid it."),
        turn(
            Role::Assistant,
            "The bill was paid with the card that ends in 4417.",
        ),
        turn(Role::Human, "And then?"),
        turn(
            Role::Assistant,
            "To refresh the connection, please reboot the phone in your hand.",
        ),
    ];
    let text = told(&turns);
    assert!(
        text.contains("please reboot") && text.contains("4417") && !text.contains("need to pay"),
        "{text}"
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
    let states = "Your line 555-0100 is suspended since the bill is late.";
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
    let previous =
        "Findings:\n- Your line 555-0100 is suspended since the bill is late.\n- The bill was paid.";
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
