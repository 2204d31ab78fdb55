//! An assistant's message with the messages that answer it: which id belongs to which call.

use std::borrow::Cow;

use super::message::{Answer, Call, Message};
use crate::trajectory::OpenCalls;

/// A message and what answers it.
#[derive(Debug, Default)]
pub(super) struct Group<'a> {
    /// What is answered; none where the answers come first.
    pub asking: Option<Message<'a>>,
    /// Messages of tools, in order.
    pub answering: Vec<Message<'a>>,
}

impl<'a> Group<'a> {
    /// Gives calls without an id that of their answer.
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

    /// Puts answers in the order of their calls, where each names one.
    pub fn sort_answers(&mut self) {
        let Some(asking) = &self.asking else { return };
        let place = |answer: &Answer<'_>| {
            asking
                .calls
                .iter()
                .position(|call| call.id.is_some() && call.id == answer.id)
        };
        let is_whole = |message: &Message<'_>| message.answers.len() == 1 && !message.stays;
        let place_of = |message: &Message<'_>| message.answers.first().and_then(place);
        let all = self
            .answering
            .iter()
            .all(|message| is_whole(message) && place_of(message).is_some());
        if all {
            let mut placed: Vec<(Option<usize>, Message<'a>)> = std::mem::take(&mut self.answering)
                .into_iter()
                .map(|message| (place_of(&message), message))
                .collect();
            placed.sort_by_key(|(place, _)| *place);
            self.answering = placed.into_iter().map(|(_, message)| message).collect();
        }
    }

    /// Which calls keep their ids where calls are written without: all of them, or those that nobody answered.
    pub fn kept_ids(&self) -> KeptIds {
        let Some(asking) = &self.asking else {
            return KeptIds::default();
        };
        let answers: Vec<&Answer<'_>> = self
            .answering
            .iter()
            .flat_map(|message| &message.answers)
            .collect();
        let without: Vec<Call<'_>> = asking
            .calls
            .iter()
            .map(|call| Call {
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

/// The ids of calls where their answers name them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeptIds {
    /// Whether answers would go to other calls if these had no ids.
    pub needs_ids: bool,
    /// How many are said nowhere.
    pub lost: usize,
}

/// The place of the call that each answer belongs to: by its id, else by its tool's name, else by its place.
fn places<'c, 'a: 'c>(
    calls: &[Call<'a>],
    answers: impl Iterator<Item = &'c Answer<'a>>,
) -> Vec<Option<usize>> {
    let tools: Vec<Cow<'_, str>> = calls.iter().map(Call::tool).collect();
    let mut open = OpenCalls::new(tools.iter().map(AsRef::as_ref));
    let mut is_taken = vec![false; calls.len()];
    let mut take = |place: Option<usize>| {
        if let Some(taken) = place.and_then(|place| is_taken.get_mut(place)) {
            *taken = true;
        }
        place
    };
    let mut found = Vec::new();
    let by_id: rustc_hash::FxHashMap<&str, Vec<usize>> = {
        let mut by_id: rustc_hash::FxHashMap<&str, Vec<usize>> = rustc_hash::FxHashMap::default();
        for (place, call) in calls.iter().enumerate().rev() {
            if let Some(id) = call.id.as_deref() {
                by_id.entry(id).or_default().push(place);
            }
        }
        by_id
    };
    let mut left = by_id;
    for answer in answers {
        let id = answer.id.as_deref();
        let named = id.and_then(|id| left.get_mut(id)).and_then(Vec::pop);
        let place = if named.is_some() {
            open.note(named);
            named
        } else {
            let name = answer
                .name
                .as_deref()
                .map(|name| crate::trajectory::json::decode(name).0);
            let place = open.answered_by(name.as_deref());
            // A call that has another id is not the one.
            place.filter(|place| id.is_none() || calls.get(*place).is_some_and(|call| call.id.is_none()))
        };
        found.push(take(place));
    }
    found
}
