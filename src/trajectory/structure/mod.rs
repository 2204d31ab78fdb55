//! Checks that calls and their answers belong together, by roles, ids and positions.

pub(super) mod faults;
pub(super) mod groups;
pub(super) mod pairing;
pub(super) mod shape;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Format, OpenCalls, Record, Role, Turn, TurnView, view};
use faults::Faults;
use shape::{CallsAndAnswers, Id, Shapes, shapes};

/// Returns the faults of a record; a human turn that begins with `opening` is a summary and may have a human neighbour.
pub fn faults(record: &Record<'_>, opening: &str) -> Faults {
    Structure::of(record, opening).faults()
}

/// A turn's index, and an index within the turn.
pub(super) type CallPlace = (usize, usize);

/// The links between calls and answers, and the faults.
#[derive(Debug, Default)]
pub(super) struct Structure<'a> {
    pub shapes: Shapes<'a>,
    /// Each answer with its call.
    pub links: Vec<(CallPlace, CallPlace)>,
    pub orphans: Vec<CallPlace>,
    pub unanswered: Vec<CallPlace>,
    /// Answers, with their calls, that come after somebody else spoke.
    pub late: Vec<(CallPlace, CallPlace)>,
    pub repeated: Vec<CallPlace>,
    pub packed: Vec<usize>,
    /// The second turn of each pair.
    pub neighbours: Vec<usize>,
}

