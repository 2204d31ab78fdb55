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
