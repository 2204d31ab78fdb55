//! A record as a trainer sees it: the chat as its template renders it, its tokens, and the part of each turn.

use std::ops::Range;

use memchr::memmem;

use crate::compress::Region;
use crate::tokens::TokenCounter;
use crate::tokens::chat_template::ChatTemplate;
use crate::trajectory::{self, Record, TemplateArguments, Turn, json};

/// Number of bytes at the end of a turn's text that are searched for in the rendered chat.
const NEEDLE: usize = 48;

/// Bytes that may precede the end of a turn's text beyond its own length: headers, tool calls, a schema.
const HEADROOM: usize = 8 * 1024;

/// Most bytes added to a search for turns not found before; a bound keeps the search linear for any template.
const MAX_UNFOUND: usize = 256 * 1024;

/// Bytes in which two renderings of the turn after the summary may differ: text between two turns depends on both.
const JOINT: usize = 64;

/// A record as its chat template renders it.
#[derive(Debug)]
pub struct Rendered {
    /// The whole chat.
    text: String,
    /// Tokens of the chat, images included.
    pub tokens: usize,
    /// The byte offset of each turn's end in the chat; the last one ends with the chat.
    ends: Vec<usize>,
}

impl Rendered {
    /// Renders and counts a record.
    ///
    /// # Errors
    ///
    /// The template refuses the record, or the record is no chat.
    pub fn of(
        record: &Record<'_>,
        template: &ChatTemplate,
        arguments: TemplateArguments,
        counter: &dyn TokenCounter,
        image_tokens: usize,
    ) -> Result<Self, String> {
        let rendered = Self::uncounted(record, template, arguments)?;
        let images: usize = record.turns.iter().map(Turn::images).sum();
        Ok(Self {
            tokens: counter.count(&rendered.text) + images * image_tokens,
            ..rendered
        })
    }

    /// Renders a record without counting it: its `tokens` are 0.
    ///
    /// # Errors
    ///
    /// As [`Rendered::of`].
    pub fn uncounted(
        record: &Record<'_>,
        template: &ChatTemplate,
        arguments: TemplateArguments,
    ) -> Result<Self, String> {
        let chat = trajectory::chat(record, arguments).map_err(|error| error.to_string())?;
        let text = template
            .render(&chat.messages, chat.tools.as_deref())
            .map_err(|refusal| refusal.to_string())?;
        Ok(Self {
            text,
            tokens: 0,
            ends: Vec::new(),
        })
    }

    /// Returns the length of the chat in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns a chat that was rendered elsewhere, with its tokens.
    pub fn with_text(text: String, tokens: usize) -> Self {
        Self {
            text,
            tokens,
            ends: Vec::new(),
        }
    }

    /// Returns the whole chat.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the same with the given ends of its turns.
    #[must_use]
    pub fn with_ends(mut self, ends: Vec<usize>) -> Self {
        self.ends = ends;
        self
    }

    /// Finds the part of the text that belongs to each turn.
    #[must_use]
    pub fn located(mut self, record: &Record<'_>) -> Self {
        // A template may put the schema of the tools between any two turns.
        let schema = record.tools.map_or(0, str::len);
        self.ends = ends(&self.text, &record.turns, schema);
        self
    }

    /// Returns the tokens of each turn's part of the chat, headers included. Text without a turn of its own (a schema
    /// of tools, for example) is included, so that the sum is [`Self::tokens`].
    pub fn turn_tokens(&self, counter: &dyn TokenCounter) -> Vec<usize> {
        let mut costs: Vec<usize> = (0..self.ends.len())
            .map(|turn| counter.count(self.turn(turn)))
            .collect();
        // A token may span two turns: the largest count is adjusted to make the sum exact.
        let sum: usize = costs.iter().sum();
        if let Some(largest) = costs.iter_mut().max() {
            *largest = (*largest + self.tokens).saturating_sub(sum);
        }
        costs
    }

