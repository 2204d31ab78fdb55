//! Lines of prose in the turns of people and of the assistant, without code and boilerplate.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::sentences::CODE;
use crate::events::line::{cleaned_line, is_fence, lines_of, without_bullet};

/// The lines of a text that are prose: no fenced code (`with_code` says where it stood), no comments of a template, no bare
/// tags, no data.
pub(super) fn prose_lines(text: &str, with_code: bool) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    let mut in_fence = false;
    let mut in_comment = false;
    let comment_end = LastEnd::new(text, "-->");
    for raw in lines_of(text) {
        let trimmed = raw.trim_ascii();
        if is_fence(trimmed) {
            in_fence = !in_fence;
            match lines.last_mut() {
                Some(last) if in_fence && with_code => {
                    let last = last.to_mut();
                    last.push(' ');
                    last.push_str(CODE);
                }
                None if in_fence && with_code => lines.push(Cow::Borrowed(CODE)),
                _ => {}
            }
            continue;
        }
        // What is never closed takes nothing away.
        let at = (raw.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        in_comment |= trimmed.starts_with("<!--") && comment_end.is_after(at);
        let was_comment = in_comment;
        in_comment = in_comment && !trimmed.contains("-->");
        if in_fence || was_comment || trimmed.is_empty() || is_bare_tag(trimmed) {
            continue;
        }
        let line = match cleaned_line(trimmed) {
            Cow::Borrowed(line) => Cow::Borrowed(without_bullet(line)),
            Cow::Owned(line) => Cow::Owned(without_bullet(&line).to_owned()),
        };
        if line.contains(char::is_alphabetic) {
            lines.push(line);
        }
    }
    lines
}

/// The byte offset of the last closing mark in a text, searched for on first use.
struct LastEnd<'t> {
    text: &'t str,
    end: &'static str,
    found: OnceCell<Option<usize>>,
}

impl<'t> LastEnd<'t> {
    fn new(text: &'t str, end: &'static str) -> Self {
        let found = OnceCell::new();
        Self { text, end, found }
    }

    fn is_after(&self, at: usize) -> bool {
        let (text, end) = (self.text.as_bytes(), self.end.as_bytes());
        let found = self.found.get_or_init(|| memchr::memmem::rfind(text, end));
        found.is_some_and(|found| found >= at)
    }
}

fn is_bare_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
}
