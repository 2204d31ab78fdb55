//! The facts about a record's turns that the algorithm works on.

use std::borrow::Cow;

use super::count::Counted;
use super::fitter::Fitter;
use super::merged::human_text;
use crate::compress::{Outline, TurnContent, TurnFacts};
use crate::summarize::marker::body_of;
use crate::summarize::{Context, Forms, answers_call, spoken_in};
use crate::trajectory::{self, Record, Role, Turn, TurnView, Views};

/// The place of an environment's answer in a person's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerInText {
    /// In the group of its call.
    InGroup,
    /// With the next turn of the agent, which acts on it, as what people say is: so a record of a replay ends with what is trained on.
    WithNextTurn,
}

impl AnswerInText {
    /// The place in a record that is compressed, or in the context of a replay.
    pub(super) fn of(is_replay: bool) -> Self {
        if is_replay {
            Self::WithNextTurn
        } else {
            Self::InGroup
        }
    }
}

/// Returns the facts that the algorithm works on.
pub(super) fn outline(
    fitter: &Fitter,
    record: &Record<'_>,
    counted: &Counted,
    views: &Views<'_>,
    place: AnswerInText,
) -> Outline {
    let by_environment = match place {
        AnswerInText::InGroup => environment_answers(views),
        AnswerInText::WithNextTurn => Vec::new(),
    };
    let is_by_environment = |turn: usize| by_environment.binary_search(&turn).is_ok();
    let answers = trajectory::answered_turns(views).enumerate();
    let answers =
        answers.map(|(turn, answers)| answers.or(turn.checked_sub(1).filter(|_| is_by_environment(turn))));
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
    let speaks = |view: &Cow<'_, TurnView<'_>>| {
        human_text(view).is_some_and(|said| !is_by_environment(view.index) || spoken_in(&said).is_some())
    };
    let last_human = views.all().rev().find(speaks).map(|view| view.index);
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

/// Returns the turns of a person's role in which the environment answers a call that the assistant wrote as text.
fn environment_answers(views: &Views<'_>) -> Vec<usize> {
    let mut forms: Option<Forms> = None;
    let mut before: Option<Cow<'_, TurnView<'_>>> = None;
    let mut found = Vec::new();
    for view in views.all() {
        let asking = before.filter(|before| before.role == Role::Assistant && view.responses.is_empty());
        if let Some((asking, said)) = asking.zip(human_text(&view)) {
            let forms = *forms.get_or_insert_with(|| Forms::of(views.all()));
            // Most records have no calls in texts.
            let may_call = forms != Forms::default() || !asking.calls.is_empty();
            let context = Context {
                before: Some(&asking),
                forms,
            };
            if may_call && answers_call(context, &said) {
                found.push(view.index);
            }
        }
        before = Some(view);
    }
    found
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
