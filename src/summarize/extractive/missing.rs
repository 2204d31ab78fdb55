//! Errors about something missing, closed once it is there: a module that was installed, a file that was made or found.

use rustc_hash::FxHashSet;

use super::action::Action;
use super::target::Effect;

/// What an error says is missing.
#[derive(Debug, PartialEq, Eq)]
enum Missing<'e> {
    /// A module or a program, by its name.
    Installable(&'e str),
    /// A file, by its name without the directories.
    File(&'e str),
}

/// What installs modules and programs.
const INSTALLERS: [&str; 10] = [
    "apt", "apt-get", "brew", "cargo", "conda", "npm", "pip", "pip3", "poetry", "uv",
];

/// Closes the errors about things that a later action shows to be there. A workaround closes nothing.
pub(super) fn close_found(actions: &mut [Action]) {
    // Most regions miss nothing.
    let Some(first) = actions.iter().position(|action| missed_by(action).is_some()) else {
        return;
    };
    let mut there = There::default();
    let mut found: Vec<usize> = Vec::new();
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        match missed_by(action) {
            Some(missing) if there.has(&missing) => found.push(index),
            Some(_) => {}
            None => there.note(action),
        }
    }
    for index in found {
        if let Some(action) = actions.get_mut(index) {
            action.is_open = false;
        }
    }
}

/// What the open error of an action says is missing.
fn missed_by(action: &Action) -> Option<Missing<'_>> {
    missing(action.outcome.error.as_deref().filter(|_| action.is_open)?)
}

/// What actions that went well have shown to be there.
#[derive(Default)]
struct There<'a> {
    /// As installers know them: in small letters, with `-` for `_`.
    installed: FxHashSet<String>,
    /// Whether all that the project itself names was installed.
    has_all: bool,
    /// The last steps of paths.
    files: FxHashSet<&'a str>,
}

impl<'a> There<'a> {
    fn note(&mut self, action: &'a Action) {
        if action.outcome.failed == Some(true) || !action.is_answered {
            return;
        }
        let marks = [' ', '\n', ':', ';', '&', '|', '"', '\'', '=', '(', ')'];
        // Where it ran stands last.
        let command = action.target.key.split("\n in ").next().unwrap_or_default();
        let words = || command.split(marks);
        let installs = words().any(|word| INSTALLERS.contains(&word))
            && words().any(|word| matches!(word, "install" | "add"));
        if installs {
            let names = words().filter_map(|word| word.split(['<', '>', '~', '[', '@']).next());
            self.installed.extend(names.map(to_installers));
            // Whatever the project names in a list of its own.
            self.has_all |= words().any(|word| matches!(word, "-r" | "-e" | "--editable" | "--requirement"))
                || words().filter(|word| !word.is_empty()).last() == Some("install");
        }
        // Looking for a file does not show that it is there.
        if action.target.effect != Effect::Read || action.target.file.is_some() {
            self.files
                .extend(words().filter_map(|word| word.rsplit('/').next()));
        }
    }

    fn has(&self, missing: &Missing<'_>) -> bool {
        match missing {
            Missing::Installable(name) => self.has_all || self.installed.contains(&to_installers(name)),
            Missing::File(name) => self.files.contains(name),
        }
    }
}

fn to_installers(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// What an error line says is missing.
fn missing(error: &str) -> Option<Missing<'_>> {
    if let Some((_, module)) = error.split_once("No module named ") {
        let name = module.trim_start_matches(['\'', '"']);
        let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        return named(name.get(..end.unwrap_or(name.len()))?).map(Missing::Installable);
    }
    if let Some((_, module)) = error.split_once("Cannot find module '") {
        return named(module.split('\'').next()?)
            .filter(|name| !name.contains('/') || name.starts_with('@'))
            .map(Missing::Installable);
    }
    if let Some(before) = error.trim_end().strip_suffix(": command not found") {
        return named(before.rsplit([' ', ':']).next()?).map(Missing::Installable);
    }
    let (before, after) = error.split_once("No such file or directory")?;
    // `[Errno 2] No such file or directory: 'x'`, `can't open file 'x': …`, `cat: x: …`.
    let path = if let Some((_, quoted)) = after.split_once(['\'', '"']) {
        quoted.split(['\'', '"']).next()?
    } else if let Some((_, path)) = before.split_once("open file ") {
        path.trim_start_matches(['\'', '"']).split(['\'', '"']).next()?
    } else {
        let before = before.trim_end().strip_suffix(':')?;
        before.rsplit(": ").next()?.trim_matches(['\'', '"', '‘', '’'])
    };
    named(path.trim_end_matches('/').rsplit('/').next()?).map(Missing::File)
}

fn named(name: &str) -> Option<&str> {
    (name.len() > 1 && !name.contains(char::is_whitespace)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_read_off_the_error() {
        for (error, expected) in [
            (
                "ModuleNotFoundError: No module named 'erfa.core'",
                Some(Missing::Installable("erfa")),
            ),
            (
                "/usr/bin/python: No module named pytest",
                Some(Missing::Installable("pytest")),
            ),
            (
                "bash: line 1: rg: command not found",
                Some(Missing::Installable("rg")),
            ),
            (
                "cat: src/a.py: No such file or directory",
                Some(Missing::File("a.py")),
            ),
            (
                "ls: cannot access '/w/dir/': No such file or directory",
                Some(Missing::File("dir")),
            ),
            (
                "python3: can't open file '/w/../b.py': [Errno 2] No such file or directory",
                Some(Missing::File("b.py")),
            ),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'c/d.txt'",
                Some(Missing::File("d.txt")),
            ),
            (
                "Error: Cannot find module 'express'",
                Some(Missing::Installable("express")),
            ),
            ("Error: Cannot find module './a/b'", None),
            ("No such file or directory", None),
            ("No module named ", None),
            ("KeyError: 'x'", None),
        ] {
            assert_eq!(missing(error), expected, "{error}");
        }
    }
}
