//! Quotations: verbatim text in a summary, several lines in a fence, made harmless for chat templates.

use std::borrow::Cow;

use super::candidate::{Candidate, Section};
use super::rank::Chosen;
use super::sentences::sentences;
use super::small_talk::is_small_talk;
use crate::events::control::without_control;
use crate::events::line::{RESERVED, lines_of, shortened};
use crate::events::outcome::text::tool_of;
use crate::events::shell::patch;
use crate::events::source_call::{CallArguments, SourceCall};
use crate::events::tools::is_replaced;
use crate::knowledge::phrases::{Kinds, PhraseKind};
use crate::knowledge::tool_names::is_note;
use crate::summarize::control_tokens::ControlTokens;
use crate::trajectory::json::leaves::leaves;

/// Signs that open a tag, each with the one that takes its place where the tag must not be read.
const SIGNS: [(&str, &str); 2] = [("<", "‹"), ("[", "⟦")];

/// Openings of tags that would break a text that is quoted, beside those that go out of every line.
const MORE_RESERVED: [&str; 4] = ["<|", "<function=", "</function>", "<parameter="];

/// Arguments of a call that are looked at.
const MAX_ARGUMENTS: usize = 24;

/// Characters of an argument that the line of its call shows in full.
pub(super) const SHOWN: usize = 60;

/// Stands for what was left out.
pub(super) const CUT: &str = "…";

/// The heading of words.
pub(super) const SAID: &str = "said";

/// The heading of what a tool for thoughts took down.
pub(super) const THOUGHT: &str = "thought";

/// The heading of a command that no tool was named for.
pub(super) const RAN: &str = "ran";

/// The heading of outputs.
pub(super) const OUTPUT: &str = "output";

/// Bytes of the shortest word that tells something.
const SHORT_WORD: usize = 4;

/// The word behind a number of records, of which a quotation shows some.
const NUMBERED: &str = "records";

/// The quotations of a summary, which other lines need not tell.
#[derive(Default)]
pub(super) struct Quoted {
    /// The quotations, in order of time.
    pub lines: Vec<Chosen>,
    /// Their tokens, their section's heading included.
    pub tokens: usize,
    /// The units that are quoted of each block.
    pub chosen: Vec<Vec<bool>>,
    /// The times of the calls among them, each with that of its quotation.
    pub calls: Vec<(usize, usize)>,
    /// The same of calls whose outputs are quoted in part, which need not tell all that the line of the call tells.
    pub parts: Vec<(usize, usize)>,
}

impl Quoted {
    /// If a line says what is quoted.
    pub fn tells(&self, line: &Candidate) -> bool {
        match line.section {
            Section::Calls => self.quotes_call(line.order) || self.quotes_words_of(line),
            Section::Errors => self.quotes_call(line.order + 1),
            _ => false,
        }
    }

    fn quotes_call(&self, time: usize) -> bool {
        self.calls.iter().any(|(call, _)| *call == time)
    }

    /// If a part of a call's output that is quoted has all the words of how the call's line says it ended but its keys; of one that
    /// says `ok`, all but one.
    fn quotes_words_of(&self, line: &Candidate) -> bool {
        let Some((_, place)) = self.parts.iter().find(|(call, _)| *call == line.order) else {
            return false;
        };
        let quoted = self.lines.iter().find(|quoted| quoted.candidate.order == *place);
        let Some((text, (_, outcome))) = quoted
            .map(|quoted| quoted.candidate.text.as_str())
            .zip(line.text.rsplit_once(" -> "))
        else {
            return false;
        };
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let words = outcome
            .split_inclusive(is_end)
            .filter(|word| !word.ends_with(':'));
        let words = words.map(|word| word.trim_end_matches(is_end));
        let is_missing = |word: &&str| word.len() >= SHORT_WORD && *word != NUMBERED && !text.contains(*word);
        words.filter(is_missing).count() <= usize::from(outcome.starts_with("ok"))
    }
}

