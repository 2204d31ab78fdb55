//! Judges answers: takes off the text around a summary, and names the failure if there is none.
//!
//! Models wrap summaries in code fences, announce them, offer more, run on into a turn of somebody else, and leave
//! control tokens of their template in the text. All that is taken off. A refusal, a tool call, an error of the server
//! or next to nothing is no summary, and is asked for again.

mod phrases;
#[cfg(test)]
mod tests;
mod tidy;

use std::borrow::Cow;
use std::sync::Arc;

use crate::summarize::control_tokens::ControlTokens;
use crate::summarize::failure::Failure;
use phrases::{JudgePhraseKind, beginning, plain};

/// Bytes of the longest text that can be a refusal by its beginning: a longer one says something else as well.
const LONGEST_REFUSAL: usize = 600;

/// Bytes of the longest line that can be an error of a server.
const LONGEST_ERROR: usize = 200;

/// A summary of at least `LARGE_REGION` bytes of turns (some thousand tokens) has at least `SHORTEST_SUMMARY` bytes
/// (some eight tokens in any script). Dozens of times that is asked for; shorter turns may say little ("Done.").
const LARGE_REGION: usize = 4_000;
const SHORTEST_SUMMARY: usize = 32;

/// Maximum layers of text around a summary, one in the other.
const LAYERS: usize = 6;

/// Judges answers by what is known of the summary that was asked for.
#[derive(Debug, Clone)]
pub struct Judge {
    /// The control tokens that must not be in it.
    pub control_tokens: Arc<ControlTokens>,
    /// Bytes of the turns that it is of, and of the summary that it updates; 0 if any length will do.
    pub region: usize,
}

impl Judge {
    /// The summary in an answer, or why there is none.
    ///
    /// # Errors
    ///
    /// If the answer is something else.
    pub fn summary_in(&self, answer: &str) -> Result<String, Failure> {
        let answer = answer.trim();
        if answer.is_empty() {
            return Err(Failure::new("summary_empty", "the answer is empty"));
        }
        let text = tidy::without_control_tokens(answer, &self.control_tokens);
        if tidy::is_tool_call(answer) || tidy::is_tool_call(text) {
            return Err(named("summary_tool_call", "the answer is a tool call", answer));
        }
        let mut text = Cow::Borrowed(text.trim());
        // An announced text, or one in a fence, may be a refusal all the same.
        for _ in 0..LAYERS {
            if let Some(failure) = no_summary(&text) {
                return Err(failure);
            }
            if let Some(inner) = tidy::in_json(&text) {
                text = Cow::Owned(inner);
                continue;
            }
            let inner = tidy::without_fence(tidy::without_tags(&text));
            let inner = tidy::without_preamble(tidy::without_offers(inner));
            let inner = tidy::without_advice(inner.trim());
            if inner == text {
                break;
            }
            text = Cow::Owned(inner.trim().to_owned());
        }
        if text.is_empty() {
            return Err(named("summary_placeholder", "nothing is in the answer", answer));
        }
        if text.len() < SHORTEST_SUMMARY && self.region > LARGE_REGION {
            return Err(named("summary_too_short", "so little for so many turns", &text));
        }
        Ok(self.control_tokens.harmless(&text).into_owned())
    }
}

/// The failure of a text that is no summary.
fn no_summary(text: &str) -> Option<Failure> {
    let words = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    if words.is_empty() || phrases::phrases(JudgePhraseKind::Placeholder).any(|phrase| phrase == words) {
        return Some(named("summary_placeholder", "nothing is in the answer", text));
    }
    let start = text
        .trim_start()
        .get(..9)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_page = start == "<!doctype" || start.starts_with("<html");
    if is_page && text.trim_end().ends_with('>') {
        return Some(named("summary_html", "the answer is a page", text));
    }
    let line = text.trim();
    if tidy::is_json_error(line) {
        return Some(named("summary_error_text", "the answer is an error", line));
    }
    if line.len() <= LONGEST_ERROR
        && !line.contains('\n')
        && beginning(JudgePhraseKind::Error, &plain(line)).is_some()
    {
        return Some(named("summary_error_text", "the answer is an error", line));
    }
    // "Certainly! I'd be happy to help. Please provide the turns."
    let refuses = |text: &str| beginning(JudgePhraseKind::Refusal, text).is_some();
    let words = plain(text);
    let (_, rest) = tidy::after_assent(tidy::after_assent(&words).1);
    let is_refusal = text.len() <= LONGEST_REFUSAL && (refuses(&words) || refuses(rest));
    is_refusal.then(|| Failure::new("summary_refused", text))
}

fn named(name: &'static str, what: &str, text: &str) -> Failure {
    Failure::new(name, &format!("{what}: {text}"))
}