    /// Returns the number of kept turns that the template renders differently after a compression (e.g. no thinking).
    ///
    /// `grown` are turns that gained text by the compression itself; `own_turn` is true if the summary is a turn.
    pub fn changed_turns(&self, after: &Self, region: Region, grown: &[usize], own_turn: bool) -> usize {
        let shift = region.range().len() - usize::from(own_turn);
        let kept = (0..region.start()).chain(region.end()..self.ends.len());
        kept.filter(|turn| !grown.contains(turn))
            .filter(|&turn| {
                let before_region = turn < region.start();
                let (left, right) = (
                    self.turn(turn),
                    after.turn(if before_region { turn } else { turn - shift }),
                );
                let follows =
                    turn == region.end() || turn.checked_sub(1).is_some_and(|before| grown.contains(&before));
                if follows {
                    !differs_at_its_joint_only(left, right)
                } else {
                    left != right
                }
            })
            .count()
    }

    /// Returns the number of unmasked turns that the template renders differently than before.
    pub fn changed_beside(&self, after: &Self, masked: &[usize]) -> usize {
        let mut changed = 0;
        // Text between a masked turn and the next one found depends on both.
        let mut follows = false;
        for turn in 0..self.ends.len() {
            let (left, right) = (self.turn(turn), after.turn(turn));
            if masked.binary_search(&turn).is_ok() {
                follows = true;
            } else if !left.is_empty() || !right.is_empty() {
                let is_same = left == right || (follows && differs_at_its_joint_only(left, right));
                changed += usize::from(!is_same);
                follows = false;
            }
        }
        changed
    }

    fn turn(&self, turn: usize) -> &str {
        let start = turn.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(turn).copied().unwrap_or_default();
        let span: Range<usize> = start.copied().unwrap_or_default()..end;
        self.text.get(span).unwrap_or_default()
    }
}

fn differs_at_its_joint_only(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let pairs = left.iter().rev().zip(right.iter().rev());
    let common = pairs.take_while(|(left, right)| left == right).count();
    common + JOINT >= left.len().max(right.len())
}

/// Returns the byte offset of each turn's end in the rendered chat. A turn that is not found ends where the one before
/// it does: its tokens count for the next one, which usually answers it.
fn ends(text: &str, turns: &[Turn<'_>], schema: usize) -> Vec<usize> {
    let mut ends = Vec::with_capacity(turns.len());
    let mut at = 0;
    // The first text follows any text that the template puts before it.
    let mut unfound = text.len();
    let between = schema.min(MAX_UNFOUND);
    for turn in turns {
        let said = turn.last_text().unwrap_or_default();
        let said = said.trim();
        let end = find_end(text, at, said, unfound);
        unfound = match end {
            Some(_) => between,
            None => (unfound + turn.text.len()).min(MAX_UNFOUND.max(unfound)),
        };
        at = end.unwrap_or(at);
        ends.push(at);
    }
    if let Some(last) = ends.last_mut() {
        *last = text.len();
    }
    ends
}

/// Returns the end of `said` in the text after `at`: of all of it, else of its last words, as they are or as JSON.
fn find_end(text: &str, at: usize, said: &str, unfound: usize) -> Option<usize> {
    let mut cut = said.len().saturating_sub(NEEDLE);
    while !said.is_char_boundary(cut) {
        cut += 1;
    }
    let last_words = said.get(cut..).filter(|words| !words.is_empty())?;
    let end = at
        .saturating_add(said.len())
        .saturating_add(HEADROOM)
        .saturating_add(unfound)
        .min(text.len());
    let window = text.as_bytes().get(at..end)?;
    let found = |words: &str| {
        let found = memmem::find(window, words.as_bytes())?;
        Some(at + found + words.len())
    };
    found(said).or_else(|| found(last_words)).or_else(|| {
        let mut spelled = String::new();
        json::escape_into(last_words, &mut spelled);
        found(&spelled)
    })
}
