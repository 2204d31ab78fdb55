//! Patches: the files that they change.

use rustc_hash::FxHashSet;

use super::step::Step;

/// The start of the line of a patch that names a file which it changes.
pub(crate) const UPDATES: &str = "*** Update File: ";

/// Starts of lines that name a file in a patch, and the operation on it.
const MARKS: [(&str, Step); 4] = [
    (UPDATES, Step::Write),
    ("*** Add File: ", Step::Create),
    ("*** Delete File: ", Step::Remove),
    ("+++ ", Step::Write),
];

/// The program that some agents give a patch as its word.
pub(crate) const PATCH: &str = "apply_patch";

/// If a command is a patch.
pub(crate) fn is_patch(command: &str) -> bool {
    command.starts_with(PATCH)
}

/// The files that a patch changes, each once.
pub(crate) fn patched(patch: &str) -> Vec<(Step, String)> {
    let mut files: Vec<(Step, String)> = Vec::new();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    for line in patch.lines() {
        let found = MARKS
            .iter()
            .find_map(|(mark, step)| Some((*step, line.strip_prefix(mark)?)));
        let Some((step, rest)) = found else { continue };
        let name = rest.split('\t').next().unwrap_or_default().trim_end();
        let name = name.strip_prefix("b/").unwrap_or(name);
        if name != "/dev/null" && !name.is_empty() && seen.insert(name) {
            files.push((step, name.to_owned()));
        }
    }
    files
}

/// Lines that begin, divide and end a block of a text and the one that takes its place, as far as each is known by.
const BLOCKS: [[&str; 3]; 2] = [
    ["<<<<<<<", "=======", ">>>>>>>"],
    ["------- SEARCH", "=======", "+++++++ REPLACE"],
];

/// The lines that a patch takes out and puts in, without those that stay.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchLines<'p> {
    pub added: Vec<&'p str>,
    pub removed: Vec<&'p str>,
}

/// What takes the place of the texts in blocks, where a text is nothing but blocks; `None` where nothing does.
pub(crate) fn replacing(text: &str) -> Option<String> {
    let text = text.trim();
    let is_whole = |block: &&[&str; 3]| {
        let last = text.lines().next_back().unwrap_or_default();
        text.starts_with(block[0]) && text.contains(block[1]) && last.starts_with(block[2])
    };
    let block = BLOCKS.iter().find(is_whole)?;
    let mut is_new = false;
    let lines = text.lines().filter(|line| {
        let mark = block.iter().position(|mark| line.starts_with(mark));
        is_new = mark.map_or(is_new, |mark| mark == 1);
        is_new && mark.is_none()
    });
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The lines of a patch, or of blocks of texts and what takes their place; none if a text is no such thing.
pub(crate) fn patch_lines(patch: &str) -> PatchLines<'_> {
    let is_of_files = MARKS.iter().any(|(mark, _)| patch.contains(mark));
    let is_diff = is_of_files || patch.starts_with("@@") || patch.contains("\n@@");
    let block = BLOCKS
        .iter()
        .find(|block| block.iter().all(|mark| patch.contains(mark)));
    let is_diff = is_diff && block.is_none();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    // The part of a block in which a line stands: none, its text, or what takes the place of that.
    let mut part = 0;
    for line in patch.lines() {
        let mark = block.and_then(|block| block.iter().position(|mark| line.starts_with(mark)));
        match (mark, part) {
            (Some(mark), _) => part = (mark + 1) % 3,
            (None, 1) => removed.push(line),
            (None, 2) => added.push(line),
            _ if is_diff => match line.split_at_checked(1) {
                Some(("+", text)) if !line.starts_with("+++ ") => added.push(text),
                Some(("-", text)) if !line.starts_with("--- ") => removed.push(text),
                _ => {}
            },
            _ => {}
        }
    }
    let trimmed = |lines: &[&'_ str]| -> FxHashSet<String> {
        lines.iter().map(|line| line.trim().to_owned()).collect()
    };
    let (put, gone) = (trimmed(&added), trimmed(&removed));
    added.retain(|line| !gone.contains(line.trim()));
    removed.retain(|line| !put.contains(line.trim()));
    PatchLines { added, removed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_blocks_only_what_takes_the_place_is_told() {
        let blocks = "<<<<<<< SEARCH\n:start_line:2\n-------\na = 1\n=======\na = 2\nb = 3\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE";
        assert_eq!(replacing(blocks).as_deref(), Some("a = 2\nb = 3\nd"));
        for other in [
            "@@ -1 +1 @@\n-a\n+b",
            "if line.startswith(\"<<<<<<< SEARCH\"):\n    pass\n=======\n>>>>>>> REPLACE",
            "<<<<<<< SEARCH\na = 1\n=======\n>>>>>>> REPLACE",
        ] {
            assert_eq!(replacing(other), None, "{other}");
        }
    }

    #[test]
    fn lines_that_are_put_in_are_those_that_were_not_there() {
        for (patch, expected) in [
            (
                "<<<<<<< SEARCH\n:start_line:2\n-------\na = 1\nb = 2\n=======\na = 1\nb = 3\n>>>>>>> REPLACE\nc",
                &["b = 3"][..],
            ),
            (
                "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b\n+b",
                &["a = 2", "b"],
            ),
            ("*** Begin Patch\n*** Update File: x.py\n+a = 2\n", &["a = 2"]),
            (
                "------- SEARCH\nb = 2\n=======\nb = 3\n+++++++ REPLACE\n",
                &["b = 3"],
            ),
            ("+ one\n- two", &[]),
            ("=======\nx\n", &[]),
        ] {
            assert_eq!(patch_lines(patch).added, expected, "{patch}");
        }
        let removed = patch_lines("@@\n-a = 1\n-b\n+a = 2\n+b\n").removed;
        assert_eq!(removed, ["a = 1"]);
    }
}
