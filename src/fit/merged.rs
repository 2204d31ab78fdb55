//! Earlier summaries in turns with other content: removed from the summarizer's input, and replaced by the next.

use std::borrow::Cow;
use std::ops::Range;

use super::count::TurnCost;
use super::count::TurnCounter;
use crate::summarize::marker::{
    END_MARKER, FoundSummary, SUMMARY_MARKER, marked_message, summaries_in, text_beside,
};
use crate::trajectory::{self, Edit, Record, Role, TurnView};

/// The earlier summary in the turn that will receive the next one, which replaces it.
pub struct EarlierSummary {
    /// The index of the turn.
    pub turn: usize,
    /// The summary alone, as a summary turn; behind it the message that goes with it.
    pub view: TurnView<'static>,
    /// Tokens of the summary.
    pub tokens: usize,
    /// The byte range of the summaries in the turn's last text, with the message behind them that goes too.
    at: Range<usize>,
    /// The message of the user behind them that is not the last one any more.
    message: String,
    /// The text between several summaries.
    between: String,
    /// The text after them.
    after: String,
}

impl EarlierSummary {
    /// Returns the summary, or summaries, in a turn; `None` where there is none. A marked message of the user behind them stays only
    /// until another message of the user follows (`is_followed`).
    pub fn of(
        record: &Record<'_>,
        turn: usize,
        cost: TurnCost,
        counter: &mut TurnCounter<'_>,
        is_followed: bool,
    ) -> Option<Self> {
        let read = record
            .turns
            .get(turn)
            .filter(|read| cost.is_exact() && (read.is_plain_text() || read.is_in_parts()))?;
        let text = read.last_text()?;
        let found = summaries_in(&text, read.role == Role::Human);
        let (first, last) = found.first().zip(found.last())?;
        let mut at = first.at.start..last.at.end;
        let message = text
            .get(at.end..)
            .and_then(marked_message)
            .filter(|_| is_followed);
        if message.is_some() {
            at.end = text.len();
        }
        let message = message.unwrap_or_default();
        let bodies: Vec<&str> = found.iter().map(|found| found.body).collect();
        let between = found.windows(2).filter_map(|pair| match pair {
            [left, right] => text.get(left.at.end..right.at.start),
            _ => None,
        });
        let mut earlier = Self {
            turn,
            view: TurnView::of_text(
                turn,
                Role::Human,
                match message.as_str() {
                    "" => format!("{SUMMARY_MARKER}\n{}", bodies.join("\n")),
                    message => format!(
                        "{SUMMARY_MARKER}\n{}\n\n{END_MARKER}\n\n{message}",
                        bodies.join("\n")
                    ),
                },
            ),
            tokens: 0,
            between: between.collect(),
            after: text.get(at.end..).unwrap_or_default().to_owned(),
            at,
            message,
        };
        let without = earlier.turn_without(record, false)?;
        let left = counter.turn(&trajectory::turn_of(&without)?).tokens();
        earlier.tokens = cost.tokens().saturating_sub(left);
        Some(earlier)
    }

    /// Returns the edit that replaces it by a summary with markers; `quoted` goes after all other text of the turn.
    pub fn replaced(&self, record: &Record<'_>, summary: &str, quoted: Option<&str>) -> Option<Edit> {
        let turn = record.turns.get(self.turn)?;
        let lead = if self.at.start == 0 { "" } else { "\n\n" };
        let mut text = format!("{lead}{summary}{}", self.between);
        if let Some(quoted) = quoted {
            for more in [&self.after, "\n\n", quoted] {
                text.push_str(more);
            }
        }
        trajectory::replace_text(record, turn, self.stretch(quoted.is_some()), &text)
    }

    /// Returns the kept part of the turn as JSON: without the summary, and without its end if that `is_rewritten`.
    pub fn turn_without(&self, record: &Record<'_>, is_rewritten: bool) -> Option<String> {
        let turn = record.turns.get(self.turn)?;
        let between = if is_rewritten { "" } else { &self.between };
        let edit = trajectory::replace_text(record, turn, self.stretch(is_rewritten), between)?;
        let start = record.turn_span(self.turn)?.start;
        let local = Edit {
            at: edit.at.start.checked_sub(start)?..edit.at.end.checked_sub(start)?,
            text: edit.text,
        };
        Some(trajectory::apply(turn.text, vec![local]))
    }

    /// Returns the turn without the summary and the message that goes with it; `None` where nothing is left.
    pub fn left_of<'v>(&self, view: TurnView<'v>) -> Option<TurnView<'v>> {
        let mut view = beside_summaries(view)?;
        if !self.message.is_empty() {
            let responses = view.responses.iter_mut().map(|response| &mut response.content);
            for text in std::iter::once(&mut view.text).chain(responses) {
                if let Some(left) = text.strip_suffix(self.message.as_str()) {
                    *text = Cow::Owned(left.trim_end().to_owned());
                }
            }
        }
        Some(view)
    }

    fn stretch(&self, to_the_end: bool) -> Range<usize> {
        let more = if to_the_end { self.after.len() } else { 0 };
        self.at.start..self.at.end + more
    }
}

/// Returns the text of a person in a turn, without the summaries there.
pub fn human_text<'v>(view: &'v TurnView<'_>) -> Option<Cow<'v, str>> {
    if view.role != Role::Human {
        return None;
    }
    let found = summaries_in(&view.text, true);
    if found.is_empty() {
        return Some(Cow::Borrowed(&view.text));
    }
    let said = text_beside(&view.text, &found);
    (!said.is_empty()).then_some(Cow::Owned(said))
}

/// Returns the bodies of the summaries in a turn, in order.
pub fn bodies_in<'v>(view: &'v TurnView<'_>) -> Vec<&'v str> {
    let is_human = view.role == Role::Human;
    if !is_human && view.role != Role::Tool {
        return Vec::new();
    }
    let answers = view.responses.iter().map(|response| (&response.content, false));
    let texts = std::iter::once((&view.text, is_human)).chain(answers);
    let found = texts.flat_map(|(text, is_turn)| summaries_in(text, is_turn));
    found.map(|found| found.body).collect()
}

/// Returns a turn without its summaries; `None` where it has no summary, or nothing else.
pub fn without_summaries<'v>(view: &'v TurnView<'_>) -> Option<TurnView<'v>> {
    if bodies_in(view).is_empty() {
        return None;
    }
    beside_summaries(view.clone())
}

/// Returns a turn without its summaries; `None` where nothing is left.
pub fn beside_summaries(mut view: TurnView<'_>) -> Option<TurnView<'_>> {
    if view.role == Role::Human {
        let said = match human_text(&view) {
            Some(Cow::Borrowed(_)) => return Some(view),
            Some(Cow::Owned(said)) => said,
            // The turn has answers and a summary, and no other text.
            None if !view.responses.is_empty() => {
                view.role = Role::Tool;
                String::new()
            }
            None => return None,
        };
        view.text = Cow::Owned(said);
    } else if view.role == Role::Tool {
        let responses = view.responses.iter_mut().map(|response| &mut response.content);
        for text in std::iter::once(&mut view.text).chain(responses) {
            let found: Vec<FoundSummary<'_>> = summaries_in(text, false);
            if !found.is_empty() {
                *text = Cow::Owned(text_beside(text, &found));
            }
        }
    }
    Some(view)
}
