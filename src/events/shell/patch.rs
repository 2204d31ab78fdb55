//! Patches: the files that they change.

use super::step::Step;

/// Starts of lines that name a file in a patch, and the operation on it.
const MARKS: [(&str, Step); 4] = [
    ("*** Update File: ", Step::Write),
    ("*** Add File: ", Step::Create),
    ("*** Delete File: ", Step::Remove),
    ("+++ ", Step::Write),
];

/// The files that a patch changes, each once.
pub(crate) fn patched(patch: &str) -> Vec<(Step, String)> {
    let mut files: Vec<(Step, String)> = Vec::new();
    for line in patch.lines() {
        let found = MARKS
            .iter()
            .find_map(|(mark, step)| Some((*step, line.strip_prefix(mark)?)));
        let Some((step, rest)) = found else { continue };
        let name = rest.split('\t').next().unwrap_or_default().trim_end();
        let name = name.strip_prefix("b/").unwrap_or(name);
        let is_new = name != "/dev/null" && !files.iter().any(|(_, other)| other == name);
        if is_new && !name.is_empty() {
            files.push((step, name.to_owned()));
        }
    }
    files
}
