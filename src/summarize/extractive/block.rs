//! A text that may be quoted: where it stood, its calls, and what it is worth by itself.

use crate::events::event::Event;

/// The origin of a block's text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockOrigin {
    /// In an assistant's turn.
    Assistant,
    /// In an output, whose end is likelier to be repeated than the rest.
    Output,
    /// In a file that a call read, which no assistant's turn followed in the region.
    ReadLast,
}

/// The calls of an assistant's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockCalls {
    None,
    Some,
    /// They only look something up.
    OnlyLook,
    /// They say nothing of what they were made on: the words before them alone do.
    Wordless,
}

impl BlockCalls {
    pub fn of(calls: &[(&Event, Option<usize>)]) -> Self {
        match calls {
            [] => Self::None,
            _ if calls.iter().all(|(event, _)| event.is_lookup()) => Self::OnlyLook,
            _ if calls.iter().all(|(event, _)| event.is_wordless()) => Self::Wordless,
            _ => Self::Some,
        }
    }
}

/// A text that may be quoted.
pub(super) struct Block {
    /// Its time.
    pub order: usize,
    /// The time of the call whose line it makes needless.
    pub told: Option<usize>,
    /// The heading of the whole text, of a part of it, and of its words alone, which were said before a call and are not its outcome.
    pub headings: [String; 3],
    pub text: String,
    /// The bytes of its start that somebody said.
    pub words: usize,
    /// The calls behind them.
    pub calls: BlockCalls,
    /// If somebody else spoke after it: what it asks was answered.
    pub is_answered: bool,
    /// The chance that later turns repeat a byte of it, as far as nothing is known of them: of words, and of the rest.
    pub chances: [f32; 2],
    pub origin: BlockOrigin,
    /// The worth of its text, as a part of that of other texts.
    pub weight: f32,
}

impl Block {
    /// If a tool printed it.
    pub fn is_output(&self) -> bool {
        self.origin != BlockOrigin::Assistant
    }

    /// If it is words before a call that only looks something up, and nothing of the call: most of them announce it.
    pub fn announces(&self) -> bool {
        self.calls == BlockCalls::OnlyLook && self.words == self.text.len()
    }

    /// If a call stands behind its words.
    pub fn has_call(&self) -> bool {
        self.calls != BlockCalls::None
    }

    /// If it is words alone, which somebody has answered.
    pub fn is_answered_alone(&self) -> bool {
        self.is_answered && !self.has_call()
    }
}
