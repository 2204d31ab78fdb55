//! Token counts: every turn is decoded and counted once, and rendered once where there is a chat template.

pub(super) mod measure;
pub(super) mod rendered;

use super::fitter::Fitter;
use super::settings::{CountMode, FitSettings};
use crate::metrics::Row;
use crate::names::Named;
use crate::tokens::TokenCounter;
use crate::trajectory::{Piece, Record, Turn, json};
use rendered::Rendered;

/// The token cost of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnCost {
    /// The tokens times two, plus one if all text could be decoded: packed, since there may be millions of turns.
    packed: u64,
}

impl TurnCost {
    fn new(tokens: usize, is_exact: bool) -> Self {
        Self {
            packed: (tokens as u64) << 1 | u64::from(is_exact),
        }
    }

    /// Returns the tokens.
    pub fn tokens(self) -> usize {
        (self.packed >> 1) as usize
    }

    /// Returns true if all of the turn's text could be decoded.
    pub fn is_exact(self) -> bool {
        self.packed & 1 == 1
    }
}

/// Counts turns with one tokenizer.
pub struct TurnCounter<'c> {
    counter: &'c dyn TokenCounter,
    image_tokens: usize,
    /// Buffer for decoded text, reused from turn to turn.
    scratch: String,
}

impl<'c> TurnCounter<'c> {
    /// Returns a counter that charges a flat `image_tokens` for each image.
    pub fn new(counter: &'c dyn TokenCounter, image_tokens: usize) -> Self {
        Self {
            counter,
            image_tokens,
            scratch: String::new(),
        }
    }

    /// Returns the cost of one turn.
    pub fn turn(&mut self, turn: &Turn<'_>) -> TurnCost {
        let mut tokens = 0;
        let exact = turn.pieces(&mut self.scratch, |piece| {
            tokens += match piece {
                Piece::Text(text) => self.counter.count(text),
                Piece::Image => self.image_tokens,
            }
        });
        TurnCost::new(tokens, exact)
    }

    /// Returns the cost of each turn of a record, and the long texts that were decoded, by turn, for later readers.
    pub fn turns(&mut self, record: &Record<'_>) -> (Vec<TurnCost>, Vec<(u32, String)>) {
        /// The fewest bytes of a text to be kept; decoding a shorter one again is as fast.
        const LONG: usize = 512;
        let mut texts = Vec::new();
        let cost_of = |(index, turn): (usize, &Turn<'_>)| {
            self.scratch.clear();
            let cost = self.turn(turn);
            if self.scratch.len() >= LONG && turn.is_one_string() {
                texts.push((index as u32, std::mem::take(&mut self.scratch)));
            }
            cost
        };
        let costs = record.turns.iter().enumerate().map(cost_of).collect();
        (costs, texts)
    }

    /// Returns the tokens of a record beside its turns: of its top-level `system` text.
    pub fn extra(&mut self, record: &Record<'_>) -> usize {
        record.system.map_or(0, |system| {
            self.counter.count(json::decode_into(system, &mut self.scratch).0)
        })
    }

    /// Returns the tokens of the top-level `tools`: of their text as written, or of a string's content.
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

/// A record's token counts, by values and as rendered.
#[derive(Debug)]
pub struct Counted {
    /// The cost of each turn by its values.
    pub turns: Vec<TurnCost>,
    /// The decoded texts that were kept, each with the index of its turn.
    pub texts: Vec<(u32, String)>,
    /// Tokens of the record beside its turns, by values.
    pub extra_tokens: usize,
    /// The rendered chat, or the reason why the template refuses it; `None` without a template.
    pub rendered: Option<Result<Rendered, String>>,
}

impl Counted {
    /// Counts a record.
    pub fn of(fitter: &Fitter, record: &Record<'_>) -> Self {
        let settings = &fitter.settings;
        let mut counter = TurnCounter::new(fitter.counter.as_ref(), settings.image_tokens);
        let template = fitter.template.as_deref();
        let (turns, texts) = counter.turns(record);
        Self {
            turns,
            texts,
            extra_tokens: counter.extra(record),
            rendered: template.map(|template| {
                let (arguments, images) = (settings.template_arguments, settings.image_tokens);
                Rendered::of(record, template, arguments, fitter.counter.as_ref(), images)
            }),
        }
    }

    /// Returns the tokens of all values.
    pub fn value_tokens(&self) -> usize {
        self.extra_tokens + self.turns.iter().map(|cost| cost.tokens()).sum::<usize>()
    }

    /// Returns the rendered chat, if there is one.
    pub fn rendering(&self) -> Option<&Rendered> {
        self.rendered.as_ref().and_then(|rendered| rendered.as_ref().ok())
    }

    /// Returns the rendered chat, if the budget is measured in its tokens.
    pub fn governing_rendering(&self, settings: &FitSettings) -> Option<&Rendered> {
        self.rendering().filter(|_| settings.count == CountMode::Rendered)
    }

    /// Returns the same with the turns located in the rendered text.
    pub fn located(self, record: &Record<'_>) -> Self {
        let rendered = self
            .rendered
            .map(|rendered| rendered.map(|rendered| rendered.located(record)));
        Self { rendered, ..self }
    }

    /// Returns the row of a record that stays as it is.
    pub fn row(&self, settings: &FitSettings) -> Row {
        let values = self.value_tokens();
        let rendered = self.rendering().map(|rendered| rendered.tokens);
        let (governing, count) = match (settings.count, rendered) {
            (CountMode::Rendered, Some(rendered)) => (rendered, CountMode::Rendered),
            _ => (values, CountMode::Values),
        };
        let both = self.rendered.is_some().then_some(values as u64);
        Row {
            original_value_tokens: both,
            compressed_value_tokens: both,
            original_rendered_tokens: rendered.map(|tokens| tokens as u64),
            compressed_rendered_tokens: rendered.map(|tokens| tokens as u64),
            template_changed_turns: rendered.map(|_| 0),
            count: count.name().to_owned(),
            ..Row::untouched(governing, self.turns.len(), settings.target_max_tokens)
        }
    }
}
