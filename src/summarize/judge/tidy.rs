//! Takes off the text around a summary in an answer: control tokens, code fences, preambles, advice, offers.

use std::borrow::Cow;

use serde_json::Value;

use super::phrases::{JudgePhraseKind, beginning, phrases, plain};
use crate::summarize::control_tokens::{ControlTokens, TokenFunction};

/// Bytes of the longest line that can announce a summary.
const LONGEST_PREAMBLE: usize = 200;

/// Bytes of the longest paragraph that can be an offer.
const LONGEST_OFFER: usize = 300;

/// Bytes of the longest heading.
const LONGEST_HEADING: usize = 60;

/// The beginning of the text for the reader in the format of gpt-oss, and the words left of it if its tokens are lost.
const FINAL_CHANNEL: &str = "<|channel|>final";
const LOST_CHANNELS: (&str, &str) = ("analysis", "assistantfinal");

/// Names of roles that follow a token which opens a turn.
const ROLES: [&str; 7] = [
    "assistant",
    "user",
    "system",
    "model",
    "tool",
    "final",
    "analysis",
];

/// A text up to the end of the model's turn, without the tokens that open it. Tokens that it only mentions stay.
pub fn without_control_tokens<'t>(text: &'t str, tokens: &ControlTokens) -> &'t str {
    let text = after_thoughts(text);
    let text = after_openings(text, tokens);
    turn_of(text, tokens)
}

fn after_thoughts(text: &str) -> &str {
    if let Some((_, rest)) = text.rsplit_once(FINAL_CHANNEL) {
        return rest
            .split_once("<|message|>")
            .map_or(rest, |(_, message)| message);
    }
    let (thoughts, answer) = LOST_CHANNELS;
    if text.starts_with(thoughts)
        && let Some((_, rest)) = text.split_once(answer)
    {
        return rest;
    }
    text
}

fn after_openings<'t>(text: &'t str, tokens: &ControlTokens) -> &'t str {
    let mut text = text.trim_start();
    loop {
        let Some((range, kind)) = tokens.find(text).next().filter(|(range, _)| range.start == 0) else {
            return text;
        };
        text = text.get(range.end..).unwrap_or_default().trim_start();
        if kind == TokenFunction::Start {
            text = after_role(text, tokens);
        }
    }
}

/// A text without the role that it begins with, where that stands on a line of its own or before another token.
fn after_role<'t>(text: &'t str, tokens: &ControlTokens) -> &'t str {
    let after = ROLES.iter().find_map(|role| text.strip_prefix(role));
    let is_role = |rest: &str| {
        rest.starts_with(['\n', '\r'])
            || tokens
                .find(rest)
                .next()
                .is_some_and(|(range, _)| range.start == 0)
    };
    after.filter(|rest| is_role(rest)).map_or(text, str::trim_start)
}

/// The text before the token that ends it: one with nothing, a new line, a role or another token behind it.
fn turn_of<'t>(text: &'t str, tokens: &ControlTokens) -> &'t str {
    let found: Vec<_> = tokens.find(text).collect();
    for (index, (range, kind)) in found.iter().enumerate() {
        let before = text.get(..range.start).unwrap_or_default();
        let behind = text.get(range.end..).unwrap_or_default();
        let next = found.get(index + 1).map(|(next, _)| next.start);
        let ends_text = behind.trim().is_empty();
        let ends = match kind {
            TokenFunction::End => next == Some(range.end) || ends_text || behind.starts_with(['\n', '\r']),
            TokenFunction::Start => ends_text || after_role(behind, tokens).len() < behind.len(),
            TokenFunction::Tool | TokenFunction::Other => ends_text,
        };
        if ends && !is_told(before) {
            return before.trim_end();
        }
    }
    text
}

/// Returns true if a text mentions the token behind it: in a code span, or inside a sentence.
fn is_told(before: &str) -> bool {
    let said = before.trim_end_matches(' ');
    let inside = |c: char| c.is_alphanumeric() || c == ',';
    before.ends_with('`') || said.len() < before.len() && said.ends_with(inside)
}

