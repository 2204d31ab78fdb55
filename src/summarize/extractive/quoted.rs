//! Verbatim text in a summary: several lines in a fence, made harmless for chat templates, cut only at line ends.

use std::borrow::Cow;

use super::sentences::sentences;
use crate::events::control::without_control;
use crate::events::line::{RESERVED, lines_of};
use crate::events::source::{Arguments, SourceCall};
use crate::knowledge::phrases::{Kind, Kinds};
use crate::summarize::control_tokens::ControlTokens;
use crate::tokens::TokenCounter;
use crate::trajectory::leaves::leaves;

/// Signs that open a tag, each with the one that takes its place where the tag must not be read.
const SIGNS: [(&str, &str); 2] = [("<", "‹"), ("[", "⟦")];

/// Openings of tags that would break a text that is quoted, beside those that go out of every line.
const MORE_RESERVED: [&str; 4] = ["<|", "<function=", "</function>", "<parameter="];

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 24;

/// Characters of an argument that the line of its call shows in full.
pub(super) const SHOWN: usize = 60;

/// The heading of words.
pub(super) const SAID: &str = "said";

/// The heading of outputs.
pub(super) const OUTPUT: &str = "output";

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

/// Lines of `text`, which has so many `tokens`, that stand together in at most `room`: of those that fit the ones that `weights`
/// are the highest of, and the last of these; words where not even one line has room, `None` where less than a word of it would
/// be left. `count` counts what is written of a text, `counter` a text alone.
pub(super) fn cut(
    text: &str,
    tokens: usize,
    weights: &[usize],
    room: usize,
    count: &dyn Fn(&str) -> usize,
    counter: &dyn TokenCounter,
) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = best_end(&lines, weights, text.len() * room / tokens.max(1));
    let lines = lines.get(..end).unwrap_or_default();
    let is_end = lines.concat().len() == text.len();
    let tail = |number: usize| {
        let from = lines.len().saturating_sub(number);
        let after = if is_end { "" } else { CUT };
        [CUT, "\n", &lines.get(from..).unwrap_or_default().concat(), after].concat()
    };
    let fitting = |parts: &mut dyn Iterator<Item = &&str>, with: &dyn Fn(usize) -> String| {
        let mut sum = count(CUT);
        let fits = parts.take_while(|part| {
            sum += counter.count(part);
            sum <= room
        });
        // Joined they may cost a little more.
        let mut number = fits.count();
        while number > 0 && count(&with(number)) > room {
            number -= 1;
        }
        (number > 0).then(|| with(number))
    };
    fitting(&mut lines.iter().rev(), &tail).or_else(|| {
        let words: Vec<&str> = text.split_inclusive([' ', ',']).collect();
        let head =
            |number: usize| [words.get(..number).unwrap_or_default().concat().trim_end(), CUT].concat();
        fitting(&mut words.iter(), &head)
    })
}

/// One past the last line of those in `bytes` bytes that weigh most together, the last of them where several weigh the same.
fn best_end(lines: &[&str], weights: &[usize], bytes: usize) -> usize {
    let (mut from, mut length, mut weight) = (0, 0, 0);
    let (mut best, mut best_weight) = (lines.len(), 0);
    for (end, (line, added)) in lines.iter().zip(weights).enumerate() {
        length += line.len();
        weight += added;
        while length > bytes && from <= end {
            length -= lines.get(from).map_or(0, |line| line.len());
            weight -= weights.get(from).copied().unwrap_or_default();
            from += 1;
        }
        if weight > 0 && weight >= best_weight {
            (best, best_weight) = (end + 1, weight);
        }
    }
    best
}

/// The last lines of a text, in about so many bytes; its last words where it has one line.
pub(super) fn newest(text: &str, most_bytes: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most_bytes));
    let tail = text.get(from..).unwrap_or_default();
    if from == 0 {
        return tail;
    }
    let at = tail.find('\n').or_else(|| tail.find(char::is_whitespace));
    at.and_then(|at| tail.get(at..)).unwrap_or_default().trim_start()
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

/// The arguments of a call as lines, where its own line does not show them in full.
pub(super) fn written<'c>(call: &'c SourceCall<'_>) -> Option<Cow<'c, str>> {
    let fields: Vec<(Cow<'c, str>, Cow<'c, str>)> = match &call.arguments {
        Arguments::Tagged(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect()
        }
        Arguments::Json(json) => match leaves(json, MAX_ARGUMENTS) {
            Some(leaves) => leaves
                .into_iter()
                .map(|leaf| (leaf.key(), leaf.value()))
                .collect(),
            None => vec![("".into(), json.as_ref().into())],
        },
    };
    let is_long = |(_, value): &(Cow<'_, str>, Cow<'_, str>)| value.len() > SHOWN || value.contains('\n');
    if !fields.iter().any(is_long) {
        return None;
    }
    let named = fields.iter().map(|(key, value)| [key, ": ", value].concat());
    Some(named.collect::<Vec<_>>().join("\n").into())
}

/// If words tell more than the next step: announcements are told by what came of them.
pub(super) fn tells(said: &str) -> bool {
    let mut sentences = said.lines().flat_map(sentences);
    sentences.any(|sentence| !Kinds::of(sentence).has(Kind::Announcement) && !sentence.ends_with([':', '：']))
}

/// A call's line without its turn, as earlier summaries carry it over; `None` for words and outputs.
pub(super) fn call_of(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("turn -").and_then(|line| line.split_once(", ")) {
        Some((back, line)) if back.bytes().all(|byte| byte.is_ascii_digit()) => line,
        _ => line,
    };
    let is_call = !line.starts_with(SAID) && !line.starts_with(OUTPUT);
    is_call.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_begins_with_a_whole_line_or_word() {
        assert_eq!(newest("one\ntwo\nthree", 8), "three");
        assert_eq!(
            newest("{\"id\": \"1684786391\", \"price\": 2}", 25),
            "\"price\": 2}"
        );
        assert_eq!(newest("1684786391", 4), "");
        assert_eq!(newest("all of it", 40), "all of it");
    }
}
