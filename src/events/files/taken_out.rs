//! The lines that later calls took out of the files that earlier ones put them into.

use rustc_hash::{FxHashMap, FxHashSet};

use super::put_in::{put_in_by, taken_out_by};
use crate::events::event::Event;
use crate::events::line::{cleaned, is_telling, lines_of};
use crate::events::shell::replaced::{ReplacedText, replaced_by};
use crate::events::shell::{Step, is_same_file, last_step};
use crate::events::source::SourceTurn;
use crate::events::tools::{ArgumentFields, Holds};

/// Files of one name that are told apart.
const MAX_ALIKE: usize = 16;

/// Files of one call, and texts taken out of one file, that are looked at.
const MAX_FILES: usize = 16;
const MAX_TEXTS: usize = 512;

/// Longest answer that is searched for what a command was to take out, in bytes.
const MAX_SHOWN: usize = 20_000;

/// Letters of the shortest text that tells the line it is a part of from others.
const MIN_PART: usize = 12;

/// The mark before a line that was put in, and the one behind a line that is cut.
const PUT_IN: &str = "+ ";
const CUT: char = '…';

/// Lines of a file that later calls put in, and texts that they took out.
struct EditedLines {
    path: String,
    put_in: FxHashSet<String>,
    taken_out: Vec<ReplacedText>,
    /// Texts that their commands put in the place of what they took out.
    put_back: Vec<String>,
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
                all.note(event, &fields, turns);
            }
        }
        all
    }

    /// Notes a call that stands before those noted so far.
    fn note(&mut self, event: &Event, fields: &ArgumentFields<'_>, turns: &[SourceTurn<'_>]) {
        let put = lines_put_in(fields);
        let shown = event.answer(turns).filter(|answer| answer.len() <= MAX_SHOWN);
        let gone = gone_by(fields, shown.unwrap_or_default());
        let created = event.own_touches().iter().any(|touch| touch.step == Step::Create);
        let is_whole = created && fields.get(Holds::Content).is_some();
        for path in files_of(event) {
            let Some(lines) = self.of_file(path) else { continue };
            lines.put_in.extend(put.iter().cloned());
            let room = MAX_TEXTS.saturating_sub(lines.taken_out.len());
            let is_back = |gone: &ReplacedText| match gone {
                ReplacedText::Line(line) => lines.put_in.contains(line),
                ReplacedText::Parts(..) => lines.put_back.iter().any(|text| gone.is_in(text)),
            };
            let gone = || gone.iter().filter(|text| !is_back(text)).take(room).cloned();
            let longest = gone().filter_map(ReplacedText::into_line).max_by_key(String::len);
            let taken_out: Vec<ReplacedText> = gone().collect();
            let room = MAX_TEXTS.saturating_sub(lines.put_back.len());
            let by = taken_out.iter().filter_map(ReplacedText::by).take(room);
            lines.put_back.extend(by.map(str::to_owned));
            lines.taken_out.extend(taken_out);
            lines.longest.extend(longest);
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
                put_back: Vec::new(),
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
        let begins = |text: &ReplacedText| matches!(text, ReplacedText::Line(text) if text.starts_with(line));
        let is_gone = self.has_taken(line) || is_cut && self.taken_out.iter().any(begins);
        !is_there && (self.is_rewritten || is_gone)
    }

    fn has_taken(&self, line: &str) -> bool {
        self.taken_out.iter().any(|text| match text {
            ReplacedText::Line(text) => {
                text == line || text.len() >= MIN_PART && line.contains(text.as_str())
            }
            ReplacedText::Parts(..) => text.is_in(line),
        })
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
        taken_out.note(event, &fields, turns);
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

/// The texts that a call takes out of its files: lines that its edit or patch has, and what its command replaces, if its answer does not
/// show it.
fn gone_by(fields: &ArgumentFields<'_>, shown: &str) -> Vec<ReplacedText> {
    let mut gone = Vec::new();
    for text in taken_out_by(fields) {
        let lines = lines_of(&text).filter(|line| is_telling(line));
        gone.extend(lines.map(|line| ReplacedText::Line(cleaned(line))));
    }
    let command = fields.get(Holds::Command).unwrap_or_default();
    // A text that the answer shows was not found, or came again; some show the command once more.
    let shown: Vec<&str> = shown
        .lines()
        .filter(|line| !command.contains(line.trim()))
        .collect();
    let is_shown = |text: &ReplacedText| shown.iter().any(|line| text.is_in(line));
    let replaced = replaced_by(&command).into_iter();
    gone.extend(replaced.filter(|text| !is_shown(text)));
    gone
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
    fn scripts_and_patches_of_several_files_take_lines_out() {
        let edit = serde_json::json!({"path": "/w/src/a.cc", "old_str": "namespace a {", "new_str": "namespace a {\nstatic Counter overflow{\"x\"};"});
        let command = "b 'remove' //x && python3 - <<'E'\np='src/a.cc'\ns=open(p).read()\ns=s.replace('\\nstatic Counter overflow{\"x\"};\\n','')\nopen(p,'w').write(s)\nE\ngrep -rn x src || echo none";
        let added = "*** Begin Patch\n*** Update File: a/x.go\n@@\n+\tpages := 1\n*** Update File: b/y.go\n@@\n+func Pages(c Context) (int64, error) { return pages_of(c) }\n*** End Patch";
        let removed = "*** Begin Patch\n*** Update File: b/y.go\n@@\n-func Pages(c Context) (int64, error) { return pages_of(c) }\n+func Keys() {\n*** End Patch";
        let calls = [
            ("edit_file", edit),
            ("run_shell_command", serde_json::json!({"command": command})),
            ("apply_patch", serde_json::json!({"input": added})),
            ("apply_patch", serde_json::json!({"input": removed})),
        ];
        assert_eq!(marked_calls(&calls), [true, false, true, false]);
    }

    #[test]
    fn what_a_command_puts_back_stands() {
        let edit =
            || serde_json::json!({"path": "src/a.py", "old_str": "x", "new_str": "limit = slow_limit(rows)"});
        let sed = |script: &str| serde_json::json!({"command": format!("sed -i '{script}' src/a.py")});
        let there = ("bash", sed("s/slow_limit/fast_limit/"));
        let back = ("bash", sed("s/fast_limit/slow_limit/"));
        assert_eq!(
            marked_calls(&[("edit_file", edit()), there.clone()]),
            [true, false]
        );
        assert!(!marked_calls(&[("edit_file", edit()), there, back]).contains(&true));
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
