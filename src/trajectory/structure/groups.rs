//! Finds the turns that answer each other: a group is one assistant turn with all the tool turns that answer it.

use std::borrow::Cow;

use crate::trajectory::{Role, Views};

/// Returns for each turn the index of the assistant turn that it answers; `None` for turns that answer none.
///
/// A tool turn answers the nearest earlier assistant turn that has a call with one of its ids. Without an id it answers
/// the assistant turn that it follows, with only tool turns between. The same holds for a person's turn with results.
pub fn answered_turns<'v>(views: &'v Views<'_>) -> impl Iterator<Item = Option<usize>> + 'v {
    // The latest turn that made a call with an id; ids repeat within real trajectories.
    let mut called: rustc_hash::FxHashMap<Cow<'v, str>, usize> = rustc_hash::FxHashMap::default();
    let mut followed: Option<usize> = None;
    views.all().enumerate().map(move |(turn, view)| match view.role {
        Role::Human if view.responses.is_empty() => {
            followed = None;
            None
        }
        Role::Tool | Role::Human => {
            let ids = view
                .responses
                .iter()
                .filter_map(|response| response.id.as_deref());
            let answered = ids.filter_map(|id| called.get(id).copied()).min().or(followed);
            // A person's text beside results ends the run.
            followed = followed.filter(|_| view.role == Role::Tool);
            answered
        }
        Role::Assistant => {
            match view {
                Cow::Borrowed(view) => {
                    let ids = view.calls.iter().filter_map(|call| call.id.as_deref());
                    called.extend(ids.map(|id| (Cow::Borrowed(id), turn)));
                }
                Cow::Owned(view) => {
                    let ids = view.calls.into_iter().filter_map(|call| call.id);
                    called.extend(ids.map(|id| (id, turn)));
                }
            }
            followed = Some(turn);
            None
        }
        _ => {
            followed = None;
            None
        }
    })
}
