//! The steps of a command: one file each, and what is done to it.

use super::path::last_step;

/// An operation on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Read,
    /// Lines of it are looked for.
    Search,
    /// It is changed where it is there.
    Write,
    /// It is written, and there from then on.
    Create,
    Remove,
    /// It becomes what it was at the beginning, or another copy of it.
    Restore,
    /// Its last change is taken back.
    Undo,
    /// It runs, and does what it was written to do.
    Run,
}

/// One step of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    pub step: Step,
    /// As it was named; `None` for the file that is open in an editor of lines.
    pub file: Option<String>,
    /// The directory from the root in which the command ran, as far as the command says; else nothing.
    pub directory: String,
    /// The name is a pattern for several files.
    pub is_pattern: bool,
    /// The steps on files that it takes when it runs, if it is a script that is written here.
    pub script: Vec<(Step, String)>,
    /// The file that it takes its content from, where it is a copy.
    pub copied_from: Option<String>,
}

impl Touch {
    /// A step on a file by its name.
    pub fn of(step: Step, file: impl Into<String>) -> Self {
        Self {
            file: Some(file.into()),
            ..Self::on_open(step)
        }
    }

    /// If it copies a file to a name with another ending behind its own.
    pub fn keeps_copy(&self) -> bool {
        let names = self.file.as_deref().zip(self.copied_from.as_deref());
        names.is_some_and(|(copy, of)| has_ending_behind(copy, of))
    }

    /// A step on the file that is open in an editor.
    pub fn on_open(step: Step) -> Self {
        Self {
            step,
            file: None,
            directory: String::new(),
            is_pattern: false,
            script: Vec::new(),
            copied_from: None,
        }
    }
}

/// If a name is another one with an ending behind it.
fn has_ending_behind(name: &str, other: &str) -> bool {
    let ending = last_step(name).strip_prefix(last_step(other));
    ending.is_some_and(|ending| ending.starts_with(['.', '~', '_', '-']))
}
