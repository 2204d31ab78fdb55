//! Keeps the identifiers that later turns rely on: those a summary lost are added as its last line.

use std::borrow::Cow;

use crate::compress::anchors::{Anchor, matcher_of};
use crate::summarize::redact::redact;
use crate::tokens::TokenCounter;

/// The beginning of the last line.
pub const KEY_REFERENCES: &str = "Key references:";

/// Identifiers added at most: a longer list is no help to a reader.
const MAX_REFERENCES: usize = 400;

/// Number of anchors that a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Without added references.
    pub before: usize,
    /// With references to the missing ones.
    pub after: usize,
}

/// `text` with its missing anchors as a last `Key references:` line, the most used first, within `max_tokens` for the
/// whole; and the number of anchors held before and after. No other line changes: anchors that do not fit are left out.
pub fn ground(
    text: String,
    anchors: &[Anchor],
    max_tokens: usize,
    counter: &dyn TokenCounter,
) -> (String, Held) {
    let matcher = matcher_of(anchors);
    let mut held = matcher.held(&text);
    let count = |held: &[bool]| held.iter().filter(|is_held| **is_held).count();
    let before = count(&held);
    let mut text = text;
    if held.contains(&false) {
        let tokens = counter.count(text.trim_end());
        let references = References::new(anchors, counter);
        if let Some(extended) = references.added_to(&text, tokens, &held, max_tokens) {
            held = matcher.held(&extended);
            text = extended;
        }
    }
    let held = Held {
        before,
        after: count(&held),
    };
    (text, held)
}

/// Anchors as they would stand in a list of references.
pub(super) struct References<'a> {
    anchors: &'a [Anchor],
    /// Tokens of each anchor there.
    costs: Vec<usize>,
    counter: &'a dyn TokenCounter,
}

impl<'a> References<'a> {
    pub fn new(anchors: &'a [Anchor], counter: &'a dyn TokenCounter) -> Self {
        let mut reference = String::new();
        let cost = |anchor: &Anchor| {
            reference.clear();
            reference.extend([", ", &*anchor.reference()]);
            counter.count(&reference)
        };
        Self {
            costs: anchors.iter().map(cost).collect(),
            anchors,
            counter,
        }
    }

    /// The anchors.
    pub fn anchors(&self) -> &'a [Anchor] {
        self.anchors
    }

    /// Tokens of each anchor in a list.
    pub fn costs(&self) -> &[usize] {
        &self.costs
    }

    /// The tokens that references to the anchors not `held` will take, at most `most`.
    pub fn room(&self, held: &[bool], most: usize) -> usize {
        let fitting = |total: usize, (_, cost): (&Anchor, usize)| {
            let sum = total + cost;
            if sum <= most { sum } else { total }
        };
        match self.lost(held).fold(0, fitting) {
            0 => 0,
            total => total + self.counter.count(KEY_REFERENCES) + 1,
        }
    }

    /// `text` with references to the anchors that are not `held`; `None` if none is missing or fits. `tokens` is the
    /// count of `text` without trailing white space.
    pub fn added_to(&self, text: &str, tokens: usize, held: &[bool], max_tokens: usize) -> Option<String> {
        let counter = self.counter;
        let mut missing = self.lost(held).peekable();
        missing.peek()?;
        let base = text.trim_end();
        let has_line = base
            .lines()
            .next_back()
            .is_some_and(|line| line.starts_with(KEY_REFERENCES));
        let lead = if has_line {
            ", ".to_owned()
        } else {
            format!("\n{KEY_REFERENCES} ")
        };
        let mut room = max_tokens.saturating_sub(tokens + counter.count(&lead));
        // Tokens of the text before the list's own line.
        let above = above(base, tokens, counter).filter(|_| !has_line);
        // By estimate first, then by exact counts of the whole: joined pieces may cost a token more than alone.
        let mut added: Vec<(Cow<'_, str>, usize)> = Vec::new();
        for (anchor, cost) in missing {
            if cost <= room {
                room -= cost;
                added.push((anchor.reference(), cost));
            }
        }
        while !added.is_empty() {
            let list = added
                .iter()
                .map(|(text, _)| &**text)
                .collect::<Vec<_>>()
                .join(", ");
            let line = format!("{lead}{list}");
            let total = match above {
                Some(above) => above + counter.count(line.trim_start()),
                None => counter.count(&format!("{base}{line}")),
            };
            debug_assert_eq!(
                total,
                counter.count(&format!("{base}{line}")),
                "a line costs something else"
            );
            let mut excess = total.saturating_sub(max_tokens);
            if excess == 0 {
                return Some(format!("{base}{line}"));
            }
            while excess > 0 {
                let Some((_, cost)) = added.pop() else { break };
                excess = excess.saturating_sub(cost.max(1));
            }
        }
        None
    }

    /// The anchors not held that a reference may name, and their tokens: no secrets, no control characters.
    fn lost<'s>(&'s self, held: &'s [bool]) -> impl Iterator<Item = (&'a Anchor, usize)> + 's {
        let all = self.anchors.iter().zip(&self.costs).zip(held);
        let lost = all.filter(|((anchor, _), is_held)| {
            !**is_held && !anchor.text.chars().any(char::is_control) && redact(&anchor.reference()).1 == 0
        });
        lost.map(|((anchor, cost), _)| (anchor, *cost))
            .take(MAX_REFERENCES)
    }
}

