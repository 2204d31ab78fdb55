//! What turns cost: every turn is decoded and counted once, and where there is a chat template, rendered once.

use super::{CountMode, FitSettings, Fitter, Rendered};
use crate::metrics::Row;
use crate::names::Named;
use crate::tokens::TokenCounter;
use crate::trajectory::{Piece, Record, Turn, json};

/// What one turn costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnCost {
    /// The tokens, twice, and one more where all of the text could be decoded: there may be millions of turns.
    packed: u64,
}

impl TurnCost {
    fn new(tokens: usize, is_exact: bool) -> Self {
        Self {
            packed: (tokens as u64) << 1 | u64::from(is_exact),
        }
    }

    /// Tokens.
    pub fn tokens(self) -> usize {
        (self.packed >> 1) as usize
    }

    /// Whether all of its text could be decoded.
    pub fn is_exact(self) -> bool {
        self.packed & 1 == 1
    }
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
        TurnCost::new(tokens, exact)
    }

    /// What each turn of a record costs, with its text where decoding it was work: who reads the turn later needs it too.
    pub fn turns(&mut self, record: &Record<'_>) -> (Vec<TurnCost>, Vec<(u32, String)>) {
        /// Shorter texts are decoded again as fast as they are kept.
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

/// A record counted in every way that is asked for.
#[derive(Debug)]
pub struct Counted {
    /// What each turn costs by its values.
    pub turns: Vec<TurnCost>,
    /// The texts of turns as far as they were kept, with their turns.
    pub texts: Vec<(u32, String)>,
    /// What the record costs beside its turns, by values.
    pub extra_tokens: usize,
    /// What a trainer sees, or why the template refuses it; `None` where there is no template.
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

    /// The sum of the values.
    pub fn value_tokens(&self) -> usize {
        self.extra_tokens + self.turns.iter().map(|cost| cost.tokens()).sum::<usize>()
    }

    /// The rendering, where there is one.
    pub fn rendering(&self) -> Option<&Rendered> {
        self.rendered.as_ref().and_then(|rendered| rendered.as_ref().ok())
    }

    /// The rendering, where the budget is on its tokens.
    pub fn governing_rendering(&self, settings: &FitSettings) -> Option<&Rendered> {
        self.rendering().filter(|_| settings.count == CountMode::Rendered)
    }

    /// The same with the turns found in the rendered text.
    pub fn located(self, record: &Record<'_>) -> Self {
        let rendered = self
            .rendered
            .map(|rendered| rendered.map(|rendered| rendered.located(record)));
        Self { rendered, ..self }
    }

    /// The row of a record that stays as it is.
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
