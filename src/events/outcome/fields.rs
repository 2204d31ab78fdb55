//! The outcome of a tool call with a JSON answer, from its fields.

use super::envelope::{EXIT_CODES, counts_done, error_listed, failed_items, is_listed_error};
use super::field_errors::{HTTP_STATUS, MESSAGES, holds_error, is_http_error, says_why};
use super::field_line::{push_key, sentence};
use super::later_calls::LaterCalls;
use super::reported::ReportedFields;
use super::shown_fields::{has_lines, is_text, is_told_here, told_fields};
use super::status::{Basis, CallStatus, Outcome};
use super::text::{MAX_LINE, quote, tool_of};
use crate::events::target::Effect;
use crate::knowledge::errors::{ErrorKind, not_allowed, says_done, says_not_done};
use crate::knowledge::reading::kind_of;
use crate::knowledge::tool_names::is_lookup;
use crate::trajectory::json::leaves::Leaf;

/// The outcome of a call whose answer has these fields.
pub(crate) fn outcome_of(
    fields: &[Leaf<'_>],
    effect: Effect,
    target: &str,
    told: &mut ReportedFields,
    later: LaterCalls<'_>,
) -> Outcome {
    let mut ended = from_json(
        fields,
        effect == Effect::Read || is_lookup(tool_of(target)),
        target,
    );
    // What was asked for is shown.
    if ended.status == CallStatus::Unknown && effect == Effect::Read && !fields.is_empty() {
        (ended.status, ended.basis) = (CallStatus::Ok, Basis::Field);
    }
    let mut result = told_fields(fields, target, told, later);
    let mut lines = 0;
    if result.is_none() {
        let first = || fields.iter().find(|leaf| is_told_here(leaf));
        match fields.iter().find(|leaf| is_text(leaf)).or_else(first) {
            Some(leaf) => {
                let value = leaf.value();
                if has_lines(&value) {
                    lines = value.trim().lines().count();
                } else {
                    result = sentence(&value, MAX_LINE).and_then(|value| {
                        let mut field = String::new();
                        push_key(leaf, &mut field);
                        quote(&(field + &value))
                    });
                }
            }
            None if ended.status == CallStatus::Unknown => result = Some("empty".to_owned()),
            None => {}
        }
    }
    Outcome {
        says_done: effect == Effect::Modify && result.as_deref().is_some_and(says_done),
        result,
        lines,
        ..ended
    }
}

/// The status and the error.
fn from_json(fields: &[Leaf<'_>], is_reading: bool, target: &str) -> Outcome {
    let outermost: Vec<&Leaf<'_>> = fields.iter().filter(|leaf| leaf.depth <= 1).collect();
    let field = |names: &[&str]| outermost.iter().find(|leaf| leaf.is_under(names));
    let exit_code = field(&EXIT_CODES).and_then(|leaf| leaf.value().parse::<i32>().ok());
    let named = field(&["error", "errors", "exception"])
        .filter(|leaf| leaf.is_string && !leaf.value().trim().is_empty());
    let message = || {
        fields
            .iter()
            .find(|leaf| leaf.is_string && leaf.is_under(&MESSAGES))
    };
    let is_true = |names: &[&str]| field(names).is_some_and(|leaf| leaf.value() == "true");
    let says_failed = holds_error(fields, is_reading)
        || named.is_some()
        || is_true(&["error", "is_error", "isError", "failed", "timed_out"])
        || field(&["success", "ok"]).is_some_and(|leaf| leaf.value() == "false")
        || field(&["status"])
            .is_some_and(|leaf| matches!(leaf.value().as_ref(), "error" | "failed" | "failure"))
        || says_why(fields) && field(&HTTP_STATUS).is_some_and(|leaf| is_http_error(&leaf.value()));
    let in_list = failed_items(fields);
    let counted = |names: &[&str]| field(names).and_then(|leaf| leaf.value().parse::<u64>().ok());
    let counts = (
        counted(&["succeeded", "successful"]),
        counted(&["failed", "failures"]),
    );
    // Errors that were looked up are none of the call's.
    let listed = error_listed(fields).filter(|_| !is_reading);
    let some_failed = counts.1 > Some(0) || in_list.is_some() || listed.is_some();
    let some_did = counts.0 > Some(0)
        || in_list.is_some_and(|(_, is_all)| !is_all)
        || listed.is_some() && {
            let mut others = fields.iter().filter(|leaf| !is_listed_error(leaf));
            others.any(|leaf| leaf.record > 0 || counts_done(leaf))
        };
    let error = named
        .and_then(|leaf| quote(&leaf.value()))
        .or_else(|| quote(&in_list?.0.filter(|leaf| leaf.is_string)?.value()))
        .or_else(|| quote(&listed?.value()))
        .or_else(|| quote(&message().filter(|_| says_failed)?.value()));
    let is_refused = is_true(&["blocked", "denied"])
        || field(&["status", "outcome"]).is_some_and(|leaf| names_refusal(&leaf.value(), target))
        || error.as_deref().and_then(kind_of) == Some(ErrorKind::Refusal);
    let (status, basis) = match exit_code {
        _ if is_refused => (CallStatus::Refused, Basis::Field),
        _ if says_failed => (CallStatus::Failed, Basis::Field),
        _ if some_failed && some_did => (CallStatus::Partly, Basis::Field),
        _ if some_failed => (CallStatus::Failed, Basis::Field),
        Some(0) => (CallStatus::Ok, Basis::ExitCode),
        Some(_) => (CallStatus::Failed, Basis::ExitCode),
        None if is_true(&["success", "ok", "succeeded"])
            || field(&["status"]).is_some_and(|leaf| names_state(leaf)) =>
        {
            (CallStatus::Ok, Basis::Field)
        }
        None => (CallStatus::Unknown, Basis::None),
    };
    Outcome {
        status,
        basis,
        exit_code,
        error,
        ..Outcome::default()
    }
}

/// Returns true if a status says that somebody did not allow it, and that was not what the call (`target`) asked for, or looked up.
fn names_refusal(status: &str, target: &str) -> bool {
    let Some(refusal) = not_allowed(status).filter(|_| !is_lookup(tool_of(target))) else {
        return false;
    };
    let target = target.to_ascii_lowercase();
    let stem = refusal.get(..3).unwrap_or(refusal);
    !target
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word.starts_with(stem))
}

/// Returns true if a status is a word or two, and none that says no.
fn names_state(leaf: &Leaf<'_>) -> bool {
    let value = leaf.value();
    leaf.is_string && value.split_whitespace().count() <= 3 && !says_not_done(&value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::outcome::outcome;

    fn result(target: &str, answer: &str) -> Option<String> {
        outcome(
            answer,
            Effect::Other,
            target,
            &mut ReportedFields::default(),
            LaterCalls::default(),
        )
        .result
    }

    #[track_caller]
    fn says(target: &str, answer: &str, expected: &str) {
        assert_eq!(result(target, answer).as_deref(), Some(expected), "{answer}");
    }

    #[test]
    fn what_holds_fields_is_named_where_they_begin() {
        says(
            "get(id: 1)",
            r#"{"status": "open", "address": {"city": "Bern", "zip": 12}, "payment": {"source": "card", "by": {"name": "Ann"}}, "total": 5}"#,
            "status: open, total: 5; address city: Bern, zip: 12; payment source: card; by name: Ann",
        );
        says(
            "get(id: 1)",
            r#"{"items": [{"name": "A", "options": {"size": 3}, "price": 4}, {"name": "B", "options": {"size": 5}}]}"#,
            "name: A, options size: 3, price: 4; name: B, options size: 5",
        );
    }

    #[test]
    fn many_records_of_which_nothing_is_told_are_counted() {
        let flight = |number: usize| serde_json::json!({"flight": format!("F{number:03}"), "from": "Basel", "to": "Chur", "seats": number});
        let flights: Vec<_> = (1..=8).map(flight).collect();
        says(
            "search(to: Chur)",
            &serde_json::json!(flights).to_string(),
            "8 records",
        );
        let pairs: Vec<_> = flights.chunks(2).collect();
        says(
            "search(to: Chur)",
            &serde_json::json!(pairs).to_string(),
            "8 records",
        );
        let many: Vec<_> = (1..=80).map(flight).collect();
        says(
            "search(to: Chur)",
            &serde_json::json!(many).to_string(),
            "16+ records",
        );
    }

    #[test]
    fn what_says_that_it_failed_tells_why() {
        let ended = |answer: &str| {
            outcome(
                answer,
                Effect::Other,
                "book(id: 1)",
                &mut ReportedFields::default(),
                LaterCalls::default(),
            )
        };
        for (answer, error) in [
            (
                r#"{"success": false, "message": "No seat left"}"#,
                Some("No seat left"),
            ),
            (
                r#"{"status": "failed", "reason": "No seat left"}"#,
                Some("No seat left"),
            ),
            (r#"{"ok": false, "code": 7}"#, None),
        ] {
            let outcome = ended(answer);
            assert_eq!(
                (outcome.failed(), outcome.error.as_deref()),
                (Some(true), error),
                "{answer}"
            );
        }
        assert_eq!(ended(r#"{"success": true, "message": "Booked"}"#).error, None);
    }

    #[test]
    fn refusals_are_told_however_long() {
        let long = "We are unable to cancel this reservation because the fare class does not allow cancellation within 24 hours of departure.";
        let short = "We are unable to cancel this reservation because the fare class does not allow cancellation within 24 hours …";
        for key in ["message", "detail", "reason"] {
            let answer = serde_json::json!({key: long}).to_string();
            says("cancel(id: Z)", &answer, &format!("{key}: {short}"));
        }
        says(
            "x",
            r#"{"result": "Line one denied\nLine two"}"#,
            "result: Line one denied Line two",
        );
        says(
            "x",
            r#"{"approved": false, "reason": "limit"}"#,
            "approved: false, reason: limit",
        );
    }

    #[test]
    fn no_answers_and_empty_ones_are_told() {
        for answer in ["[]", "{}", r#"{"rows": []}"#, r#"{"a": null, "b": ""}"#] {
            says("find(a: b)", answer, "empty");
        }
        says(
            "cancel(order: #W1234, refund: false)",
            r#"{"cancelled": false}"#,
            "cancelled: false",
        );
        says(
            "is_blocked(user: true_man)",
            r#"{"blocked": true}"#,
            "blocked: true",
        );
        says("get(account: ACC-10500)", r#"{"balance": "105"}"#, "balance: 105");
        // What only says the call once more is better than nothing.
        says(
            "cancel(order: #W1234567)",
            r##"{"order": "#W1234567"}"##,
            "order: #W1234567",
        );
        says(
            "get(user: anna_smith)",
            r#"{"user": "anna_smith", "plan": "gold"}"#,
            "plan: gold",
        );
    }

    #[test]
    fn what_is_said_of_one_thing_is_said_of_the_next() {
        let mut told = ReportedFields::default();
        let mut of = |target: &str, answer: &str| {
            outcome(answer, Effect::Other, target, &mut told, LaterCalls::default())
                .result
                .unwrap()
        };
        assert_eq!(of("check(u: anna)", r#"{"eligible": false}"#), "eligible: false");
        assert_eq!(of("check(u: bert)", r#"{"eligible": false}"#), "eligible: false");
        assert_eq!(
            of("pay(u: anna)", r#"{"reason": "limit exceeded"}"#),
            "reason: limit exceeded"
        );
        assert_eq!(
            of("pay(u: bert)", r#"{"reason": "limit exceeded"}"#),
            "reason: limit exceeded"
        );
        let record = r#"{"at": {"city": "Fort Worth", "state": "TX", "floor": 2}, "total": 10.00}"#;
        let whole = "total: 10.00; at city: Fort Worth, state: TX, floor: 2";
        assert_eq!(of("get(k: a)", record), whole);
        assert_eq!(of("get(k: b)", record), "total: 10.00; at floor: 2");
    }

    #[test]
    fn of_records_that_a_line_does_not_take_the_number_is_told() {
        let item = r#"{"name": "Lamp", "product_id": "5713490933", "price": 138.47, "options": {"color": "white", "type": "laser"}}"#;
        says(
            "get(k: a)",
            &format!(r#"{{"zip": "80217", "items": [{item}, {item}, {item}], "status": "pending"}}"#),
            "status: pending, zip: 80217; items: 3 records",
        );
        let small = r#"[{"id": 1}, {"id": 2}]"#;
        let name = "a".repeat(70);
        says(
            "get(k: a)",
            &format!(r#"{{"name": "{name}", "of": "{name}", "ids": {small}}}"#),
            &format!("name: {name} …; ids: 2 records"),
        );
    }

    #[test]
    fn a_list_of_which_a_line_takes_a_part_says_so() {
        let orders: Vec<String> = (0..40).map(|number| format!("\"#W{}\"", 1000 + number)).collect();
        let answer = format!(r#"{{"name": "Ann", "orders": [{}]}}"#, orders.join(", "));
        let line = result("get(u: 7)", &answer).unwrap_or_default();
        assert!(line.starts_with("name: Ann, orders: #W1000, #W1001"), "{line}");
        assert!(line.ends_with(", …"), "{line}");
    }

    #[test]
    fn records_of_lists_stay_whole() {
        says(
            "list(u: 7)",
            r##"[{"order": "#W111", "status": "pending", "total": "10.00"}, {"order": "#W222", "status": "delivered", "total": "10.00"}]"##,
            "order: #W111, status: pending, total: 10.00; order: #W222, status: delivered, total: 10.00",
        );
        says(
            "get(u: 7)",
            r##"{"name": "Ann", "orders": ["#W1", "#W2"], "cards": [{"id": 1, "at": {"x": 2}}, {"id": 3}], "status": "on"}"##,
            "status: on, name: Ann, orders: #W1, #W2; id: 1, at x: 2; id: 3",
        );
    }

    #[test]
    fn errors_that_are_no_line_still_say_that_it_failed() {
        let ended = |answer: &str| {
            outcome(
                answer,
                Effect::Other,
                "",
                &mut ReportedFields::default(),
                LaterCalls::default(),
            )
        };
        for (answer, result) in [
            (r#"{"error": 404}"#, "error: 404"),
            (r#"{"error": false}"#, "error: false"),
        ] {
            assert_eq!(ended(answer).result.as_deref(), Some(result));
        }
        let long = ended(&serde_json::json!({"error": "x".repeat(300)}).to_string());
        assert_eq!((long.failed(), long.result), (Some(true), None));
        let lines = ended(&serde_json::json!({"output": "a\nb\nc"}).to_string());
        assert_eq!((lines.result, lines.lines), (None, 3));
    }
}