/// Tokens of `text` with a line end after it, if it has `tokens` without; `None` if only a count of the whole can tell.
fn above(text: &str, tokens: usize, counter: &dyn TokenCounter) -> Option<usize> {
    let start = memchr::memrchr(b'\n', text.as_bytes())? + 1;
    let last = text.get(start..).filter(|_| counter.counts_by_line())?;
    let is_apart = !last.starts_with(|c: char| c.is_whitespace() || c == '/');
    is_apart.then(|| tokens.saturating_sub(counter.count(last)) + counter.count(&format!("{last}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::words::Words;

    fn grounded(text: &str, anchors: &[&str], max_tokens: usize) -> (String, usize) {
        let counter = Words::new();
        let anchors: Vec<Anchor> = anchors.iter().map(|text| Anchor::new(*text, 1)).collect();
        let (text, held) = ground(text.to_owned(), &anchors, max_tokens, &counter);
        assert!(held.before <= held.after);
        (text, held.after)
    }

    #[test]
    fn lost_anchors_become_the_last_line() {
        assert_eq!(
            grounded("all of a.py", &["a.py", "b.py", "c.py"], 99),
            ("all of a.py\nKey references: b.py, c.py".to_owned(), 3)
        );
        assert_eq!(
            grounded("all of a.py", &["a.py"], 99),
            ("all of a.py".to_owned(), 1)
        );
    }

    #[test]
    fn what_the_text_itself_holds_is_told_apart_from_what_was_appended() {
        let counter = Words::new();
        let anchors = ["a.py", "b.py", "c.py"].map(|text| Anchor::new(text, 1));
        let (_, held) = ground("all of a.py".to_owned(), &anchors, 99, &counter);
        assert_eq!(held, Held { before: 1, after: 3 });
    }

    #[test]
    fn the_budget_holds_and_the_most_used_enter_first() {
        assert_eq!(grounded("one two three", &["a.py", "b.py", "c.py"], 6).1, 0);
        for max_tokens in 3..12 {
            let (text, held) = grounded("one two three", &["a.py", "b.py", "c.py"], max_tokens);
            assert!(
                text.split_whitespace().count() <= max_tokens && text.starts_with("one two three"),
                "{text}"
            );
            assert!(held == 0 || text.contains("Key references: a.py"), "{text}");
        }
    }

    #[test]
    fn a_line_of_references_that_is_there_already_is_extended() {
        assert_eq!(
            grounded("x\nKey references: a.py\n", &["a.py", "b.py"], 99),
            ("x\nKey references: a.py, b.py".to_owned(), 2)
        );
    }

    #[test]
    fn a_secret_is_no_reference() {
        let secret = format!("ghp_{}", "a8F3kQ9zL2mX7pR4tV6wB1nC5dE0gHjKsTyU");
        assert_eq!(grounded("x", &[&secret], 99), ("x".to_owned(), 0));
    }
}