/// A text without the code fence around all of it.
pub fn without_fence(text: &str) -> &str {
    let fence = |line: &str| {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.len() - line.trim_start_matches(mark).len();
        (length >= 3).then_some((mark, length))
    };
    let Some((first, rest)) = text.split_once('\n') else {
        return text;
    };
    let Some((body, last)) = rest.trim_end().rsplit_once('\n') else {
        return text;
    };
    let opening = fence(first);
    let is_bare = |line: &str| line.trim().trim_matches(['`', '~']).is_empty();
    if opening.is_none() || fence(last) != opening || !is_bare(last) {
        return text;
    }
    // Another fence in between may be the end of the first one.
    let inner: Vec<&str> = body.lines().filter(|line| fence(line) == opening).collect();
    let language = first.trim().trim_start_matches(['`', '~']).to_ascii_lowercase();
    let is_around = inner.is_empty()
        || matches!(language.as_str(), "markdown" | "md")
            && inner.len().is_multiple_of(2)
            && inner.first().is_some_and(|line| !is_bare(line));
    if is_around { body.trim() } else { text }
}

/// A text without the tags that some prompts ask for around a summary, and without an analysis before them.
pub fn without_tags(text: &str) -> &str {
    let inside = |text: &'_ str, open: &str, close: &str| {
        let (before, rest) = text.split_once(open)?;
        let (inner, behind) = rest.rsplit_once(close)?;
        Some((before.trim().len(), inner.len(), behind.trim().len()))
    };
    let Some((before, inner, 0)) = inside(text, "<summary>", "</summary>") else {
        return text;
    };
    let lead = text.split("<summary>").next().unwrap_or_default();
    if before > 0
        && inside(lead, "<analysis>", "</analysis>").is_none_or(|around| (around.0, around.2) != (0, 0))
    {
        return text;
    }
    let start = lead.len() + "<summary>".len();
    text.get(start..start + inner).unwrap_or(text).trim()
}

/// The summary in an object of JSON that holds nothing else.
pub fn in_json(text: &str) -> Option<String> {
    let fields = json_object(text)?;
    let summary = fields.get("summary")?.as_str()?;
    (fields.len() == 1).then(|| summary.trim().to_owned())
}

/// Returns true if a text is a JSON object with an error and without a summary.
pub fn is_json_error(text: &str) -> bool {
    json_object(text).is_some_and(|fields| fields.contains_key("error") && !fields.contains_key("summary"))
}

fn json_object(text: &str) -> Option<serde_json::Map<String, Value>> {
    let text = text.trim();
    if !text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Returns true if a text is a tool call, also with a few words before it.
pub fn is_tool_call(text: &str) -> bool {
    let text = without_fence(text.trim()).trim();
    if matches!(text.as_bytes(), [b'{' | b'[', ..]) {
        return serde_json::from_str(text).is_ok_and(|value| is_call(&value));
    }
    let known = ControlTokens::known();
    let opens = |line: &str| {
        let line = line.trim_start();
        let token = known.find(line).next();
        token.is_some_and(|(range, kind)| range.start == 0 && kind == TokenFunction::Tool)
            || beginning_of_call(&line.to_ascii_lowercase())
    };
    // A summary that quotes a call has more to say before it, or something after it.
    let lead: usize = text.lines().take_while(|line| !opens(line)).map(str::len).sum();
    lead < LONGEST_PREAMBLE && text.lines().any(opens) && text.ends_with(['>', '}', ']', ')'])
}

fn beginning_of_call(line: &str) -> bool {
    phrases(JudgePhraseKind::Call).any(|phrase| line.starts_with(phrase))
}

fn is_call(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    match value {
        Value::Array(values) => !values.is_empty() && values.iter().all(is_call),
        Value::Object(_) => {
            has("tool_calls")
                || has("function_call")
                || (has("name") || has("tool") || has("function") || has("action"))
                    && [
                        "arguments",
                        "parameters",
                        "args",
                        "input",
                        "action_input",
                        "tool_input",
                    ]
                    .iter()
                    .any(|name| has(name))
        }
        _ => false,
    }
}

/// A text without the lines and words that announce it.
pub fn without_preamble(text: &str) -> &str {
    let mut text = text.trim_start();
    for _ in 0..3 {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let rest = rest.trim_start();
        let is_lead = !rest.is_empty() && (is_preamble(first) || is_title(first));
        let Some(after) = is_lead.then_some(rest).or_else(|| after_announcement(text)) else {
            return text;
        };
        text = after.strip_prefix("---\n").unwrap_or(after).trim_start();
    }
    text
}

/// Returns true if a line announces a summary, and says nothing else.
fn is_preamble(line: &str) -> bool {
    if line.len() > LONGEST_PREAMBLE {
        return false;
    }
    let line = plain(line);
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    let is_end = line.ends_with([':', '：', '!', '！'])
        || line.len() <= LONGEST_HEADING && line.ends_with(['.', '。']);
    let (assented, rest) = after_assent(line);
    if assented && rest.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() {
        return true;
    }
    is_end && announces(rest) && !line.contains(['/', '`'])
}

/// Returns true if a plain text begins with words that announce a summary.
fn announces(text: &str) -> bool {
    let opens = phrases(JudgePhraseKind::Preamble).any(|phrase| text.starts_with(phrase));
    opens && phrases(JudgePhraseKind::Noun).any(|noun| text.contains(noun))
}

/// Splits a word of assent off a plain text. Returns true if there was one, and the rest.
pub fn after_assent(text: &str) -> (bool, &str) {
    match beginning(JudgePhraseKind::Assent, text) {
        Some(phrase) => {
            let rest = text.get(phrase.len()..).unwrap_or_default();
            let blank =
                |c: char| c.is_whitespace() || matches!(c, '!' | '.' | '-' | '–' | '—' | '！' | '。' | '：');
            (true, rest.trim_start_matches(blank))
        }
        None => (false, text),
    }
}

/// Returns true if a line is the title of the whole.
fn is_title(line: &str) -> bool {
    line.len() <= LONGEST_HEADING
        && phrases(JudgePhraseKind::Title).any(|title| heading(line).as_deref() == Some(title))
}

/// The words of a line that is a heading: with `#` before it, in bold, or with a colon at its end.
fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let is_heading = line.starts_with(['#', '*', '_']) || line.ends_with([':', '：']);
    let words = plain(line.trim_matches(['*', '_', ' ']));
    let words = words.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':' | '：' | '#'));
    (is_heading && line.len() <= LONGEST_HEADING).then(|| words.to_owned())
}

