//! The lines that later calls took out of the files that earlier ones put them into.

use rustc_hash::{FxHashMap, FxHashSet};

use super::put_in::{put_in_by, taken_out_by};
use crate::events::event::Event;
use crate::events::line::{cleaned, is_telling, lines_of};
use crate::events::shell::{Step, is_same_file, last_step};
use crate::events::source::SourceTurn;
use crate::events::tools::{ArgumentFields, Holds};

/// Files of one name that are told apart.
const MAX_ALIKE: usize = 16;

/// Files of one call, and texts taken out of one file, that are looked at.
const MAX_FILES: usize = 16;
const MAX_TEXTS: usize = 512;

/// Letters of the shortest text that tells the line it is a part of from others.
const MIN_PART: usize = 12;

/// The mark before a line that was put in, and the one behind a line that is cut.
const PUT_IN: &str = "+ ";
const CUT: char = '…';

/// Lines of a file that later calls put in, and texts that they took out.
struct EditedLines {
    path: String,
    put_in: FxHashSet<String>,
    taken_out: Vec<String>,
    /// The longest line that each of these calls took out.
    longest: FxHashSet<String>,
    /// A later call wrote all of it.
    is_rewritten: bool,
}

/// Lines that calls took out of files for good.
#[derive(Default)]
pub(crate) struct TakenOut {
    by_name: FxHashMap<String, Vec<EditedLines>>,
}

impl TakenOut {
    /// The lines that these calls took out.
    pub fn of(calls: &[&Event], turns: &[SourceTurn<'_>]) -> Self {
        let mut all = Self::default();
        let mut events = calls.to_vec();
        events.sort_by_key(|event| std::cmp::Reverse(event.number));
        for event in events {
            if let Some(fields) = edit_of(event, turns) {
                all.note(event, &fields);
            }
        }
        all
    }

    /// Notes a call that stands before those noted so far.
    fn note(&mut self, event: &Event, fields: &ArgumentFields<'_>) {
        let put = lines_put_in(fields);
        let gone = lines_taken_out(fields);
        let created = event.own_touches().iter().any(|touch| touch.step == Step::Create);
        let is_whole = created && fields.get(Holds::Content).is_some();
        for path in files_of(event) {
            let Some(lines) = self.of_file(path) else { continue };
            lines.put_in.extend(put.iter().cloned());
            let room = MAX_TEXTS.saturating_sub(lines.taken_out.len());
            let gone = gone.iter().filter(|line| !lines.put_in.contains(*line));
            let gone: Vec<String> = gone.take(room).cloned().collect();
            lines
                .longest
                .extend(gone.iter().max_by_key(|line| line.len()).cloned());
            lines.taken_out.extend(gone);
            lines.is_rewritten |= is_whole;
        }
    }

    /// If the line that an earlier call shows of what it put into its file was taken out.
    pub fn holds_shown(&self, event: &Event, shown: &str) -> bool {
        let line = shown.strip_prefix(PUT_IN);
        let mut files = files_of(event).filter_map(|file| self.by_path(file));
        line.is_some_and(|line| files.any(|lines| lines.is_out(line)))
    }

    /// If one of the lines that an earlier call put in was taken out: the longest of either, since short ones stand in many places.
    fn holds_longest(&self, event: &Event, put: &[String]) -> bool {
        let mut files = files_of(event).filter_map(|file| self.by_path(file));
        let longest = put.iter().max_by_key(|line| line.len());
        files.any(|lines| {
            let is_out = |line: &String| !lines.put_in.contains(line) && lines.has_taken(line);
            longest.is_some_and(is_out) || put.iter().any(|line| lines.longest.contains(line))
        })
    }

    fn by_path(&self, file: &str) -> Option<&EditedLines> {
        let mut alike = self.by_name.get(last_step(file)).into_iter().flatten();
        alike.find(|lines| is_same_file(&lines.path, file))
    }

    /// The lines of a file among those of its name.
    fn of_file(&mut self, path: &str) -> Option<&mut EditedLines> {
        let alike = self.by_name.entry(last_step(path).to_owned()).or_default();
        let found = alike.iter().position(|lines| is_same_file(&lines.path, path));
        if found.is_none() && alike.len() < MAX_ALIKE {
            alike.push(EditedLines {
                path: path.to_owned(),
                put_in: FxHashSet::default(),
                taken_out: Vec::new(),
                longest: FxHashSet::default(),
                is_rewritten: false,
            });
        }
        let last = alike.len().checked_sub(1)?;
        alike
            .get_mut(found.unwrap_or(last))
            .filter(|lines| is_same_file(&lines.path, path))
    }
}

impl EditedLines {
    /// If a line was taken out, as a whole or in part.
    fn is_out(&self, line: &str) -> bool {
        let is_cut = line.ends_with(CUT);
        let line = line.trim_end_matches([CUT, ' ']);
        let is_there =
            self.put_in.contains(line) || is_cut && self.put_in.iter().any(|other| other.starts_with(line));
        let begins = |text: &String| text.starts_with(line);
        let is_gone = self.has_taken(line) || is_cut && self.taken_out.iter().any(begins);
        !is_there && (self.is_rewritten || is_gone)
    }

