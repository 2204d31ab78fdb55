//! Carries out one compression: writes the new text, counts its tokens, and verifies that nothing else changed.

use std::borrow::Cow;

use super::CompressionCase;
use crate::compress::{Compressed, Placement, Region, Violation, Way, verify};
use crate::fit::count::rendered::Rendered;
use crate::fit::merged::EarlierSummary;
use crate::fit::{CountMode, TurnCounter};
use crate::summarize::marker::{END_MARKER, FOLLOWED_MESSAGE_MARKER, MESSAGE_MARKER};
use crate::trajectory::{self, Edit, Record, Role};

/// A region, and the place of the summary to be written.
pub struct Rewrite<'a> {
    /// The record and its bounds.
    pub case: &'a CompressionCase<'a>,
    /// The turns to be replaced.
    pub region: Region,
    /// The place of the summary.
    pub placement: Placement,
}

/// A compressed record, written and recounted.
#[derive(Debug)]
pub struct RewrittenRecord {
    /// The record's new text.
    pub text: String,
    /// Tokens of the trajectory, counted as the budget is.
    pub tokens: usize,
    /// Tokens of the values of its turns.
    pub value_tokens: usize,
    /// Tokens as rendered; `None` without a template.
    pub rendered_tokens: Option<usize>,
    /// Number of kept turns that the template renders differently than before.
    pub changed_turns: usize,
    /// Tokens of the summary's values, markers included: those of its turn beyond the text that was there before.
    pub summary_tokens: usize,
    /// Number of turns.
    pub turns: usize,
    /// The place of the summary.
    pub placement: Placement,
}

/// The reason why a compression cannot be written.
#[derive(Debug)]
pub enum RewriteError {
    /// No place for the summary keeps the order of roles.
    NoPlace,
    /// The chat template refuses the compressed record.
    Refused(String),
    /// An invariant would be violated.
    Violation(Violation),
}

