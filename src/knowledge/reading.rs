//! One read of a text for the literals of all tables.

use std::sync::LazyLock;

use super::errors::{self, ErrorKind, lines};
use super::found::LiteralHits;
use super::pattern::Literals;
use super::{results, runners};

static LITERALS: LazyLock<Literals> = LazyLock::new(|| {
    let runners = runners::literals();
    Literals::new(errors::literals().chain(results::literals()).chain(runners))
});

/// Those that matter in what was read.
static OF_READING: LazyLock<Literals> = LazyLock::new(|| Literals::new(results::literals_of_reading()));

impl<'t> LiteralHits<'t> {
    /// Reads a text.
    pub fn read(text: &'t str) -> Self {
        Self::of_text(&LITERALS, text)
    }

    /// Reads a text that was only to be shown: of all tables what says that it is a page or what a search found.
    pub fn read_shown(text: &'t str) -> Self {
        Self::of_text(&OF_READING, text)
    }
}

/// The sort of a line, if any.
pub(crate) fn kind_of(line: &str) -> Option<ErrorKind> {
    lines(&LiteralHits::read(line), "").map(|said| said.kind).next()
}
