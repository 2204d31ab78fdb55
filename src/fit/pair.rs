//! A record and what somebody made of it: which identifiers its kept assistant turns rely on are still told.

use super::merged::without_summaries;
use super::redacted::redacted;
use crate::compress::anchors::{PairScore, score};
use crate::trajectory::{self, Format, ParseError, Record, TurnView};

/// Scores compressed records against their originals.
#[derive(Debug, Clone, Copy)]
pub struct PairScorer {
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
}

/// Which of two records cannot be read, and why.
#[derive(Debug, Clone, PartialEq)]
pub enum UnreadablePair {
    /// The original.
    Original(ParseError),
    /// What was made of it.
    Compressed(ParseError),
}

impl PairScorer {
    /// Scores one pair, given as the bytes of two JSON objects. Secrets that redaction knows are no identifiers that anybody
    /// should have kept.
    pub fn score(&self, original: &[u8], compressed: &[u8]) -> Result<PairScore, UnreadablePair> {
        let read = |bytes| trajectory::parse(bytes, self.format);
        let old = read(original).map_err(UnreadablePair::Original)?;
        let new = read(compressed).map_err(UnreadablePair::Compressed)?;
        if original == compressed {
            return Ok(PairScore::default());
        }
        let (old, new) = (views(&old), views(&new));
        let told: Vec<TurnView<'_>> = redacted(&old, true).into_iter().map(|(view, _)| view).collect();
        Ok(score(&old, &told, &new, without_summaries))
    }

    /// A record's id, if it has one; `None` where the record cannot be read.
    pub fn id(&self, bytes: &[u8]) -> Option<Option<String>> {
        let record = trajectory::parse(bytes, self.format).ok()?;
        let id = record.id.map(|id| trajectory::json::decode(id).0.into_owned());
        Some(id.filter(|id| !id.is_empty()))
    }
}

fn views<'r>(record: &'r Record<'_>) -> Vec<TurnView<'r>> {
    let turns = record.turns.iter().enumerate();
    turns.map(|(index, turn)| trajectory::view(turn, index)).collect()
}
