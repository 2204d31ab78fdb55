//! The embedded summarizer: quotes the region's most telling lines, deterministically and within the budget exactly.
//!
//! Quotations (`blocks`, `passages`) take most of the budget: text that later turns repeat, then the newest. Extraction
//! (`prose`, `work`, `previous`) makes candidate lines for the rest, ranking (`rank`) chooses among them, rendering (`render`) prints
//! them. Each step is a pure function of the one before.

mod block;
mod blocks;
mod call_line;
mod candidate;
mod changed_files;
mod conversation;
mod filling;
mod in_progress;
mod messages;
mod passages;
mod previous;
mod quoted;
mod rank;
mod render;
mod replies;
mod sentences;
mod small_talk;
#[cfg(test)]
mod tests;
mod unused;
mod verdicts;
mod work;

use futures_util::future::BoxFuture;

use super::grounding::References;
use super::marker::SUMMARY_MARKER;
use super::redact::redact;
use super::{Summarizer, Summary, SummaryError, SummaryRequest};
use crate::compress::anchors::{Anchor, Matcher, Search, matcher_of};
use crate::compress::reuse::Reuse;
use crate::events::files::end_states::EndStates;
use crate::events::source::SourceTurn;
use crate::tokens::TokenCounter;
use candidate::LineLimits;
use conversation::Conversation;
use filling::{Filling, held_or};
use passages::Passages;
use previous::PreviousSummary;
use rank::Chosen;
pub use small_talk::{asks_for_something, only_agrees};
use verdicts::Verdicts;

/// The embedded summarizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extractive {
    /// Secrets are replaced before anything is read.
    pub redaction: bool,
}

impl Default for Extractive {
    fn default() -> Self {
        Self { redaction: true }
    }
}

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn only_quotes(&self) -> bool {
        true
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        Box::pin(std::future::ready(self.with_request_in_progress(&request)))
    }
}

impl Extractive {
    /// The summary of a region, without the line of the request in progress: most of [`Summarizer::summarize`].
    pub fn summary(&self, request: &SummaryRequest<'_>) -> Result<Summary, SummaryError> {
        self.composed(None, request, true)
    }

