//! The lines that edits put into files, and which of them a later edit took out.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::events::event::Event;
use crate::events::line::{is_telling, lines_of};
use crate::events::shell::last_step;
use crate::events::source::SourceTurn;
use crate::events::source_call::SourceCall;
use crate::events::target::Effect;
use crate::events::tools::{Fields, Holds};

/// The texts that a call puts into its file: what its arguments hold as that, or else all that has several lines.
pub(crate) fn put_in<'c>(call: &'c SourceCall<'_>) -> Vec<Cow<'c, str>> {
    put_in_by(&Fields::of(call))
}

fn put_in_by<'c>(fields: &Fields<'c>) -> Vec<Cow<'c, str>> {
    let held = |holds| fields.all(holds);
    let put: Vec<Cow<'c, str>> = held(Holds::Content).chain(held(Holds::Inserted)).collect();
    if !put.is_empty() {
        return put;
    }
    let texts = held(Holds::Command).chain(held(Holds::Code));
    texts.filter(|text| text.contains('\n')).collect()
}

/// Lines of a file.
#[derive(Default)]
struct Lines {
    put_in: FxHashSet<String>,
    taken_out: FxHashSet<String>,
}

/// Marks the edits of which a later one took out a line for good.
pub(crate) fn mark_taken_out(all: &mut [Event], turns: &[SourceTurn<'_>]) {
    let mut files: FxHashMap<String, Lines> = FxHashMap::default();
    for event in all.iter_mut().rev() {
        let changes = event.target.effect == Effect::Modify && event.outcome.failed() != Some(true);
        let file = event
            .target
            .file
            .as_deref()
            .filter(|_| changes && !event.changed_nothing);
        let call = turns.get(event.turn).and_then(|turn| turn.calls.get(event.call));
        let (Some(file), Some(call)) = (file, call) else {
            continue;
        };
        let fields = Fields::of(call);
        let put = put_in_by(&fields);
        let put = || {
            put.iter()
                .flat_map(|text| lines_of(text))
                .map(str::trim)
                .filter(|line| is_telling(line))
        };
        let lines = files.entry(last_step(file).to_owned()).or_default();
        event.is_outdated |= !lines.taken_out.is_empty() && put().any(|line| lines.taken_out.contains(line));
        lines.put_in.extend(put().map(str::to_owned));
        for text in fields.all(Holds::Replaced) {
            let gone = lines_of(&text).map(str::trim).filter(|line| is_telling(line));
            let gone = gone.filter(|line| !lines.put_in.contains(*line));
            lines.taken_out.extend(gone.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::events::source::{Context, source_turns};
    use crate::trajectory::views_of;

    /// If each of these edits of one file is marked as changed later.
    fn outdated(edits: &[(&str, &str)]) -> Vec<bool> {
        let turns: Vec<String> = edits
            .iter()
            .flat_map(|(old, new)| {
                let arguments = serde_json::json!({"path": "/w/a.py", "old_str": old, "new_str": new});
                let call = serde_json::json!({"role": "assistant", "tool_calls":
                    [{"function": {"name": "edit_file", "arguments": arguments.to_string()}}]});
                let answer = serde_json::json!({"role": "tool", "content": "The file was edited."});
                [call.to_string(), answer.to_string()]
            })
            .collect();
        let record = format!(r#"{{"messages": [{}]}}"#, turns.join(","));
        let views = views_of(&record);
        let turns = source_turns(Context::of(&views), &views, Into::into);
        let events = crate::events::reading::events(&turns);
        events.iter().map(|event| event.is_outdated).collect()
    }

    #[test]
    fn an_edit_is_changed_later_where_one_of_its_lines_is_taken_out_for_good() {
        let first = ("rows = None", "rows = read(path)\nreturn rows");
        let second = ("rows = read(path)", "rows = read_all(path)");
        assert_eq!(outdated(&[first, second]), [true, false]);
        // Taken out and put in again.
        let third = ("rows = read_all(path)", "rows = read(path)");
        assert_eq!(outdated(&[first, second, third]), [false, true, false]);
        // A line that stays in the text around a change.
        let around = ("rows = read(path)\n\n", "rows = read(path)\nrows.sort()");
        assert_eq!(outdated(&[first, around]), [false, false]);
    }
}
