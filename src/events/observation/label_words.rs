//! Words of labels: those of programs and those of people.

use std::sync::LazyLock;

use serde::Deserialize;

/// Words of labels, in small letters.
#[derive(Debug, Default, Deserialize)]
pub(super) struct LabelWords {
    /// Words of a program: a label has one of them.
    pub program: Vec<String>,
    /// Words of people: a label has none of them.
    pub people: Vec<String>,
}

pub(super) static WORDS: LazyLock<LabelWords> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/labels.toml")).unwrap_or_default());
