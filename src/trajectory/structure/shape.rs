//! The calls and answers of each turn, with their ids, for assigning answers to calls. Texts are decoded only where ids
//! help more than positions.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::value::RawValue;

use crate::trajectory::json::fields::fields;
use crate::trajectory::parse::calls::{all_calls, raw_calls};
use crate::trajectory::parse::content::content_text;
use crate::trajectory::parse::in_parts::in_parts;
use crate::trajectory::parse::raw_call::raw_call;
use crate::trajectory::parse::results::result_ids;
use crate::trajectory::view::decode::{tagged_calls_of, tagged_responses};
use crate::trajectory::{Role, Turn, json};

/// An id as JSON: a field's own text, or read from a text.
pub(super) type Id<'a> = Cow<'a, str>;

/// The calls and answers of all turns. There may be millions of turns, most of them without any.
#[derive(Debug, Default)]
pub(in crate::trajectory) struct Shapes<'a> {
    /// The ids of all turns, in order.
    ids: Vec<Option<Id<'a>>>,
    /// The end of each turn's ids, and true if they are calls.
    ends: Vec<(u32, bool)>,
    /// The calls and answers in parts, for turns that have some.
    in_parts: FxHashMap<usize, PartCounts>,
}

/// The calls and answers of a turn among the parts of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PartCounts {
    answers: usize,
    calls: Range<usize>,
}

/// The calls or answers of one turn, with their ids.
#[derive(Debug, Clone, Default)]
pub(in crate::trajectory) struct CallsAndAnswers<'s, 'a> {
    pub calls: &'s [Option<Id<'a>>],
    pub answers: &'s [Option<Id<'a>>],
    /// Number of answers, at the end, that are `tool_result` parts: they share one turn, a tool's or a person's, and
    /// are answers only if a call has their id.
    pub in_parts: usize,
    /// The range of calls that are `tool_use` parts: those before it are fields, those after it are in a text.
    pub calls_in_parts: Range<usize>,
}

impl CallsAndAnswers<'_, '_> {
    /// Returns the number of answers that are the turn's own: a whole tool turn, or an envelope.
    pub fn own_answers(&self) -> usize {
        self.answers.len().saturating_sub(self.in_parts)
    }
}

/// Returns the shapes of these turns.
///
/// The ids in envelopes are read if an earlier call has an id as well, or if the assistant made no recognizable call:
/// calls without ids are answered in their order.
pub(super) fn shapes<'a>(turns: &[Turn<'a>]) -> Shapes<'a> {
    let mut calls_have_ids = false;
    let mut open_calls = 0;
    let mut shapes = Shapes {
        ends: Vec::with_capacity(turns.len()),
        ..Shapes::default()
    };
    for turn in turns {
        let found = found(turn, calls_have_ids || open_calls == 0);
        if turn.role == Role::Assistant {
            open_calls = found.calls.len();
            calls_have_ids |= found.calls.iter().any(Option::is_some);
        }
        shapes.push(found);
    }
    shapes
}

impl<'a> Shapes<'a> {
    /// Adds a turn, with its calls or answers.
    fn push(&mut self, found: TurnShape<'a>) {
        if found.in_parts != PartCounts::default() {
            self.in_parts.insert(self.ends.len(), found.in_parts);
        }
        let are_calls = !found.calls.is_empty();
        self.ids.extend(found.calls);
        self.ids.extend(found.answers);
        self.ends.push((self.ids.len() as u32, are_calls));
    }

    /// Returns the index of a turn's first call or answer among those of all turns.
    pub fn first_of(&self, turn: usize) -> usize {
        let before = turn.checked_sub(1).and_then(|before| self.ends.get(before));
        before.map_or(0, |(end, _)| *end as usize)
    }

    /// Returns the calls and answers of a turn.
    pub fn get(&self, turn: usize) -> Option<CallsAndAnswers<'_, 'a>> {
        let (end, are_calls) = *self.ends.get(turn)?;
        let ids = self.ids.get(self.first_of(turn)..end as usize)?;
        let (calls, answers) = if are_calls { (ids, &[][..]) } else { (&[][..], ids) };
        let in_parts = self.in_parts.get(&turn).filter(|_| !ids.is_empty());
        Some(CallsAndAnswers {
            calls,
            answers,
            in_parts: in_parts.map_or(0, |found| found.answers),
            calls_in_parts: in_parts.map_or(0..0, |found| found.calls.clone()),
        })
    }

    /// Returns the shapes of all turns, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = CallsAndAnswers<'_, 'a>> + ExactSizeIterator + '_ {
        let shape = |turn| self.get(turn).unwrap_or_default();
        (0..self.ends.len()).map(shape)
    }

    /// Returns the id of each call and answer, `None` for those without one.
    pub fn ids(&self) -> &[Option<Id<'a>>] {
        &self.ids
    }

    /// Returns true if the assistant's calls are parts of its content.
    pub fn call_in_parts(&self) -> bool {
        self.in_parts.values().any(|found| !found.calls.is_empty())
    }
}

static CALL_TAGS: [LazyLock<Finder<'static>>; 2] = [
    LazyLock::new(|| Finder::new("<tool_call>")),
    LazyLock::new(|| Finder::new("/tool_call>")),
];