/// `text` without control characters, blank lines at its ends and marks that a chat template or a parser of tool calls
/// would take for its own; all else as it stands.
pub(super) fn harmless(text: &str) -> String {
    let text = without_control(text);
    let mut safe = ControlTokens::known().harmless(&text);
    let marks = || MORE_RESERVED.into_iter().chain(RESERVED);
    let mut places = memchr::memchr2_iter(b'<', b'[', safe.as_bytes());
    let is_mark = |at| {
        let rest = safe.as_bytes().get(at..).unwrap_or_default();
        marks().any(|mark| rest.starts_with(mark.as_bytes()))
    };
    let has_marks = places.any(is_mark);
    for mark in marks().filter(|_| has_marks) {
        if let Some((sign, other)) = SIGNS.iter().find(|(sign, _)| mark.starts_with(*sign))
            && safe.contains(mark)
        {
            safe = safe.replace(mark, &mark.replacen(*sign, other, 1)).into();
        }
    }
    safe.trim_end().trim_start_matches('\n').to_owned()
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

/// The arguments of a call that its own line does not show in full, as lines, but for what an edit takes out; `None` if it shows
/// all of them.
pub(super) fn written(call: &SourceCall<'_>) -> Option<LongArguments> {
    let fields: Vec<(Cow<'_, str>, Cow<'_, str>)> = match &call.arguments {
        CallArguments::Tagged(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect()
        }
        CallArguments::Json(json) => match leaves(json, MAX_ARGUMENTS) {
            Some(leaves) => leaves
                .into_iter()
                .map(|leaf| (leaf.key(), leaf.value()))
                .collect(),
            None => vec![("".into(), json.as_ref().into())],
        },
    };
    let long = fields.iter().filter(|(key, value)| {
        let is_long = value.len() > SHOWN || value.contains('\n');
        is_long && !is_replaced(key)
    });
    let shown = |value| patch::replacing(value).map_or(Cow::Borrowed(value), Cow::Owned);
    let named: Vec<String> = long
        .map(|(key, value)| [key, ": ", &shown(value)].concat())
        .collect();
    (!named.is_empty()).then(|| LongArguments {
        is_all: named.len() == fields.len(),
        text: named.join("\n"),
    })
}

/// The long arguments of a call.
pub(super) struct LongArguments {
    pub text: String,
    /// If there are no others.
    pub is_all: bool,
}

/// If words tell more than the next step: announcements are told by what came of them.
pub(super) fn tells(said: &str) -> bool {
    let mut sentences = said.lines().flat_map(sentences);
    sentences.any(|sentence| {
        !Kinds::of(sentence).has(PhraseKind::Announcement)
            && !sentence.ends_with([':', '：'])
            && !is_small_talk(sentence)
    })
}

/// The heading of a block.
pub(super) struct Heading<'b> {
    text: &'b str,
    /// A bit for each byte that stands in it: most lines have another one.
    bytes: [u64; 4],
}

impl<'b> Heading<'b> {
    pub fn of(text: &'b str) -> Self {
        let mut bytes = [0; 4];
        for byte in text.bytes() {
            bytes[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
        Self { text, bytes }
    }

    /// If it says what a line says, but for the name of the argument and the step into a folder before a command.
    pub fn tells(&self, line: &str) -> bool {
        let line = line.strip_suffix(CUT).unwrap_or(line).trim_end();
        let value = match memchr::memchr(b' ', line.as_bytes()).map(|blank| line.split_at(blank)) {
            Some((key, value)) if key.ends_with(':') => value.get(1..).unwrap_or_default(),
            _ => line,
        };
        let command = without_step(value);
        let has = |byte: u8| self.bytes[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
        command.len() > 2 && command.bytes().all(has) && self.text.contains(command)
    }
}

/// The heading of a call, whose tool it names alone, or whose argument it cuts or tells a part of, with the argument in its place: `bash -> ok` and
/// `command: make` are `bash: make -> ok`.
pub(super) fn with_argument(heading: &str, argument: &str) -> Option<String> {
    let (call, ending) = heading.split_once(" -> ").unwrap_or((heading, ""));
    let (_, value) = argument.split_once(": ")?;
    let value = without_step(value);
    let arrow = if ending.is_empty() { "" } else { " -> " };
    let (turn, label) = call.split_once(", ")?;
    if !label.contains(' ') {
        return Some([call, ": ", value, arrow, ending].concat());
    }
    let (tool, shown) = label.split_once(": ")?;
    let is_told = match shown.strip_suffix(CUT) {
        Some(shown) => value.starts_with(shown.trim_end()),
        // Behind what only set it up.
        None => value.contains(shortened(shown, SHOWN)?.trim_end_matches(CUT).trim_end()),
    };
    is_told.then(|| [turn, ", ", tool, ": ", value, arrow, ending].concat())
}

/// A command without the step into a folder before it.
fn without_step(command: &str) -> &str {
    let rest = command
        .strip_prefix("cd ")
        .and_then(|rest| rest.split_once(" && "));
    rest.map_or(command, |(_, command)| command)
}

/// A call's line without its turn, as earlier summaries carry it over; `None` for words, outputs, and lists of what is to be done.
pub(super) fn call_of(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("turn -").and_then(|line| line.split_once(", ")) {
        Some((back, line)) if back.bytes().all(|byte| byte.is_ascii_digit()) => line,
        _ => line,
    };
    let is_call = ![SAID, OUTPUT, THOUGHT]
        .iter()
        .any(|heading| line.starts_with(heading))
        && !is_note(tool_of(line));
    // Of the quotation behind it nothing stays.
    let quoted = line
        .find(&[": ", CUT].concat())
        .filter(|at| line.get(..*at).is_some_and(|call| call.contains(" -> ")));
    is_call
        .then(|| line.get(..quoted.unwrap_or(line.len())))
        .flatten()
}
