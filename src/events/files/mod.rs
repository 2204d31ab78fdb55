//! The files that were touched, each once under whatever names, and what became of them.

mod changed;
mod contents;
pub(crate) mod directories;
pub(crate) mod end_states;
pub(crate) mod marks;
mod pattern;
pub(crate) mod put_in;
pub(crate) mod scripts;
mod steps;
pub(crate) mod taken_out;

use rustc_hash::{FxHashMap, FxHashSet};

use contents::{FileContent, FileContents};
use pattern::matches;

use super::event::Event;
use super::line::cleaned;
use super::shell::{Step, Touch, is_same_file, last_step, path_of};

/// The files that these events changed and those that they only read, the latest first. What was made and removed again is not
/// told of.
pub(crate) fn files<'e>(events: impl IntoIterator<Item = &'e Event>) -> (Vec<String>, Vec<String>) {
    let mut files = TrackedFiles::default();
    for touch in events.into_iter().flat_map(|event| &event.touches) {
        files.note(touch);
    }
    files.told()
}

/// Files of one name that are compared at most.
const MAX_ALIKE: usize = 64;

/// Times that all files are gone through for those that a command removed.
const MAX_SCANS: usize = 400;

/// A file, by what was done to it.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub(super) struct Tracked {
    /// As it was named last.
    name: String,
    /// From the root, where that is known.
    path: String,
    /// It was changed, and not only read.
    is_modified: bool,
    /// It was read.
    is_read: bool,
    /// It did not exist before.
    pub is_new: bool,
    /// It was removed.
    pub is_gone: bool,
    last: usize,
    /// What it holds; `None` for what it held at the beginning.
    content: Option<FileContent>,
    /// The place of the file that it was made as a copy of.
    copy_of: Option<usize>,
    /// Its name is longer by an ending than that of the file: a copy that is kept for later.
    pub is_kept: bool,
    /// The last event that changed it, and the last one that ran it.
    pub changed_by: Option<usize>,
    pub run_by: Option<usize>,
}

/// The files of a stretch.
#[derive(Debug, Default)]
pub(super) struct TrackedFiles {
    files: Vec<Tracked>,
    by_last_step: FxHashMap<String, Vec<usize>>,
    contents: FileContents,
    steps: usize,
    scans: usize,
    /// The event whose steps are noted.
    pub event: usize,
    /// The last event that put a changed file back, behind the one that had changed it.
    pub last_put_back: Option<(usize, usize)>,
    /// The last event that changed a file which was there before, and was not undone.
    pub last_edit: Option<usize>,
    /// The failed events, in order.
    pub failed: Vec<usize>,
    /// The events that stand for several runs, of which only the last one's steps are known.
    pub repeated: FxHashSet<usize>,
}

impl TrackedFiles {
    /// Notes a step that went well.
    pub fn note(&mut self, touch: &Touch) {
        let name = touch.file.as_deref().filter(|name| can_be_listed(name));
        let Some(name) = name.filter(|_| touch.step != Step::Search) else {
            return;
        };
        self.steps += 1;
        if touch.step == Step::Run {
            self.run(&touch.script, &touch.directory);
        }
        let path = path_of(&touch.directory, name);
        let found = self.find(&path);
        let (steps, event) = (self.steps, self.event);
        let copied = touch.copied_from.as_deref();
        let copied = copied.and_then(|from| self.latest(&path_of(&touch.directory, from)));
        let content = self.content_after(touch.step, found, copied);
        // A copy that was kept of the file is put back.
        let kept = copied.and_then(|copied| self.files.get(copied)?.copy_of);
        let is_put_back = kept.is_some() && kept == found;
        let Some(file) = found.and_then(|found| self.files.get_mut(found)) else {
            match touch.step {
                Step::Remove => self.remove(name, path, touch.is_pattern),
                Step::Restore | Step::Undo | Step::Run | Step::Search => {}
                step => {
                    self.add(name, path, step);
                    if let Some(file) = self.files.last_mut() {
                        file.content = content;
                        file.copy_of = copied;
                        file.is_kept = touch.keeps_copy();
                    }
                }
            }
            return;
        };
        // Which of several edits was taken back is not known.
        let is_one_of_several = || file.changed_by.is_some_and(|by| self.repeated.contains(&by));
        if touch.step == Step::Undo && is_one_of_several() {
            return;
        }
        if matches!(touch.step, Step::Restore | Step::Undo) || is_put_back {
            file.content = content;
            if !file.is_new {
                file.is_modified = self.contents.is_changed(content);
                self.last_put_back = file.changed_by.map(|from| (from, event)).or(self.last_put_back);
            }
            return;
        }
        match touch.step {
            Step::Run => {
                file.run_by = Some(event);
                return;
            }
            Step::Search | Step::Restore | Step::Undo => return,
            Step::Read => {
                file.is_read = true;
                if file.is_modified {
                    return;
                }
            }
            Step::Remove if file.is_new => file.is_gone = true,
            Step::Write | Step::Create | Step::Remove => file.is_modified = true,
        }
        name.clone_into(&mut file.name);
        if path.starts_with('/') {
            file.path = path;
        }
        file.last = steps;
        if touch.step != Step::Read {
            file.content = content;
            file.changed_by = Some(event);
        }
    }

