//! What stands at the end of all that was said.

use super::*;

/// Of sentences of one turn each, those that stand at the end.
fn left<'s>(said: &[&'s str]) -> Vec<&'s str> {
    let mut stated = Stated::default();
    let turns = said.iter().enumerate().rev();
    let mut left: Vec<&str> = turns
        .filter(|(turn, sentence)| stated.note(*turn, sentence) != Worth::Stale)
        .map(|(_, sentence)| *sentence)
        .collect();
    left.reverse();
    left
}

#[test]
fn what_somebody_has_in_a_state_is_taken_back_by_another_state_of_it() {
    let said = [
        "Your account has an overdue bill of $150.00 from February.",
        "You have an active line.",
        "They have a plan of the team.",
        "Your overdue bill is now marked as paid.",
    ];
    assert_eq!(left(&said), said[1..]);
}

#[test]
fn of_statements_about_the_same_subject_the_last_one_stays() {
    let said = [
        "The root cause is the missing index.",
        "The price of A1 is 5 dollars.",
        "I was wrong: the root cause is a deadlock.",
        "The price of B2 is 6 dollars.",
        "The issue is in a.",
        "The issue is also in b.",
        "Actually, the issue is in c.",
    ];
    assert_eq!(left(&said), [said[1], said[2], said[3], said[6]]);
}

#[test]
fn a_correction_takes_back_what_was_said_in_fewer_words() {
    let said = [
        "Noted, your phone number is 555-0100 and I will use it.",
        "The phone is charged.",
        "Updated: the phone number on file is now 555-0199.",
    ];
    assert_eq!(left(&said), [said[1], said[2]]);
}

#[test]
fn a_state_stands_until_another_is_told() {
    for (before, after) in [
        ("The port is 8080.", "The port is 9443 now."),
        ("The port is 8080.", "The port is now set to 9443."),
        ("The port is set to 8080.", "The port was changed to 9443."),
        ("The port is 8080.", "The port isn't 8080 any more."),
        ("The root cause is the lock.", "The root cause is not the lock."),
        (
            "The server runs on port 8080.",
            "The server now runs on port 9443.",
        ),
        (
            "The bug is in parser.py.",
            "The bug is not in parser.py after all.",
        ),
        ("The total is 41.50 EUR.", "Wait, the total is 39.90 EUR."),
        ("The total is 41.50 EUR.", "The total is 39.90 EUR."),
        ("Your line is suspended.", "Your line has been reactivated."),
        (
            "Airplane Mode is currently enabled on your phone.",
            "Airplane Mode is off now.",
        ),
        (
            "The refund of $120 goes to your gift card.",
            "The refund of $120 goes to your PayPal account instead.",
        ),
        ("订单金额是 1299 元。", "更正：订单金额是 1499 元。"),
        (
            "I see that your mobile data is OFF.",
            "Great, my mobile data is on.",
        ),
        ("The port is 8080.", "I changed the port from 8080 to 9443."),
        (
            "The timeout is 30 seconds.",
            "We've now set the timeout to 60 seconds.",
        ),
        ("The model is `a-1`.", "I switched the model to `a-2`."),
        (
            "The service listens on port 8080.",
            "It turns out the service listens on port 9443.",
        ),
        ("The build is broken.", "The build works now."),
        ("Your total is $41.50.", "Your new total is $39.90."),
        (
            "The deployment uses image v1.",
            "The deployment uses image v2 now.",
        ),
        ("The login page returns 500.", "The login page returns 200."),
        (
            "The flight HAT101 departs at 09:00.",
            "The flight HAT101 departs at 11:30 due to a delay.",
        ),
        ("The build works.", "The build doesn't work any more."),
        ("The fix is not working correctly.", "The fix works."),
        ("The login test fails with a timeout.", "The login test passes."),
    ] {
        assert_eq!(left(&[before, after]), [after], "{before}");
    }
    for (before, after) in [
        ("The issue is in a.", "The issue is that b fails."),
        ("The first item is A1.", "The second item is B2."),
        (
            "Your flight is on May 3.",
            "Your flight is operated by Lufthansa.",
        ),
        ("The test file is tests/test_io.py.", "The test file is not new."),
        (
            "The response is cached.",
            "The response is now compressed as well.",
        ),
        ("The server is slow.", "The server runs on port 80."),
        ("Your order is on its way.", "If your order is late, call."),
        ("This is done.", "This is not done."),
        ("The port is 9443.", "The port is not 8080."),
        ("The root cause is the index.", "The root cause is not the lock."),
        ("The root cause is the index.", "The root cause isn't a lock."),
        ("Your order #W1 is pending.", "Your order #W2 is delivered."),
        ("The price of your order is 5.", "Your order is delivered."),
        ("The port is 8080.", "I updated the test to use the port 9443."),
        (
            "The fix works for empty sets - they all return 0.",
            "The fix works.",
        ),
        ("The login test fails.", "If the login test passes, stop."),
        ("The first test fails.", "The second test passes."),
        ("The function returns 500.", "The function returns 200."),
        ("The new one is here.", "The one is there."),
    ] {
        assert_eq!(left(&[before, after]), [before, after], "{before}");
    }
}

