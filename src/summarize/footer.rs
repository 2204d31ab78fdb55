//! The files that a stretch read and modified, as the last lines of its summary.

use rustc_hash::FxHashMap;

use super::grounding::KEY_REFERENCES;
use crate::events::files::files;
use crate::events::shell::{is_same_file, last_step, path_of};
use crate::events::stretch::Stretch;
use crate::tokens::TokenCounter;

const MODIFIED: &str = "Files modified:";
const READ: &str = "Files read:";

/// The heading of the embedded summarizer's own list of files, used where no footer follows, and its line prefixes.
const SECTION: &str = "Files:";
const READ_LINE: &str = "- read: ";

/// Files of one name that are compared at most.
const MAX_ALIKE: usize = 64;

/// Files by what was done to them, the newest first. A modified file is not listed as read as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Changed, written, removed.
    pub modified: Vec<String>,
    /// Looked at.
    pub read: Vec<String>,
}

impl Files {
    /// The files of the successful calls in these turns, without those that were made and removed again.
    pub fn of(turns: &Stretch<'_>) -> Self {
        let (modified, read) = files(turns.actions());
        Self { modified, read }
    }

    /// Takes the footer, or else the section of files, out of an earlier summary: the rest of its text, and the files.
    pub fn taken_from(body: &str) -> (String, Self) {
        let mut rest = Vec::new();
        let mut files = Self::default();
        let mut in_section = false;
        for line in body.lines() {
            in_section = line == SECTION || in_section && line.starts_with("- ");
            if in_section {
                files
                    .modified
                    .extend(line.strip_prefix("- ").into_iter().flat_map(listed_changes));
                files
                    .read
                    .extend(line.strip_prefix(READ_LINE).into_iter().flat_map(listed));
            } else if let Some(list) = line.strip_prefix(MODIFIED) {
                files.modified.extend(listed(list));
            } else if let Some(list) = line.strip_prefix(READ) {
                files.read.extend(listed(list));
            } else {
                rest.push(line);
            }
        }
        (rest.join("\n"), files)
    }

    /// These files, and those of earlier stretches after them, the latest stretch first.
    #[must_use]
    pub fn and_earlier(mut self, stretches: impl IntoIterator<Item = Self>) -> Self {
        for earlier in stretches {
            self.modified.extend(earlier.modified);
            self.read.extend(earlier.read);
        }
        self.without_repetitions()
    }

    fn without_repetitions(self) -> Self {
        let mut told: FxHashMap<String, Vec<String>> = FxHashMap::default();
        let mut first = |files: Vec<String>| -> Vec<String> {
            let new = files.into_iter().filter(|file| {
                let path = path_of("", file);
                let alike = told.entry(last_step(&path).to_owned()).or_default();
                let is_told = alike
                    .iter()
                    .rev()
                    .take(MAX_ALIKE)
                    .any(|other| is_same_file(other, &path));
                if !is_told {
                    alike.push(path);
                }
                !is_told
            });
            new.collect()
        };
        let modified = first(self.modified);
        Self {
            modified,
            read: first(self.read),
        }
    }

    /// The footer in at most `most` tokens: the oldest files read are left out first, then the oldest modified; empty
    /// if no file fits.
    pub fn footer(&self, most: usize, counter: &dyn TokenCounter) -> String {
        let (mut modified, mut read) = (self.modified.len(), self.read.len());
        loop {
            let text = self.lines(modified, read);
            if counter.count(&text) <= most {
                return text;
            }
            // Halves the list each time, so that long lists are counted a few times only.
            if read > 0 {
                read /= 2;
            } else if modified > 0 {
                modified /= 2;
            } else {
                return String::new();
            }
        }
    }

    fn lines(&self, modified: usize, read: usize) -> String {
        let lines = [(MODIFIED, &self.modified, modified), (READ, &self.read, read)];
        let line = |(label, files, shown): (&str, &Vec<String>, usize)| {
            let more = files.len().saturating_sub(shown);
            let list = files.get(..shown).unwrap_or_default().join(", ");
            match (shown, more) {
                (0, _) => None,
                (_, 0) => Some(format!("{label} {list}")),
                _ => Some(format!("{label} {list}, and {more} more")),
            }
        };
        lines.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
    }
}

fn listed(list: &str) -> impl Iterator<Item = String> + '_ {
    let files = list.split(", ").map(str::trim);
    // A shortened name is no whole name.
    let is_whole = |file: &&str| !file.is_empty() && !file.ends_with('…');
    files
        .filter(is_whole)
        .filter(|file| !(file.starts_with("and ") && file.ends_with(" more")))
        .map(str::to_owned)
}

