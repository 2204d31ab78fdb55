//! Fields of a JSON answer that say that a call went wrong.

use crate::trajectory::json::leaves::Leaf;

/// Fields that say what went wrong, where something did.
pub(super) const MESSAGES: [&str; 8] = [
    "message",
    "reason",
    "detail",
    "diagnostics",
    "errorSummary",
    "errorMessage",
    "error_message",
    "error_description",
];

/// Fields that may hold the status of a request.
pub(super) const HTTP_STATUS: [&str; 3] = ["status", "statusCode", "status_code"];

/// Returns true if an answer has a field that says what went wrong: of a record that was looked up the status is its own.
pub(super) fn says_why(fields: &[Leaf<'_>]) -> bool {
    let is_of_error =
        |leaf: &Leaf<'_>| leaf.is_under(&MESSAGES) || leaf.key().to_ascii_lowercase().starts_with("err");
    fields
        .iter()
        .any(|leaf| is_of_error(leaf) || leaf.list.key().to_ascii_lowercase().starts_with("err"))
}

/// Returns true for the status of a request that went wrong: `404`.
pub(super) fn is_http_error(status: &str) -> bool {
    status.len() == 3
        && status
            .parse()
            .is_ok_and(|status: u16| (400..600).contains(&status))
}

/// Returns true if an answer has an error that has fields of its own: `{"error": {"code": 404, …`. One with code 0 is none; of what was
/// looked up only one that it begins with.
pub(super) fn holds_error(fields: &[Leaf<'_>], is_reading: bool) -> bool {
    let is_of_error =
        |leaf: &&Leaf<'_>| leaf.depth == 2 && leaf.record == 0 && leaf.parent().as_deref() == Some("error");
    let error = || fields.iter().filter(is_of_error);
    let is_nothing = |leaf: &Leaf<'_>| matches!(leaf.value().trim(), "" | "0" | "false" | "[]" | "{}");
    let is_none = error().any(|leaf| leaf.is_under(&["code", "errno", "status"]) && is_nothing(leaf));
    let begins = || fields.first().is_some_and(|leaf| is_of_error(&leaf));
    !is_none && error().any(|leaf| !is_nothing(leaf)) && (!is_reading || begins())
}