impl<'a> Structure<'a> {
    pub fn of(record: &Record<'a>, opening: &str) -> Self {
        let shapes = shapes(&record.turns);
        let mut structure = Self::default();
        structure.link(record, &shapes);
        structure.repeat_in_texts(&shapes);
        structure.link_by_name(record, &shapes);
        structure.find_late(record, &shapes);
        structure.shapes = shapes;
        let is_packed = |(_, (turn, shape)): &(usize, (&Turn<'_>, CallsAndAnswers<'_, '_>))| {
            turn.speaker() == Role::Tool && shape.own_answers() > 1
        };
        if record.format == Format::Messages {
            let turns = record.turns.iter().zip(structure.shapes.iter()).enumerate();
            structure.packed = turns.filter(is_packed).map(|(index, _)| index).collect();
        }
        let pairs = record.turns.windows(2).enumerate();
        let side_by_side = |(index, pair): (usize, &[Turn<'_>])| match pair {
            [before, after] => is_repeated(before, after, opening).then_some(index + 1),
            _ => None,
        };
        structure.neighbours = pairs.filter_map(side_by_side).collect();
        structure
    }

    /// Returns the number of faults of each kind.
    pub fn faults(&self) -> Faults {
        Faults {
            orphan_responses: self.orphans.len(),
            unanswered_calls: self.unanswered.len() + self.late.len(),
            repeated_ids: self.repeated.len(),
            packed_responses: self.packed.len(),
            same_role_neighbours: self.neighbours.len(),
        }
    }

    /// Returns true if the assistant's calls are parts of its content.
    pub fn calls_in_parts(&self) -> bool {
        self.shapes.call_in_parts()
    }

    fn link<'s>(&mut self, record: &Record<'a>, shapes: &'s Shapes<'a>) {
        let mut answered = vec![false; shapes.ids().len()];
        let mut callers: FxHashMap<&'s str, CallPlace> = FxHashMap::default();
        let mut searched: Searched<'s> = Searched::default();
        let mut seen: FxHashSet<&'s str> = FxHashSet::default();
        let mut open: Option<usize> = None;
        let calls_in_parts = shapes.call_in_parts();
        for (index, (turn, shape)) in record.turns.iter().zip(shapes.iter()).enumerate() {
            match turn.speaker() {
                Role::Assistant => {
                    open = Some(index);
                    for (place, id) in shape.calls.iter().enumerate() {
                        let Some(id) = id else { continue };
                        // Ids in the text of calls may begin anew with each turn.
                        let is_field = matches!(id, Cow::Borrowed(_));
                        let id: &'s str = id;
                        if is_field && !seen.insert(id) {
                            self.repeated.push((index, place));
                        }
                        // The first call with that id, in the latest turn that has one.
                        let first = callers.entry(id).or_insert((index, place));
                        if first.0 < index {
                            *first = (index, place);
                        }
                    }
                }
                speaker @ (Role::Tool | Role::Human) if !shape.answers.is_empty() => {
                    // If calls are parts, a person's results answer a call or are orphans.
                    let are_own = calls_in_parts && speaker == Role::Human;
                    for (place, id) in shape.answers.iter().enumerate() {
                        match answered_call(
                            id.as_deref(),
                            open,
                            &callers,
                            shapes,
                            &mut answered,
                            &mut searched,
                        ) {
                            AnsweredCall::Call(call) => self.links.push(((index, place), call)),
                            AnsweredCall::Nobody if are_own || place < shape.own_answers() => {
                                self.orphans.push((index, place));
                            }
                            AnsweredCall::Text | AnsweredCall::Nobody => {}
                        }
                    }
                }
                Role::Tool => {}
                speaker => {
                    let asked = open.take().filter(|_| speaker == Role::Human);
                    let first = asked.map_or(0, |asked| shapes.first_of(asked));
                    let asked =
                        asked.map_or(0, |asked| shapes.get(asked).map_or(0, |shape| shape.calls.len()));
                    let shown = shape::envelopes_alone(turn).min(asked);
                    for is_answered in answered.iter_mut().skip(first).take(shown) {
                        *is_answered = true;
                    }
                }
            }
        }
        // Calls at the very end may still be answered.
        let mut turns = record.turns.iter().zip(shapes.iter());
        let last = turns
            .rposition(|(turn, shape)| goes_on(turn, &shape))
            .unwrap_or(0);
        for (index, shape) in shapes.iter().enumerate().take(last) {
            let first = shapes.first_of(index);
            let calls = answered.get(first..first + shape.calls.len()).unwrap_or_default();
            let open = calls.iter().enumerate().filter(|(_, answered)| !**answered);
            self.unanswered.extend(open.map(|(place, _)| (index, place)));
        }
    }

    fn find_late(&mut self, record: &Record<'a>, shapes: &Shapes<'a>) {
        let mut spoke = 0;
        // Links are in the order of the answers.
        let mut links = self.links.iter().peekable();
        for (index, (turn, shape)) in record.turns.iter().zip(shapes.iter()).enumerate() {
            while let Some(link) = links.next_if(|((answer, _), _)| *answer == index) {
                let (_, (caller, _)) = link;
                if spoke > *caller {
                    self.late.push(*link);
                }
            }
            if goes_on(turn, &shape) {
                spoke = index;
            }
        }
    }

    /// Finds repeated ids in the text of calls, which may begin anew with each turn: a turn has one twice, or two calls
    /// were answered by it.
    fn repeat_in_texts(&mut self, shapes: &Shapes<'a>) {
        let in_text = |id: &Option<Id<'a>>| matches!(id, Some(Cow::Owned(_)));
        let has_in_text = |shape: CallsAndAnswers<'_, 'a>| shape.calls.iter().any(in_text);
        if !(shapes.ids().iter().any(in_text) && shapes.iter().any(has_in_text)) {
            return;
        }
        let by_id = self.links.iter().filter(|(answer, call)| {
            let asked = shapes
                .get(call.0)
                .and_then(|shape| shape.calls.get(call.1)?.as_deref());
            let answered = shapes
                .get(answer.0)
                .and_then(|shape| shape.answers.get(answer.1)?.as_deref());
            asked.is_some() && asked == answered
        });
        let by_id: FxHashSet<CallPlace> = by_id.map(|(_, call)| *call).collect();
        let mut answered: FxHashSet<&str> = FxHashSet::default();
        for (index, shape) in shapes.iter().enumerate() {
            let mut of_turn: FxHashSet<&str> = FxHashSet::default();
            for (place, id) in shape.calls.iter().enumerate() {
                let Some(Cow::Owned(id)) = id else { continue };
                let is_new = of_turn.insert(id);
                let is_answered_anew = !by_id.contains(&(index, place)) || answered.insert(id);
                if !(is_new && is_answered_anew) {
                    self.repeated.push((index, place));
                }
            }
        }
        self.repeated.sort_unstable();
    }

    /// Assigns answers to calls by name, for turns whose calls have no ids and are answered only in part.
    fn link_by_name(&mut self, record: &Record<'a>, shapes: &Shapes<'a>) {
        let asks_names = |calls: &[CallPlace]| {
            let shape = calls.first().and_then(|(turn, _)| shapes.get(*turn));
            shape.is_some_and(|shape| {
                shape.calls.len() > calls.len() && shape.calls.iter().all(Option::is_none)
            })
        };
        let callers: Vec<usize> = self
            .unanswered
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|calls| asks_names(calls))
            .filter_map(|calls| calls.first().map(|(turn, _)| *turn))
            .collect();
        for caller in callers {
            let Some(turn) = record.turns.get(caller) else {
                continue;
            };
            let asking = view(turn, caller);
            let count = shapes.get(caller).map_or(0, |shape| shape.calls.len());
            if asking.calls.len() != count {
                continue;
            }
            let mut open = OpenCalls::new(asking.calls.iter().map(|call| call.name.as_ref()));
            let mut is_answered = vec![false; count];
            let following = record.turns.iter().skip(caller + 1);
            let run = following
                .take_while(|turn| turn.speaker() != Role::Assistant)
                .count();
            // Links are in the order of the answers.
            let from = self.links.partition_point(|((answer, _), _)| *answer <= caller);
            let links = self.links.iter_mut().skip(from);
            let links = links.take_while(|((answer, _), _)| *answer <= caller + run);
            let mut answering: Option<TurnView<'_>> = None;
            for (answer, call) in links.filter(|(_, call)| call.0 == caller) {
                if answering.as_ref().is_none_or(|view| view.index != answer.0) {
                    answering = record.turns.get(answer.0).map(|turn| view(turn, answer.0));
                }
                let response = answering.as_ref().and_then(|view| view.responses.get(answer.1));
                let name = response.and_then(|response| response.name.as_deref());
                if let Some(place) = open.answered_by(name) {
                    call.1 = place;
                }
                if let Some(is_answered) = is_answered.get_mut(call.1) {
                    *is_answered = true;
                }
            }
            let open = is_answered.iter().enumerate().filter(|(_, answered)| !**answered);
            let mut open = open.map(|(place, _)| (caller, place));
            let from = self.unanswered.partition_point(|(turn, _)| *turn < caller);
            let left = self.unanswered.iter_mut().skip(from);
            for left in left.take_while(|(turn, _)| *turn == caller) {
                if let Some(place) = open.next() {
                    *left = place;
                }
            }
        }
    }
}