/// The word before changed files, what stands before the directory of all of them, and what stands before their names.
const CHANGED: &str = "changed";
const IN_DIRECTORY: &str = " in ";
const NAMES: &str = ": ";

/// Directories shorter than this are told with each file.
const SHORT: usize = 8;

/// Changed files in a line; the directory that they have in common is told once.
pub(super) fn list_of_changes(files: &[&str]) -> String {
    let directory = match files {
        [first, rest @ ..] if !rest.is_empty() => rest.iter().fold(*first, |common, file| {
            let same = common
                .bytes()
                .zip(file.bytes())
                .take_while(|(one, other)| one == other);
            let end = common.get(..same.count()).and_then(|same| same.rfind('/'));
            common.get(..end.map_or(0, |end| end + 1)).unwrap_or_default()
        }),
        _ => "",
    };
    let name = directory
        .strip_suffix('/')
        .filter(|name| name.len() >= SHORT && !name.contains(NAMES));
    let cut = name.map_or(0, |name| name.len() + 1);
    let names: Vec<&str> = files.iter().filter_map(|file| file.get(cut..)).collect();
    let place = name.map_or([""; 2], |name| [IN_DIRECTORY, name]).concat();
    [CHANGED, &place, NAMES, &names.join(", ")].concat()
}

/// The files of such a line.
pub(super) fn listed_changes(line: &str) -> Vec<String> {
    let rest = line.strip_prefix(CHANGED).unwrap_or_default();
    let parts = match rest.strip_prefix(IN_DIRECTORY) {
        Some(rest) => rest.split_once(NAMES),
        None => rest.strip_prefix(NAMES).map(|names| ("", names)),
    };
    let Some((directory, names)) = parts else {
        return Vec::new();
    };
    let separator = if directory.is_empty() { "" } else { "/" };
    listed(names)
        .map(|name| [directory, separator, &name].concat())
        .collect()
}

