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
    assert!(!text.contains("[image]") && !text.contains("Calls:"), "{text}");
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
            "kubectl_get",
            r#"{"chart": "shop"}"#,
            "replicas: 3\nimage: shop\ntag: 2.14\npolicy: Always",
        ),
    ]);
    assert_eq!(
        text,
        "- helm_upgrade(release: shop) -> Release \"shop\" has been upgraded."
    );
}

/// The files that a summary lists as changed.
fn listed(text: &str) -> Vec<String> {
    let names = text
        .lines()
        .find_map(|line| Some(line.split_once("changed: ")?.1));
    names.map_or_else(Vec::new, |names| names.split(", ").map(str::to_owned).collect())
}

#[test]
fn changed_files_that_no_line_names_are_listed_until_they_are_put_back() {
    let edit = |file: &str| serde_json::json!({"path": file, "old_str": "a", "new_str": "b"}).to_string();
    let edits: Vec<String> = "abcdefghijklmnopqrstuvwx"
        .chars()
        .map(|name| edit(&format!("src/{name}.rs")))
        .collect();
    let last = serde_json::json!({"path": "src/z.rs", "content": "word ".repeat(60)}).to_string();
    let mut turns: Vec<TurnView<'_>> = Vec::new();
    for edit in &edits {
        turns.extend([call("", "str_replace", edit), answer("The file has been edited.")]);
    }
    turns.extend([call("", "write_file", &last), answer("Wrote it.")]);
    let first = summary_of(&turns, None, &[], 300).text;
    let names = listed(&first);
    assert!(!names.is_empty(), "{first}");
    for name in names.iter().filter(|name| name.starts_with("src/")) {
        assert_eq!(first.matches(name.as_str()).count(), 1, "{name} twice in {first}");
    }
    // What an earlier summary lists stays, but for what goes.
    let after = |command: &str| {
        let command = serde_json::json!({"command": command}).to_string();
        let later = [
            call("", "bash", &command),
            answer("<returncode>0</returncode>\n<output>\nok\n</output>"),
        ];
        let first = "Files:\n- changed: src/a.rs, src/b.rs, and 7 more";
        listed(&summary_of(&later, Some(first), &[], 400).text)
    };
    assert_eq!(after("ls"), ["src/a.rs", "src/b.rs"]);
    assert_eq!(after("git checkout src/a.rs"), ["src/b.rs"]);
    for all in [
        "git checkout .",
        "git stash",
        "git reset --hard",
        "rm -rf src",
        "rm src/*.rs",
    ] {
        assert_eq!(after(all), Vec::<String>::new(), "{all}");
    }
}

#[test]
fn a_file_whose_name_only_ends_like_another_is_named_too_and_one_that_nothing_says_was_changed_is_not() {
    let edit = |file: &str| serde_json::json!({"path": file, "old_str": "a", "new_str": "b"}).to_string();
    let edits = ["q.rs", "faq.rs", "lost.rs"].map(edit);
    let last = serde_json::json!({"path": "src/z.rs", "content": "word ".repeat(200)}).to_string();
    let turns = [
        call("", "str_replace", &edits[0]),
        answer("The file has been edited."),
        call("", "str_replace", &edits[2]),
        answer("<result>\n<operation>rejected</operation>\n</result>"),
        call("", "str_replace", &edits[1]),
        answer("The file has been edited."),
        call("", "write_file", &last),
        answer("Wrote it."),
    ];
    let text = summary_of(&turns, None, &[], 200).text;
    let is_told = |name: &str| text.contains(&format!(" {name}"));
    assert!(is_told("q.rs") && is_told("faq.rs"), "{text}");
    assert!(!listed(&text).contains(&"lost.rs".to_owned()), "{text}");
}

#[test]
fn the_same_element_of_another_page_is_another_one() {
    let page = |title: &str| {
        format!(
            "## AXTree:\nRootWebArea '{title}', focused\n\t[1926] textbox 'Price' value='60.00'\n\t[741] button 'Save'\n"
        )
    };
    let pages = ["Lamp red", "Lamp red", "Lamp blue", "Lamp blue"].map(page);
    let mut turns = vec![
        call("", "goto", r#"{"url": "http://shop.example/1"}"#),
        answer(&pages[0]),
    ];
    for page in &pages[1..] {
        turns.push(call("", "fill", r#"{"element": "1926", "value": "54.00"}"#));
        turns.push(answer(page));
    }
    let text = told(&turns);
    for title in ["Lamp red", "Lamp blue"] {
        let line = format!("fill(element: 1926, value: 54.00) (textbox 'Price') -> {title}");
        assert!(
            text.contains(&line) || text.contains(&line.replace(") ->", ") (x2) ->")),
            "{text}"
        );
    }
}

#[test]
fn an_element_is_told_by_its_role_and_name_however_pages_number_it() {
    for (tool, arguments, page, told_element) in [
        (
            "click",
            r#"{"element": "1026"}"#,
            "\t[1026] link 'New claim' required: True",
            "(link 'New claim')",
        ),
        (
            "click_element",
            r#"{"index": 3}"#,
            "[3]<button type=submit>Pay now</button>",
            "(button 'Pay now')",
        ),
        (
            "browser_click",
            r#"{"ref": "e12"}"#,
            "  - button \"Place order\" [ref=e12]",
            "(button 'Place order')",
        ),
        (
            "click",
            r#"{"uid": "1_3"}"#,
            "uid=1_3 link \"Terms\" url=\"/terms\"",
            "(link 'Terms')",
        ),
        (
            "click",
            r#"{"index": 4}"#,
            "[4]<a aria-label=\"1 > 2\">Cart</a>",
            "(a 'Cart')",
        ),
        (
            "click",
            r#"{"element": "7"}"#,
            "[7] link 'Tom's: shop'",
            "(link 'Tom's: shop')",
        ),
        ("click", r#"{"element": "9"}"#, "[9] button ''", ""),
        ("click", r#"{"element": "9"}"#, "The price is [9] button 'Go'", ""),
    ] {
        let page = ["RootWebArea 'Shop'\n", page, "\n"].concat();
        let turns = [
            call("", "goto", r#"{"url": "http://shop.example"}"#),
            answer(&page),
            call("", tool, arguments),
            answer("RootWebArea 'Done'\n"),
        ];
        let text = told(&turns);
        let line = text.lines().find(|line| line.starts_with(&format!("- {tool}(")));
        let line = line.unwrap_or_default();
        assert!(
            line.contains(told_element) && line.contains(" (") != told_element.is_empty(),
            "{text}"
        );
    }
    let turns = [
        turn(Role::Assistant, "I start.\n```goto [http://shop.example]```"),
        answer("OBSERVATION:\nTab 0 (current): Shop\n\n[1] RootWebArea 'Shop'\n\t[1026] link 'New claim'\n"),
        turn(Role::Assistant, "A claim.\n```click [1026]```"),
        answer("OBSERVATION:\nTab 0 (current): Claim\n\n[1] RootWebArea 'Claim'\n\t[1030] link 'Save'\n"),
    ];
    let text = told(&turns);
    assert!(
        text.contains("click [1026] (link 'New claim') -> Claim"),
        "{text}"
    );
}
