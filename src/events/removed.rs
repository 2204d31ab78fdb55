//! The files that commands removed, moved or took back: nothing is told to be changed that is there no more.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use rustc_hash::FxHashMap;

use super::target::Target;
use crate::events::shell::{Step, is_same_file, last_step, of_command};

/// What every command holds that removes or moves files, or makes them what they were.
const STARTS: [&str; 5] = ["rm ", "mv ", "unlink ", "checkout ", "restore "];

/// Files that were removed, by their last steps.
#[derive(Default)]
pub(crate) struct Removed {
    by_name: FxHashMap<String, Vec<String>>,
}

impl Removed {
    /// Notes what a command that went well removed.
    pub fn note(&mut self, target: &Target) {
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
        let gone = of_command(command)
            .into_iter()
            .filter(|touch| matches!(touch.step, Step::Remove | Step::Restore));
        for file in gone.filter_map(|touch| touch.file) {
            let file = file.trim_end_matches('/').to_owned();
            self.by_name
                .entry(last_step(&file).to_owned())
                .or_default()
                .push(file);
        }
    }

    /// Whether `file` was among them.
    pub fn has(&self, file: &str) -> bool {
        self.by_name
            .get(last_step(file))
            .is_some_and(|files| files.iter().any(|other| is_same_file(other, file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::target::Effect;

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
            target("sh: cat > l.sh <<'E'\nrm m.py\nE\ncd sub && rm 'n o.py'"),
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
            ("m.py", false),
            ("sub/n o.py", true),
            ("o.py", false),
            ("/w/b c", true),
        ] {
            assert_eq!(removed.has(file), expected, "{file}");
        }
    }
}