#[test]
fn of_two_reasons_the_later_one_stays() {
    for (before, after, stays) in [
        (
            "The failure is due to the cache.",
            "The failure was due to a lock.",
            false,
        ),
        (
            "The crash is likely caused by the cache.",
            "The crash is because of a lock.",
            false,
        ),
        (
            "The failures are due to the cache.",
            "The failures are due to a lock.",
            true,
        ),
        ("The crash is due to the cache.", "The crash is new.", true),
    ] {
        assert_eq!(left(&[before, after]).len(), 1 + usize::from(stays), "{before}");
    }
}

#[test]
fn corrections_in_other_languages_take_back_what_was_said() {
    for (before, after) in [
        ("El puerto es 8080.", "Corrección: el puerto es 9443."),
        ("La causa es el índice.", "En realidad, la causa es un bloqueo."),
        ("Tu pedido está pendiente.", "Tu pedido ahora está cancelado."),
        ("Le port est 8080.", "Le port est maintenant 9443."),
        ("Le port est 8080.", "Le port n'est plus 8080, c'est 9443."),
        ("Der Port ist 8080.", "Korrektur: Der Port ist 9443."),
        ("Der Port ist 8080.", "Jetzt ist der Port 9443."),
        ("端口是8080。", "现在端口是9443。"),
        (
            "Ihre Bestellung ist offen.",
            "Ihre Bestellung ist jetzt storniert.",
        ),
        ("A porta é 8080.", "Correção: a porta é 9443."),
        ("ポートは8080です。", "訂正：ポートは9443です。"),
        ("서버 포트는 8080입니다.", "정정: 서버 포트는 9443입니다."),
        ("Порт — 8080.", "Исправление: порт теперь 9443."),
    ] {
        assert_eq!(left(&[before, after]), [after], "{before}");
    }
    for (before, after) in [
        ("El puerto es 8080.", "El puerto también es 9443."),
        ("El puerto es 8080.", "La clave es 9443."),
        ("Der Port ist 8080.", "Der Port ist in der Datei."),
    ] {
        assert_eq!(left(&[before, after]), [before, after], "{before}");
    }
}

#[test]
fn a_correction_that_names_no_subject_takes_back_the_value_that_it_denies() {
    let said = [
        "The server listens on port 8080.",
        "I saw 8080 in the log.",
        "The timeout is 8080.5 ms.",
        "Wait, 9443 not 8080.",
    ];
    assert_eq!(left(&said), said[1..]);
}

#[test]
fn tests_that_pass_since_fail_no_more() {
    let mut stated = Stated::default();
    stated.note_passed_tests(3);
    let said = "There are 2 failing tests in test_io.py.";
    assert_eq!(stated.note(4, said), Worth::Plain);
    assert_eq!(stated.note(2, said), Worth::Stale);
    assert!(stated.is_stale(None, said));
    assert_eq!(stated.note(2, "There are no failing tests."), Worth::Plain);
    for (after, stays) in [
        ("All tests pass now.", false),
        ("All tests pass except one.", true),
        ("Some tests pass now.", true),
    ] {
        assert_eq!(left(&[said, after]).len(), 1 + usize::from(stays), "{after}");
    }
}

#[test]
fn a_call_changes_what_it_names() {
    let mut stated = Stated::default();
    stated.note_changes(3, "pending_order", "(order_id: #W2)");
    for (sentence, expected) in [
        ("Your order #W1 is pending.", false),
        ("Your order #W2 is pending.", true),
        ("Your order is pending.", true),
        ("Your order is a gift.", false),
        ("Your pending order is a gift.", true),
    ] {
        assert_eq!(stated.is_stale(Some(1), sentence), expected, "{sentence}");
    }
    stated.note_changes(3, "line", "(line_id: L1002)");
    assert!(stated.is_stale(Some(1), "Your line 555-0100 is suspended."));
}

#[test]
fn what_one_turn_says_in_two_sentences_stays() {
    let mut stated = Stated::default();
    assert_eq!(stated.note(1, "The port is 80."), Worth::State);
    assert_eq!(stated.note(1, "The port is 90 now."), Worth::State);
    assert_eq!(stated.note(0, "The port is 70."), Worth::Stale);
    stated.note_changes(1, "the_airplane_mode", "(on: false)");
    assert!(stated.is_stale(Some(0), "Airplane Mode is on."));
    assert!(stated.is_stale(None, "Its port: the port is 70."));
    assert!(!stated.is_stale(Some(1), "The port is 80."));
}
