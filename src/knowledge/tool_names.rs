//! What names of tools tell: that a tool looks something up, acts on something, or only keeps what the agent thinks.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::table;

/// What the name of a tool tells of what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NameTells {
    LooksUp,
    Acts,
    Runs,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct ToolExample {
    pub name: String,
    pub arguments: String,
    pub line: String,
}

#[derive(Debug, Deserialize)]
struct NameRow {
    tells: NameTells,
    words: Vec<String>,
    #[cfg(test)]
    example: ToolExample,
}

#[derive(Debug, Deserialize)]
struct ThoughtRow {
    starts: Vec<String>,
    #[cfg(test)]
    example: ToolExample,
}

#[derive(Debug, Deserialize)]
struct NoteRow {
    names: Vec<String>,
    #[cfg(test)]
    example: ToolExample,
}

#[derive(Debug, Default, Deserialize)]
struct NameTable {
    name: Vec<NameRow>,
    thought: Vec<ThoughtRow>,
    note: Vec<NoteRow>,
}

static TABLE: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("tool_names.toml")));

/// Words of names, and what they tell.
static WORDS: LazyLock<FxHashMap<&'static str, NameTells>> = LazyLock::new(|| {
    let rows = TABLE.name.iter();
    rows.flat_map(|row| row.words.iter().map(|word| (word.as_str(), row.tells)))
        .collect()
});

/// The examples of all rows.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static ToolExample> {
    let names = TABLE.name.iter().map(|row| &row.example);
    names
        .chain(TABLE.thought.iter().map(|row| &row.example))
        .chain(TABLE.note.iter().map(|row| &row.example))
}

/// Returns true if a tool only looks something up.
pub(crate) fn is_lookup(tool: &str) -> bool {
    told_by(tool) == Some(NameTells::LooksUp)
}

/// Returns true if a tool changes something where it acts.
pub(crate) fn acts(tool: &str) -> bool {
    told_by(tool) == Some(NameTells::Acts)
}

/// What the first word of a tool's name that is in the table tells.
fn told_by(tool: &str) -> Option<NameTells> {
    let mut told = None;
    let mut is_joined = false;
    each_word(tool, |word| {
        let tells = WORDS.get(word).copied();
        if told.is_none() || is_joined && tells == Some(NameTells::Acts) {
            told = tells;
        }
        is_joined = matches!(word, "and" | "or");
    });
    told
}

/// Returns true if a tool only keeps the agent's own list.
pub(crate) fn is_note(tool: &str) -> bool {
    let mut names = TABLE.note.iter().flat_map(|row| &row.names);
    names.any(|name| tool.eq_ignore_ascii_case(name))
}

/// Returns true if a tool only takes down what the agent thinks, as the start of its name says behind that of a server.
pub(crate) fn is_thought(tool: &str) -> bool {
    let own = tool.rsplit_once("__").map_or(tool, |(_, own)| own);
    let mut starts = TABLE.thought.iter().flat_map(|row| &row.starts);
    starts.any(|start| own.starts_with(start.as_str()))
}

/// Goes through the words of `str_replace`, `readFile` and `MultiEdit`, in small letters.
pub(crate) fn each_word(name: &str, mut on_word: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before = ' ';
    for char in name.chars() {
        let is_new = !char.is_alphanumeric() || char.is_uppercase() && before.is_lowercase();
        if is_new && !word.is_empty() {
            on_word(&word);
            word.clear();
        }
        before = char;
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
    }
    if !word.is_empty() {
        on_word(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_tools_do() {
        for (name, tells) in [
            ("get_user", Some(NameTells::LooksUp)),
            ("kubectl_get", Some(NameTells::LooksUp)),
            ("mcp__github__list_issues", Some(NameTells::LooksUp)),
            ("getOrderDetails", Some(NameTells::LooksUp)),
            ("get_refund_status", Some(NameTells::LooksUp)),
            ("helm_upgrade", Some(NameTells::Acts)),
            ("cancel_pending_order", Some(NameTells::Acts)),
            ("find_and_update_user", Some(NameTells::Acts)),
            ("get_or_create_user", Some(NameTells::Acts)),
            ("search_terms_and_conditions", Some(NameTells::LooksUp)),
            ("run_query", Some(NameTells::Runs)),
            ("book_reservation", None),
            ("checkout", None),
        ] {
            assert_eq!(told_by(name), tells, "{name}");
        }
    }
}
