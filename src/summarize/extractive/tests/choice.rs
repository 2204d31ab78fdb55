//! The choice of lines when not all of them fit.

use super::*;

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
    for line in [
        "- Never write to the production table.",
        "- I'd rather you use httpx.",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("Thanks"), "{text}");
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
fn a_demand_is_told_with_the_sentence_that_names_what_it_is_about() {
    let said = "The new key is in our vault under netops/transit-a/md5. Don't print it into this chat. Never touch edge2 before 08:00.";
    let text = summary_of(
        &[
            turn(Role::Human, "Mend the session of edge1."),
            turn(Role::Human, said),
        ],
        None,
        &[],
        2_000,
    )
    .text;
    for line in [
        "- The new key is in our vault under netops/transit-a/md5. Don't print it into this chat.\n",
        "- Never touch edge2 before 08:00.\n",
    ] {
        assert!(format!("{text}\n").contains(line), "{text}");
    }
    assert_eq!(text.matches("netops/transit-a/md5").count(), 1, "{text}");
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
        let (_, demands) = text.split_once("Constraints:\n").unwrap_or_default();
        assert!(demands.contains(said), "{text}");
    }
}

#[test]
fn requests_that_were_answered_before_the_person_spoke_again_say_so() {
    let book = call("", "book_carrier", r#"{"shipment": "SH-1", "price": 3950}"#);
    let asked = |reply: &str| {
        let turns = [
            turn(Role::Human, "Book FrigoTrans for Milan at 3950."),
            book.clone(),
            answer(r#"{"booking": "BK-30551"}"#),
            turn(Role::Assistant, reply),
            turn(Role::Human, "Rename SH-2 to SH-3."),
        ];
        told(&turns)
    };
    let answered = "Asked earlier:\n- Book FrigoTrans for Milan at 3950.\n";
    for reply in ["Booked as BK-30551.", "Booked. Is there anything else?"] {
        let text = asked(reply);
        assert!(
            text.contains(answered) && text.contains("Asked:\n- Rename"),
            "{reply}: {text}"
        );
    }
    for reply in [
        "Which window do you want?",
        "It costs 420. Would you like me to go ahead with it?",
    ] {
        let back = asked(reply);
        assert!(
            back.contains("Asked:\n- Book FrigoTrans") && !back.contains("earlier"),
            "{back}"
        );
    }
    // An earlier summary's requests are answered as well.
    let turns = [
        turn(Role::Assistant, "Booked as BK-30551."),
        turn(Role::Human, "Rename SH-2 to SH-3."),
    ];
    let carried = |previous: &str| summary_of(&turns, Some(previous), &[], 400).text;
    let text = carried("Asked:\n- Book FrigoTrans for Milan at 3950.");
    assert!(text.contains(answered), "{text}");
    let text = carried(&text);
    assert!(text.contains(answered), "{text}");
}

#[test]
fn a_choice_of_what_was_offered_is_no_standing_rule() {
    let offer = turn(
        Role::Assistant,
        "The offices are DE004056 and DE004062. Which one?",
    );
    let chosen = [
        offer,
        turn(Role::Human, "Gear boxes. Use DE004056."),
        call("", "bash", r#"{"command": "make"}"#),
    ];
    assert!(!told(&chosen).contains("Constraints"), "{}", told(&chosen));
    let told_alone = told(&chosen[1..]);
    assert!(
        told_alone.contains("Constraints:\n- Use DE004056."),
        "{told_alone}"
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
    // Another object is none of it.
    let other = after(&mail("otto@acme.example", "Publications"));
    assert!(other.contains("Open errors"), "{other}");
}

#[test]
fn what_holds_until_further_word_is_no_rule_and_a_reason_that_ends_so_takes_none_away() {
    let asked = |words: &str| {
        told(&[
            turn(Role::Human, words),
            call("", "bash", r#"{"command": "make"}"#),
            answer("ok"),
        ])
    };
    let rule = "Every mail gets the office in cc, and don't mention scholarships in any of them, the budget isn't out yet.";
    assert!(
        asked(rule).contains("Constraints:\n- Every mail gets"),
        "{}",
        asked(rule)
    );
    let hold = asked("Don't book it yet.");
    assert!(!hold.contains("Constraints"), "{hold}");
}
