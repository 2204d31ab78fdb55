//! The directories that commands ran in: which of them the lines of the calls name.

use rustc_hash::FxHashMap;

use crate::events::target::Target;

/// Settles where each command ran. The keys say it always, the lines where it is not where most commands ran, or the same ran in several
/// places; one that went nowhere counts as run where alone the same ran otherwise.
pub(crate) fn tell_directories(targets: &mut [Target]) {
    let usual = usual_directory(targets);
    // The only directory of each command; `None` where there are several.
    let mut only: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    for target in targets.iter() {
        let name = name_of(target);
        if !name.is_empty() {
            let only = only.entry(&target.key).or_insert(Some(name));
            *only = only.filter(|only| *only == name);
        }
    }
    let places: Vec<(Option<String>, bool)> = targets
        .iter()
        .map(|target| {
            let name = name_of(target);
            let only = only.get(target.key.as_str()).copied().unwrap_or_default();
            let place = if name.is_empty() { only } else { Some(name) };
            (
                place.map(|place| [" in ", place].concat()),
                !name.is_empty() && (only.is_none() || name != usual),
            )
        })
        .collect();
    for (target, (place, is_told)) in targets.iter_mut().zip(places) {
        target.key.push_str(place.as_deref().unwrap_or_default());
        let Some(directory) = target.directory.take().filter(|_| is_told) else {
            continue;
        };
        if target.line.is_char_boundary(directory.place) {
            let told = ["cd ", &directory.name, " && "].concat();
            target.line.insert_str(directory.place, &told);
        }
    }
}

/// The directory that most commands ran in of those that name one; empty where none has most.
fn usual_directory(targets: &[Target]) -> String {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for name in targets.iter().map(name_of).filter(|name| !name.is_empty()) {
        *counts.entry(name).or_default() += 1;
    }
    let named: usize = counts.values().sum();
    let usual = counts.into_iter().find(|(_, count)| 2 * count > named);
    usual.map_or_else(String::new, |(name, _)| name.to_owned())
}

fn name_of(target: &Target) -> &str {
    target.directory.as_ref().map_or("", |directory| &directory.name)
}