    fn has_taken(&self, line: &str) -> bool {
        let is_it = |text: &String| text == line || text.len() >= MIN_PART && line.contains(text.as_str());
        self.taken_out.iter().any(is_it)
    }
}

/// Marks the calls that put in what a later one took out: the line that they show, or of those that show none any long one.
pub(crate) fn mark_taken_out(all: &mut [Event], turns: &[SourceTurn<'_>]) {
    let mut taken_out = TakenOut::default();
    for event in all.iter_mut().rev() {
        let Some(fields) = edit_of(event, turns) else {
            continue;
        };
        event.is_outdated |= match event.target.puts_in.as_deref() {
            Some(shown) if shown.starts_with(PUT_IN) => taken_out.holds_shown(event, shown),
            _ => taken_out.holds_longest(event, &lines_put_in(&fields)),
        };
        taken_out.note(event, &fields);
    }
}

/// The lines that a call puts into its file.
fn lines_put_in(fields: &ArgumentFields<'_>) -> Vec<String> {
    let put = put_in_by(fields);
    let put = put.iter().flat_map(|text| lines_of(text));
    put.filter(|line| is_telling(line)).map(cleaned).collect()
}

/// The arguments of a call that changed files.
fn edit_of<'c>(event: &Event, turns: &'c [SourceTurn<'_>]) -> Option<ArgumentFields<'c>> {
    let is_done = event.is_answered && !event.changed_nothing && event.outcome.failed() != Some(true);
    let call = turns.get(event.turn)?.calls.get(event.call)?;
    (is_done && files_of(event).next().is_some()).then(|| ArgumentFields::of(call))
}

/// The files that a call changed.
fn files_of(event: &Event) -> impl Iterator<Item = &str> {
    let touches = event.own_touches().iter();
    let written = touches.filter(|touch| matches!(touch.step, Step::Create | Step::Write));
    let written = written.filter_map(|touch| touch.file.as_deref());
    let own = event.target.file.as_deref();
    let others = written.filter(move |file| Some(*file) != own);
    own.into_iter().chain(others).take(MAX_FILES)
}

/// The lines that a call takes out of its files.
fn lines_taken_out(fields: &ArgumentFields<'_>) -> Vec<String> {
    let gone = taken_out_by(fields);
    let gone = gone.iter().flat_map(|text| lines_of(text));
    gone.filter(|line| is_telling(line)).map(cleaned).collect()
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
        let calls = edits.iter().map(|(path, old, new)| written(path, old, new));
        marked_calls(&calls.collect::<Vec<_>>())
    }

    fn marked_calls(calls: &[(&'static str, serde_json::Value)]) -> Vec<bool> {
        let turns: Vec<String> = calls
            .iter()
            .flat_map(|(tool, arguments)| {
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
    fn patches_of_several_files_take_lines_out() {
        let edit = serde_json::json!({"path": "/w/src/a.cc", "old_str": "namespace a {", "new_str": "namespace a {\nstatic Counter overflow{\"x\"};"});
        let added = "*** Begin Patch\n*** Update File: a/x.go\n@@\n+\tpages := 1\n*** Update File: b/y.go\n@@\n+func Pages(c Context) (int64, error) { return pages_of(c) }\n*** End Patch";
        let removed = "*** Begin Patch\n*** Update File: b/y.go\n@@\n-func Pages(c Context) (int64, error) { return pages_of(c) }\n+func Keys() {\n*** End Patch";
        let calls = [
            ("edit_file", edit),
            ("apply_patch", serde_json::json!({"input": added})),
            ("apply_patch", serde_json::json!({"input": removed})),
        ];
        assert_eq!(marked_calls(&calls), [false, true, false]);
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
