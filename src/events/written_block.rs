//! Blocks at the end of an assistant's text that are a call, by a table of their marks.

use std::sync::LazyLock;

use serde::Deserialize;

/// The marks of a block, and the call that it is.
#[derive(Debug, Deserialize)]
pub(super) struct WrittenBlock {
    opens: String,
    closes: String,
    pub tool: String,
    pub argument: String,
    #[cfg(test)]
    pub example: Example,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(super) struct Example {
    pub text: String,
    pub line: String,
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    block: Vec<WrittenBlock>,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../knowledge/blocks.toml")).unwrap_or_default());

/// The block that a text ends with: its row, where it begins, and what stands in it.
pub(super) fn last_block(text: &str) -> Option<(&'static WrittenBlock, usize, &str)> {
    let text = text.trim_end();
    TABLE.block.iter().find_map(|row| {
        let before = text.strip_suffix(row.closes.as_str())?;
        let at = before.rfind(row.opens.as_str())?;
        let body = before.get(at + row.opens.len()..)?;
        // Else another block stands between.
        let is_one = !body.contains(row.closes.as_str()) && !body.trim().is_empty();
        is_one.then_some((row, at, body.trim()))
    })
}

/// All rows.
#[cfg(test)]
pub(super) fn rows() -> &'static [WrittenBlock] {
    &TABLE.block
}
