//! The choice of lines when not all of them fit.

use super::*;
use crate::compress::anchors::{dangling, held_mask};

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
fn demands_of_a_long_request_come_before_what_it_explains_and_courtesies_are_left_out() {
    let explained: Vec<String> = (10..40)
        .map(|part| format!("Part {part} takes the records of the one before and hands them on."))
        .collect();
    let request = format!(
        "Thanks for checking! Rework the importer. {} Never write to the production table. I'd rather you use httpx.",
        explained.join(" ")
    );
    let text = summary_of(&[turn(Role::Human, &request)], None, &[], 120).text;
    let demands = "Never write to the production table. I'd rather you use httpx.";
    assert!(text.contains(demands), "{text}");
    assert!(!text.contains("Thanks"), "{text}");
}

#[test]
fn messages_of_people_are_told_whole_and_in_order_without_small_talk() {
    let turns = [
        turn(
            Role::Human,
            "Please rename the importer. Keep each answer under 200 words, always.",
        ),
        turn(Role::Human, "Keep each answer under 90 words, always."),
        turn(Role::Human, "Okay, thanks! What should I do next?"),
        turn(Role::Human, "No, leave it out. Yes, go ahead."),
        turn(
            Role::Human,
            "Ab jetzt nie ohne Rückfrage löschen. Die Tabelle heißt kunden_2.",
        ),
    ];
    assert_eq!(
        told(&turns),
        "[CONTEXT SUMMARY]:\nThe user said, in order:\n- Please rename the importer. Keep each answer under 200 words, always.\n\
         - Keep each answer under 90 words, always.\n- No, leave it out.\n- Ab jetzt nie ohne Rückfrage löschen. Die Tabelle heißt kunden_2."
    );
}

#[test]
fn something_is_quoted_however_far_estimates_are_from_counts() {
    // Whatever is longer than a few lines costs all of the room and some more.
    let counter = WordCounter::counting(|text| if text.len() > 300 { 996 } else { text.len() / 4 });
    let lines: Vec<String> = (0..90)
        .map(|row| format!("print(rows.column_{row}, total={})", 7 * row))
        .collect();
    let arguments = serde_json::json!({ "path": "report.py", "text": lines.join("\n") }).to_string();
    let turns = [call("", "write_file", &arguments), answer("ok")];
    let stretch = Stretch::of(&turns);
    let request = SummaryRequest {
        max_tokens: 1_000,
        target_tokens: 1_000,
        ..request(&stretch, &counter)
    };
    let text = Extractive::default().summary(&request).expect("fits").text;
    assert!(text.contains("rows.column_8"), "{text}");
}

#[test]
fn of_a_long_message_what_names_or_demands_something_is_told() {
    let explained = "The session came up again after the second change, and nobody knows why. ".repeat(12);
    let key = "The new key is in our vault under netops/transit-a/md5. Don't print it into this chat.";
    let said = format!("{explained} {key} The window opens on Monday.");
    let text = summary_of(&[turn(Role::Human, &said)], None, &[], 2_000).text;
    assert!(text.contains(key), "{text}");
}

#[test]
fn demands_of_one_message_that_differ_in_numbers_only_are_all_told() {
    let said = "Never touch server srv-101. Never touch server srv-102. Never touch server srv-103.";
    let text = summary_of(&[turn(Role::Human, said)], None, &[], 2_000).text;
    for server in ["srv-101", "srv-102", "srv-103"] {
        assert!(text.contains(server), "{text}");
    }
}

#[test]
fn what_a_person_takes_back_enters_like_a_demand() {
    for said in [
        "You can drop the screenshots.",
        "Forget the recalc endpoint, the batch does it.",
    ] {
        let turns = [
            turn(Role::Human, "Scrape the shop, with a screenshot of each page."),
            turn(Role::Human, said),
        ];
        let text = summary_of(&turns, None, &[], 2_000).text;
        assert!(text.contains(&format!("page.\n- {said}")), "{text}");
    }
}