static RESPONSE_TAGS: [LazyLock<Finder<'static>>; 2] = [
    LazyLock::new(|| Finder::new("<tool_response>")),
    LazyLock::new(|| Finder::new("/tool_response>")),
];

/// The calls and answers found in a turn.
#[derive(Debug, Default)]
struct TurnShape<'a> {
    calls: Vec<Option<Id<'a>>>,
    answers: Vec<Option<Id<'a>>>,
    in_parts: PartCounts,
}

fn found<'a>(turn: &Turn<'a>, reads_ids: bool) -> TurnShape<'a> {
    let mut shape = TurnShape::default();
    let content = turn.content().unwrap_or_default();
    let literal = |id: &'a str| Some(Cow::Borrowed(id));
    let has_results = !turn.opaque && matches!(turn.role, Role::Tool | Role::Human);
    let results = if has_results {
        result_ids(content)
    } else {
        Vec::new()
    };
    match turn.speaker() {
        _ if turn.opaque => {}
        Role::Assistant if turn.role_name() == Some("\"function_call\"") => {
            shape.calls = vec![None; listed_calls(content)];
        }
        Role::Assistant => {
            let found = in_parts(turn);
            let calls = all_calls(turn, found.as_ref()).into_iter();
            shape.calls = calls.map(|call| call.id.and_then(literal)).collect();
            let in_fields = found
                .as_ref()
                .map_or(shape.calls.len(), |_| raw_calls(turn).len());
            shape.in_parts.calls = in_fields..shape.calls.len();
            if found.is_some() {
                // An assistant with calls in parts has none in texts, whatever the texts and arguments contain.
                return shape;
            }
            let written = pairs(content, &CALL_TAGS);
            let has_ids = written > 0 && memmem::find(content.as_bytes(), br#"\"id\""#).is_some();
            shape
                .calls
                .extend(ids(content, written, has_ids, tagged_calls_of, |call| {
                    raw_call(call).id
                }));
        }
        Role::Tool => {
            let packed = pairs(content, &RESPONSE_TAGS);
            shape.answers = match turn.tool_call_id() {
                _ if packed > 0 => {
                    let has_ids =
                        reads_ids && memmem::find(content.as_bytes(), br#"\"tool_call_id\""#).is_some();
                    ids(content, packed, has_ids, tagged_responses, |answer| {
                        fields(answer, &["tool_call_id"]).ok()?.values[0]
                    })
                }
                None if !results.is_empty() => Vec::new(),
                None => vec![None],
                Some(ids) if ids.starts_with('[') => {
                    let ids: Vec<&RawValue> = serde_json::from_str(ids).unwrap_or_default();
                    ids.into_iter().map(|id| literal(id.get())).collect()
                }
                Some(id) => vec![literal(id)],
            };
        }
        _ => {}
    }
    if results.is_empty() {
        return shape;
    }
    let own: FxHashSet<Id<'a>> = shape.answers.iter().flatten().cloned().collect();
    let own_ids = shape.answers.len();
    let results = results.into_iter().filter(|id| !own.contains(*id));
    shape.answers.extend(results.map(literal));
    shape.in_parts.answers = shape.answers.len() - own_ids;
    shape
}

/// Returns the number of `<tool_response>` envelopes in a turn that has nothing before them: some agents put them in a person's role.
pub(super) fn envelopes_alone(turn: &Turn<'_>) -> usize {
    let content = turn
        .content()
        .filter(|content| !turn.opaque && content.starts_with("\"<tool_response>"));
    content.map_or(0, |content| pairs(content, &RESPONSE_TAGS))
}

/// Returns the ids of `count` blocks in a content; none if they are not to be read, or their number differs.
fn ids<'a>(
    content: &str,
    count: usize,
    are_read: bool,
    blocks: fn(&str) -> Vec<std::ops::Range<usize>>,
    id: impl Fn(&str) -> Option<&str>,
) -> Vec<Option<Id<'a>>> {
    let mut found = vec![None; count];
    if are_read {
        let text = content_text(content);
        let blocks = blocks(&text);
        if blocks.len() == count {
            for (found, block) in found.iter_mut().zip(blocks) {
                let id = text.get(block).and_then(|block| id(block.trim()));
                *found = id.filter(|id| *id != "null").map(|id| Cow::Owned(id.to_owned()));
            }
        }
    }
    found
}

/// Returns the maximum number of blocks between two tags in a content.
fn pairs(content: &str, tags: &[LazyLock<Finder<'static>>; 2]) -> usize {
    let count = |tag: &Finder<'_>| tag.find_iter(content.as_bytes()).count();
    match count(&tags[0]) {
        0 => 0,
        opened => opened.min(count(&tags[1])),
    }
}

/// Returns the number of calls in a `function_call` turn of `ShareGPT`: one, or a list of them.
fn listed_calls(content: &str) -> usize {
    if !content.starts_with("\"[") {
        return 1;
    }
    let (text, _) = json::decode(content);
    serde_json::from_str::<Vec<&RawValue>>(&text).map_or(1, |calls| calls.len())
}
