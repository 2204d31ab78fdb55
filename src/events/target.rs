//! The target of a tool call: the tool and what it was used on, its effect, and the files it touches.

use std::borrow::Cow;

use super::line::{cleaned, shortened};
use super::run::ProgramRun;
use super::shell::Touch;

/// The effect of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Looks at something.
    Read,
    /// Changes something.
    Modify,
    /// Runs or asks something.
    #[default]
    Other,
}

/// The sort of a tool, which stands for the name of one that has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ToolKind {
    Search,
    Code,
    Terminal,
    Patch,
    Web,
    Task,
    #[default]
    Tool,
}

impl ToolKind {
    fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Code => "code",
            Self::Terminal => "terminal",
            Self::Patch => "patch",
            Self::Web => "web",
            Self::Task => "task",
            Self::Tool => "tool",
        }
    }
}

/// The tool of a call and the thing it was used on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// Tool and target, in one line.
    pub line: String,
    /// The name of the tool.
    pub tool: String,
    /// The sort of tool.
    pub kind: ToolKind,
    /// The key that two attempts at the same thing share.
    pub key: String,
    /// The arguments of a call of which a line may tell a part, in a number.
    pub whole: u64,
    /// Its effect.
    pub effect: Effect,
    /// The file it does it to.
    pub file: Option<String>,
    /// Of an edit, the first line that it puts in.
    pub puts_in: Option<String>,
    /// What other turns tell of it: the files that the script writes which it runs, the element of a page.
    pub beside: Option<String>,
    /// The steps on files that it takes if it succeeds.
    pub touches: Vec<Touch>,
    /// The programs that it runs.
    pub runs: Vec<ProgramRun>,
    /// Lines of the command or code.
    pub script_lines: usize,
    /// The command, where it is one.
    pub command: Option<String>,
    /// It is a command that only prepares others: it changes the directory, sets a variable, makes a folder.
    pub is_setup: bool,
    /// It runs a command or code.
    pub is_run: bool,
    /// The directory a command ran in: part of the key, and of the line only where it distinguishes calls.
    pub directory: Option<Directory>,
}

/// The directory of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// Empty where the command went nowhere.
    pub name: String,
    /// Its byte offset in the line.
    pub place: usize,
}

/// Longest command that is told as a whole, in bytes.
const MAX_COMMAND: usize = 2_000;

/// Longest target in characters.
pub(crate) const MAX_TARGET: usize = 120;

/// Longest value of a single argument in characters.
pub(crate) const MAX_VALUE: usize = 60;

/// Longest name of a tool in a label, in characters.
const MAX_NAME: usize = 60;

impl Target {
    /// The line with all of its command, where that is cut in it.
    pub fn whole_line(&self) -> Cow<'_, str> {
        let command = self.command.as_deref();
        match command.filter(|command| self.line.ends_with('…') && command.len() <= MAX_COMMAND) {
            Some(command) => [self.tool.as_str(), ": ", &cleaned(command)].concat().into(),
            None => self.line.as_str().into(),
        }
    }

    /// The tool and what it ran or looked for, as it stands before an ending: `[terminal] ran "npm test"`.
    pub fn label(&self) -> String {
        let rest = self.line.strip_prefix(self.tool.as_str()).unwrap_or(&self.line);
        let clause = match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            _ if self.is_run => {
                let told = quoted(rest.trim_start_matches([':', ' ']));
                match self.script_lines {
                    0 | 1 => format!("ran {told}"),
                    lines => format!("ran {told} ({lines} lines)"),
                }
            }
            Some(listed) => cut(listed),
            None => cut(rest.trim_start()),
        };
        labelled(&self.tool, self.kind.name(), &clause)
    }
}

/// `[terminal] ran "npm test"`: the tool, or what stands for one without a name, and what it did.
fn labelled(name: &str, fallback: &str, clause: &str) -> String {
    let name: String = cleaned(name)
        .chars()
        .filter(|c| !matches!(c, '[' | ']'))
        .take(MAX_NAME)
        .collect();
    let name = if name.trim().is_empty() { fallback } else { &name };
    [&format!("[{name}]"), " ", clause].concat().trim_end().to_owned()
}

/// In quotes that the text itself does not hold.
pub(super) fn quoted(text: &str) -> String {
    let text = cut(&cleaned(text));
    if text.contains('"') {
        format!("`{}`", text.replace('`', "'"))
    } else {
        format!("\"{text}\"")
    }
}

/// In few characters, between words where that is possible.
pub(super) fn cut(text: &str) -> String {
    if let Some(short) = shortened(text, MAX_TARGET) {
        return short.into_owned();
    }
    let mut short: String = text.chars().take(MAX_TARGET).collect();
    short.push('…');
    short
}
