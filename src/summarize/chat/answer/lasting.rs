//! Errors of the account or the settings, recognized by servers' phrases: every other request would meet them too.

use std::sync::LazyLock;

/// Phrases of servers, in lower case, and their cause.
const TABLE: &str = include_str!("lasting_errors.csv");

/// The cause of an error that all requests meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// The account has no credit, or may not spend more.
    Account,
    /// There is no such model.
    Model,
}

static ROWS: LazyLock<Vec<(Lasting, &'static str)>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut cells = line.splitn(3, ',');
        let about = match cells.next()? {
            "account" => Lasting::Account,
            "model" => Lasting::Model,
            _ => return None,
        };
        Some((about, cells.next()?))
    };
    TABLE.lines().skip(1).filter_map(row).collect()
});

/// Phrases for a limit that passes with time, though it names the quota in the same words.
const PASSES: [&str; 4] = ["try again in", "retry in", "retrydelay", "per minute"];

/// The cause of an error that all requests would meet, by its status and body. Some servers repeat the prompt in their
/// errors: phrases that it holds as well do not count.
pub fn lasting(status: u16, body: &str, prompt: &str) -> Option<Lasting> {
    let text = body.to_ascii_lowercase();
    let mut said = ROWS.iter().filter(|(_, phrase)| text.contains(phrase)).peekable();
    said.peek()?;
    let prompt = prompt.to_ascii_lowercase();
    let (about, _) = said.find(|(_, phrase)| !prompt.contains(phrase))?;
    let holds = match about {
        Lasting::Account => !PASSES.iter().any(|phrase| text.contains(phrase)),
        Lasting::Model => matches!(status, 400 | 404 | 422),
    };
    holds.then_some(*about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read_in_lower_case_and_has_a_source() {
        assert_eq!(ROWS.len(), TABLE.lines().count() - 1);
        for line in TABLE.lines().skip(1) {
            assert!(line.contains(",https://"), "{line}");
        }
        assert!(ROWS.iter().all(|(_, phrase)| *phrase == phrase.to_lowercase()));
    }

    #[test]
    fn what_vendors_answer_is_told_apart() {
        let account = Some(Lasting::Account);
        let model = Some(Lasting::Model);
        for (status, body, expected) in [
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}"#,
                account,
            ),
            (
                400,
                r#"{"type":"error","error":{"message":"Your credit balance is too low to access the Anthropic API."}}"#,
                account,
            ),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, account),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota. Please retry in 12.5s.","status":"RESOURCE_EXHAUSTED"}}"#,
                None,
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-4o: Limit 3, Used 3. Please try again in 20s."}}"#,
                None,
            ),
            (
                404,
                r#"{"error":{"message":"The model `gpt-9` does not exist","code":"model_not_found"}}"#,
                model,
            ),
            (
                400,
                r#"{"error":{"message":"gpt-9 is not a valid model ID","code":400}}"#,
                model,
            ),
            (500, r#"{"error":{"message":"unknown model state"}}"#, None),
            (400, r#"{"error":{"message":"roles must alternate"}}"#, None),
        ] {
            assert_eq!(lasting(status, body, ""), expected, "{body}");
        }
    }
}