    /// The summary, with quotations or without; under a line of the request in progress it does not ask again for what that says.
    fn composed(
        self,
        in_progress: Option<&str>,
        request: &SummaryRequest<'_>,
        quotes: bool,
    ) -> Result<Summary, SummaryError> {
        let marker_cost = request.counter.count(SUMMARY_MARKER);
        if marker_cost > request.max_tokens {
            return Err(SummaryError::BudgetTooSmall {
                max_tokens: request.max_tokens,
            });
        }
        let limits = LineLimits::within(request.max_tokens);
        let mut redactions = 0;
        let own;
        let stretch = if self.redaction && !request.is_redacted {
            own = request.turns.cleaned(|text| {
                let (redacted, count) = redact(text);
                redactions += count;
                redacted
            });
            &own
        } else {
            request.turns
        };
        let (turns, actions, earlier) = (stretch.sources(), stretch.actions(), stretch.earlier());
        let matcher = matcher_of(request.anchors);
        let mut is_known = said_in(turns, request.anchors.len(), &matcher);
        let mut previous = PreviousSummary::default();
        if let Some(body) = request.previous {
            let (body, count) = if self.redaction {
                redact(body)
            } else {
                (body.into(), 0)
            };
            redactions += count;
            previous = PreviousSummary::followed_by(&body, turns, limits);
            for (is_known, is_held) in is_known.iter_mut().zip(matcher.held(&body)) {
                *is_known |= is_held;
            }
        }
        let files = EndStates::of(previous.events().chain(actions).chain(earlier));
        let mut candidates = Vec::new();
        let runs_before = previous.carry_over(limits, stretch, &files, &mut candidates);
        let verdicts = Verdicts::of(turns, actions, limits.line);
        work::done(actions, &verdicts, &runs_before, &files, limits, &mut candidates);
        unused::take_out(&mut candidates, request.reuse, &matcher, actions, &files);
        work::open_errors(actions, &runs_before, &files, limits, &mut candidates);
        let known = known(request.anchors, &is_known);
        let (anchors, matcher) = match &known {
            Some(known) => (known.as_slice(), matcher_of(known)),
            None => (request.anchors, matcher),
        };
        let budget = request.max_tokens - marker_cost;
        let references = References::new(anchors, request.counter);
        let none_held = vec![false; anchors.len()];
        let mut messages = previous.messages(turns, limits);
        messages.extend(messages::messages(turns, limits));
        messages.pop_if(|message| in_progress.is_some_and(|line| message.is_told_in(line)));
        // References come before all lines.
        let free = budget.saturating_sub(references.room(&none_held, budget));
        let mut conversation = Conversation::within(budget, free, &messages, limits, request.counter);
        let said = conversation.lines(&matcher);
        let said_tokens = render::tokens(&said, request.counter);
        let passages_with = |reuse| {
            let blocks = if quotes {
                blocks::blocks(stretch, &files, &verdicts, reuse, &conversation.replies(), limits)
            } else {
                Vec::new()
            };
            Passages::of(blocks, reuse, anchors.len(), &matcher)
        };
        let target = request.target_tokens.saturating_sub(marker_cost);
        let filling = Filling {
            references: &references,
            matcher: &matcher,
            counter: request.counter,
            said: &said,
            budget: budget - said_tokens,
            target: target.min(budget).saturating_sub(said_tokens),
            is_update: request.previous.is_some(),
        };
        let listed = Some(&files).filter(|_| !request.files_follow);
        let mut lines = filling.filled_naming(listed, &candidates, &passages_with(request.reuse));
        if lines.is_empty() && request.reuse.is_all_known() {
            // Later turns speak of nothing in it: better the newest than nothing.
            lines = filling.filled(&candidates, &passages_with(Reuse::none()).of_newest());
        }
        conversation.fill_up(filling.left_by(&lines));
        lines.extend(conversation.lines(&matcher));
        lines.sort_by_key(|line| line.candidate.place());
        verdicts::take_out_repeated(&mut lines, request.reuse.goes_on());
        let mut is_lost = none_held;
        if self.redaction {
            redactions += redacted_again(&mut lines, &matcher, &mut is_lost, request.counter);
        }
        let held = held_or(&is_lost, lines.iter());
        // No line goes for references.
        let left = budget.saturating_sub(render::tokens(&lines, request.counter));
        let kept_free = references.room(&held, budget).min(left);
        let (text, tokens) = render::rendered(&mut lines, request.max_tokens, kept_free, request.counter);
        let held = held_or(&is_lost, lines.iter());
        let extended = references.added_to(&text, tokens, &held, request.max_tokens);
        Ok(Summary {
            text: extended.unwrap_or(text),
            redactions,
            ..Summary::default()
        })
    }
}

/// The anchors that are known, if not all of them are. What is not was redacted: it must not come back through a list of references.
fn known(anchors: &[Anchor], is_known: &[bool]) -> Option<Vec<Anchor>> {
    let known = anchors.iter().zip(is_known).filter(|(_, is_known)| **is_known);
    let known = || known.map(|(anchor, _)| anchor.clone()).collect();
    is_known.contains(&false).then(known)
}

/// Redacts the lines themselves: a value may show itself as a secret only where its name stands right before it. Returns
/// how many there were; anchors lost to it must not come back through a list of references.
fn redacted_again(
    lines: &mut [Chosen],
    matcher: &Matcher<'_>,
    is_lost: &mut [bool],
    counter: &dyn TokenCounter,
) -> usize {
    let mut redactions = 0;
    for line in lines {
        let (text, count) = redact(&line.candidate.text);
        if count == 0 {
            continue;
        }
        let is_held = matcher.held(&text);
        let text = text.into_owned();
        line.cost = rank::cost(&text, &mut String::new(), counter);
        line.candidate.text = text;
        line.held.retain(|index| {
            let stays = is_held.get(*index) == Some(&true);
            if !stays && let Some(is_lost) = is_lost.get_mut(*index) {
                *is_lost = true;
            }
            stays
        });
        redactions += count;
    }
    redactions
}

/// For each anchor whether these turns say it at all: a secret that was replaced they do not.
fn said_in(turns: &[SourceTurn<'_>], count: usize, matcher: &Matcher<'_>) -> Vec<bool> {
    let mut search = Search::new(matcher, vec![true; count]);
    for turn in turns {
        search.find(&turn.prose, |_, _| false);
        for (_, output) in &turn.answers {
            search.find(output, |_, _| false);
        }
        for text in turn.calls.iter().flat_map(|call| call.arguments.texts()) {
            search.find(text, |_, _| false);
        }
    }
    search
        .into_wanted()
        .into_iter()
        .map(|is_unsaid| !is_unsaid)
        .collect()
}
