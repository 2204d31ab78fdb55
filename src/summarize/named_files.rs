//! The file that each name stands in: a list of names alone tells a reader little.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compress::anchors::{Anchor, Matcher, matcher_of};
use crate::events::event::Event;
use crate::events::files::put_in::{put_in, taken_out};
use crate::events::shell::{Step, is_same_file, last_step, path_of};
use crate::events::source::SourceTurn;
use crate::events::source_call::SourceCall;
use crate::events::stretch::Stretch;
use crate::events::target::Effect;
use crate::events::tools::ArgumentFields;
use crate::trajectory::{Role, Turns};

/// Adds to each name among `anchors` the file that it stands in, as calls of these turns showed or changed it: of several files
/// that which most of the names stand in, so that few are told. A name that `later` turns use in other files alone, without a word
/// of this one, is likely another thing there or a common word: it gets none.
pub fn add_files(anchors: &mut [Anchor], turns: &Stretch<'_>, later: Turns<'_>) {
    let is_name: Vec<bool> = anchors.iter().map(is_name).collect();
    if !is_name.contains(&true) {
        return;
    }
    let matcher = matcher_of(anchors);
    let mut files = names_by_file(&is_name, &matcher, turns);
    if files.iter().all(|file| file.names.is_empty()) {
        return;
    }
    let uses = later_uses(&is_name, &matcher, &files, later);
    for file in &mut files {
        let path = &file.path;
        file.names
            .retain(|name| uses.get(*name).is_none_or(|used| used.is_in(path)));
    }
    files.sort_by_key(|file| std::cmp::Reverse((file.names.len(), file.latest)));
    let mut alike: FxHashMap<&str, usize> = FxHashMap::default();
    for file in &files {
        *alike.entry(last_step(&file.path)).or_default() += 1;
    }
    for file in &files {
        let last = last_step(&file.path);
        let shown = if alike.get(last) == Some(&1) {
            last
        } else {
            &file.path
        };
        for name in &file.names {
            let anchor = anchors.get_mut(*name).filter(|anchor| anchor.file.is_none());
            if let Some(anchor) = anchor.filter(|anchor| anchor.text != last) {
                anchor.file = Some(shown.to_owned());
            }
        }
    }
}

/// A file, the names that stand in it, and the last call that showed or changed it.
#[derive(Default)]
struct NamesOfFile {
    path: String,
    names: Vec<usize>,
    latest: usize,
}

/// The files that calls showed or changed, each with the names in it.
fn names_by_file(is_name: &[bool], matcher: &Matcher<'_>, turns: &Stretch<'_>) -> Vec<NamesOfFile> {
    let mut files: FxHashMap<String, NamesOfFile> = FxHashMap::default();
    let mut events: Vec<&Event> = turns.actions().iter().chain(turns.earlier()).collect();
    events.sort_by_key(|event| event.number);
    for event in events {
        let Some(path) = file_of(event) else { continue };
        let path = path_of("", path);
        let file = files.entry(path.clone()).or_default();
        file.path = path;
        file.latest = event.number;
        if is_new_after(event) {
            file.names.clear();
        }
        let call = call_of(event, turns.sources());
        let mut is_left = is_name.to_vec();
        for text in call.into_iter().flat_map(taken_out) {
            matcher.find(&text, &mut is_left, |_, _| false);
        }
        file.names.retain(|name| is_left.get(*name) == Some(&true));
        let mut wanted = is_name.to_vec();
        for name in &file.names {
            if let Some(is_wanted) = wanted.get_mut(*name) {
                *is_wanted = false;
            }
        }
        for text in texts(event, turns.sources()) {
            matcher.find(&text, &mut wanted, |name, _| {
                file.names.push(name);
                false
            });
        }
    }
    files.into_values().collect()
}

/// The uses of a name in later turns.
#[derive(Clone, Default)]
struct LaterUses {
    /// The files of the calls that hold it, and those that the lines with it name: `from rows import put_row`.
    files: FxHashSet<String>,
    /// It stands in words or in a call without a file.
    is_elsewhere: bool,
}

impl LaterUses {
    /// If a use may be of this file's name.
    fn is_in(&self, path: &str) -> bool {
        let is_of_file = |file: &String| is_same_file(file, path);
        self.is_elsewhere || self.files.is_empty() || self.files.iter().any(is_of_file)
    }
}

