//! The file that is open in an editor of lines, as its answers say.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::outcome::text::edges;
use super::source::SourceTurn;

/// Line editors' label of the open file.
static OPEN_FILE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("(Open file: "));

/// Start of an answer that shows a file.
const SHOWN_FILE: &str = "[File: ";

/// The file that is open in an editor of lines, as the answers say.
#[derive(Default)]
pub(super) struct OpenFile {
    pub name: Option<String>,
    /// The turns that were read.
    read: usize,
}

impl OpenFile {
    /// Reads the answers before a turn.
    pub fn read_until(&mut self, turns: &[SourceTurn<'_>], turn: usize) {
        for source in turns.get(self.read..turn).unwrap_or_default() {
            let mut answers = source.answers.iter().rev();
            if let Some(name) = answers.find_map(|(_, answer)| opened_in(answer)) {
                self.name = Some(name.to_owned());
            }
        }
        self.read = self.read.max(turn);
    }
}

/// The file that an answer says is open; nothing where it says that none is.
pub(super) fn opened_in(answer: &str) -> Option<&str> {
    let told = |start: usize, end: &str| {
        let rest = answer.get(start..)?.lines().next()?;
        let name = rest.get(..rest.find(end)?)?.trim();
        (!name.is_empty() && !name.starts_with('<')).then_some(name)
    };
    // Its state is the last thing that a terminal shows.
    let tail = edges(answer).1;
    if let Some(start) = OPEN_FILE.find_iter(tail.as_bytes()).last() {
        let start = answer.len() - tail.len() + start;
        let name = told(start + OPEN_FILE.needle().len(), ")")?;
        return Some(if name == "n/a" { "" } else { name });
    }
    let shown = answer.trim_start().strip_prefix(SHOWN_FILE)?;
    told(answer.len() - shown.len(), " (")
}
