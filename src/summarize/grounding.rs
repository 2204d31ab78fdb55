//! Keeps the identifiers that later turns rely on: those a summary lost are added as its last line.

use crate::compress::anchors::{Anchor, matcher_of};
use crate::summarize::redact::redact;
use crate::tokens::TokenCounter;

/// The beginning of the last line.
pub const KEY_REFERENCES: &str = "Key references:";

/// The beginning of the names that stand in a file, and the sign before it.
const IN_FILE: &str = "in ";
const BETWEEN_FILES: &str = "; ";

/// Identifiers added at most: a longer list is no help to a reader.
const MAX_REFERENCES: usize = 400;

/// Number of anchors that a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldAnchors {
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
) -> (String, HeldAnchors) {
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
    let held = HeldAnchors {
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
        let mut total = 0;
        let mut listed = Vec::new();
        for (anchor, cost) in self.lost(held) {
            if total + cost <= most {
                total += cost;
                listed.push(anchor);
            }
        }
        for file in files_of(&listed) {
            let cost = self.counter.count(&heading(file));
            total += if total + cost <= most { cost } else { 0 };
        }
        match total {
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
        let last = base.lines().next_back().unwrap_or_default();
        let has_line = last.starts_with(KEY_REFERENCES);
        let lead = match has_line {
            true if last.contains(IN_FILE) => BETWEEN_FILES.to_owned(),
            true => ", ".to_owned(),
            false => format!("\n{KEY_REFERENCES} "),
        };
        let mut room = max_tokens.saturating_sub(tokens + counter.count(&lead));
        // Tokens of the text before the list's own line.
        let above = above(base, tokens, counter).filter(|_| !has_line);
        // By estimate first, then by exact counts of the whole: joined pieces may cost a token more than alone.
        let mut listed: Vec<&Anchor> = Vec::new();
        for (anchor, cost) in missing {
            if cost <= room {
                room -= cost;
                listed.push(anchor);
            }
        }
        let mut files = files_of(&listed);
        files.retain(|file| {
            let cost = counter.count(&heading(file));
            let fits = cost <= room;
            room -= if fits { cost } else { 0 };
            fits
        });
        while !listed.is_empty() {
            let line = [lead.as_str(), &list(&listed, &files)].concat();
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
            // Files go before names.
            if files.pop().is_some() {
                continue;
            }
            while excess > 0 {
                let Some(anchor) = listed.pop() else { break };
                let cost = counter.count(&anchor.reference());
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

/// A list of anchors: first those without a file, then by `files`.
fn list(anchors: &[&Anchor], files: &[&str]) -> String {
    let is_in = |anchor: &&&Anchor, file: Option<&str>| {
        anchor.file.as_deref().filter(|own| files.contains(own)) == file
    };
    let names = |file: Option<&str>| {
        let own = anchors.iter().filter(|anchor| is_in(anchor, file));
        own.map(|anchor| anchor.reference())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let of_files = files.iter().map(|file| heading(file) + &names(Some(file)));
    let parts: Vec<String> = std::iter::once(names(None)).chain(of_files).collect();
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(BETWEEN_FILES)
}

/// The beginning of the names of a file in a list.
fn heading(file: &str) -> String {
    [IN_FILE, file, ": "].concat()
}

/// The files of anchors, that with most of them first: no control characters, no secrets.
fn files_of<'a>(anchors: &[&'a Anchor]) -> Vec<&'a str> {
    let mut files: Vec<(&str, usize)> = Vec::new();
    for file in anchors.iter().filter_map(|anchor| anchor.file.as_deref()) {
        match files.iter_mut().find(|(other, _)| *other == file) {
            Some((_, names)) => *names += 1,
            None => files.push((file, 1)),
        }
    }
    files.retain(|(file, _)| !file.chars().any(char::is_control) && redact(file).1 == 0);
    files.sort_by_key(|(_, names)| std::cmp::Reverse(*names));
    files.into_iter().map(|(file, _)| file).collect()
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
    use crate::tokens::words::WordCounter;

    fn grounded(text: &str, anchors: &[&str], max_tokens: usize) -> (String, usize) {
        let counter = WordCounter::new();
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
        let counter = WordCounter::new();
        let anchors = ["a.py", "b.py", "c.py"].map(|text| Anchor::new(text, 1));
        let (_, held) = ground("all of a.py".to_owned(), &anchors, 99, &counter);
        assert_eq!(held, HeldAnchors { before: 1, after: 3 });
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
    fn names_stand_with_their_file_where_there_is_room_for_it() {
        let counter = WordCounter::new();
        let named = |text: &str, file: Option<&str>| Anchor {
            file: file.map(str::to_owned),
            ..Anchor::new(text, 1)
        };
        let anchors = [
            named("c_1", Some("c.py")),
            named("a_1", Some("a.py")),
            named("b.py", None),
            named("a_2", Some("a.py")),
        ];
        let within = |text: &str, most| ground(text.to_owned(), &anchors, most, &counter).0;
        let whole = "x\nKey references: b.py; in a.py: a_1, a_2; in c.py: c_1";
        assert_eq!(within("x", 99), whole);
        assert_eq!(within("x", 13), "x\nKey references: c_1, b.py; in a.py: a_1, a_2");
        assert_eq!(within("x", 11), "x\nKey references: c_1, a_1, b.py, a_2");
        assert_eq!(within("x", 7), "x\nKey references: c_1, a_1");
        // What was listed already stays with its file.
        assert_eq!(
            within("x\nKey references: in c.py: c_1", 99),
            "x\nKey references: in c.py: c_1; b.py; in a.py: a_1, a_2"
        );
    }

    #[test]
    fn a_secret_is_no_reference() {
        let secret = format!("ghp_{}", "a8F3kQ9zL2mX7pR4tV6wB1nC5dE0gHjKsTyU");
        assert_eq!(grounded("x", &[&secret], 99), ("x".to_owned(), 0));
    }
}
