//! The file that is open in an editor of lines, as its answers say.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::outcome::text::edges;

/// Line editors' label of the open file.
static OPEN_FILE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("(Open file: "));

/// Start of an answer that shows a file.
const SHOWN_FILE: &str = "[File: ";

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
