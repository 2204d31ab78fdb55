//! What turns cost: every turn is decoded and counted once.

use crate::tokens::TokenCounter;
use crate::trajectory::{Piece, Record, Turn, json};

/// What one turn costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnCost {
    /// Tokens.
    pub tokens: usize,
    /// Whether all of its text could be decoded.
    pub exact: bool,
}

/// Counts turns with one tokenizer.
pub struct TurnCounter<'c> {
    counter: &'c dyn TokenCounter,
    image_tokens: usize,
    /// Decoded text, reused from turn to turn.
    scratch: String,
}

impl<'c> TurnCounter<'c> {
    /// A counter that charges images a flat `image_tokens`.
    pub fn new(counter: &'c dyn TokenCounter, image_tokens: usize) -> Self {
        Self {
            counter,
            image_tokens,
            scratch: String::new(),
        }
    }

    /// What one turn costs.
    pub fn turn(&mut self, turn: &Turn<'_>) -> TurnCost {
        let mut tokens = 0;
        let exact = turn.pieces(&mut self.scratch, |piece| {
            tokens += match piece {
                Piece::Text(text) => self.counter.count(text),
                Piece::Image => self.image_tokens,
            }
        });
        TurnCost { tokens, exact }
    }

    /// What each turn of a record costs.
    pub fn turns(&mut self, record: &Record<'_>) -> Vec<TurnCost> {
        record.turns.iter().map(|turn| self.turn(turn)).collect()
    }

    /// What a record costs beside its turns: its top-level `system` text.
    pub fn extra(&mut self, record: &Record<'_>) -> usize {
        record.system.map_or(0, |system| {
            self.counter.count(json::decode_into(system, &mut self.scratch).0)
        })
    }

    /// What its top-level `tools` cost, by their text as written; a string, by what it says.
    pub fn tools(&mut self, record: &Record<'_>) -> usize {
        record.tools.map_or(0, |tools| {
            let is_string = tools.starts_with('"');
            let text = if is_string {
                json::decode_into(tools, &mut self.scratch).0
            } else {
                tools
            };
            self.counter.count(text)
        })
    }
}
