//! The files that are changed at the end.

use super::Tracked;
use super::end_states::EndStates;

impl EndStates {
    /// The files that are not as they were, the latest first, by the names that were used last. Copies that are kept for later, new
    /// files that were run, and what was put back or removed again are none of them.
    pub fn changed(&self) -> Vec<&str> {
        let is_script =
            |file: &Tracked| file.is_new && (file.run_by.is_some() || file.path.starts_with("/tmp/"));
        let stands = |file: &&Tracked| file.is_modified && !file.is_gone && !file.is_kept && !is_script(file);
        let mut changed: Vec<&Tracked> = self.0.files.iter().filter(stands).collect();
        changed.sort_by_key(|file| std::cmp::Reverse(file.last));
        changed.into_iter().map(|file| file.name.as_str()).collect()
    }
}
