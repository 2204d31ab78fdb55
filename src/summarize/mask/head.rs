//! The beginning of a line that stands for an output: what was run, in a few words.

use crate::events::source::Flags;
use crate::events::target::{Effect, Target, label_of_answer};

/// What a line begins with, and what kind of tool it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// `[terminal] ran "npm test"`
    pub text: String,
    /// Whether it ran something: its output is told in lines, others in characters.
    pub runs: bool,
    /// Whether it read something: errors that stand in it are none of the tool's.
    pub reads: bool,
    /// What the call was about; what the output repeats of it is not told again.
    pub target: String,
    /// What the record says of the answer beside its text.
    pub flags: Flags,
}

/// The head for a call; `named` is the tool's name where only its answer tells it.
pub(super) fn head(target: Option<Target>, named: Option<&str>, flags: Flags) -> Head {
    let Some(target) = target else {
        return Head {
            text: label_of_answer(named),
            runs: false,
            reads: false,
            target: String::new(),
            flags,
        };
    };
    Head {
        text: target.label,
        runs: target.is_run,
        reads: target.effect == Effect::Read,
        target: target.line,
        flags,
    }
}
