//! Shell commands, read once: statements in order, what each does to which files, and where it runs.

mod parse;
pub(crate) mod patch;
mod path;
pub(crate) mod programs;
pub(crate) mod query;
mod script;
mod statement;
mod step;
#[cfg(test)]
mod tests;
mod touch;
mod word;
mod words;

pub(crate) use path::{is_same_file, last_step, path_of};
pub(crate) use statement::Statement;
pub(crate) use step::{Step, Touch};
pub(crate) use touch::{of_code, script_of};
pub(crate) use word::StatementEnd;

use parse::statements;
use programs::{Does, known, program_of};
use word::Word;

/// Commands in commands that are looked into.
const MAX_DEPTH: usize = 3;

/// Longest directory that is followed further, in bytes: each statement holds its own.
const MAX_DIRECTORY: usize = 300;

/// A shell command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Command {
    /// In order; those of a shell that it starts, and those in words, stand where these do.
    pub statements: Vec<Statement>,
}

impl Command {
    /// Reads a command.
    pub fn read(text: &str) -> Self {
        let mut reader = StatementReader::default();
        reader.read(text, MAX_DEPTH, false);
        Self {
            statements: reader.statements,
        }
    }

    /// The steps of the command on files, in order.
    pub fn touches(&self) -> Vec<Touch> {
        let touches = self.statements.iter().flat_map(|statement| &statement.touches);
        touches.cloned().collect()
    }
}

/// Goes through a command, and through those of the shells that it starts.
#[derive(Default)]
struct StatementReader {
    /// The current directory: from the root, or from the directory it began in.
    directory: String,
    /// The command changes its directory inside brackets, up to their end: only absolute paths are followed then.
    in_brackets: bool,
    statements: Vec<Statement>,
}

impl StatementReader {
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