/// How the assistant's turns after the region use the names of these files.
fn later_uses(
    is_name: &[bool],
    matcher: &Matcher<'_>,
    files: &[NamesOfFile],
    later: Turns<'_>,
) -> Vec<LaterUses> {
    let mut uses = vec![LaterUses::default(); is_name.len()];
    let mut by_stem: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for file in files {
        by_stem.entry(stem_of(&file.path)).or_default().push(&file.path);
    }
    let mut wanted = is_name.to_vec();
    for view in later.all().filter(|view| view.role == Role::Assistant) {
        let turn = Stretch::of(std::slice::from_ref(&*view));
        let mut note = |text: &str, file: Option<&str>| {
            let file = file.map(|file| path_of("", file));
            for line in text.lines() {
                let mut found = Vec::new();
                matcher.find(line, &mut wanted, |name, _| {
                    found.push(name);
                    false
                });
                if found.is_empty() {
                    continue;
                }
                let words = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
                let stems = words.filter_map(|word| by_stem.get(word));
                let named: Vec<&str> = stems.flatten().copied().collect();
                for name in found {
                    if let Some(is_wanted) = wanted.get_mut(name) {
                        *is_wanted = true;
                    }
                    if let Some(used) = uses.get_mut(name) {
                        used.is_elsewhere |= file.is_none();
                        used.files.extend(file.clone());
                        used.files.extend(named.iter().map(|path| (*path).to_owned()));
                    }
                }
            }
        };
        for source in turn.sources() {
            note(&source.prose, None);
        }
        for event in turn.actions().iter().chain(turn.earlier()) {
            let fields = call_of(event, turn.sources()).map(ArgumentFields::of);
            for (_, text) in fields.iter().flat_map(ArgumentFields::iter) {
                note(&text, file_of(event));
            }
        }
    }
    uses
}

