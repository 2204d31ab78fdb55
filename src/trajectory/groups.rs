//! Which turns answer which: a group is one assistant turn with all the tool turns that answer it.

use super::{Role, TurnView};

/// For each turn, the index of the assistant turn that it answers; `None` for turns that answer none.
///
/// A tool turn answers the nearest earlier assistant turn that called with one of its ids. Without an id to go by it
/// answers the assistant turn that it follows, with nothing but tool turns between. What a person says beside results does so, too.
pub fn answered_turns(views: &[TurnView<'_>]) -> Vec<Option<usize>> {
    // Calls by id, latest first when searched from the back; ids repeat within real trajectories.
    let mut called: rustc_hash::FxHashMap<&str, usize> = rustc_hash::FxHashMap::default();
    let mut followed: Option<usize> = None;
    views
        .iter()
        .enumerate()
        .map(|(turn, view)| match view.role {
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
                called.extend(
                    view.calls
                        .iter()
                        .filter_map(|call| Some((call.id.as_deref()?, turn))),
                );
                followed = Some(turn);
                None
            }
            _ => {
                followed = None;
                None
            }
        })
        .collect()
}
