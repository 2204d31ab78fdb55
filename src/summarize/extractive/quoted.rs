//! Verbatim text in a summary: several lines in a fence, made harmless for chat templates, cut only at line ends.

use crate::events::control::without_control;
use crate::events::line::{RESERVED, lines_of};
use crate::summarize::control_tokens::ControlTokens;

/// Signs that open a tag, each with the one that takes its place where the tag must not be read.
const SIGNS: [(&str, &str); 2] = [("<", "‹"), ("[", "⟦")];

/// Openings of tags that would break a text that is quoted, beside those that go out of every line.
const MORE_RESERVED: [&str; 4] = ["<|", "<function=", "</function>", "<parameter="];

/// Stands for the lines that were cut.
const CUT: &str = "…";

/// `text` without control characters, blank lines at its ends and marks that a chat template or a parser of tool calls
/// would take for its own; all else as it stands.
pub(super) fn harmless(text: &str) -> String {
    let text = without_control(text);
    let mut safe = ControlTokens::known().harmless(&text);
    for mark in MORE_RESERVED.into_iter().chain(RESERVED) {
        if let Some((sign, other)) = SIGNS.iter().find(|(sign, _)| mark.starts_with(*sign))
            && safe.contains(mark)
        {
            safe = safe.replace(mark, &mark.replacen(*sign, other, 1)).into();
        }
    }
    safe.trim_end().trim_start_matches('\n').to_owned()
}

/// The first lines of `text`, in at most `room` tokens; `None` where less than a line of it would be left.
pub(super) fn cut(text: &str, room: usize, count: &dyn Fn(&str) -> usize) -> Option<String> {
    if count(text) <= room {
        return Some(text.to_owned());
    }
    let lines: Vec<&str> = lines_of(text).collect();
    let with = |kept: usize| {
        let mut kept = lines.get(..kept).unwrap_or_default().to_vec();
        kept.push(CUT);
        kept.join("\n")
    };
    let (mut fits, mut fails) = (0, lines.len());
    while fits + 1 < fails {
        let middle = usize::midpoint(fits, fails);
        if count(&with(middle)) <= room {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    (fits > 0).then(|| with(fits))
}

/// `text` between two fences that are longer than any in it.
pub(super) fn fenced(text: &str) -> String {
    let longest = lines_of(text).map(fence_of).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    [fence.as_str(), text, &fence].join("\n")
}

/// The backticks that a line begins with.
pub(super) fn fence_of(line: &str) -> usize {
    let line = line.trim_start();
    line.len() - line.trim_start_matches('`').len()
}
