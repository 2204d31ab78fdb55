//! One compression carried out: the new text, its exact cost, and the proof that nothing else changed.

use super::TurnCounter;
use crate::compress::{Compressed, Outline, Placement, Region, Violation, verify};
use crate::summarize::marker::END_MARKER;
use crate::trajectory::{self, Edit, Record, TurnView};

/// What is to be written in place of a region.
pub struct Attempt<'a> {
    pub record: &'a Record<'a>,
    pub views: &'a [TurnView<'a>],
    pub outline: &'a Outline,
    pub region: Region,
    pub placement: Placement,
    /// The edit that puts the notice into the system turn, with that turn's index.
    pub notice: Option<&'a (usize, Edit)>,
}

/// A compressed record, written and recounted.
#[derive(Debug)]
pub struct Written {
    /// The record's new text.
    pub text: String,
    /// What the trajectory costs now.
    pub tokens: usize,
    /// Its turns.
    pub turns: usize,
}

impl Attempt<'_> {
    /// The last human turn's text, where the region takes it.
    pub fn quoted_human(&self) -> Option<&str> {
        let last_human = self
            .outline
            .last_human
            .filter(|last| self.region.contains(*last))?;
        self.views.get(last_human).and_then(super::spoken)
    }

    /// Writes the record with `summary` in place of the region, recounts what changed, and verifies the whole.
    pub fn write(&self, summary: &str, counter: &mut TurnCounter<'_>) -> Result<Written, Violation> {
        let broken = |what: &str| Violation::KeptPartChanged(what.to_owned());
        let text = self
            .spliced(summary)
            .ok_or_else(|| broken("no place for the summary"))?;
        let format = Some(self.record.format);
        let written =
            trajectory::parse(text.as_bytes(), format).map_err(|error| broken(&error.to_string()))?;
        let own_turn = self.placement.merged_into.is_none();
        let notice_turn = self.notice.map(|(turn, _)| *turn);
        let appended: Vec<usize> = notice_turn
            .into_iter()
            .chain(self.placement.merged_into)
            .collect();
        // Kept turns were counted when the record was read; only what changed is counted again, as it was written.
        let changed = appended
            .iter()
            .copied()
            .chain(own_turn.then_some(self.region.start()));
        let recounted: usize = changed
            .filter_map(|index| written.turns.get(index))
            .map(|turn| counter.turn(turn).tokens)
            .sum();
        let kept = |index: &usize| !self.region.contains(*index) && !appended.contains(index);
        let turns = self.outline.turns.iter().enumerate();
        let kept_tokens: usize = turns
            .filter(|(index, _)| kept(index))
            .map(|(_, turn)| turn.tokens)
            .sum();
        let tokens = self.outline.extra_tokens + kept_tokens + recounted;
        let original_turns: Vec<&str> = self.record.turns.iter().map(|turn| turn.text).collect();
        let written_turns: Vec<&str> = written.turns.iter().map(|turn| turn.text).collect();
        let summary_index = self.placement.merged_into.unwrap_or(self.region.start());
        let summary_view = written
            .turns
            .get(summary_index)
            .map(|turn| trajectory::view(turn, summary_index));
        let summary_text = summary_view
            .map(|view| view.texts().collect::<String>())
            .unwrap_or_default();
        verify(&Compressed {
            outline: self.outline,
            region: self.region,
            original_turns: &original_turns,
            written_turns: &written_turns,
            original_frame: frame(self.record),
            written_frame: frame(&written),
            appended: &appended,
            quoted_human: self.quoted_human(),
            summary_text: &summary_text,
            own_turn,
            written_tokens: tokens,
        })?;
        let turns = written.turns.len();
        Ok(Written { text, tokens, turns })
    }

    /// The record's text with the region replaced; `None` where there is nothing to splice into.
    fn spliced(&self, summary: &str) -> Option<String> {
        let mut body = summary.to_owned();
        let quoted = self.quoted_human();
        if self.placement.end_marker || quoted.is_some() {
            body.push_str("\n\n");
            body.push_str(END_MARKER);
        }
        if let Some(quoted) = quoted {
            body.push_str("\n\n");
            body.push_str(quoted);
        }
        let last = self.record.turn_span(self.region.end() - 1)?.end;
        let mut edits: Vec<Edit> = self.notice.map(|(_, edit)| edit.clone()).into_iter().collect();
        match self.placement.merged_into {
            None => {
                let first = self.record.turn_span(self.region.start())?.start;
                edits.push(Edit {
                    at: first..last,
                    text: trajectory::new_turn(self.record, &body),
                });
            }
            Some(turn) => {
                let taking = self.record.turns.get(turn)?;
                edits.push(trajectory::append_text(
                    self.record,
                    taking,
                    &format!("\n\n{body}"),
                )?);
                edits.push(Edit {
                    at: self.record.turn_span(turn)?.end..last,
                    text: String::new(),
                });
            }
        }
        Some(trajectory::apply(self.record.text, edits))
    }
}

/// What stands before the first turn and after the last.
fn frame<'a>(record: &Record<'a>) -> (&'a str, &'a str) {
    let start = record.turn_span(0).map_or(0, |span| span.start);
    let end = record
        .turns
        .len()
        .checked_sub(1)
        .and_then(|last| record.turn_span(last))
        .map_or(0, |span| span.end);
    (
        record.text.get(..start).unwrap_or_default(),
        record.text.get(end..).unwrap_or_default(),
    )
}