impl Rewrite<'_> {
    /// Returns the text of the last human turn, if the region contains it.
    pub fn quoted_human(&self) -> Option<String> {
        let last_human = self.case.outline.last_human;
        let last_human = last_human.filter(|last| self.region.contains(*last))?;
        let view = self.case.views.get(last_human)?;
        crate::fit::merged::human_text(&view).map(Cow::into_owned)
    }

    /// Returns the text of the last human turn under a marker that says whose it is, where that is not plain: in a turn with another text, or
    /// where the region goes on after it.
    fn marked_message(&self, quoted: String) -> String {
        let is_followed = self
            .case
            .outline
            .last_human
            .is_some_and(|last| last + 1 < self.region.end());
        let marker = match self.placement.host {
            _ if !self.case.marks_message(self.region) => return quoted,
            _ if is_followed => FOLLOWED_MESSAGE_MARKER,
            Some(_) => MESSAGE_MARKER,
            None => return quoted,
        };
        [marker, "\n", &quoted].concat()
    }

    /// Returns the number of kept turns that the chat template would render differently with this summary in place.
    ///
    /// # Errors
    ///
    /// The record cannot be written with this summary.
    pub fn changed_turns(&self, summary: &str) -> Result<usize, RewriteError> {
        let text = self.spliced(summary).ok_or_else(Self::no_splice)?;
        let written = self.parsed(&text)?;
        if let Some(quoted) = self.quoted_human()
            && !self.summary_text(&written).contains(&quoted)
        {
            return Err(RewriteError::Violation(Violation::LastTurnGone("human")));
        }
        let after = self
            .case
            .rendered_uncounted(&written)
            .map_err(RewriteError::Refused)?;
        Ok(self.changed_in(after.as_ref()))
    }

    /// Writes the record with `summary` in place of the region, recounts what changed, and verifies the whole.
    pub fn write(
        &self,
        summary: &str,
        counter: &mut TurnCounter<'_>,
    ) -> Result<RewrittenRecord, RewriteError> {
        let (record, outline) = (self.case.record, self.case.outline);
        let text = self.spliced(summary).ok_or_else(Self::no_splice)?;
        let written = self.parsed(&text)?;
        let is_own_turn = self.placement.host.is_none();
        let appended = self.appended();
        // Kept turns were counted when the record was read; only changed turns are counted again, as written.
        let changed = appended
            .iter()
            .map(|turn| self.place_after(*turn))
            .chain(is_own_turn.then_some(self.region.start()));
        let changed: Vec<(usize, usize)> = changed
            .filter_map(|index| Some((index, counter.turn(written.turns.get(index)?).tokens())))
            .collect();
        let recounted: usize = changed.iter().map(|(_, tokens)| tokens).sum();
        let kept = |index: &usize| !self.region.contains(*index) && !appended.contains(index);
        let counted = self.case.counted;
        let turns = counted.turns.iter().enumerate();
        let kept_tokens: usize = turns
            .filter(|(index, _)| kept(index))
            .map(|(_, turn)| turn.tokens())
            .sum();
        let value_tokens = counted.extra_tokens + kept_tokens + recounted;
        let rendered = self.case.rendered(&written).map_err(RewriteError::Refused)?;
        let tokens = match (self.case.fitter.settings.count, &rendered) {
            (CountMode::Rendered, Some(rendered)) => rendered.tokens,
            _ => value_tokens,
        };
        let stays = self.placement.host.map_or(0, |turn| self.value_tokens(turn));
        let replaced = self.replaced_summary().map_or(0, |earlier| earlier.tokens);
        let last_human = outline.last_human.filter(|last| self.region.contains(*last));
        let quoted_tokens = last_human.map_or(0, |turn| self.value_tokens(turn));
        let summary_turn = self.summary_turn();
        let summary_tokens = changed
            .iter()
            .find(|(index, _)| *index == summary_turn)
            .map_or(0, |(_, tokens)| tokens + replaced)
            .saturating_sub(stays + quoted_tokens);
        let quoted = self.quoted_human();
        let without = self.replaced_summary();
        let without = without.and_then(|earlier| earlier.turn_without(record, quoted.is_some()));
        verify(&Compressed {
            outline,
            region: self.region,
            original_turns: &record.turns,
            in_place: self.placement.host.zip(without.as_deref()),
            written_turns: &written.turns,
            original_frame: record.frame(),
            written_frame: written.frame(),
            appended: &appended,
            quoted_human: quoted.as_deref(),
            summary_text: &self.summary_text(&written),
            own_turn: is_own_turn,
            written_tokens: tokens,
        })
        .map_err(RewriteError::Violation)?;
        let changed_turns = self.changed_in(rendered.as_ref());
        let turns = written.turns.len();
        Ok(RewrittenRecord {
            value_tokens,
            tokens,
            rendered_tokens: rendered.map(|rendered| rendered.tokens),
            changed_turns,
            summary_tokens,
            turns,
            placement: self.placement,
            text,
        })
    }

    fn no_splice() -> RewriteError {
        let what = "no place for the summary".to_owned();
        RewriteError::Violation(Violation::KeptPartChanged(what))
    }

    fn parsed<'t>(&self, text: &'t str) -> Result<Record<'t>, RewriteError> {
        let format = Some(self.case.record.format);
        let broken = |error: trajectory::ParseError| Violation::KeptPartChanged(error.to_string());
        trajectory::parse(text.as_bytes(), format).map_err(|error| RewriteError::Violation(broken(error)))
    }

    /// Returns the turns of the original that gain text: the one with the notice, and the summary's host.
    fn appended(&self) -> Vec<usize> {
        let notice = self.case.notice.as_ref().map(|(turn, _)| *turn);
        notice.into_iter().chain(self.placement.host).collect()
    }

    /// Returns the index of a kept turn in the written record.
    fn place_after(&self, turn: usize) -> usize {
        let own_turn = usize::from(self.placement.host.is_none());
        if turn < self.region.end() {
            turn
        } else {
            turn + own_turn - self.region.range().len()
        }
    }

    /// Returns the index of the turn with the summary in the written record.
    fn summary_turn(&self) -> usize {
        let host = self.placement.host.map(|turn| self.place_after(turn));
        host.unwrap_or(self.region.start())
    }

    /// Returns all text of the turn with the summary.
    fn summary_text(&self, written: &Record<'_>) -> String {
        let index = self.summary_turn();
        let turn = written.turns.get(index);
        let view = turn.map(|turn| trajectory::view(turn, index));
        view.map(|view| view.texts().collect()).unwrap_or_default()
    }

    fn changed_in(&self, after: Option<&Rendered>) -> usize {
        let before = self.case.counted.rendering().zip(after);
        let own_turn = self.placement.host.is_none();
        before.map_or(0, |(before, after)| {
            before.changed_turns(after, self.region, &self.appended(), own_turn)
        })
    }

    /// Returns the tokens of the values of a turn of the original.
    fn value_tokens(&self, turn: usize) -> usize {
        self.case.counted.turns.get(turn).map_or(0, |cost| cost.tokens())
    }

    /// Returns the earlier summary that this one replaces in the turn that receives it.
    fn replaced_summary(&self) -> Option<&EarlierSummary> {
        let earlier = self.case.replaced_summary(self.region)?;
        (self.placement.host == Some(earlier.turn)).then_some(earlier)
    }

    /// Returns the record's text with the region replaced; `None` where there is nothing to splice into.
    fn spliced(&self, summary: &str) -> Option<String> {
        let record = self.case.record;
        let mut body = summary.to_owned();
        let quoted = self.quoted_human().map(|quoted| self.marked_message(quoted));
        if self.placement.end_marker || quoted.is_some() {
            body.push_str("\n\n");
            body.push_str(END_MARKER);
        }
        let region =
            record.turn_span(self.region.start())?.start..record.turn_span(self.region.end() - 1)?.end;
        let mut edits: Vec<Edit> = self.case.notice.iter().map(|(_, edit)| edit.clone()).collect();
        if let Some(earlier) = self.replaced_summary() {
            edits.push(earlier.replaced(record, &body, quoted.as_deref())?);
        } else {
            push_quoted(&mut body, quoted.as_deref());
        }
        let gone = |at| Edit {
            at,
            text: String::new(),
        };
        let Some(host) = self.placement.host else {
            edits.push(Edit {
                at: region,
                text: trajectory::new_turn(record, &body),
            });
            return Some(trajectory::apply(record.text, edits));
        };
        let turn = record.turns.get(host)?;
        // Every host is the turn right before the region or right after it: the text between the two goes with the region.
        let is_before = host < self.region.start();
        edits.push(if is_before {
            gone(record.turn_span(host)?.end..region.end)
        } else {
            gone(region.start..record.turn_span(host)?.start)
        });
        edits.extend(match self.placement.way {
            _ if self.replaced_summary().is_some() => None,
            Way::HumanAfter => Some(trajectory::prepend_text(record, turn, &format!("{body}\n\n"))?),
            Way::Part => {
                // Templates join the texts of parts without a break.
                let is_alone = turn.role == Role::Tool && turn.speaker() == Role::Human;
                let lead = if is_alone { "" } else { "\n\n" };
                Some(trajectory::append_part(record, turn, &format!("{lead}{body}"))?)
            }
            _ => Some(trajectory::append_text(record, turn, &format!("\n\n{body}"))?),
        });
        Some(trajectory::apply(record.text, edits))
    }
}

fn push_quoted(body: &mut String, quoted: Option<&str>) {
    if let Some(quoted) = quoted {
        body.push_str("\n\n");
        body.push_str(quoted);
    }
}
