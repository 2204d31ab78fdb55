//! The facts about a record's turns that the algorithm works on.

use super::count::Counted;
use super::fitter::Fitter;
use super::merged::human_text;
use crate::compress::{Outline, TurnContent, TurnFacts};
use crate::summarize::marker::body_of;
use crate::trajectory::{self, Record, Role, Turn, Views};

/// Returns the facts that the algorithm works on.
pub(super) fn outline(fitter: &Fitter, record: &Record<'_>, counted: &Counted, views: &Views<'_>) -> Outline {
    let answers = trajectory::answered_turns(views);
    let rendered = counted.governing_rendering(&fitter.settings);
    let rendered_costs = rendered.map(|rendered| rendered.turn_tokens(fitter.counter.as_ref()));
    let turns = record
        .turns
        .iter()
        .zip(&counted.turns)
        .zip(answers)
        .enumerate()
        .map(|(index, ((turn, cost), answers))| {
            let readable = cost.is_exact() && !turn.opaque;
            let quotable = readable && turn.is_plain_text();
            let rendered = rendered_costs.as_ref().and_then(|costs| costs.get(index));
            TurnFacts {
                role: turn.role,
                tokens: rendered.copied().unwrap_or(cost.tokens()),
                asked_before: TurnFacts::asked_before(index, answers),
                readable,
                quotable,
                content: content_of(turn, quotable, index, views),
                empty: turn.is_empty(),
            }
        });
    let last_human = views.all().rev().find(|view| human_text(view).is_some());
    let last_human = last_human.map(|view| view.index);
    let turns: Vec<TurnFacts> = turns.collect();
    let extra_tokens = rendered.map_or(counted.extra_tokens, |rendered| {
        let sum: usize = turns.iter().map(|turn| turn.tokens).sum();
        rendered.tokens.saturating_sub(sum)
    });
    Outline {
        turns,
        extra_tokens,
        last_human,
    }
}

/// Returns the form of a turn's content.
fn content_of(turn: &Turn<'_>, quotable: bool, index: usize, views: &Views<'_>) -> TurnContent {
    let opens_with_summary = || {
        let view = views.get(index);
        turn.role == Role::Human && view.is_some_and(|view| body_of(&view.text).is_some())
    };
    if turn.role == Role::Tool && turn.speaker() == Role::Human {
        TurnContent::Results {
            end_in_text: turn.last_text().is_some(),
        }
    } else if !quotable && turn.is_in_parts() {
        TurnContent::Parts
    } else if opens_with_summary() {
        TurnContent::Summary
    } else {
        TurnContent::Text
    }
}
