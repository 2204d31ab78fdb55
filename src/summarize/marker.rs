//! The marker that opens a summary turn, the one that ends it, and how an earlier summary is recognized.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

pub use crate::trajectory::{END_MARKER, FOLLOWED_MESSAGE_MARKER, MESSAGE_MARKER, SUMMARY_MARKER};

/// Start of the line that tells the request in progress.
pub const IN_PROGRESS: &str = "In progress:";

/// The opening of a summary that was appended to a text; [`END_MARKER`] follows it, on lines of its own.
const APPENDED: &str = "\n\n[CONTEXT SUMMARY]:\n";

/// The marker without its colon: models drop it, or put bold around the brackets.
const BARE_MARKER: &str = "[CONTEXT SUMMARY]";

/// `body` with the marker in front exactly once, even if it has markers, white space or bold there.
///
/// An end marker at its end is removed; the caller adds it where it is needed.
pub fn with_marker(body: &str) -> String {
    let mut rest = body.trim_start_matches(is_blank);
    while let Some(after) = after_marker(rest) {
        rest = after.trim_start_matches(is_blank);
    }
    let rest = rest.trim_end_matches(is_blank);
    let rest = rest
        .strip_suffix(END_MARKER)
        .unwrap_or(rest)
        .trim_end_matches(is_blank);
    if rest.is_empty() {
        return SUMMARY_MARKER.to_owned();
    }
    let mut text = String::with_capacity(SUMMARY_MARKER.len() + 1 + rest.len());
    text.push_str(SUMMARY_MARKER);
    text.push('\n');
    let mut pieces = rest.split(SUMMARY_MARKER);
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str(piece.trim_start_matches(' '));
    }
    // Taking one out can join the halves of another.
    let marker_in = |text: &str| {
        let body = text.get(1..).unwrap_or_default();
        let found = |marker: &str| body.find(marker).map(|at| at + 1..at + 1 + marker.len());
        found(SUMMARY_MARKER).or_else(|| found(END_MARKER))
    };
    while let Some(marker) = marker_in(&text) {
        text.replace_range(marker, "");
    }
    text.truncate(text.trim_end_matches(is_blank).len());
    text
}

/// The body of an earlier summary turn, without markers; `None` if the text is no summary.
pub fn body_of(text: &str) -> Option<&str> {
    let mut rest = after_marker(text.trim_start_matches(is_blank))?;
    while let Some(after) = after_marker(rest.trim_start_matches(is_blank)) {
        rest = after;
    }
    let end = rest.find(END_MARKER).unwrap_or(rest.len());
    Some(rest.get(..end).unwrap_or(rest).trim_matches(is_blank))
}

/// A summary in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSummary<'t> {
    /// Its byte range, with its markers and the blank lines before them.
    pub at: Range<usize>,
    /// Its text, without markers.
    pub body: &'t str,
}

/// The summaries in a text: the one that it begins with, if it is the text of a summary turn (`is_turn`), and those
/// appended to it, from the blank line before them to their end markers.
pub fn summaries_in(text: &str, is_turn: bool) -> Vec<FoundSummary<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    if let Some(body) = body_of(text).filter(|_| is_turn) {
        from = text
            .find(END_MARKER)
            .map_or(text.len(), |end| end + END_MARKER.len());
        found.push(FoundSummary { at: 0..from, body });
    }
    let behind = text.get(from..).unwrap_or_default();
    let mut before = from;
    for end in memmem::find_iter(behind.as_bytes(), END_MARKER).map(|end| from + end) {
        let after = text.get(end + END_MARKER.len()..).unwrap_or_default();
        // The line break before the end marker may be the one after the opening.
        let head = text.get(before..end).unwrap_or_default();
        let is_end = head.ends_with("\n\n") && (after.is_empty() || after.starts_with("\n\n"));
        let Some(opening) = head.rfind(APPENDED).filter(|_| is_end) else {
            continue;
        };
        let body = head.get(opening + APPENDED.len()..).unwrap_or_default();
        found.push(FoundSummary {
            at: before + opening..end + END_MARKER.len(),
            body: body.trim_matches(is_blank),
        });
        before = end + END_MARKER.len();
    }
    found
}

/// A text without the summaries that were found in it.
pub fn text_beside(text: &str, found: &[FoundSummary<'_>]) -> String {
    let starts = std::iter::once(0).chain(found.iter().map(|found| found.at.end));
    let ends = found.iter().map(|found| found.at.start).chain([text.len()]);
    let pieces = starts.zip(ends).filter_map(|(start, end)| text.get(start..end));
    let said: Vec<Cow<'_, str>> = pieces.map(message_of).filter(|piece| !piece.is_empty()).collect();
    said.join("\n\n")
}

/// The message of a user that a text behind a summary begins with, under a marker: all of the text.
pub fn marked_message(text: &str) -> Option<String> {
    let text = text.trim();
    let is_marked = [MESSAGE_MARKER, FOLLOWED_MESSAGE_MARKER]
        .iter()
        .any(|marker| text.starts_with(marker));
    is_marked.then(|| message_of(text).into_owned())
}

/// A text behind a summary without the markers of messages.
fn message_of(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let markers = [MESSAGE_MARKER, FOLLOWED_MESSAGE_MARKER];
    if !markers.iter().any(|marker| text.contains(marker)) {
        return Cow::Borrowed(text);
    }
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let message = markers.iter().find_map(|marker| paragraph.strip_prefix(marker));
        message
            .and_then(|message| message.strip_prefix('\n'))
            .unwrap_or(paragraph)
    });
    Cow::Owned(paragraphs.collect::<Vec<_>>().join("\n\n"))
}

