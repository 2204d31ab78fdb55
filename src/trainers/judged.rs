//! A turn as a trainer sees it, and the outcomes of actions.

use super::action::{Action, Class};
use super::findings::{Finding, FindingKind, TrainingOutcome};
use super::turn::Content;

/// A turn as the trainer sees it.
#[derive(Debug)]
pub struct Judged<'a> {
    /// Its index in the record, from 0.
    pub index: usize,
    /// Its class; `None` if its role is not known.
    pub class: Option<Class>,
    /// The kind of its content.
    pub content: Content<'a>,
    /// The trainer trains on it.
    pub is_learnt: bool,
}

impl Judged<'_> {
    /// A finding about this turn.
    pub fn finding(&self, kind: FindingKind, outcome: TrainingOutcome, detail: &str) -> Finding {
        Finding {
            kind,
            outcome,
            turn: Some(self.index + 1),
            detail: detail.to_owned(),
        }
    }

    /// Returns true if it is an answer of the model.
    pub fn is_answer(&self) -> bool {
        matches!(self.class, Some(Class::Assistant | Class::Call))
    }
}

/// The outcome of an action; `loss` if it leaves something out. What the template prints is judged after rendering.
pub fn outcome(action: Action, loss: Option<TrainingOutcome>) -> Option<TrainingOutcome> {
    match action {
        Action::Keep | Action::Template => None,
        Action::Join | Action::Empty | Action::Ignore => loss,
        // Nothing of it is trained on; if that holds for all turns, there is a separate finding.
        Action::Unprinted => Some(TrainingOutcome::Lose),
        Action::Drop => Some(TrainingOutcome::Drop),
        Action::EndsRun => Some(TrainingOutcome::Refuse),
    }
}
