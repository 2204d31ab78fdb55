//! The words of a command, and the operators between its statements.

/// A word of a command, its quotes taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    /// The shell replaces it by something unknown.
    pub expands: bool,
    /// It is a pattern for names of files.
    pub is_pattern: bool,
    /// Part of it stood in quotes: it is a word then even if it is empty.
    pub is_quoted: bool,
}

impl Word {
    /// A word as it stands.
    pub fn of(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// The end of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum StatementEnd {
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