/// A summary with a footer, placed before its references if it has any.
pub fn with_footer(text: &str, footer: &str) -> String {
    let text = text.trim_end();
    let (body, references) = match text.rsplit_once('\n') {
        Some((body, last)) if last.starts_with(KEY_REFERENCES) => (body, Some(last)),
        _ => (text, None),
    };
    let lines = [Some(body), Some(footer), references];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::words::WordCounter;
    use crate::trajectory::views_of;

    fn files(calls: &[(&str, &str, &str)]) -> Files {
        let turns: Vec<String> = calls
            .iter()
            .map(|(name, arguments, output)| {
                let call = serde_json::json!({"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]});
                format!("{call},{}", serde_json::json!({"role": "tool", "content": output}))
            })
            .collect();
        let record = format!(r#"{{"messages": [{}]}}"#, turns.join(","));
        let views = views_of(&record);
        Files::of(&Stretch::of(&views))
    }

    #[test]
    fn files_are_told_newest_first_and_once_and_not_where_the_call_failed() {
        let files = files(&[
            ("read_file", r#"{"path": "a"}"#, "x"),
            ("read_file", r#"{"path": "b"}"#, "x"),
            (
                "write_file",
                r#"{"path": "c", "content": "y"}"#,
                "Error: disk full",
            ),
            (
                "editor",
                r#"{"command": "create", "path": "f"}"#,
                "ERROR:\nInvalid `path` parameter: f. File already exists.",
            ),
            (
                "terminal",
                r#"{"command": "rm /g.lock"}"#,
                "rm: cannot remove '/g.lock': Operation not permitted",
            ),
            ("terminal", r#"{"command": "cat src/d.rs"}"#, "x"),
            ("write_file", r#"{"path": "a", "content": "y"}"#, "done"),
            ("patch", r#"{"patch": "*** Update File: e\n@@"}"#, "done"),
        ]);
        assert_eq!(files.modified, ["e", "a"]);
        assert_eq!(files.read, ["src/d.rs", "b"]);
    }

    #[test]
    fn the_files_of_a_summary_without_a_footer_are_taken_over() {
        let body =
            "Calls:\n- x -> ok\nFiles:\n- changed: a.py, b.py, lon…\n- read: c.py\nFindings:\n- read: it";
        let (rest, files) = Files::taken_from(body);
        assert_eq!(rest, "Calls:\n- x -> ok\nFindings:\n- read: it");
        assert_eq!(files.modified, ["a.py", "b.py"]);
        assert_eq!(files.read, ["c.py"]);
    }

    #[test]
    fn the_directory_of_changed_files_is_told_once_and_read_back() {
        for (files, line) in [
            (&["a.py"][..], "changed: a.py"),
            (&["src/a.py", "src/b.py"], "changed: src/a.py, src/b.py"),
            (
                &["/home/u/p/a.py", "/home/u/p/t/b.py", "/home/u/p/t/a.py"],
                "changed in /home/u/p: a.py, t/b.py, t/a.py",
            ),
            (&["/home/u/p/a.py", "b.py"], "changed: /home/u/p/a.py, b.py"),
            (
                &["/srv/app é/a.py", "/srv/app è/b.py"],
                "changed: /srv/app é/a.py, /srv/app è/b.py",
            ),
        ] {
            assert_eq!(list_of_changes(files), line);
            assert_eq!(listed_changes(&list_of_changes(files)), files);
        }
    }

    #[test]
    fn a_footer_is_read_back_and_merged() {
        let old = Files {
            modified: vec!["m".to_owned()],
            read: vec!["r".to_owned(), "s".to_owned()],
        };
        let text = with_footer(
            "[CONTEXT SUMMARY]:\n- x\nKey references: k",
            &old.footer(99, &WordCounter::new()),
        );
        assert_eq!(
            text,
            "[CONTEXT SUMMARY]:\n- x\nFiles modified: m\nFiles read: r, s\nKey references: k"
        );
        let (rest, found) = Files::taken_from(&text);
        assert_eq!(
            (rest.as_str(), &found),
            ("[CONTEXT SUMMARY]:\n- x\nKey references: k", &old)
        );
        let new = Files {
            modified: vec!["s".to_owned()],
            read: vec!["t".to_owned(), "m".to_owned()],
        };
        let merged = new.and_earlier([found]);
        assert_eq!(
            (merged.modified, merged.read),
            (
                vec!["s".to_owned(), "m".to_owned()],
                vec!["t".to_owned(), "r".to_owned()]
            )
        );
    }

    #[test]
    fn files_of_calls_that_were_refused_in_a_sentence_are_not_told() {
        for (tool, output) in [
            ("Edit", "String to replace not found in file."),
            ("write_to_file", "The user denied this operation."),
            ("Read", "File does not exist."),
            ("edit_file", "oldString not found in content"),
            ("read_file", "File src/b.py not found"),
            ("read_file", "Error: it is a directory\nTry another path."),
        ] {
            let files = files(&[(tool, r#"{"path": "src/b.py", "content": "x"}"#, output)]);
            assert_eq!(files, Files::default(), "{tool}: {output}");
        }
        let told = [(
            "Read",
            r#"{"path": "a.log"}"#,
            "1\tError: x\n2\tFile does not exist.",
        )];
        assert_eq!(files(&told).read, ["a.log"]);
        let shell = [
            (
                "bash",
                r#"{"command": "open src/b.py"}"#,
                "File src/b.py not found\n(Open file: /w/a.py)",
            ),
            (
                "bash",
                r#"{"command": "sed -i s/a/b/ c.py && python c.py"}"#,
                "File d.py not found",
            ),
        ];
        let found = files(&shell);
        assert_eq!((found.modified, found.read.len()), (vec!["c.py".to_owned()], 0));
    }

    #[test]
    fn files_that_a_patch_says_it_changed_are_told() {
        let output =
            "<returncode>0</returncode>\n<output>\npatching file src/a.c\npatching file 'b c.h'\n</output>";
        let found = files(&[("bash", r#"{"command": "cd /w && patch -p1 < x.diff"}"#, output)]);
        assert_eq!(
            (found.modified, found.read),
            (vec!["b c.h".to_owned(), "src/a.c".to_owned()], Vec::new())
        );
        let found = files(&[("bash", r#"{"command": "cat log"}"#, output)]);
        assert_eq!(found.modified.len(), 0);
    }

    #[test]
    fn the_footer_keeps_to_its_room() {
        let many = Files {
            modified: vec!["m".to_owned(); 3],
            read: (0..40).map(|n| format!("r{n}")).collect(),
        };
        for most in 0..60 {
            let footer = many.footer(most, &WordCounter::new());
            assert!(footer.split_whitespace().count() <= most, "{footer}");
        }
        assert_eq!(
            many.footer(20, &WordCounter::new()),
            "Files modified: m, m, m\nFiles read: r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, and 30 more"
        );
        let (_, read) = Files::taken_from(&many.footer(20, &WordCounter::new()));
        assert_eq!(read.read.len(), 10);
    }
}
