//! Turns to be summarized, and what their tools did: read once, and only where that is asked for.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use super::event::Event;
use super::reading::actions;
use super::source::{Context, SourceTurn, source_turns};
use super::target::{Effect, ToolKind};
use crate::trajectory::TurnView;

/// Turns of a trajectory in order, as summarizers and footers read them.
pub struct Stretch<'a> {
    context: Context<'a>,
    turns: &'a [TurnView<'a>],
    /// The turn of the record that follows what is replaced, where that is known: some turns are not summarized.
    end: Option<usize>,
    sources: Vec<SourceTurn<'a>>,
    actions: OnceLock<(Vec<Event>, Vec<Event>)>,
}

impl<'a> Stretch<'a> {
    /// These turns, as they stand.
    pub fn of(turns: &'a [TurnView<'a>]) -> Self {
        Self::within(Context::of(turns), turns)
    }

    /// These turns, as others of their record show them.
    pub fn within(context: Context<'a>, turns: &'a [TurnView<'a>]) -> Self {
        Self {
            context,
            turns,
            end: None,
            sources: source_turns(context, turns, Into::into),
            actions: OnceLock::new(),
        }
    }

    /// The same turns, of a region that ends before this turn of their record.
    #[must_use]
    pub fn ending_before(self, end: usize) -> Self {
        Self {
            end: Some(end),
            ..self
        }
    }

    /// The turns of the region from one to its end, this one included; `place` is that among these turns.
    pub(crate) fn turns_from(&self, place: usize) -> usize {
        let of_record = self.turns.get(place).zip(self.end);
        of_record.map_or(self.turns.len() - place, |(turn, end)| {
            end.saturating_sub(turn.index).max(1)
        })
    }

    /// The same turns, each text after `clean`.
    pub(crate) fn cleaned(&self, clean: impl FnMut(&'a str) -> Cow<'a, str>) -> Self {
        Self {
            context: self.context,
            turns: self.turns,
            end: self.end,
            sources: source_turns(self.context, self.turns, clean),
            actions: OnceLock::new(),
        }
    }

    /// Prose, calls and answers of each turn.
    pub(crate) fn sources(&self) -> &[SourceTurn<'a>] {
        &self.sources
    }

    /// The calls with their outcomes, each told once.
    pub(crate) fn actions(&self) -> &[Event] {
        &self.read().0
    }

    /// The runs that a later one of the same call superseded.
    pub(crate) fn earlier(&self) -> &[Event] {
        &self.read().1
    }

    /// If a call of a service behind a turn of the record changed something there. Edits and commands are no such calls: they are the
    /// steps of a task, which goes on after them.
    pub(crate) fn acted_behind(&self, turn: usize) -> bool {
        let start = self.turns.partition_point(|view| view.index <= turn);
        let mut actions = self.actions().iter().filter(|action| action.turn >= start);
        actions.any(|action| {
            let target = &action.target;
            let is_service =
                target.effect == Effect::Other && !target.is_run && target.kind != ToolKind::Task;
            is_service && !action.is_lookup() && action.is_answered && action.outcome.failed() != Some(true)
        })
    }

    fn read(&self) -> &(Vec<Event>, Vec<Event>) {
        self.actions.get_or_init(|| actions(&self.sources))
    }
}

impl<'a> Deref for Stretch<'a> {
    type Target = [TurnView<'a>];

    fn deref(&self) -> &Self::Target {
        self.turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::{Role, views_of};

    #[test]
    fn turns_are_counted_from_the_end_of_their_region_whichever_are_summarized() {
        let view = |index: usize| TurnView {
            index,
            role: Role::Assistant,
            text: "Done.".into(),
            calls: Vec::new(),
            responses: Vec::new(),
        };
        let views = [3, 4, 6].map(view);
        let counted = |stretch: Stretch<'_>| [0, 1, 2].map(|place| stretch.turns_from(place));
        assert_eq!(counted(Stretch::of(&views).ending_before(8)), [5, 4, 2]);
        assert_eq!(counted(Stretch::of(&views)), [3, 2, 1]);
    }

    #[test]
    fn services_act_and_edits_commands_and_lookups_go_on_with_a_task() {
        for (name, arguments, output, expected) in [
            (
                "cancel_order",
                r#"{"order": "W1"}"#,
                r#"{"status": "cancelled"}"#,
                true,
            ),
            (
                "cancel_order",
                r#"{"order": "W1"}"#,
                "Error: order not found",
                false,
            ),
            (
                "get_order",
                r#"{"order": "W1"}"#,
                r#"{"status": "pending"}"#,
                false,
            ),
            ("bash", r#"{"command": "make install"}"#, "done", false),
            (
                "write_file",
                r#"{"path": "a.py", "content": "x"}"#,
                "Wrote a.py",
                false,
            ),
        ] {
            let record = serde_json::json!({"messages": [
                {"role": "user", "content": "Yes, please."},
                {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]},
                {"role": "tool", "content": output},
            ]});
            let record = record.to_string();
            let views = views_of(&record);
            let stretch = Stretch::of(&views);
            assert_eq!(stretch.acted_behind(0), expected, "{name} {output}");
            assert!(!stretch.acted_behind(2), "{name}");
        }
    }
}
