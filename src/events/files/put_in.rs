//! The lines that edits put into files, and which of them a later edit took out.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::events::code::most_telling;
use crate::events::event::{Event, FIRST_NUMBER};
use crate::events::line::{cleaned, is_telling, lines_of};
use crate::events::shell::programs::is_editor;
use crate::events::shell::{is_same_file, last_step, patch};
use crate::events::source::SourceTurn;
use crate::events::source_call::SourceCall;
use crate::events::target::Effect;
use crate::events::tools::{ArgumentFields, Holds, is_replaced};
use crate::knowledge::phrases::{Kinds, PhraseKind};

/// The texts that a call puts into its file: what its arguments hold as that, or else those of several lines.
pub(crate) fn put_in<'c>(call: &'c SourceCall<'_>) -> Vec<Cow<'c, str>> {
    put_in_by(&ArgumentFields::of(call))
}

/// The texts that a call takes out of its file.
pub(crate) fn taken_out<'c>(call: &'c SourceCall<'_>) -> Vec<Cow<'c, str>> {
    taken_out_by(&ArgumentFields::of(call))
}

fn put_in_by<'c>(fields: &ArgumentFields<'c>) -> Vec<Cow<'c, str>> {
    let held = fields.all(Holds::Content).chain(fields.all(Holds::Inserted));
    let held: Vec<Cow<'c, str>> = held.collect();
    if !held.is_empty() {
        return held;
    }
    let others = fields.iter().filter(|(name, _)| !is_replaced(name));
    let texts = others.map(|(_, text)| text).filter(|text| text.contains('\n'));
    let put_in = |text: Cow<'c, str>| {
        let added = patch::patch_lines(&text).added;
        if added.is_empty() {
            text
        } else {
            Cow::Owned(added.join("\n"))
        }
    };
    texts.map(put_in).collect()
}

/// The texts that a call takes out of its file: what its arguments hold as that, and the lines of patches.
fn taken_out_by<'c>(fields: &ArgumentFields<'c>) -> Vec<Cow<'c, str>> {
    let patches = fields
        .all(Holds::Patch)
        .map(|text| patch::patch_lines(&text).removed.join("\n"));
    fields
        .all(Holds::Replaced)
        .chain(patches.map(Cow::Owned))
        .collect()
}

/// New lines of an edit that are looked at.
const MAX_NEW: usize = 200;

/// The line that ends the text of an edit that is typed as a command.
const END_OF_EDIT: &str = "end_of_edit";

/// What an edit was for, as its call explains it, or else the line that tells most of what it puts in and does not take out: `+ line`.
pub(crate) fn puts_in(fields: &ArgumentFields<'_>) -> Option<String> {
    if let Some(purpose) = fields.get(Holds::Purpose) {
        let purpose = cleaned(purpose.trim_end_matches('.'));
        // A plan, an order or a promise is not what was done.
        let no_purpose = [
            PhraseKind::Announcement,
            PhraseKind::Open,
            PhraseKind::Demand,
            PhraseKind::Outcome,
        ];
        if !Kinds::of(&purpose).has_any(&no_purpose) {
            return Some(purpose);
        }
    }
    let command = fields.get(Holds::Command);
    let typed = command.as_deref().and_then(|command| {
        let (first, rest) = command.trim_start().split_once('\n')?;
        is_editor(first.split(' ').next()?).then_some(rest)
    });
    let inserted = fields.get(Holds::Inserted).or_else(|| fields.get(Holds::Code));
    let replaced = fields.get(Holds::Replaced).unwrap_or_default();
    let replaced: FxHashSet<&str> = lines_of(&replaced).map(str::trim).collect();
    let text = inserted.as_deref().or(typed);
    let is_command = command
        .as_deref()
        .is_some_and(|command| !patch::is_patch(command));
    let may_be_patch = text.is_none() && !is_command && fields.get(Holds::Content).is_none();
    let patches: Vec<Cow<'_, str>> = if may_be_patch {
        fields.iter().map(|(_, value)| value).collect()
    } else {
        Vec::new()
    };
    let added: Vec<&str> = patches
        .iter()
        .flat_map(|text| patch::patch_lines(text).added)
        .collect();
    let new = || {
        let inserted = lines_of(text.unwrap_or_default());
        let inserted = inserted.filter(|line| !replaced.contains(line.trim()));
        let added = inserted.chain(added.iter().copied());
        added.filter(|line| is_telling(line) && line.trim() != END_OF_EDIT)
    };
    // Of lines that replace others by number it is not known which are new; the head of a block most often stood there.
    let is_inner = |line: &&str| typed.is_none() || !line.trim_end().ends_with(['{', ':']);
    let found =
        most_telling(new().filter(is_inner).take(MAX_NEW)).or_else(|| most_telling(new().take(MAX_NEW)));
    found.map(|line| ["+ ", &cleaned(line)].concat())
}

/// Files of one name that are told apart.
const MAX_ALIKE: usize = 16;

/// Lines of a file that later edits put in, and lines that they took out.
struct EditedLines {
    path: String,
    put_in: FxHashSet<String>,
    taken_out: FxHashSet<String>,
    /// The longest line that each of these edits took out.
    longest: FxHashSet<String>,
}

