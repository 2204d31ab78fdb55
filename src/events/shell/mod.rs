//! Shell commands, read once: statements in order, what each does to which files, and where it runs.

mod path;
pub(crate) mod programs;
mod script;
mod statement;
mod touch;
mod words;

pub(crate) use path::{is_same_file, last_step, path_of};
pub(crate) use statement::Statement;
pub(crate) use touch::{Step, Touch, of_code, script_of};

use programs::{Does, Program, known, program_of};
use statement::statements;

/// Commands in commands that are looked into.
const MAX_DEPTH: usize = 3;

/// Longest directory that is followed further, in bytes: each statement holds its own.
const MAX_DIRECTORY: usize = 300;

/// A word of a command, its quotes taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    /// Whether the shell puts something else in its place, which is not known.
    pub expands: bool,
    /// Whether it stands for all names of a pattern.
    pub is_pattern: bool,
    /// Whether any of it stood in quotes: it is a word then even if it is empty.
    pub is_quoted: bool,
}

/// What ends a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// `|`
    Pipe,
    /// `||`: what follows runs where it failed.
    Or,
    /// `&&`, `;`, `&` or a bracket.
    Joint,
    /// The end of a line, or of all.
    #[default]
    Line,
}

/// A shell command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Command {
    /// In order; those of a shell that it starts, and those in words, stand where these do.
    pub statements: Vec<Statement>,
}

impl Statement {
    /// What the program does, its name, and its words behind its subcommand.
    pub fn program(&self) -> Option<(Does, &str, &[Word])> {
        let found = self.found?;
        let name = last_step(&self.words.get(found.at)?.text);
        let words = self
            .words
            .get(found.at + 1 + found.subcommand..)
            .unwrap_or_default();
        Some((found.does, name, words))
    }

    /// The row of its program in the table.
    pub fn row(&self) -> Option<&'static Program> {
        let found = self.found?;
        let name = programs::name_of(&self.words.get(found.at)?.text);
        if found.subcommand == 0 {
            return known(name);
        }
        known(&[name, " ", &self.words.get(found.at + 1)?.text].concat())
    }

    pub fn does(&self) -> Does {
        self.found.map_or(Does::Aside, |found| found.does)
    }
}

impl Command {
    /// Reads a command.
    pub fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        reader.read(text, MAX_DEPTH, false);
        Self {
            statements: reader.statements,
        }
    }
}

/// Goes through a command, and through those of the shells that it starts.
#[derive(Default)]
struct Reader {
    /// Where it is: from the root, or from where it began.
    directory: String,
    /// Whether it goes somewhere in brackets, which ends with these: only ways from the root are followed then.
    in_brackets: bool,
    statements: Vec<Statement>,
}

impl Reader {
    fn read(&mut self, command: &str, depth: usize, is_nested: bool) {
        let first_line = command.trim_start().lines().next().unwrap_or_default();
        let mut words = first_line.split_whitespace();
        let program = words.next().unwrap_or_default();
        let is_lines = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
        let edits = known(program).is_some_and(|row| row.does == Does::Edits);
        // What follows are lines of the file, and no command.
        let command = if edits && words.next().is_none_or(is_lines) {
            first_line
        } else {
            command
        };
        let goes = |at: usize| {
            command
                .get(at + 1..)
                .is_some_and(|rest| rest.trim_start().starts_with("cd "))
        };
        self.in_brackets |= memchr::memchr_iter(b'(', command.as_bytes()).any(goes);
        for mut statement in statements(command) {
            statement.found = program_of(&statement.words);
            let is_in_word = statement.is_nested;
            statement.is_nested |= is_nested;
            statement.directory.clone_from(&self.directory);
            statement.touches = touch::touches_of(&statement);
            let found = statement.program().map(|(does, _, words)| (does, words));
            match found {
                Some((Does::Goes, words)) if !is_in_word => {
                    let to = words.first().cloned();
                    self.go_to(to.as_ref());
                }
                Some((Does::Returns, _)) if !is_in_word => self.directory.clear(),
                Some((Does::Shell, words)) if depth > 0 => {
                    let is_code = |word: &&Word| {
                        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c')
                    };
                    let code = words.iter().position(|word| is_code(&word));
                    let code = code
                        .and_then(|at| words.get(at + 1))
                        .map(|word| word.text.clone());
                    let document = statement.document.clone();
                    self.statements.push(statement);
                    let directory = self.directory.clone();
                    self.read(code.as_deref().unwrap_or_default(), depth - 1, true);
                    self.read(&document, depth - 1, true);
                    self.directory = directory;
                    continue;
                }
                _ => {}
            }
            self.statements.push(statement);
        }
    }

    fn go_to(&mut self, to: Option<&Word>) {
        let is_long = self.directory.len() > MAX_DIRECTORY;
        let Some(to) = to.filter(|to| !is_long && !to.expands && !to.text.starts_with('-')) else {
            self.directory.clear();
            return;
        };
        if to.text.starts_with(['/', '~']) {
            self.directory.clone_from(&to.text);
        } else if !self.directory.is_empty() {
            self.directory.push('/');
            self.directory.push_str(&to.text);
        } else if !self.in_brackets {
            self.directory.clone_from(&to.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::command::of_command;

    #[test]
    fn commands_of_any_length_are_read_in_one_pass() {
        for piece in [
            "cat | ",
            "cd abc; ",
            "$(a ",
            "((",
            "bash -c ",
            "x & ",
            "<<E\n",
            "'a' \"b\" ",
        ] {
            let target = of_command("sh", &piece.repeat(20_000));
            assert!(target.line.len() < 500, "{piece}");
        }
        let command = Command::read(&"cd abc; ".repeat(20_000));
        assert!(
            command
                .statements
                .iter()
                .all(|statement| statement.directory.len() <= 2 * MAX_DIRECTORY)
        );
    }
}
