//! The files that commands removed, moved or took back: nothing is told to be changed that is there no more.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use rustc_hash::FxHashMap;

use super::target::Target;

/// What files start with that are removed, moved, or made what they were.
const STARTS: [&str; 5] = ["rm ", "mv ", "git rm ", "git checkout ", "git restore "];

/// Files that were removed, by their last steps.
#[derive(Default)]
pub(super) struct Removed<'a> {
    by_name: FxHashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Removed<'a> {
    /// Notes what a command that went well removed.
    pub fn note(&mut self, target: &'a Target) {
        static FOUND: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(STARTS));
        let Some((_, command)) = target.key.split_once(": ") else {
            return;
        };
        // Most commands remove nothing.
        if FOUND
            .as_ref()
            .is_some_and(|starts| starts.find(command).is_none())
        {
            return;
        }
        for statement in command.split(['&', ';', '\n', '|']).map(str::trim_ascii) {
            let Some((start, files)) = STARTS
                .iter()
                .find_map(|start| Some((*start, statement.strip_prefix(start)?)))
            else {
                continue;
            };
            // Where something is moved to, it is.
            let files = match files.rsplit_once(' ') {
                Some((from, _)) if start == "mv " => from,
                _ => files,
            };
            for file in files.split(' ').filter(|word| !word.starts_with('-')) {
                let file = file.trim_matches(['"', '\'']).trim_end_matches('/');
                self.by_name.entry(last_step(file)).or_default().push(file);
            }
        }
    }

    /// Whether `file` was among them.
    pub fn has(&self, file: &str) -> bool {
        self.by_name
            .get(last_step(file))
            .is_some_and(|files| files.iter().any(|other| is_same_file(other, file)))
    }
}

/// Whether two paths name one file; one from somewhere below the root is the same as one from the root that ends so.
pub(super) fn is_same_file(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() > other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let rest = long.strip_suffix(short.trim_start_matches("./"));
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The name of a file or directory without the directories above it.
pub(super) fn last_step(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::extractive::target::Effect;

    #[test]
    fn files_are_known_from_wherever_they_were_named() {
        let target = |key: &str| Target {
            line: String::new(),
            key: key.to_owned(),
            effect: Effect::Modify,
            file: None,
            directory: None,
        };
        let targets = [
            target("sh: rm -f ./a.py '/w/b c' \"/w/d.py\"\n"),
            target("sh: python e.py && rm x/e.py; git rm f.py | cat\n in /w"),
            target("sh: perform g.py\n"),
            target("sh: mv i.py j.py && git checkout -- k.py"),
            target("write_file  h.py rm h.py"),
        ];
        let mut removed = Removed::default();
        for target in &targets {
            removed.note(target);
        }
        for (file, expected) in [
            ("/w/a.py", true),
            ("a.py", true),
            ("ba.py", false),
            ("/w/d.py", true),
            ("w/d.py", true),
            ("/v/d.py", false),
            ("e.py", true),
            ("y/e.py", false),
            ("f.py", true),
            ("g.py", false),
            ("h.py", false),
            ("i.py", true),
            ("j.py", false),
            ("k.py", true),
        ] {
            assert_eq!(removed.has(file), expected, "{file}");
        }
    }
}
