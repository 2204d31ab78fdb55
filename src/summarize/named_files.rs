//! The file that each name stands in: a list of names alone tells a reader little.

use rustc_hash::FxHashMap;

use crate::compress::anchors::{Anchor, matcher_of};
use crate::events::event::Event;
use crate::events::shell::{last_step, path_of};
use crate::events::source::SourceTurn;
use crate::events::stretch::Stretch;
use crate::events::target::Effect;

/// Steps of a path that tell a file from others.
const STEPS: usize = 2;

/// Adds to each name among `anchors` the file that it stands in, as calls of these turns showed or changed it: of several files
/// that which most of the names stand in, so that few are told.
pub fn add_files(anchors: &mut [Anchor], turns: &Stretch<'_>) {
    let is_name: Vec<bool> = anchors.iter().map(is_name).collect();
    if !is_name.contains(&true) {
        return;
    }
    let mut files: FxHashMap<String, (Vec<usize>, usize)> = FxHashMap::default();
    let matcher = matcher_of(anchors);
    for event in turns.actions().iter().chain(turns.earlier()) {
        let Some(file) = file_of(event) else { continue };
        let (names, latest) = files.entry(shown(file)).or_default();
        *latest = event.number.max(*latest);
        let mut wanted = is_name.clone();
        for name in names.iter() {
            if let Some(is_wanted) = wanted.get_mut(*name) {
                *is_wanted = false;
            }
        }
        for text in texts(event, turns.sources()) {
            matcher.find(text, &mut wanted, |name, _| {
                names.push(name);
                false
            });
        }
    }
    let mut files: Vec<(String, (Vec<usize>, usize))> = files.into_iter().collect();
    files.sort_by_key(|(_, (names, latest))| (names.len(), *latest));
    let of_names = files.into_iter().rev();
    let found: Vec<(usize, String)> = of_names
        .flat_map(|(file, (names, _))| names.into_iter().map(move |name| (name, file.clone())))
        .collect();
    for (name, file) in found {
        if let Some(anchor) = anchors.get_mut(name).filter(|anchor| anchor.file.is_none()) {
            anchor.file = (last_step(&file) != anchor.text).then_some(file);
        }
    }
}

/// If an identifier is a name in a text, and neither a path nor a value.
fn is_name(anchor: &Anchor) -> bool {
    anchor.key.is_none()
        && !anchor.text.contains('/')
        && anchor.text.contains(|sign: char| sign.is_alphabetic())
}

/// The one file that a call showed or changed.
fn file_of(event: &Event) -> Option<&str> {
    let target = &event.target;
    let file = target
        .file
        .as_deref()
        .filter(|_| target.effect != Effect::Other)?;
    let path = |name: &str| path_of("", name);
    let mut others = event.own_touches().iter().map(|touch| touch.file.as_deref());
    others
        .all(|other| other.is_some_and(|other| path(other) == path(file)))
        .then_some(file)
}

/// The texts of a call that stand in its file: what it shows of it, and what it writes to it.
fn texts<'t>(event: &Event, turns: &'t [SourceTurn<'_>]) -> Vec<&'t str> {
    let mut texts = Vec::new();
    let call = turns.get(event.turn).and_then(|turn| turn.calls.get(event.call));
    if event.target.effect == Effect::Modify {
        texts.extend(call.into_iter().flat_map(|call| call.arguments.texts()));
    }
    let answer = event
        .answered_at
        .and_then(|(turn, answer)| turns.get(turn)?.answers.get(answer));
    texts.extend(answer.map(|(_, text)| &**text));
    texts
}

/// The end of a path.
fn shown(path: &str) -> String {
    let path = path_of("", path);
    let start = path
        .rmatch_indices('/')
        .nth(STEPS - 1)
        .map_or(0, |(at, _)| at + 1);
    path.get(start..).unwrap_or_default().to_owned()
}