/// Marks the edits of which a later one took out a line for good: the longest of either, since short ones stand in many places.
pub(crate) fn mark_taken_out(all: &mut [Event], turns: &[SourceTurn<'_>]) {
    let mut files: FxHashMap<String, Vec<EditedLines>> = FxHashMap::default();
    for event in all.iter_mut().rev() {
        let changes = event.target.effect == Effect::Modify && event.outcome.failed() != Some(true);
        let is_done = changes && event.is_answered && !event.changed_nothing;
        let file = event.target.file.as_deref().filter(|_| is_done);
        let call = turns.get(event.turn).and_then(|turn| turn.calls.get(event.call));
        let (Some(file), Some(call)) = (file, call) else {
            continue;
        };
        let alike = files.entry(last_step(file).to_owned()).or_default();
        let Some(lines) = of_file(alike, file) else {
            continue;
        };
        let fields = ArgumentFields::of(call);
        let put = put_in_by(&fields);
        let put = put.iter().flat_map(|text| lines_of(text));
        let put = put.map(str::trim);
        let put: Vec<&str> = put.filter(|line| is_telling(line)).collect();
        let longest = put.iter().max_by_key(|line| line.len());
        event.is_outdated |= longest.is_some_and(|line| lines.taken_out.contains(*line))
            || put.iter().any(|line| lines.longest.contains(*line));
        lines.put_in.extend(put.iter().map(|line| (*line).to_owned()));
        for text in taken_out_by(&fields) {
            let gone = lines_of(&text).map(str::trim);
            let gone = gone.filter(|line| is_telling(line) && !lines.put_in.contains(*line));
            let gone: Vec<&str> = gone.collect();
            let longest = gone.iter().max_by_key(|line| line.len());
            lines.longest.extend(longest.map(|line| (*line).to_owned()));
            lines.taken_out.extend(gone.iter().map(|line| (*line).to_owned()));
        }
    }
}

/// Calls between two edits of a file that are looked at.
const MAX_BETWEEN: usize = 64;

/// Tells of an edit that shows nothing of its own (an import, say) what the newest one before it on the same file shows, while that stands
/// and nothing but edits changed the file between them.
pub(crate) fn pass_on_put_in(all: &mut [Event]) {
    for number in 0..all.len() {
        let earlier = all
            .get(number)
            .filter(|event| !event.is_outdated && event.outcome.failed() != Some(true));
        let put_in = earlier.and_then(|event| {
            let later = event.superseded_by?.checked_sub(FIRST_NUMBER)?;
            let is_same = all.get(later)?.target.line == event.target.line;
            let between = all
                .get(number + 1..later)
                .filter(|between| is_same && between.len() <= MAX_BETWEEN)?;
            let changes = |other: &Event| other.target.is_run && other.target.effect == Effect::Modify;
            let shown = event.target.puts_in.as_ref().or(event.put_in_before.as_ref())?;
            (!between.iter().any(changes)).then(|| (later, shown.clone()))
        });
        if let Some((later, line)) = put_in
            && let Some(later) = all.get_mut(later)
            && later.target.puts_in.is_none()
        {
            later.put_in_before = Some(line);
        }
    }
}

/// The lines of a file among those of its name.
fn of_file<'l>(alike: &'l mut Vec<EditedLines>, path: &str) -> Option<&'l mut EditedLines> {
    let found = alike.iter().position(|lines| is_same_file(&lines.path, path));
    if found.is_none() && alike.len() < MAX_ALIKE {
        alike.push(EditedLines {
            path: path.to_owned(),
            put_in: FxHashSet::default(),
            taken_out: FxHashSet::default(),
            longest: FxHashSet::default(),
        });
    }
    let last = alike.len().checked_sub(1)?;
    alike
        .get_mut(found.unwrap_or(last))
        .filter(|lines| is_same_file(&lines.path, path))
}

#[cfg(test)]
mod tests {
    use crate::events::source::{Context, source_turns};
    use crate::trajectory::views_of;

    /// If each of these edits, by file, old and new text, is marked as changed later: the same for texts and for blocks of a patch.
    fn outdated(edits: &[(&str, &str, &str)]) -> Vec<bool> {
        let texts = marked(edits, |path, old, new| {
            (
                "edit_file",
                serde_json::json!({"path": path, "old_str": old, "new_str": new}),
            )
        });
        let blocks = marked(edits, |path, old, new| {
            let block = format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE");
            ("apply_diff", serde_json::json!({"path": path, "diff": block}))
        });
        assert_eq!(texts, blocks, "{edits:?}");
        texts
    }

    fn marked(
        edits: &[(&str, &str, &str)],
        written: impl Fn(&str, &str, &str) -> (&'static str, serde_json::Value),
    ) -> Vec<bool> {
        let turns: Vec<String> = edits
            .iter()
            .flat_map(|(path, old, new)| {
                let (tool, arguments) = written(path, old, new);
                let call = serde_json::json!({"role": "assistant", "tool_calls":
                    [{"function": {"name": tool, "arguments": arguments.to_string()}}]});
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
        let first = ("/w/a.py", "rows = None", "rows = read(path)\nreturn rows");
        let second = ("a.py", "rows = read(path)", "rows = read_all(path)");
        assert_eq!(outdated(&[first, second]), [true, false]);
        // Taken out and put in again.
        let third = ("/w/a.py", "rows = read_all(path)", "rows = read(path)");
        assert_eq!(outdated(&[first, second, third]), [false, true, false]);
        // A line that stays in the text around a change.
        let around = (
            "/w/a.py",
            "rows = read(path)\n\n",
            "rows = read(path)\nrows.sort()",
        );
        assert_eq!(outdated(&[first, around]), [false, false]);
        // Another file of that name, and a line that stands in many places.
        let other = ("/v/a.py", "rows = read(path)", "rows = read_all(path)");
        assert_eq!(outdated(&[first, other]), [false, false]);
        let common = (
            "/w/a.py",
            "kept = rows_of(other_path)\nreturn rows",
            "return None",
        );
        assert_eq!(outdated(&[first, common]), [false, false]);
        let all = (
            "/w/a.py",
            "kept = rows_of(other_path)\nrows = read(path)\nreturn rows",
            "return None",
        );
        assert_eq!(outdated(&[first, all]), [true, false]);
    }
}
