//! Agents that work on screens, services that act, and the files that are changed at the end.

use super::endings::done;
use super::*;

/// The steps of an agent that clicks on places of a screen, with a word before each.
fn clicks(words: &[&'static str]) -> Vec<TurnView<'static>> {
    let places = [
        r#"{"action": "left_click", "coordinate": [356, 1866]}"#,
        r#"{"action": "left_click", "coordinate": [207, 632]}"#,
    ];
    let steps = words.iter().zip(places.into_iter().cycle());
    steps
        .flat_map(|(words, place)| [call(words, "computer", place), answer("[image]")])
        .collect()
}

#[test]
fn a_click_whose_answer_is_an_image_is_told_by_the_words_before_it() {
    let turns = clicks(&[
        "The contact is saved. I open the calendar.",
        "A dialog covers it. I dismiss it.",
        "I tap the button for a new event.",
        "I choose the day.",
    ]);
    let text = summary_of(&turns, None, &[], 2_000).text;
    assert!(!text.contains("[image]") && !text.contains("Done:"), "{text}");
    for words in [
        "The contact is saved.",
        "A dialog covers it.",
        "I choose the day.",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn what_was_typed_is_told_without_the_image_behind_it() {
    let text = done(&[(
        "computer",
        r#"{"action": "type", "text": "Hana"}"#,
        "Typed text: Hana\n[image]",
    )]);
    assert_eq!(text, "- computer(action: type, text: Hana) -> Typed text: Hana");
}

#[test]
fn a_call_that_acts_is_told_with_the_first_line_of_the_reply_and_a_lookup_by_its_result_alone() {
    let text = done(&[
        (
            "helm_upgrade",
            r#"{"release": "shop"}"#,
            "Release \"shop\" has been upgraded.\nNAME: shop\nSTATUS: deployed\nREVISION: 42",
        ),
        (
            "helm_show_values",
            r#"{"chart": "shop"}"#,
            "replicas: 3\nimage: shop\ntag: 2.14\npolicy: Always",
        ),
    ]);
    assert_eq!(
        text,
        "- helm_upgrade(release: shop) -> Release \"shop\" has been upgraded."
    );
}

#[test]
fn changed_files_that_no_line_names_are_listed_until_they_are_removed() {
    let edit = |file: &str| serde_json::json!({"path": file, "old_str": "a", "new_str": "b"}).to_string();
    let edits = ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"].map(edit);
    let long = "word ".repeat(60);
    let last = serde_json::json!({"path": "src/z.rs", "content": long}).to_string();
    let mut turns: Vec<TurnView<'_>> = Vec::new();
    for edit in &edits {
        turns.extend([call("", "str_replace", edit), answer("The file has been edited.")]);
    }
    turns.extend([call("", "write_file", &last), answer("Wrote it.")]);
    let first = summary_of(&turns, None, &[], 150).text;
    let listed = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("- changed: "));
        line.map(str::to_owned)
    };
    let names = listed(&first).unwrap_or_default();
    assert!(!names.is_empty(), "{first}");
    for name in names.split(", ") {
        assert_eq!(first.matches(name).count(), 1, "{name} twice in {first}");
    }
    // What an earlier summary lists stays, but for what goes.
    let gone = names.split(", ").next().unwrap();
    let remove = serde_json::json!({"command": format!("git checkout {gone}")}).to_string();
    let later = [call("", "bash", &remove), answer("Updated 1 path from the index")];
    let second = summary_of(&later, Some(&first), &[], 400).text;
    let left = listed(&second).unwrap_or_default();
    for name in names.split(", ") {
        assert_eq!(left.contains(name), name != gone, "{name}: {second}");
    }
}
