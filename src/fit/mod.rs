//! One record along the line: parse, count, plan, summarize, splice, verify.

mod attempt;
mod case;
mod count;
mod measure;
mod passes;
mod redacted;
mod settings;

use std::sync::Arc;

pub use count::{TurnCost, TurnCounter};
pub use measure::Measurer;
pub use settings::{FitSettings, OnFailure, OverLimit};

use crate::compress::{Outline, Reason, TurnFacts};
use crate::metrics::{Row, Status};
use crate::summarize::Summarizer;
use crate::summarize::marker::{END_MARKER, body_of};
use crate::tokens::TokenCounter;
use crate::trajectory::{self, Record, Role, TurnView};

/// Fits records into the budget.
pub struct Fitter {
    /// What is asked for.
    pub settings: FitSettings,
    /// The user's tokenizer.
    pub counter: Arc<dyn TokenCounter>,
    /// Who writes the summaries.
    pub summarizer: Arc<dyn Summarizer>,
    /// Who writes them when `summarizer` fails and a fallback is asked for.
    pub fallback: Arc<dyn Summarizer>,
}

/// What became of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its row of the metrics; `source`, `line` and `duration_ms` are the pipeline's to fill in.
    pub row: Row,
    /// The record's new text; `None` where it stays byte for byte.
    pub text: Option<String>,
    /// Tokens that a summarizer was, or would be, given to read.
    pub summary_input_tokens: usize,
    /// Whether the summarizer failed and the run was told to stop at that.
    pub stop: bool,
}

impl Fitted {
    fn untouched(row: Row) -> Self {
        Self {
            row,
            text: None,
            summary_input_tokens: 0,
            stop: false,
        }
    }

    /// A record that could not be processed.
    pub fn failed(bytes_reason: &Reason, settings: &FitSettings) -> Self {
        let row = Row::untouched(0, 0, settings.target_max_tokens).ended(Status::Failed, Some(bytes_reason));
        Self::untouched(Row {
            degraded: true,
            ..row
        })
    }
}

impl Fitter {
    /// Fits one record, given as the bytes of one JSON object.
    pub async fn fit(&self, bytes: &[u8]) -> Fitted {
        let record = match trajectory::parse(bytes, self.settings.format) {
            Ok(record) => record,
            Err(error) => {
                let reason = Reason::with(error.code(), error.to_string());
                let row = Row::untouched(0, 0, self.settings.target_max_tokens);
                return Fitted::untouched(row.ended(Status::Rejected, Some(&reason)));
            }
        };
        let mut fitted = self.fit_record(&record).await;
        fitted.row.id = record
            .id
            .map_or_else(String::new, |id| trajectory::json::decode(id).0.into_owned());
        record.format.name().clone_into(&mut fitted.row.format);
        if fitted.row.still_over_limit && self.settings.over_limit == OverLimit::Reject {
            let why = std::mem::take(&mut fitted.row.reason);
            let reason = Reason::with("still_over_limit", why);
            fitted.row = fitted.row.ended(Status::Rejected, Some(&reason));
            fitted.text = None;
        }
        fitted
    }

    async fn fit_record(&self, record: &Record<'_>) -> Fitted {
        let target = self.settings.target_max_tokens;
        let mut counter = TurnCounter::new(self.counter.as_ref(), self.settings.image_tokens);
        let costs = counter.turns(record);
        let extra_tokens = counter.extra(record);
        let total = extra_tokens + costs.iter().map(|cost| cost.tokens).sum::<usize>();
        let row = Row::untouched(total, record.turns.len(), target);
        if total <= target {
            let row = Row {
                skipped_under_target: true,
                ..row
            };
            return Fitted::untouched(row.ended(Status::UnderTarget, None));
        }
        if record.ambiguous {
            let reason = Reason::with("repeated_key", "the trajectory's key stands in the record twice");
            return Fitted::untouched(row.ended(Status::Kept, Some(&reason)));
        }
        let views: Vec<TurnView<'_>> = record
            .turns
            .iter()
            .enumerate()
            .map(|(index, turn)| trajectory::view(turn, index))
            .collect();
        let outline = outline(record, &costs, &views, extra_tokens);
        passes::run(self, record, &views, &outline, row).await
    }
}

/// The facts that the algorithm works on.
fn outline(record: &Record<'_>, costs: &[TurnCost], views: &[TurnView<'_>], extra_tokens: usize) -> Outline {
    let answers = trajectory::answered_turns(views);
    let turns = record
        .turns
        .iter()
        .zip(costs)
        .zip(answers)
        .map(|((turn, cost), answers)| {
            let readable = cost.exact && !turn.opaque;
            let quotable = readable && turn.is_plain_text();
            TurnFacts {
                role: turn.role,
                tokens: cost.tokens,
                answers,
                readable,
                quotable,
            }
        });
    let last_human = views.iter().rposition(|view| spoken(view).is_some());
    Outline {
        turns: turns.collect(),
        extra_tokens,
        last_human,
    }
}

/// What a person says in a turn. In an earlier summary turn that is what the summary quotes after its end marker.
fn spoken<'v>(view: &'v TurnView<'_>) -> Option<&'v str> {
    let text = view.text.as_ref();
    match body_of(text) {
        _ if view.role != Role::Human => None,
        None => Some(text),
        Some(_) => {
            let quoted = text.split_once(END_MARKER).map(|(_, quoted)| quoted.trim());
            quoted.filter(|quoted| !quoted.is_empty())
        }
    }
}
