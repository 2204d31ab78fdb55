//! Errors about something missing, closed once it is there: a module that was installed, a file that was made or found.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::action::Action;
use super::target::Effect;
use crate::events::shell::{is_same_file, last_step};

/// What an error says is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing<'e> {
    /// A module or a program, by its name.
    Installable(&'e str),
    /// A file, by its path.
    File(&'e str),
}

/// What installs modules and programs.
const INSTALLERS: [&str; 10] = [
    "apt", "apt-get", "brew", "cargo", "conda", "npm", "pip", "pip3", "poetry", "uv",
];

/// One of these words stands in every command that installs something.
static INSTALLS: [LazyLock<Finder<'static>>; 2] = [
    LazyLock::new(|| Finder::new("install")),
    LazyLock::new(|| Finder::new("add ")),
];

/// Things missed that are looked for.
const MAX_MISSED: usize = 64;

/// Closes the errors about things that a later action shows to be there. A workaround closes nothing.
pub(crate) fn close_found(actions: &mut [Action]) {
    // Most regions miss nothing.
    let Some(first) = actions.iter().position(|action| missed_by(action).is_some()) else {
        return;
    };
    let mut missed: Vec<Missed<'_>> = Vec::new();
    let mut found: Vec<usize> = Vec::new();
    let missing = |index: usize| missed_by(actions.get(index)?);
    for missing in (first..actions.len()).rev().filter_map(missing) {
        if missed.len() < MAX_MISSED && missed.iter().all(|missed| missed.thing != missing) {
            missed.push(Missed::new(missing));
        }
    }
    for (index, action) in actions.iter().enumerate().skip(first).rev() {
        match missed_by(action) {
            Some(thing) => {
                let is_found = missed
                    .iter()
                    .any(|missed| missed.thing == thing && missed.is_there);
                found.extend(is_found.then_some(index));
            }
            None => note(action, &mut missed),
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

/// Something missed, and whether an action that went well has shown it to be there.
struct Missed<'a> {
    thing: Missing<'a>,
    name: Finder<'a>,
    is_there: bool,
}

impl<'a> Missed<'a> {
    fn new(thing: Missing<'a>) -> Self {
        let (Missing::Installable(name) | Missing::File(name)) = thing;
        Self {
            name: Finder::new(last_step(name)),
            thing,
            is_there: false,
        }
    }
}

/// Notes what an action that went well shows to be there.
fn note(action: &Action, missed: &mut [Missed<'_>]) {
    if action.outcome.failed() == Some(true) || !action.is_answered {
        return;
    }
    let key = action.target.key.as_str();
    let words = || key.as_bytes().split(|byte| is_mark(*byte));
    let holds = |word: &str, finder: &Finder<'_>| words_with(key, finder).any(|held| held == word);
    let installs = (holds("install", &INSTALLS[0]) || holds("add", &INSTALLS[1]))
        && words().any(|word| INSTALLERS.iter().any(|name| name.as_bytes() == word));
    // Neither looking for a file shows that it is there, nor removing it.
    let has_files = (action.target.effect != Effect::Read || action.target.file.is_some())
        && !key.contains(": rm ")
        && !key.contains("\nrm ");
    for missed in missed.iter_mut().filter(|missed| !missed.is_there) {
        missed.is_there = match missed.thing {
            Missing::Installable(name) if installs => {
                let name = to_installers(name);
                let is_it = |word: &[u8]| {
                    let word = std::str::from_utf8(word).unwrap_or_default();
                    let named = word.split(['<', '>', '~', '[', '@']).next();
                    named.is_some_and(|named| to_installers(named) == name)
                };
                words().any(is_it)
            }
            // A word without a dot may be anything.
            Missing::File(path)
                if has_files && (action.target.effect == Effect::Modify || last_step(path).contains('.')) =>
            {
                let mut words = words_with(key, &missed.name).peekable();
                words.peek().is_some() && {
                    let path = without_steps_back(path);
                    words.any(|word| is_same_file(word, &path))
                }
            }
            _ => false,
        };
    }
}

/// Whether words of a command end there.
fn is_mark(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n' | b':' | b';' | b'&' | b'|' | b'"' | b'\'' | b'=' | b'(' | b')'
    )
}

/// The words of a command that hold what `finder` looks for, each once.
fn words_with<'k>(key: &'k str, finder: &'k Finder<'_>) -> impl Iterator<Item = &'k str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(key.as_bytes().get(from..)?)?;
        let (before, after) = key.as_bytes().split_at_checked(at)?;
        let start = before.iter().rposition(|byte| is_mark(*byte));
        let length = after.iter().position(|byte| is_mark(*byte));
        let end = length.map_or(key.len(), |length| at + length);
        from = end + 1;
        key.get(start.map_or(0, |mark| mark + 1)..end)
    })
}

/// A path without the `..` in it.
fn without_steps_back(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        if step == ".." && steps.last().is_some_and(|last| !last.is_empty() && *last != "..") {
            steps.pop();
        } else if step != ".." {
            steps.push(step);
        }
    }
    steps.join("/")
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
        let said = before.rsplit(": ").next()?;
        let quotes = ['\'', '"', '‘', '’'];
        said.trim_end_matches(quotes).rsplit(quotes).next()?
    };
    named(path.trim_end_matches('/')).map(Missing::File)
}

fn named(name: &str) -> Option<&str> {
    (name.len() > 1 && !name.contains(char::is_whitespace)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_at_once_whatever_they_repeat() {
        let found = |key: &str, name: &str| -> Vec<String> {
            let finder = Finder::new(name);
            words_with(key, &finder).map(str::to_owned).collect()
        };
        assert_eq!(found("sh: cat a/b.py;rm é/b.py", "b.py"), ["a/b.py", "é/b.py"]);
        assert_eq!(found("é a", ""), ["é", "a"]);
        let long = "ab".repeat(200_000);
        assert_eq!(found(&long, "ab"), [long.as_str()]);
    }

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
                Some(Missing::File("src/a.py")),
            ),
            (
                "ls: cannot access '/w/dir/': No such file or directory",
                Some(Missing::File("/w/dir")),
            ),
            (
                "python3: can't open file '/w/../b.py': [Errno 2] No such file or directory",
                Some(Missing::File("/w/../b.py")),
            ),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'c/d.txt'",
                Some(Missing::File("c/d.txt")),
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