    /// The content of a file after a step: `found` is the place of the file, `copied` that of the file that it becomes a copy of.
    fn content_after(
        &mut self,
        step: Step,
        found: Option<usize>,
        copied: Option<usize>,
    ) -> Option<FileContent> {
        let content_at = |place: Option<usize>| place.and_then(|place| self.files.get(place)?.content);
        let (from, is_change) = match step {
            Step::Read | Step::Search | Step::Run | Step::Remove => return content_at(found),
            Step::Undo => return self.contents.before(content_at(found)),
            Step::Restore => (content_at(copied), false),
            Step::Create if copied.is_some() => (content_at(copied), false),
            Step::Write | Step::Create => (content_at(found), true),
        };
        Some(self.contents.make(self.event, from, is_change))
    }

    /// Notes the steps of a script that runs in a directory.
    fn run(&mut self, script: &[(Step, String)], directory: &str) {
        for (step, file) in script {
            self.note(&Touch {
                directory: directory.to_owned(),
                ..Touch::of(*step, file.as_str())
            });
        }
    }

    fn add(&mut self, name: &str, path: String, step: Step) {
        let alike = self.by_last_step.entry(last_step(&path).to_owned()).or_default();
        alike.push(self.files.len());
        self.files.push(Tracked {
            name: name.to_owned(),
            path,
            is_modified: step != Step::Read,
            is_read: step == Step::Read,
            is_new: step == Step::Create,
            is_gone: false,
            last: self.steps,
            content: None,
            copy_of: None,
            is_kept: false,
            changed_by: (step != Step::Read).then_some(self.event),
            run_by: None,
        });
    }

    /// The places of files that a path may name, the latest first.
    fn places(&self, path: &str) -> impl Iterator<Item = usize> {
        let alike = self.by_last_step.get(last_step(path));
        alike
            .into_iter()
            .flat_map(|alike| alike.iter().rev().take(MAX_ALIKE).copied())
    }

    pub fn alike<'p>(&'p self, path: &'p str) -> impl Iterator<Item = &'p Tracked> {
        let there = self.places(path).filter_map(|place| self.files.get(place));
        there.filter(move |file| is_same_file(&file.path, path))
    }

    /// The place of the last file that a path may name, gone or not.
    fn latest(&self, path: &str) -> Option<usize> {
        let is_named = |file: &Tracked| is_same_file(&file.path, path);
        self.places(path)
            .find(|place| self.files.get(*place).is_some_and(is_named))
    }

    /// If an event's change of a file is in what the file holds at the end.
    pub fn holds(&self, file: &Tracked, event: usize) -> bool {
        self.contents.holds(file.content, event)
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.places(path).find(|file| {
            let file = self.files.get(*file);
            file.is_some_and(|file| !file.is_gone && is_same_file(&file.path, path))
        })
    }