/// A text after "Here is the summary:" on the same line.
fn after_announcement(text: &str) -> Option<&str> {
    let end = text.find([':', '：'])?;
    let (lead, rest) = text.split_at(end);
    let rest = rest.trim_start_matches([':', '：', '*', '_']);
    let plain_lead = plain(lead);
    let (_, announced) = after_assent(&plain_lead);
    let is_title = phrases(JudgePhraseKind::Title).any(|title| announced.trim_end() == title);
    let is_lead = !lead.contains('\n') && lead.len() <= LONGEST_PREAMBLE && !lead.contains(['/', '`']);
    let is_announced = is_lead && (announces(announced) || is_title) && rest.starts_with(char::is_whitespace);
    let rest = rest.trim_start();
    (is_announced && !rest.is_empty()).then_some(rest)
}

/// A text without sections of advice: the turns' own plans have another heading.
pub fn without_advice(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_advice = |line: &&str| {
        let words = heading(line);
        words.is_some_and(|words| phrases(JudgePhraseKind::Advice).any(|phrase| phrase == words))
    };
    let Some(start) = lines.iter().position(is_advice).filter(|start| *start > 0) else {
        return Cow::Borrowed(text);
    };
    let rest = lines.get(start + 1..).unwrap_or_default();
    let is_heading = |line: &&str| {
        let line = line.trim();
        line.starts_with('#') || line.starts_with("**") && line.trim_end_matches(':').ends_with("**")
    };
    let end = rest.iter().position(is_heading).map(|at| start + 1 + at);
    let before = lines.get(..start).unwrap_or_default();
    let behind = end.and_then(|end| lines.get(end..)).unwrap_or_default();
    Cow::Owned([before, behind].concat().join("\n"))
}

/// Returns true if a paragraph is advice that begins with its heading: "Next steps: …".
fn is_advised(paragraph: &str) -> bool {
    let words = plain(paragraph);
    phrases(JudgePhraseKind::Advice).any(|phrase| {
        let rest = words.strip_prefix(phrase).unwrap_or_default();
        rest.trim_start_matches(['*', '_']).starts_with([':', '：'])
    })
}

/// A text up to its last paragraph, and that paragraph: a blank line or the end of a code fence parts paragraphs.
fn last_paragraph(text: &str) -> Option<(&str, &str)> {
    let (before, line) = text.rsplit_once('\n')?;
    if before.trim_end().ends_with("\n```") {
        return Some((before, line));
    }
    text.rsplit_once("\n\n")
}

/// A text without the last paragraphs that offer more, or advise.
pub fn without_offers(text: &str) -> &str {
    let mut text = text;
    for _ in 0..3 {
        let Some((before, last)) = last_paragraph(text) else {
            return text;
        };
        let above = before.trim_end().rsplit('\n').next().unwrap_or_default();
        let is_offer = last.len() <= LONGEST_OFFER
            && beginning(JudgePhraseKind::Offer, &plain(last)).is_some()
            || is_advised(last);
        if !is_offer || heading(above).is_some() {
            return text;
        }
        text = before.trim_end();
    }
    text
}
