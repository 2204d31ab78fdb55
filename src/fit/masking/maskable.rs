//! The turns that masks are made from: all, or in very long records those around outputs that may be masked.

use std::borrow::Cow;

use crate::fit::compression::CompressionCase;
use crate::summarize::mask::is_long;
use crate::trajectory::{Role, TurnView};

impl<'a> CompressionCase<'a> {
    /// Returns the known views that masks are made from, in order.
    pub fn maskable(&self) -> Cow<'_, [TurnView<'a>]> {
        let known = self.known();
        if let Some(kept) = self.views.kept() {
            return Cow::Borrowed(kept.get(..known).unwrap_or(kept));
        }
        let wanted = self.around_outputs();
        let turns = wanted.iter().enumerate().take(known);
        let turns = turns.filter(|(_, is_wanted)| **is_wanted);
        let views = turns.filter_map(|(turn, _)| self.views.get(turn).map(Cow::into_owned));
        Cow::Owned(views.collect())
    }

    /// Returns for each turn true if it has a maskable output, or asked for one, or answers a turn that did.
    fn around_outputs(&self) -> Vec<bool> {
        let turns = &self.outline.turns;
        let mut is_wanted = vec![false; turns.len()];
        // The turns that asked, or that precede an output nobody asked for.
        let mut is_asking = vec![false; turns.len()];
        let mut speaker = None;
        for (index, facts) in turns.iter().enumerate() {
            if facts.role != Role::Tool {
                speaker = Some(index);
            }
            if self.may_be_masked(index) {
                let flags = [
                    is_wanted.get_mut(index),
                    is_asking.get_mut(facts.answers(index).or(speaker).unwrap_or(index)),
                ];
                flags.into_iter().flatten().for_each(|flag| *flag = true);
            }
        }
        let asks = |turn: usize| is_asking.get(turn) == Some(&true);
        for ((index, facts), is_wanted) in turns.iter().enumerate().zip(&mut is_wanted) {
            *is_wanted |= asks(index) || facts.answers(index).is_some_and(asks);
        }
        is_wanted
    }

    fn may_be_masked(&self, turn: usize) -> bool {
        let Some(read) = self.record.turns.get(turn) else {
            return false;
        };
        if !matches!(read.role, Role::Tool | Role::Human) || (!is_long(read.text) && read.images() == 0) {
            return false;
        }
        let view = self.views.get(turn);
        view.is_some_and(|view| {
            let has_long = view.responses.iter().any(|response| is_long(&response.content));
            has_long || !view.responses.is_empty() && read.images() > 0
        })
    }
}
