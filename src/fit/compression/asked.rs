//! The requests of people in a record, and what its turns are read by.

use std::borrow::Cow;

use super::CompressionCase;
use crate::compress::Region;
use crate::fit::merged::{bodies_in, human_text};
use crate::summarize::extractive::{asks_for_something, only_agrees};
use crate::summarize::marker::IN_PROGRESS;
use crate::summarize::{Context, Forms, Stretch, place_after, request_in};
use crate::trajectory::{Role, TurnView};

/// The request that an assistant is working on.
pub(super) struct CurrentRequest {
    /// Its turn, or that of the summary that says it.
    pub turn: usize,
    pub text: String,
}

impl CurrentRequest {
    /// Returns true if it is done: it only agreed to a proposal, and a call after it did something.
    pub(super) fn is_done(&self, turns: &Stretch<'_>) -> bool {
        only_agrees(&self.text) && turns.acted_behind(self.turn)
    }
}

/// Returns the request in progress, according to the summaries in a turn.
fn told_in_progress(view: &TurnView<'_>) -> Option<String> {
    let mut lines = bodies_in(view).into_iter().rev().flat_map(str::lines);
    let told = lines.find_map(|line| line.strip_prefix(IN_PROGRESS))?;
    Some(told.trim().to_owned())
}

impl CompressionCase<'_> {
    /// Returns the turn before these, if an assistant said it or it has a summary.
    pub(super) fn before(&self, turns: &[TurnView<'_>]) -> Option<Cow<'_, TurnView<'_>>> {
        let before = turns.first()?.index.checked_sub(1)?;
        let role = self.outline.turns.get(before)?.role;
        let view = || self.read_views.get(before);
        match role {
            Role::Assistant => view(),
            Role::Human => view().filter(|view| !bodies_in(view).is_empty()),
            _ => None,
        }
    }

    /// Returns what turns behind `before` are read by.
    pub(super) fn context<'v>(&self, before: Option<&'v TurnView<'v>>) -> Context<'v> {
        Context {
            before,
            forms: *self.forms.get_or_init(|| Forms::of(self.read_views.all())),
        }
    }

    /// Returns the first request of a person in these turns.
    pub(super) fn first_asked(&self, turns: std::ops::Range<usize>) -> Option<String> {
        let mut views = self.read_views.range(turns);
        views.find_map(|view| Some(self.without_secrets(self.asked(&view)?)))
    }

    /// Returns the request of a person in a turn, without output of the environment there.
    fn asked(&self, view: &TurnView<'_>) -> Option<String> {
        let before = self.before(std::slice::from_ref(view));
        let said = human_text(view)?;
        let context = self.context(before.as_deref());
        let said = request_in(&said, place_after(context), context.forms.openings);
        asks_for_something(&said).then(|| said.into_owned())
    }

    /// Returns the request that the assistant is still working on where a region ends, ignoring words to continue;
    /// `None` where it directly precedes the region, in the protected head, and stays there.
    pub(super) fn in_progress(&self, region: Region) -> Option<CurrentRequest> {
        let role_at = |turn: usize| self.outline.turns.get(turn).map(|turn| turn.role);
        let goes_on = role_at(region.end()) == Some(Role::Assistant);
        let at_work = matches!(role_at(region.end() - 1), Some(Role::Tool | Role::Assistant));
        if !(goes_on && at_work) {
            return None;
        }
        let merged = self
            .replaced_summary(region)
            .map(|merged| Cow::Borrowed(&merged.view));
        let turns = merged
            .into_iter()
            .chain(self.read_views.range(region.range()))
            .rev();
        let mut asked = turns.filter_map(|view| {
            let text = self.asked(&view).or_else(|| told_in_progress(&view))?;
            let turn = view.index;
            // The text after the summary quotes the last human turn verbatim.
            Some((Some(turn) != self.outline.last_human).then_some(CurrentRequest { turn, text }))
        });
        asked.next().flatten()
    }
}