/// The name of a file without what says its type.
fn stem_of(path: &str) -> &str {
    let name = last_step(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// If a file holds nothing after a call of what stood in it before.
fn is_new_after(event: &Event) -> bool {
    let appends = event
        .target
        .command
        .as_deref()
        .is_some_and(|command| command.contains(">>"));
    event.own_touches().iter().any(|touch| match touch.step {
        Step::Create => !appends,
        step => step == Step::Remove,
    })
}

fn call_of<'t>(event: &Event, turns: &'t [SourceTurn<'_>]) -> Option<&'t SourceCall<'t>> {
    turns.get(event.turn)?.calls.get(event.call)
}

/// If an identifier is a name in a text, and neither a path nor a value.
fn is_name(anchor: &Anchor) -> bool {
    anchor.key.is_none()
        && !anchor.text.contains('/')
        && anchor.text.contains(|sign: char| sign.is_alphabetic())
}

/// The one file that a call showed or changed.
fn file_of(event: &Event) -> Option<&str> {
    let target = &event.target;
    let shows = target.effect != Effect::Other && event.outcome.failed() != Some(true);
    let file = target.file.as_deref().filter(|_| shows)?;
    let path = path_of("", file);
    let mut touched = event.own_touches().iter().map(|touch| touch.file.as_deref());
    touched
        .all(|other| other.is_some_and(|other| path_of("", other) == path))
        .then_some(file)
}

/// The texts of a call that stand in its file: what it shows of it, and what it writes to it.
fn texts<'t>(event: &Event, turns: &'t [SourceTurn<'_>]) -> Vec<Cow<'t, str>> {
    let mut texts = Vec::new();
    if event.target.effect == Effect::Modify {
        texts.extend(call_of(event, turns).into_iter().flat_map(put_in));
    }
    let answer = event
        .answered_at
        .and_then(|(turn, answer)| turns.get(turn)?.answers.get(answer));
    texts.extend(answer.map(|(_, text)| Cow::Borrowed(&**text)));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::views_of;

    /// A turn with a call.
    fn call(name: &str, arguments: &serde_json::Value) -> serde_json::Value {
        serde_json::json!({"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": name, "arguments": arguments.to_string()}}]})
    }

    /// The file of each name after these calls, each a tool with its arguments and output.
    fn files_of(names: &[&str], calls: &[(&str, serde_json::Value, &str)]) -> Vec<Option<String>> {
        let turns: Vec<String> = calls
            .iter()
            .map(|(name, arguments, output)| {
                let answer = serde_json::json!({"role": "tool", "content": output});
                format!("{},{answer}", call(name, arguments))
            })
            .collect();
        let record = format!(r#"{{"messages": [{}]}}"#, turns.join(","));
        let views = views_of(&record);
        let mut anchors: Vec<Anchor> = names.iter().map(|name| Anchor::new(*name, 1)).collect();
        add_files(&mut anchors, &Stretch::of(&views), Turns::Kept(&[]));
        anchors.into_iter().map(|anchor| anchor.file).collect()
    }

    #[test]
    fn a_name_that_later_turns_use_in_another_file_alone_has_no_file() {
        let read = call("read_file", &serde_json::json!({"path": "src/rows.py"}));
        let names = [
            "put_row",
            "row_cases",
            "old_row",
            "said_row",
            "run_row",
            "sort_rows",
        ];
        let shown = serde_json::json!({"role": "tool", "content": names.join(" = 1\n")});
        let record = serde_json::json!({"messages": [read, shown]}).to_string();
        let content = "from src.rows import sort_rows\nrow_cases = []\nput_row()\nsort_rows()";
        let later = serde_json::json!({"messages": [
            call("write_file", &serde_json::json!({"path": "tests/new.py", "content": content})),
            call("edit", &serde_json::json!({"path": "src/rows.py", "old_str": "put_row", "new_str": "put_rows"})),
            call("bash", &serde_json::json!({"command": "python -c 'import rows; rows.run_row()'"})),
            {"role": "assistant", "content": "said_row is right."},
        ]});
        let later = later.to_string();
        let mut anchors: Vec<Anchor> = names.iter().map(|name| Anchor::new(*name, 1)).collect();
        add_files(
            &mut anchors,
            &Stretch::of(&views_of(&record)),
            Turns::Kept(&views_of(&later)),
        );
        let files: Vec<Option<&str>> = anchors.iter().map(|anchor| anchor.file.as_deref()).collect();
        let rows = Some("rows.py");
        assert_eq!(files, [rows, None, rows, rows, rows, rows]);
    }

    #[test]
    fn a_long_line_is_read_once_and_names_a_file_by_a_word_of_its_own() {
        let read = call("read_file", &serde_json::json!({"path": "s.py"}));
        let shown = serde_json::json!({"role": "tool", "content": "put_row = 1"});
        let record = serde_json::json!({"messages": [read, shown]}).to_string();
        let file_of = |content: &str| {
            let written = call(
                "write_file",
                &serde_json::json!({"path": "tests/new.js", "content": content}),
            );
            let later = serde_json::json!({"messages": [written]});
            let later = later.to_string();
            let mut anchors = [Anchor::new("put_row", 1)];
            let turns = views_of(&record);
            add_files(&mut anchors, &Stretch::of(&turns), Turns::Kept(&views_of(&later)));
            let [anchor] = anchors;
            anchor.file
        };
        // At a look at the whole line for each of its uses this takes minutes.
        assert_eq!(file_of(&"put_row(rows);".repeat(200_000)), None);
        assert_eq!(file_of("put_row(s.rows)").as_deref(), Some("s.py"));
    }

    #[test]
    fn a_name_stands_in_the_file_that_was_read_or_written_with_it() {
        let calls = [
            (
                "read_file",
                serde_json::json!({"path": "src/store.py"}),
                "def put_row(table_row): return kept_row",
            ),
            (
                "bash",
                serde_json::json!({"command": "sed -n 1,9p src/table.py"}),
                "class RowTable: put_row",
            ),
            (
                "write_file",
                serde_json::json!({"path": "tests/rows.py", "content": "first_row = 1"}),
                "done",
            ),
            (
                "bash",
                serde_json::json!({"command": "python3 tests/rows.py"}),
                "printed_row",
            ),
            (
                "read_file",
                serde_json::json!({"path": "src/gone.py"}),
                "Error: no such file: gone_row",
            ),
        ];
        let names = [
            "put_row",
            "table_row",
            "kept_row",
            "RowTable",
            "first_row",
            "printed_row",
            "gone_row",
            "rows.py",
        ];
        let files = files_of(&names, &calls);
        let files: Vec<Option<&str>> = files.iter().map(Option::as_deref).collect();
        // Of two files with a name that which has more of the names.
        let (store, table, rows) = (Some("store.py"), Some("table.py"), Some("rows.py"));
        assert_eq!(files, [store, store, store, table, rows, None, None, None]);
    }

    #[test]
    fn a_file_holds_what_was_last_written_to_it_and_not_the_words_of_the_call() {
        let write = |content: &str| serde_json::json!({"path": "rows.py", "content": content});
        let edit = serde_json::json!({"command": "str_replace", "path": "rows.py",
            "old_str": "third_row = 4", "new_str": "kept_row = 3"});
        let calls = [
            ("write_file", write("first_row = 1"), "done"),
            ("write_file", write("second_row = 2\nthird_row = 4"), "done"),
            ("str_replace_editor", edit, "The file was edited."),
        ];
        let names = ["first_row", "second_row", "third_row", "str_replace", "kept_row"];
        let rows = Some("rows.py".to_owned());
        assert_eq!(files_of(&names, &calls), [None, rows.clone(), None, None, rows]);
    }

    #[test]
    fn a_file_that_was_removed_holds_no_name() {
        let written = serde_json::json!({"path": "rows.py", "content": "first_row = 1"});
        let removed = serde_json::json!({"command": "rm rows.py"});
        let calls = [("write_file", written, "done"), ("bash", removed, "")];
        assert_eq!(files_of(&["first_row"], &calls), [None]);
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_paths() {
        let calls = [
            (
                "read_file",
                serde_json::json!({"path": "a/models.py"}),
                "first_model",
            ),
            (
                "read_file",
                serde_json::json!({"path": "b/models.py"}),
                "second_model",
            ),
        ];
        let files = files_of(&["first_model", "second_model"], &calls);
        assert_eq!(
            files,
            [Some("a/models.py".to_owned()), Some("b/models.py".to_owned())]
        );
    }
}