/// The text after a marker at the start of `text`, and after the Markdown decoration around it.
fn after_marker(text: &str) -> Option<&str> {
    let plain = text.trim_start_matches(['*', '#', '_', '`', '>', ' ']);
    let decorated = plain.len() < text.len();
    let head = plain.get(..BARE_MARKER.len())?;
    if !head.eq_ignore_ascii_case(BARE_MARKER) {
        return None;
    }
    let mut rest = plain.get(BARE_MARKER.len()..)?;
    if decorated {
        rest = rest.trim_start_matches(['*', '_', '`']);
    }
    rest = rest.strip_prefix([':', '：']).unwrap_or(rest);
    if decorated {
        rest = rest.trim_start_matches(['*', '_', '`']);
    }
    Some(rest)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_stands_at_the_start_exactly_once() {
        for body in [
            "did this",
            "  \n did this\n",
            "[CONTEXT SUMMARY]: did this",
            "[CONTEXT SUMMARY]:\n[CONTEXT SUMMARY]: did this",
            "**[CONTEXT SUMMARY]:** did this",
            "**[CONTEXT SUMMARY]**: did this",
            "## [Context Summary]\n\ndid this",
            "\u{feff}[CONTEXT SUMMARY]: did this\n[END OF CONTEXT SUMMARY]",
        ] {
            assert_eq!(with_marker(body), "[CONTEXT SUMMARY]:\ndid this", "{body:?}");
        }
    }

    #[test]
    fn a_marker_in_the_middle_is_taken_out() {
        let text = with_marker("a [CONTEXT SUMMARY]: b [CONTEXT [CONTEXT SUMMARY]:SUMMARY]: c");
        assert_eq!(text.matches(SUMMARY_MARKER).count(), 1, "{text}");
        assert!(text.starts_with(SUMMARY_MARKER));
    }

    #[test]
    fn an_end_marker_in_the_middle_is_taken_out() {
        let text = with_marker("a\n[END OF CONTEXT SUMMARY]\nb [CONTEXT [END OF CONTEXT SUMMARY]SUMMARY]: c");
        assert_eq!(text, "[CONTEXT SUMMARY]:\na\n\nb  c");
    }

    #[test]
    fn summaries_are_found_where_they_were_appended_and_nowhere_else() {
        #[track_caller]
        fn finds(text: &str, is_turn: bool, bodies: &[&str], beside: &str) {
            let found = summaries_in(text, is_turn);
            let all: Vec<&str> = found.iter().map(|found| found.body).collect();
            assert_eq!(
                (all.as_slice(), text_beside(text, &found).as_str()),
                (bodies, beside),
                "{text:?}"
            );
        }
        let merged = "own\n\n[CONTEXT SUMMARY]:\nbody\n\n[END OF CONTEXT SUMMARY]";
        finds(merged, true, &["body"], "own");
        finds(&format!("{merged}\n\nmore"), false, &["body"], "own\n\nmore");
        let twice = format!("{merged}\n\n[CONTEXT SUMMARY]:\n\n[END OF CONTEXT SUMMARY]\n\nmore");
        finds(&twice, false, &["body", ""], "own\n\nmore");
        let turn = "[CONTEXT SUMMARY]:\nbody\n[END OF CONTEXT SUMMARY]\n\nsaid";
        finds(turn, true, &["body"], "said");
        finds(turn, false, &[], turn);
        finds("[CONTEXT SUMMARY]: body", true, &["body"], "");
        let open = "own\n\n[CONTEXT SUMMARY]:\nnever ended";
        finds(open, true, &[], open);
        let inline = "what do \"[CONTEXT SUMMARY]:\" and \"[END OF CONTEXT SUMMARY]\" mean?";
        finds(inline, true, &[], inline);
        let again = format!("{open}\n\n[CONTEXT SUMMARY]:\nbody\n\n[END OF CONTEXT SUMMARY]");
        finds(&again, true, &["body"], open);
    }

    #[test]
    fn a_body_keeps_its_own_bold() {
        assert_eq!(with_marker("**Asked**: x"), "[CONTEXT SUMMARY]:\n**Asked**: x");
        assert_eq!(with_marker(""), SUMMARY_MARKER);
    }

    #[test]
    fn an_earlier_summary_is_recognized_and_nothing_else() {
        assert_eq!(body_of("[CONTEXT SUMMARY]:\nbody\n"), Some("body"));
        assert_eq!(body_of(" **[CONTEXT SUMMARY]:** body"), Some("body"));
        assert_eq!(
            body_of("[CONTEXT SUMMARY]: body\n[END OF CONTEXT SUMMARY]\nnext"),
            Some("body")
        );
        assert_eq!(body_of("what does [CONTEXT SUMMARY]: mean?"), None);
        assert_eq!(body_of(""), None);
        assert_eq!(body_of(&with_marker("x\ny")), Some("x\ny"));
    }
}
