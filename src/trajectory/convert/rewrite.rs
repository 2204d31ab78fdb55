//! The record around its turns: the trajectory's key, `tools` and `system` in the target form, all else byte for byte.

use std::borrow::Cow;

use super::losses::{Loss, Losses};
use super::value::{functions_as_tools, tools_as};
use super::{ArgumentsForm, OutputForm};
use crate::trajectory::json::members::{Member, members};
use crate::trajectory::{Format, Record};

/// A record to be written.
pub(super) struct RecordRewrite<'r, 'a> {
    /// The record as it was read.
    pub record: &'r Record<'a>,
    /// The target form.
    pub target: OutputForm,
    /// The converted turns.
    pub turns: Vec<Cow<'a, str>>,
    /// The top-level `system` became a turn.
    pub takes_system: bool,
}

impl RecordRewrite<'_, '_> {
    /// Returns the record's text.
    pub fn text(&self, losses: &mut Losses) -> String {
        let text = self.record.text;
        let members = members(text);
        let (own, wanted) = (key(self.record.format), key(self.target.form));
        let mut written = String::with_capacity(text.len() + text.len() / 8);
        let mut copied = 0;
        let mut is_first = true;
        for member in &members {
            let [key, value] = [member.key, member.value].map(|part| self.record.span_of(part));
            let is_trajectory = member.is(own);
            let is_other = !is_trajectory && member.is(wanted);
            if is_other {
                losses.note(Loss::OtherTrajectory);
            }
            if is_other || self.takes_system && member.is("system") {
                // The comma before it is dropped as well, or the one after it.
                if is_first {
                    written.push_str(text.get(copied..key.start).unwrap_or_default());
                }
                copied = value.end;
                continue;
            }
            let before = text.get(copied..key.start).unwrap_or_default();
            let without_comma = before.trim_start().strip_prefix(',').map(str::trim_start);
            written.push_str(without_comma.filter(|_| is_first).unwrap_or(before));
            is_first = false;
            // The older name of `tools`, from before calls had ids.
            let tools = member.is("functions").then(|| functions_as_tools(member.value));
            let tools = tools.flatten().filter(|_| self.record.tools.is_none());
            if is_trajectory {
                written.extend(["\"", wanted, "\""]);
            } else if tools.is_some() {
                written.push_str("\"tools\"");
            } else {
                written.push_str(member.key);
            }
            written.push_str(text.get(key.end..value.start).unwrap_or_default());
            match tools {
                Some(tools) => written.push_str(&tools_as(&tools, self.tools_wanted())),
                None => written.push_str(&self.value(member, is_trajectory)),
            }
            copied = value.end;
        }
        written.push_str(text.get(copied..).unwrap_or_default());
        written
    }

    fn value<'m>(&self, member: &Member<'m>, is_trajectory: bool) -> Cow<'m, str> {
        if is_trajectory {
            return Cow::Owned(self.list(member.value));
        }
        if member.is("tools") && member.value != "null" {
            return tools_as(member.value, self.tools_wanted());
        }
        Cow::Borrowed(member.value)
    }

    /// Loaders accept a string in either form; templates expect a list together with arguments that are objects.
    fn tools_wanted(&self) -> ArgumentsForm {
        match self.target.form {
            Format::Messages => self.target.arguments,
            Format::ShareGpt => ArgumentsForm::String,
        }
    }

    /// Returns the list of turns, with its original white space around and between turns.
    fn list(&self, list: &str) -> String {
        let text = self.record.text;
        let spans: Vec<_> = (0..self.record.turns.len())
            .filter_map(|turn| self.record.turn_span(turn))
            .collect();
        let whole = self.record.span_of(list);
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
            return format!("[{}]", self.turns.join(", "));
        };
        let between = match spans.as_slice() {
            [one, two, ..] => text.get(one.end..two.start).unwrap_or(", "),
            _ => ", ",
        };
        let before = text.get(whole.start..first.start).unwrap_or("[");
        let after = text.get(last.end..whole.end).unwrap_or("]");
        [before, &self.turns.join(between), after].concat()
    }
}

fn key(format: Format) -> &'static str {
    match format {
        Format::ShareGpt => "conversations",
        Format::Messages => "messages",
    }
}
