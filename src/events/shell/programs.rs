//! The programs of shell commands, by a table: what each does, and which of its words are files.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::path::last_step;
use super::word::Word;

/// The effect of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Does {
    Goes,
    Returns,
    Prepares,
    Aside,
    Keyword,
    Wraps,
    Reads,
    Looks,
    Streams,
    Creates,
    Removes,
    Restores,
    Moves,
    Copies,
    Changes,
    Applies,
    Fetches,
    Formats,
    Edits,
    Views,
    Shell,
    Interprets,
    Runs,
}

/// A row of the table.
#[derive(Debug, Deserialize)]
pub(crate) struct ProgramRow {
    names: Vec<String>,
    pub does: Does,
    /// Words that it takes before what it runs.
    #[serde(default)]
    takes: usize,
    /// The word that stands before what it runs.
    before: Option<String>,
    #[serde(default)]
    pub options: Vec<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    #[serde(default)]
    pub filter: bool,
    #[serde(default)]
    pub subcommand: bool,
    #[cfg(test)]
    pub example: String,
    #[cfg(test)]
    pub says: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct ProgramTable {
    program: Vec<ProgramRow>,
    editors: Vec<String>,
    flags: ProgramFlags,
}

/// Flags of programs that run something.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ProgramFlags {
    /// With one of these it only tells what it would do.
    only_tells: Vec<String>,
    /// The beginnings of those that choose among what it could do.
    chooses: Vec<String>,
    /// Those that take a word.
    takes: Vec<String>,
    /// Package managers.
    packages: Vec<String>,
    /// Subcommands of theirs that install.
    installs: Vec<String>,
    /// Words that put back or remove files which a command need not name, and texts of code that does.
    sweeps: Vec<String>,
    sweeps_in_code: Vec<String>,
    /// Programs, modules and subcommands that compile or format.
    builds: Vec<String>,
    /// Programs, modules and subcommands that look for faults without running code.
    checks: Vec<String>,
    /// Programs whose exit code only says that a server answered.
    clients: Vec<String>,
}

impl ProgramFlags {
    pub fn only_tells(&self, word: &str) -> bool {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        self.only_tells.iter().any(|flag| flag == name)
    }

    pub fn manages_packages(&self, program: &str) -> bool {
        self.packages.iter().any(|manager| manager == program)
    }

    pub fn installs(&self, subcommand: &str) -> bool {
        self.installs.iter().any(|installs| installs == subcommand)
    }

    /// Returns true if a word may put back or remove any file.
    pub fn sweeps(&self, word: &str) -> bool {
        let word = word.trim_matches(|c: char| matches!(c, '!' | ';' | '(' | ')' | '\'' | '"'));
        self.sweeps.iter().any(|sweeps| word.eq_ignore_ascii_case(sweeps))
    }

    pub fn sweeps_in_code(&self, code: &str) -> bool {
        self.sweeps_in_code
            .iter()
            .any(|text| code.contains(text.as_str()))
    }

    pub fn builds(&self, subcommand: &str) -> bool {
        self.builds.iter().any(|builds| builds == subcommand)
    }

    pub fn checks(&self, subcommand: &str) -> bool {
        self.checks.iter().any(|checks| checks == subcommand)
    }

    pub fn asks_server(&self, program: &str) -> bool {
        self.clients.iter().any(|client| client == program)
    }

    pub fn takes_word(&self, word: &str) -> bool {
        self.takes.iter().any(|flag| flag == word)
    }

    /// Returns true if a flag chooses: by one letter and a value right behind it or after `=`, or by a name.
    pub fn chooses(&self, word: &str) -> bool {
        let is_short = word.len() <= 3 || word.as_bytes().get(2) == Some(&b'=');
        self.chooses
            .iter()
            .any(|start| word.starts_with(start) && (start.len() > 2 || is_short || start == "-k"))
    }
}

/// Returns true for a command of an editor of lines, which tells in a sentence that it did nothing.
pub(crate) fn is_editor(program: &str) -> bool {
    TABLE.editors.iter().any(|editor| editor == program)
}

/// The flags of the table.
pub(crate) fn flags() -> &'static ProgramFlags {
    &TABLE.flags
}

static TABLE: LazyLock<ProgramTable> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/programs.toml")).unwrap_or_default());

static BY_NAME: LazyLock<FxHashMap<&'static str, &'static ProgramRow>> = LazyLock::new(|| {
    let rows = TABLE.program.iter();
    rows.flat_map(|row| row.names.iter().map(move |name| (name.as_str(), row)))
        .collect()
});

/// All rows.
#[cfg(test)]
pub(crate) fn all() -> &'static [ProgramRow] {
    &TABLE.program
}

/// The row of a program, or of a program with its subcommand where that has a row.
pub(crate) fn known(name: &str) -> Option<&'static ProgramRow> {
    BY_NAME.get(name).copied()
}

/// The program that a statement runs, past what only runs another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundProgram {
    /// Its index among the words.
    pub at: usize,
    /// Its effect.
    pub does: Does,
    /// Number of words after it that are its subcommand.
    pub subcommand: usize,
}

/// A program by its name alone: `python` of `/usr/bin/python3.9`.
pub(crate) fn name_of(word: &str) -> &str {
    let name = last_step(word);
    let is_version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ["python", "pypy"]
        .into_iter()
        .find(|program| name.strip_prefix(program).is_some_and(is_version))
        .unwrap_or(name)
}

/// Returns true if a word sets a variable: `A=1`.
fn is_setting(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-', '.']))
}

/// The program of a statement; what only runs another one is passed over.
pub(super) fn program_of(words: &[Word]) -> Option<FoundProgram> {
    let text = |at: usize| words.get(at).map(|word| word.text.as_str());
    let mut at = 0;
    loop {
        let word = text(at)?;
        if is_setting(word) {
            at += 1;
            continue;
        }
        let name = name_of(word);
        let row = known(name);
        match row.map_or(Does::Runs, |row| row.does) {
            Does::Keyword => at += 1,
            Does::Wraps => {
                let row = row?;
                at += 1;
                if let Some(before) = &row.before {
                    if text(at) != Some(before.as_str()) {
                        return Some(FoundProgram {
                            at: at - 1,
                            does: Does::Runs,
                            subcommand: 0,
                        });
                    }
                    at += 1;
                }
                while let Some(option) = text(at).filter(|word| word.starts_with('-')) {
                    at += 1 + usize::from(row.options.iter().any(|known| known == option));
                }
                at += row.takes;
            }
            Does::Interprets if text(at + 1) == Some("-m") && text(at + 2).and_then(known).is_some() => {
                at += 2;
            }
            does => {
                let sub = text(at + 1).filter(|_| row.is_some_and(|row| row.subcommand));
                let known = sub.and_then(|sub| known(&[name, " ", sub].concat()));
                return Some(FoundProgram {
                    at,
                    does: known.map_or(does, |row| row.does),
                    subcommand: usize::from(known.is_some()),
                });
            }
        }
    }
}
