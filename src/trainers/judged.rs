//! A turn as a trainer takes it, and the outcome of what a trainer does with something.

use super::action::{Action, Class};
use super::findings::{Finding, FindingKind, Outcome};
use super::turn::Content;

/// A turn as the trainer takes it.
#[derive(Debug)]
pub struct Judged<'a> {
    /// Its place, from 0.
    pub index: usize,
    /// What it is taken for; `None` where its role is not known.
    pub class: Option<Class>,
    /// The kind of its content.
    pub content: Content<'a>,
    /// If it is learnt.
    pub is_learnt: bool,
}

impl Judged<'_> {
    /// A finding about this turn.
    pub fn finding(&self, kind: FindingKind, outcome: Outcome, detail: &str) -> Finding {
        Finding {
            kind,
            outcome,
            turn: Some(self.index + 1),
            detail: detail.to_owned(),
        }
    }

    /// If it answers.
    pub fn is_answer(&self) -> bool {
        matches!(self.class, Some(Class::Assistant | Class::Call))
    }
}

/// The outcome of an action; `loss` where what it leaves out was there. What the template gets is judged once it is rendered.
pub fn outcome(action: Action, loss: Option<Outcome>) -> Option<Outcome> {
    match action {
        Action::Keep | Action::Template => None,
        Action::Join | Action::Empty | Action::Ignore => loss,
        // Nothing is learnt from it; others may be, and if none is, that is a finding of its own.
        Action::Unprinted => Some(Outcome::Lose),
        Action::Drop => Some(Outcome::Drop),
        Action::EndsRun => Some(Outcome::Refuse),
    }
}
