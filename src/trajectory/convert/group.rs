//! An assistant's message with the messages that answer it, and the calls that the answers belong to.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::message::{ConvertedCall, Message, ToolAnswer};
use crate::trajectory::{OpenCalls, json};

/// A message and its answers.
#[derive(Debug, Default)]
pub(super) struct Group<'a> {
    /// The message answered; `None` for answers at the start.
    pub asking: Option<Message<'a>>,
    /// Messages of tools, in order.
    pub answering: Vec<Message<'a>>,
}

impl<'a> Group<'a> {
    /// Gives each call without an id the id of its answer.
    pub fn name_calls(&mut self) {
        let Some(asking) = self
            .asking
            .as_mut()
            .filter(|asking| !asking.stays && !asking.calls.is_empty())
        else {
            return;
        };
        let answers = self.answering.iter().flat_map(|message| &message.answers);
        let answered = places(&asking.calls, answers.clone());
        let ids: Vec<(usize, Cow<'a, str>)> = answers
            .zip(answered)
            .filter_map(|(answer, place)| Some((place?, answer.id.clone()?)))
            .collect();
        for (place, id) in ids {
            if let Some(call) = asking.calls.get_mut(place) {
                call.id.get_or_insert(id);
            }
        }
    }

    /// Sorts answers by their calls, if each is a separate message and names a call.
    pub fn sort_answers(&mut self) {
        let Some(asking) = &self.asking else { return };
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        for (place, call) in asking.calls.iter().enumerate() {
            if let Some(id) = call.id.as_deref() {
                places.entry(id).or_insert(place);
            }
        }
        let place_of = |message: &Message<'_>| match message.answers.as_slice() {
            [answer] if !message.stays => places.get(answer.id.as_deref()?).copied(),
            _ => None,
        };
        let found: Option<Vec<usize>> = self.answering.iter().map(place_of).collect();
        let Some(found) = found else { return };
        let answering = std::mem::take(&mut self.answering);
        let mut placed: Vec<(usize, Message<'a>)> = found.into_iter().zip(answering).collect();
        placed.sort_by_key(|(place, _)| *place);
        self.answering = placed.into_iter().map(|(_, message)| message).collect();
    }

    /// Returns if calls need their ids in a form that may omit them, and the number of ids lost without.
    pub fn kept_ids(&self) -> KeptIds {
        let Some(asking) = &self.asking else {
            return KeptIds::default();
        };
        let answers: Vec<&ToolAnswer<'_>> = self
            .answering
            .iter()
            .flat_map(|message| &message.answers)
            .collect();
        let without: Vec<ConvertedCall<'_>> = asking
            .calls
            .iter()
            .map(|call| ConvertedCall {
                id: None,
                ..call.clone()
            })
            .collect();
        let by_order = places(&without, answers.iter().copied());
        let by_id = places(&asking.calls, answers.iter().copied());
        let answered = by_id.iter().flatten();
        let answered =
            answered.filter(|place| asking.calls.get(**place).is_some_and(|call| call.id.is_some()));
        let have_ids = asking.calls.iter().filter(|call| call.id.is_some()).count();
        let needs_ids = by_order != by_id;
        KeptIds {
            needs_ids,
            lost: if needs_ids {
                0
            } else {
                have_ids.saturating_sub(answered.count())
            },
        }
    }
}

/// The result of omitting the ids of calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeptIds {
    /// Without ids, answers would be assigned to other calls.
    pub needs_ids: bool,
    /// Number of ids that would be lost.
    pub lost: usize,
}

/// Returns the index of the call of each answer: by its id, else by its tool's name, else by its position.
fn places<'c, 'a: 'c>(
    calls: &[ConvertedCall<'a>],
    answers: impl Iterator<Item = &'c ToolAnswer<'a>>,
) -> Vec<Option<usize>> {
    let tools: Vec<Cow<'_, str>> = calls.iter().map(ConvertedCall::tool).collect();
    let mut open = OpenCalls::new(tools.iter().map(AsRef::as_ref));
    let mut found = Vec::new();
    let mut left: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (place, call) in calls.iter().enumerate().rev() {
        if let Some(id) = call.id.as_deref() {
            left.entry(id).or_default().push(place);
        }
    }
    for answer in answers {
        let id = answer.id.as_deref();
        let named = id.and_then(|id| left.get_mut(id)).and_then(Vec::pop);
        let place = if named.is_some() {
            open.note(named);
            named
        } else {
            let name = answer.name.as_deref().map(|name| json::decode(name).0);
            let place = open.answered_by(name.as_deref());
            // A call with another id does not match.
            place.filter(|place| id.is_none() || calls.get(*place).is_some_and(|call| call.id.is_none()))
        };
        found.push(place);
    }
    found
}
