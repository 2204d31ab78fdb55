//! Names of tools that tell: a tool looks something up, acts on something, or only keeps what the agent thinks.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::table;

/// The effect of a tool, as a verb in its name tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NameTells {
    LooksUp,
    /// The same, as the first word: elsewhere it is a noun.
    LooksUpFirst,
    /// The same, as the last word.
    LooksUpLast,
    Acts,
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
struct StartRow {
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
    thought: Vec<StartRow>,
    handoff: Vec<StartRow>,
    note: Vec<NoteRow>,
}

static TABLE: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("tool_names.toml")));

/// Words of names, with a bit for each of what they tell.
static WORDS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut words: FxHashMap<&'static str, u8> = FxHashMap::default();
    for row in &TABLE.name {
        for word in &row.words {
            *words.entry(word).or_default() |= 1 << row.tells as u8;
        }
    }
    words
});

/// The examples of all rows.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static ToolExample> {
    let names = TABLE.name.iter().map(|row| &row.example);
    names
        .chain(TABLE.thought.iter().map(|row| &row.example))
        .chain(TABLE.handoff.iter().map(|row| &row.example))
        .chain(TABLE.note.iter().map(|row| &row.example))
}

/// Returns true if a tool only looks something up.
pub(crate) fn is_lookup(tool: &str) -> bool {
    acts_by_name(tool) == Some(false)
}

/// Returns true if a tool changes something where it acts.
pub(crate) fn acts(tool: &str) -> bool {
    acts_by_name(tool) == Some(true)
}

/// If a tool acts, or only looks something up, by the verb in its name: the first word (`get_user`) or the last one (`order_cancel`). A
/// name that joins two verbs, or whose first and last words are verbs of both sorts, tells nothing.
fn acts_by_name(tool: &str) -> Option<bool> {
    let own = tool.rsplit_once("__").map_or(tool, |(_, own)| own);
    let mut words: Vec<u8> = Vec::new();
    let mut is_joined = false;
    each_word(own, |word| {
        is_joined |= matches!(word, "and" | "or" | "in" | "out");
        words.push(WORDS.get(word).copied().unwrap_or_default());
    });
    let told = |word: Option<&u8>, place: NameTells| {
        let has = |tells: NameTells| word.is_some_and(|word| word & (1 << tells as u8) != 0);
        let looks_up = has(NameTells::LooksUp) || has(place);
        if looks_up {
            Some(false)
        } else {
            has(NameTells::Acts).then_some(true)
        }
    };
    let first = told(words.first(), NameTells::LooksUpFirst);
    let last = told(words.last(), NameTells::LooksUpLast);
    match (first, last) {
        _ if is_joined => None,
        (Some(first), Some(last)) if first != last => None,
        _ => first.or(last),
    }
}

/// The letters of a name in lower case.
fn letters(name: &str) -> impl Iterator<Item = u8> + '_ {
    let letters = name.bytes().filter(|byte| *byte != b'_');
    letters.map(|byte| byte.to_ascii_lowercase())
}

/// Returns true if a tool only keeps the agent's own list.
pub(crate) fn is_note(tool: &str) -> bool {
    let mut names = TABLE.note.iter().flat_map(|row| &row.names);
    names.any(|name| letters(name).eq(letters(tool)))
}

/// Returns true if a tool only takes down what the agent thinks, as the start of its name says behind that of a server.
pub(crate) fn is_thought(tool: &str) -> bool {
    starts_with(tool, &TABLE.thought)
}

/// Returns true if a tool hands the conversation on to another agent.
pub(crate) fn is_handoff(tool: &str) -> bool {
    starts_with(tool, &TABLE.handoff)
}

fn starts_with(tool: &str, rows: &[StartRow]) -> bool {
    let own = tool.rsplit_once("__").map_or(tool, |(_, own)| own);
    let mut starts = rows.iter().flat_map(|row| &row.starts);
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
            ("get_user", Some(false)),
            ("kubectl_get", Some(false)),
            ("helm_show_values", None),
            ("process_find_kill", None),
            ("helm_history", None),
            ("mcp__github__list_issues", Some(false)),
            ("mcp__search-admin__delete_index", Some(true)),
            ("mcp__add-on__get_thing", Some(false)),
            ("getOrderDetails", Some(false)),
            ("get_refund_status", Some(false)),
            ("helm_upgrade", Some(true)),
            ("cancel_pending_order", Some(true)),
            ("status_update", Some(true)),
            ("wait", Some(false)),
            ("incident_update", Some(true)),
            ("clear_history", Some(true)),
            ("history_clear", Some(true)),
            ("db_query_drop", None),
            ("wait_list_join", None),
            ("patch_notes_list", None),
            ("airline__check_in_passenger", None),
            ("fetch_and_lock_job", None),
            ("get_and_delete", None),
            ("type_check", None),
            ("run_query", None),
            ("purge_logs", None),
            ("book_reservation", None),
            ("checkout", None),
        ] {
            assert_eq!(acts_by_name(name), tells, "{name}");
        }
    }
}
