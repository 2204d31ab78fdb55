//! Scores the grounding of a compressed record: which identifiers that its assistant turns rely on are still there.

use super::merged::without_summaries;
use super::redacted::{secrets_of, with_redacted};
use crate::compress::anchors::{self, PairScore};
use crate::metrics::PairRow;
use crate::trajectory::{self, Format, ParseError, Record, Turn, Views};

/// Scores compressed records against their originals.
#[derive(Debug, Clone, Copy)]
pub struct PairScorer {
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
}

/// The record of a pair that cannot be read, and the reason.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadablePair {
    /// The original cannot be read.
    #[error("the original: {0}")]
    Original(#[source] ParseError),
    /// The compressed record cannot be read.
    #[error("the compressed record: {0}")]
    Compressed(#[source] ParseError),
}

/// Returns the identifiers that kept assistant turns of a compressed record use and, before them, only removed turns
/// contained, and if a summary holds them. Both are lines of a data set; any program may have compressed the record.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let record = |middle: &str| {
///     format!(
///         r#"{{"conversations": [{{"from": "human", "value": "Mend it."}}, {middle},
///             {{"from": "gpt", "value": "The fault was in src/parser.rs."}}]}}"#
///     )
/// };
/// let original = record(r#"{"from": "tool", "value": "src/parser.rs:7: error"}, {"from": "gpt", "value": "I see."}"#);
/// let compressed = record(r#"{"from": "human", "value": "[CONTEXT SUMMARY]: an error was found"}"#);
///
/// let score = trajfit::grounding::score(&original, &compressed)?;
/// assert_eq!(score.needed.len(), 1);
/// assert_eq!(score.needed[0].text, "src/parser.rs");
/// assert!(!score.needed[0].is_held); // it dangles: a model would have to guess it
/// assert_eq!(score.held(), 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// One of the two records cannot be read.
pub fn score(original: &str, compressed: &str) -> Result<PairScore, UnreadablePair> {
    PairScorer { format: None }.score(original.as_bytes(), compressed.as_bytes())
}

/// Returns role and content fields of a turn as JSON, without added marks; all its text where it cannot be read.
fn said(turn: &Turn<'_>) -> [Option<String>; 4] {
    let fields = [
        turn.role_name(),
        turn.content(),
        turn.reasoning(),
        turn.tool_calls(),
    ];
    if turn.opaque {
        return [Some(turn.text.to_owned()), None, None, None];
    }
    fields.map(|field| field.map(str::to_owned))
}

impl PairScorer {
    /// Scores one pair, given as the bytes of two JSON objects. Secrets that redaction knows do not count as
    /// identifiers to be kept.
    pub fn score(&self, original: &[u8], compressed: &[u8]) -> Result<PairScore, UnreadablePair> {
        let read = |bytes| trajectory::parse(bytes, self.format);
        let old = read(original).map_err(UnreadablePair::Original)?;
        let new = read(compressed).map_err(UnreadablePair::Compressed)?;
        if original == compressed {
            return Ok(PairScore::default());
        }
        let original = old;
        let (old, new) = (Views::of(&original, Vec::new()), Views::of(&new, Vec::new()));
        let secrets = secrets_of(&original, &old, false);
        Ok(with_redacted(&old, &secrets, |told| {
            anchors::score(old.turns(), told, new.turns(), without_summaries)
        }))
    }

    /// Returns true if the row may describe these two records: the one read, and the one written.
    pub fn is_pair_of(&self, row: &PairRow, original: &[u8], compressed: &[u8]) -> bool {
        if row.is_copied() {
            return original == compressed || self.has_same_turns(original, compressed);
        }
        let read = |bytes| trajectory::parse(bytes, self.format).ok();
        let Some((old, new)) = read(original).zip(read(compressed)) else {
            return false;
        };
        // Rollouts of one task share its id and its first turns.
        let keeps_last = row.mended_faults == 0
            && row.masked_turns == 0
            && row.region_end < row.original_turns.cast_signed();
        let id = |record: &Record<'_>| {
            record
                .id
                .map_or_else(String::new, |id| trajectory::json::decode(id).0.into_owned())
        };
        let has =
            |record: &Record<'_>, turns: u64| record.turns.len() as u64 == turns && id(record) == row.id;
        has(&old, row.original_turns)
            && has(&new, row.compressed_turns)
            && (!keeps_last || is_last_kept(&old, &new, row.region_end))
    }

    /// Returns true if both have the same turns, whatever other fields one of them has gained.
    fn has_same_turns(self, original: &[u8], compressed: &[u8]) -> bool {
        let read = |bytes| trajectory::parse(bytes, self.format).ok();
        let pair = read(original).zip(read(compressed));
        pair.is_some_and(|(old, new)| {
            !old.turns.is_empty()
                && old.turns.len() == new.turns.len()
                && old.id == new.id
                && old.turns.iter().map(said).eq(new.turns.iter().map(said))
        })
    }

    /// Returns a record's id, if it has one; `None` where the record cannot be read.
    pub fn id(&self, bytes: &[u8]) -> Option<Option<String>> {
        let record = trajectory::parse(bytes, self.format).ok()?;
        let id = record.id.map(|id| trajectory::json::decode(id).0.into_owned());
        Some(id.filter(|id| !id.is_empty()))
    }
}

/// Returns true if the last turn was kept; right after the region, a summary may precede its text.
fn is_last_kept(old: &Record<'_>, new: &Record<'_>, region_end: i64) -> bool {
    let (Some(old_turn), Some(new_turn)) = (old.turns.last(), new.turns.last()) else {
        return old.turns.is_empty() && new.turns.is_empty();
    };
    let last = old.turns.len() - 1;
    let is_behind_summary = || {
        let written = trajectory::view(new_turn, last);
        without_summaries(&written)
            .is_some_and(|beside| beside.text == trajectory::view(old_turn, last).text.trim())
    };
    said(old_turn) == said(new_turn) || (usize::try_from(region_end) == Ok(last) && is_behind_summary())
}