/// Returns true if a turn is more than an answer: answers after it to earlier calls are late.
fn goes_on(turn: &Turn<'_>, shape: &CallsAndAnswers<'_, '_>) -> bool {
    match turn.speaker() {
        Role::Human => shape.in_parts == 0,
        role => matches!(role, Role::Assistant | Role::System),
    }
}

/// The call that an answer belongs to.
enum AnsweredCall {
    Call(CallPlace),
    /// A call in the assistant's text, in an unknown form (a fenced shell block, for example). After a turn without
    /// calls, an answer without an id is taken for its answer; one with an id answers a missing call.
    Text,
    Nobody,
}

/// The index up to which a turn's calls were searched for a free one: with this id, without an id, or any.
type Searched<'a> = FxHashMap<(usize, bool, Option<&'a str>), usize>;

fn answered_call<'a>(
    id: Option<&'a str>,
    open: Option<usize>,
    callers: &FxHashMap<&str, CallPlace>,
    shapes: &Shapes<'_>,
    answered: &mut [bool],
    searched: &mut Searched<'a>,
) -> AnsweredCall {
    /// Number of calls of a turn up to which all are searched each time.
    const FEW: usize = 4;
    let calls_of = |turn: usize| shapes.get(turn).map_or(&[][..], |shape| shape.calls);
    let first = id.and_then(|id| callers.get(id).copied());
    let by_id = first.map(|(turn, _)| turn);
    let Some(caller) = by_id.or(open) else {
        return AnsweredCall::Nobody;
    };
    let calls = calls_of(caller);
    if calls.is_empty() {
        return if id.is_none() || by_id.is_some() {
            AnsweredCall::Text
        } else {
            AnsweredCall::Nobody
        };
    }
    let fits = |call: Option<&str>| match (by_id, id) {
        (Some(_), Some(id)) => call == Some(id),
        (_, Some(_)) => call.is_none(),
        _ => true,
    };
    let of_caller = shapes.first_of(caller);
    let free = |place: usize| answered.get(of_caller + place) == Some(&false);
    // Answered calls stay answered, so that each is searched once for every id.
    let key = (caller, id.is_some(), id.filter(|_| by_id.is_some()));
    let mut from = first.map_or(0, |(_, place)| place);
    let mut searched = (calls.len() > FEW).then(|| searched.entry(key).or_insert(from));
    if let Some(searched) = &searched {
        from = **searched;
    }
    let mut places = calls
        .iter()
        .enumerate()
        .skip(from)
        .filter(|(_, call)| fits(call.as_deref()));
    let Some((place, _)) = places.find(|(place, _)| free(*place)) else {
        if let Some(searched) = &mut searched {
            **searched = calls.len();
        }
        return AnsweredCall::Nobody;
    };
    if let Some(searched) = &mut searched {
        **searched = place + 1;
    }
    if let Some(answered) = answered.get_mut(of_caller + place) {
        *answered = true;
    }
    AnsweredCall::Call((caller, place))
}

fn is_repeated(before: &Turn<'_>, after: &Turn<'_>, opening: &str) -> bool {
    let is_summary = |turn: &Turn<'_>| {
        let text = turn.content().and_then(|content| content.strip_prefix('"'));
        text.is_some_and(|text| text.starts_with(opening))
    };
    matches!(after.speaker(), Role::System | Role::Human | Role::Assistant)
        && before.role_name() == after.role_name()
        && !is_summary(before)
        && !is_summary(after)
}