#[test]
fn a_message_is_told_with_the_reply_to_it_and_what_that_asks() {
    let told_after = |reply: &str| {
        told(&[
            turn(Role::Human, "Book FrigoTrans for Milan at 3950."),
            call("", "book_carrier", r#"{"shipment": "SH-1", "price": 3950}"#),
            answer(r#"{"booking": "BK-30551"}"#),
            turn(Role::Assistant, reply),
            turn(Role::Human, "Rename SH-2 to SH-3."),
            call("", "bash", r#"{"command": "make"}"#),
        ])
    };
    let rest = "The driver calls an hour before, and the papers lie at the gate. ".repeat(12);
    for (reply, expected) in [
        (
            "Booked as BK-30551. Is there anything else?",
            "Booked as BK-30551.",
        ),
        (
            &format!("Booked as BK-30551. {rest} Which window do you want?"),
            &format!(
                "Booked as BK-30551. {}… Which window do you want?",
                rest.get(..650).unwrap_or_default()
            ),
        ),
    ] {
        let text = told_after(reply);
        let line =
            format!("- Book FrigoTrans for Milan at 3950. -> said: {expected}\n- Rename SH-2 to SH-3.\n");
        assert!(text.contains(&line), "{text}");
        assert_eq!(text.matches("Booked as").count(), 1, "{text}");
    }
    // The first reply is to the last message of an earlier summary.
    let turns = [
        turn(Role::Assistant, "Booked as BK-30551."),
        turn(Role::Human, "Rename SH-2 to SH-3."),
    ];
    let previous = "The user said, in order:\n- Never call them.\n- Book FrigoTrans.";
    let text = summary_of(&turns, Some(previous), &[], 400).text;
    assert!(
        text.contains("- Never call them.\n- Book FrigoTrans. -> said: Booked as BK-30551.\n- Rename"),
        "{text}"
    );
}

#[test]
fn messages_of_an_earlier_summary_that_name_nothing_go_after_two_replies() {
    let turns: Vec<_> = ["Rename SH-2 to SH-3.", "Is SH-4 there?"]
        .into_iter()
        .flat_map(|asked| [turn(Role::Assistant, "Done so."), turn(Role::Human, asked)])
        .collect();
    let previous =
        "The user said, in order:\n- Book FrigoTrans for Milan.\n- Is it there by now?\n- Never call them.";
    let text = |turns| summary_of(turns, Some(previous), &[], 400).text;
    assert!(
        text(&turns).contains("- Book FrigoTrans for Milan.\n- Never call them. -> said: Done so.\n- Rename"),
        "{}",
        text(&turns)
    );
    assert!(
        text(&turns[..2]).contains("- Is it there by now?"),
        "{}",
        text(&turns[..2])
    );
}

#[test]
fn a_call_that_failed_is_mended_by_most_of_it_once_more() {
    let mail = |to: &str, subject: &str| {
        serde_json::json!({"to": to, "subject": subject, "body": "The list of publications for the annual report."}).to_string()
    };
    let first = mail("h.vester@aldmoor.example", "Publications of 2024");
    let after = |arguments: &str| {
        let turns = [
            call("", "send_mail", &first),
            answer("Error: 421 try again later"),
            call("", "send_mail", arguments),
            answer(r#"{"status": "queued"}"#),
        ];
        told(&turns)
    };
    assert!(!after(&mail("h.vester@aldmoor.example", "Publications")).contains("Open errors"));
    // A part of the key that the error names.
    let order = |more: &str| format!("{{\"item\": \"HW-100533\", \"quantity\": 12{more}}}");
    let orders = [order(""), order(", \"gl_account\": 6063100")];
    let turns = [
        call("", "create_requisition", &orders[0]),
        answer("Error: G/L account is missing for item 00010"),
        call("", "create_requisition", &orders[1]),
        answer(r#"{"status": "created"}"#),
    ];
    assert!(!told(&turns).contains("Open errors"), "{}", told(&turns));
    // With other arguments, and the one that was missing.
    let turns = [
        call(
            "",
            "list_transactions",
            r#"{"customer_id": "C-208841", "card_last4": "9083"}"#,
        ),
        answer("Error: 'account_id' is required"),
        call(
            "",
            "list_transactions",
            r#"{"account_id": "A-7730192", "card_last4": "9083"}"#,
        ),
        answer(r#"{"count": 16}"#),
    ];
    assert!(!told(&turns).contains("Open errors"), "{}", told(&turns));
    // Another object is none of it.
    let other = after(&mail("otto@acme.example", "Publications"));
    assert!(other.contains("Open errors"), "{other}");
}

#[test]
fn messages_of_an_earlier_summary_that_look_alike_are_all_told_and_none_is_empty() {
    let kept =
        |previous: &str| summary_of(&[turn(Role::Human, "Go on with b.py.")], Some(previous), &[], 600).text;
    for said in [
        "- Set the port to 8080.\n- Set the port to 80.\n",
        "- Use branch main in repo.py.\n- Use branch dev in repo.py.\n- Use branch main in repo.py.\n",
    ] {
        let text = kept(&format!("The user said, in order:\n{said}"));
        assert!(text.contains(said), "{text}");
    }
    let whole = "Set the port to 8080, and write the reason into the log of changes.";
    let text = kept(&format!(
        "In progress: Set the port to 8080, and write …\nThe user said, in order:\n- {whole}"
    ));
    assert_eq!(text.matches("Set the port").count(), 1, "{text}");
    let text = kept("The user said, in order:\n- Thanks! -> said: You are welcome.\n- Use a.py.");
    assert!(text.contains("order:\n- Use a.py.\n"), "{text}");
    // What was in progress need not be what was said last.
    let said = "- Rent a crate for the panel.\n- The dock is at gate 4.\n";
    let text = kept(&format!(
        "In progress: Rent a crate for the panel.\nThe user said, in order:\n{said}"
    ));
    assert!(text.contains(&format!("order:\n{said}")), "{text}");
    assert_eq!(text.matches("crate").count(), 1, "{text}");
    let call = [call("", "bash", r#"{"command": "make"}"#)];
    let text = summary_of(&call, Some("The user said, in order:\n- Thanks!"), &[], 600).text;
    assert!(!text.contains("The user said"), "{text}");
    let word = "x".repeat(900);
    let text = summary_of(&[turn(Role::Human, &word)], None, &[], 600).text;
    assert!(text.contains("- xxx") && text.contains('…'), "{text}");
}

#[test]
fn what_messages_leave_of_their_part_is_not_spent_twice() {
    let texts: Vec<[String; 3]> = (0..60)
        .map(|number| {
            let id = format!("ITM-{}", 48_213 + 977 * number);
            let said = format!("Please check the shelf of row {number} in the hall and say what lies there.");
            let arguments = format!(r#"{{"row": {number}, "hall": "north"}}"#);
            [said, arguments, format!(r#"{{"item": "{id}", "state": "open"}}"#)]
        })
        .collect();
    let turns: Vec<TurnView<'_>> = texts
        .iter()
        .flat_map(|[said, arguments, shown]| {
            [
                turn(Role::Human, said),
                call("", "check_shelf", arguments),
                answer(shown),
            ]
        })
        .collect();
    let used: Vec<&str> = texts
        .iter()
        .step_by(4)
        .map(|[.., shown]| shown.as_str())
        .collect();
    let used = used.join(" ");
    let anchors = dangling(&[], &turns, &[turn(Role::Assistant, &used)]);
    assert_eq!(anchors.len(), 15);
    for most in [300, 400, 600, 900] {
        let text = summary_of(&turns, None, &anchors, most).text;
        let held = held_mask(&anchors, &text).into_iter().filter(|is_held| *is_held);
        assert_eq!(held.count(), 15, "{most}: {text}");
    }
}
