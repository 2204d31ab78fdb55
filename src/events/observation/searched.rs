//! Texts of tables that are looked for in others.

use memchr::memmem::Finder;
use serde::Deserialize;

/// A text that is looked for.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct SearchedText(pub Finder<'static>);

impl From<String> for SearchedText {
    fn from(text: String) -> Self {
        Self(Finder::new(&text).into_owned())
    }
}
