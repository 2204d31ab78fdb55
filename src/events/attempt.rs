//! One call with its own answer alone, as it was before any later call.

use super::call::target;
use super::outcome::later_calls::LaterCalls;
use super::outcome::outcome;
use super::outcome::reported::ReportedFields;
use super::outcome::status::{Answer, Outcome};
use super::pairing::{Pairing, Place};
use super::source::SourceTurn;
use super::target::Target;

/// A call and how it ended by its own answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempt {
    pub target: Target,
    pub outcome: Outcome,
}

impl Attempt {
    /// The call that the answer at a place is to; of an answer to no call the tool that it names.
    pub fn answered_at(turns: &[SourceTurn<'_>], pairing: &Pairing, answer: Place) -> Self {
        let called = pairing.call(answer);
        let target = called.and_then(|call| target_at(turns, pairing, call));
        let target = target.unwrap_or_else(|| Target {
            tool: tool_at(turns, answer).unwrap_or_default().to_owned(),
            ..Target::default()
        });
        let answer = answer_at(turns, answer);
        let outcome = answer.map(|answer| {
            outcome(
                answer,
                target.effect,
                &target.line,
                &mut ReportedFields::default(),
                LaterCalls::default(),
            )
        });
        Self {
            target,
            outcome: outcome.unwrap_or_default(),
        }
    }
}

/// The target of the call at a place; its answer may be all that names the tool.
pub(super) fn target_at(turns: &[SourceTurn<'_>], pairing: &Pairing, call: Place) -> Option<Target> {
    let named = pairing.answer(call).and_then(|answer| tool_at(turns, answer));
    Some(target(turns.get(call.0)?.calls.get(call.1)?, named))
}

/// The answer at a place, with what the record says of it beside its text.
pub(super) fn answer_at<'t>(turns: &'t [SourceTurn<'_>], (turn, place): Place) -> Option<Answer<'t>> {
    let turn = turns.get(turn)?;
    let (_, text) = turn.answers.get(place)?;
    let flags = turn.flags.get(place).copied().unwrap_or_default();
    Some(Answer {
        text,
        is_error: flags.is_error,
        exit_code: flags.exit_code,
    })
}

/// The tool that an answer names.
fn tool_at<'t>(turns: &'t [SourceTurn<'_>], (turn, place): Place) -> Option<&'t str> {
    *turns.get(turn)?.tools.get(place)?
}
