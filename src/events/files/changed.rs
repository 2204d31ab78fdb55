//! The files that are changed at the end.

use rustc_hash::FxHashSet;

use super::pattern::matches;
use super::{Tracked, TrackedFiles, is_same_file};
use crate::events::event::Event;
use crate::events::shell::programs::flags;
use crate::events::shell::{Step, Touch, path_of};
use crate::knowledge::tool_names::each_word;

/// Removals that are compared with each file at most.
const MAX_REMOVALS: usize = 400;

/// The effects of events on changed files, whichever these are.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The events that say that they did what they were to do.
    sure: FxHashSet<usize>,
    /// The event of each removal, and the name or the pattern of names that it removed.
    removed: Vec<(usize, String, bool)>,
    /// The last event that may have put back any file.
    last_sweep: Option<usize>,
}

impl Changes {
    pub fn of(files: &TrackedFiles, events: &[&Event]) -> Self {
        let mut changes = Self::default();
        for event in events {
            // One that failed may have done a part.
            if event.outcome.failed() == Some(false) {
                changes.sure.insert(event.number);
            }
            let removals = event
                .own_touches()
                .iter()
                .filter(|touch| touch.step == Step::Remove);
            changes.removed.extend(removals.filter_map(|touch| {
                let path = path_of(&touch.directory, touch.file.as_deref()?);
                Some((event.number, path, touch.is_pattern))
            }));
            if sweeps(files, event) {
                changes.last_sweep = Some(event.number);
            }
        }
        changes
    }

    /// The files that are not as they were, the latest first, by the names that were used last. Copies that are kept for later, new
    /// files that were run, and what was put back or removed again are none of them, nor is what nothing says was done.
    pub fn standing<'f>(&self, files: &'f TrackedFiles) -> Vec<&'f str> {
        if self.removed.len() > MAX_REMOVALS {
            return Vec::new();
        }
        let is_script =
            |file: &Tracked| file.is_new && (file.run_by.is_some() || file.path.starts_with("/tmp/"));
        let is_changed =
            |file: &&Tracked| file.is_modified && !file.is_gone && !file.is_kept && !is_script(file);
        let changed = files.files.iter().filter(is_changed);
        let mut changed: Vec<&Tracked> = changed.filter(|file| self.stands(file)).collect();
        changed.sort_by_key(|file| std::cmp::Reverse(file.last));
        changed.into_iter().map(|file| file.name.as_str()).collect()
    }

    /// If a file is changed at the end, for sure.
    fn stands(&self, file: &Tracked) -> bool {
        let Some(by) = file.changed_by.filter(|by| self.sure.contains(by)) else {
            return false;
        };
        let is_removed = |(event, path, is_pattern): &(usize, String, bool)| {
            let inside = file.path.strip_prefix(path.as_str());
            // Where a relative path begins is not known.
            let is_below = || !path.starts_with('/') && file.path.contains(&["/", path, "/"].concat());
            let is_inside = || inside.is_some_and(|inside| inside.starts_with('/')) || is_below();
            *event >= by
                && (is_same_file(&file.path, path) || is_inside() || *is_pattern && matches(path, &file.path))
        };
        self.last_sweep < Some(by) && !self.removed.iter().any(is_removed)
    }
}

/// If an event may have put back or removed files that it does not name: `git stash`, `git checkout .`, `rm -rf $D`.
fn sweeps(files: &TrackedFiles, event: &Event) -> bool {
    let target = &event.target;
    let command = target.command.as_deref().unwrap_or(&target.line);
    let mut may_sweep = false;
    if target.is_run {
        may_sweep =
            command.split_whitespace().any(|word| flags().sweeps(word)) || flags().sweeps_in_code(command);
    } else {
        each_word(&target.tool, |word| may_sweep |= flags().sweeps(word));
    }
    let is_known = |touch: &Touch| {
        let Some(file) = touch.file.as_deref().filter(|file| !file.contains(['$', '{'])) else {
            return false;
        };
        touch.step == Step::Remove || files.alike(&path_of(&touch.directory, file)).next().is_some()
    };
    let touches = event.own_touches().iter();
    let mut undone = touches
        .filter(|touch| matches!(touch.step, Step::Remove | Step::Restore))
        .peekable();
    may_sweep && !(undone.peek().is_some() && undone.all(is_known))
}