    /// Removes what was made of a pattern's names, or in a directory; else a file of which nothing was known.
    fn remove(&mut self, name: &str, path: String, is_pattern: bool) {
        self.scans += 1;
        let mut any = is_pattern;
        let scanned = if self.scans > MAX_SCANS || path.is_empty() {
            0
        } else {
            self.files.len()
        };
        for file in self.files.iter_mut().take(scanned) {
            let inside = file.path.strip_prefix(path.as_str());
            let is_inside = inside.is_some_and(|inside| inside.starts_with('/'));
            any |= is_inside;
            file.is_gone |= file.is_new && (is_inside || is_pattern && matches(&path, &file.path));
        }
        if !any && last_step(name).contains('.') {
            self.add(name, path, Step::Remove);
        }
    }

    /// The files that were changed and those that were only read, the latest first.
    fn told(mut self) -> (Vec<String>, Vec<String>) {
        self.files
            .retain(|file| !file.is_gone && (file.is_modified || file.is_read));
        self.files.sort_by_key(|file| std::cmp::Reverse(file.last));
        let (modified, read): (Vec<Tracked>, Vec<Tracked>) =
            self.files.into_iter().partition(|file| file.is_modified);
        let names = |files: Vec<Tracked>| files.into_iter().map(|file| file.name).collect();
        (names(modified), names(read))
    }
}

/// Returns true if a name can stand in a list that is parsed again: it has no mark that a summary must not hold, and no separator.
fn can_be_listed(name: &str) -> bool {
    !name.is_empty() && !name.contains(", ") && cleaned(name) == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::shell::Command;

    #[track_caller]
    fn tells(commands: &[&str], modified: &[&str], read: &[&str]) {
        let mut files = TrackedFiles::default();
        let mut scripts = scripts::Scripts::default();
        for command in commands {
            let mut touches = Command::read(command).touches();
            scripts.follow(&mut touches, true, (0, 0));
            for touch in &touches {
                files.note(touch);
            }
        }
        let (found_modified, found_read) = files.told();
        assert_eq!(
            (found_modified.as_slice(), found_read.as_slice()),
            (&strings(modified)[..], &strings(read)[..]),
            "{commands:?}"
        );
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_was_changed_under_another_name_is_not_told_as_read() {
        tells(
            &[
                "cat src/a.py",
                "cd /w && sed -i s/a/b/ src/a.py",
                "cat ./src/a.py",
            ],
            &["src/a.py"],
            &[],
        );
        tells(
            &["cd /w && cat a.py", "cd /v && touch a.py"],
            &["a.py"],
            &["a.py"],
        );
    }

    #[test]
    fn what_was_made_and_removed_is_told_nowhere() {
        tells(
            &[
                "echo x > t_1.py; touch t_2.py; cp a.py a.bak",
                "python t_1.py",
                "rm -f t_*.py a.bak",
            ],
            &[],
            &["a.py"],
        );
        tells(&["cat a.py", "rm a.py"], &["a.py"], &[]);
        tells(&["rm a.py"], &["a.py"], &[]);
        tells(
            &["touch /w/d/a /w/d/b", "touch /w/e", "rm -rf /w/d"],
            &["/w/e"],
            &[],
        );
        tells(&["touch a", "mv a b"], &["b"], &[]);
        tells(&["touch a", "rm a", "touch a"], &["a"], &[]);
        tells(&["sed -i s/a/b/ a.py", "git checkout a.py"], &[], &[]);
        tells(
            &[
                "cat a.py",
                "sed -i s/a/b/ a.py",
                "git checkout a.py",
                "rm -rf build",
            ],
            &[],
            &["a.py"],
        );
    }

    #[test]
    fn names_that_would_break_the_line_are_left_out() {
        tells(
            &["cat '[END OF CONTEXT SUMMARY]' 'a, b' 'two  blanks' 'a b.txt' $'x\ny' ''"],
            &[],
            &["a b.txt"],
        );
    }

    #[test]
    fn a_script_does_what_it_was_written_to_do_when_it_runs() {
        let write = "cat > fix.py <<'E'\nopen('src/a.py', 'w').write(open('src/b.py').read())\nE";
        tells(&["cat src/a.py", write], &["fix.py"], &["src/a.py"]);
        tells(
            &["cat src/a.py", write, "cd /w && python3 fix.py && rm fix.py"],
            &["src/a.py"],
            &["src/b.py"],
        );
    }
}
