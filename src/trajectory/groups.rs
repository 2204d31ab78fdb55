//! Which turns answer which: a group is one assistant turn with all the tool turns that answer it.

use std::borrow::Cow;

use super::{Role, Views};

/// For each turn, the index of the assistant turn that it answers; `None` for turns that answer none.
///
/// A tool turn answers the nearest earlier assistant turn that called with one of its ids. Without an id to go by it
/// answers the assistant turn that it follows, with nothing but tool turns between. What a person says beside results does so, too.
pub fn answered_turns<'v>(views: &'v Views<'_>) -> impl Iterator<Item = Option<usize>> + 'v {
    // Calls by id, latest first when searched from the back; ids repeat within real trajectories.
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
            // What a person says beside results ends the run.
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
