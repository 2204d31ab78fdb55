//! Fits one record: parse, count, plan, summarize, splice, verify.

mod compression;
mod count;
mod explain;
mod lint;
mod mark;
mod maskable;
mod masking;
mod measure;
mod merged;
mod pair;
mod passes;
mod redacted;
mod region;
mod rendered;
mod rewrite;
mod room;
mod settings;
mod structure;
mod summary;
mod summary_size;
mod unroll;
mod write;

use std::sync::Arc;

use compression::Compression;
use count::Counted;
pub use count::TurnCounter;
pub use explain::{AnchorLine, Explanation, TurnLine};
pub use lint::Linter;
pub use mark::{MarkTurns, SummaryMark};
pub use measure::Measurer;
use merged::human_text;
pub use pair::{PairScorer, UnreadablePair, score};
pub use rendered::Rendered;
pub use settings::{
    CountMode, FitSettings, OnFailure, OverLimit, PerTrajectory, SMALLEST_SUMMARY_TARGET, SUMMARY_NOTICE,
    Strategy,
};
pub use summary_size::SummarySize;
pub use unroll::{
    CompactionLine, Overlap, Reassembly, Stretch, SummaryRecords, TrajectoryId, UnrollSettings, Unrolled,
    trained_turns,
};

use crate::compress::{Content, Outline, Reason, TurnFacts};
use crate::metrics::{Row, Status};
pub use crate::summarize::PendingRequest;
use crate::summarize::Summarizer;
#[cfg(test)]
pub use crate::summarize::answers::AnswerKey;
use crate::summarize::marker::body_of;
use crate::tokens::TokenCounter;
use crate::tokens::chat_template::ChatTemplate;
pub use crate::trajectory::TemplateArguments;
use crate::trajectory::{self, Record, Role, Turn, Views};

/// Fits records into the budget.
pub struct Fitter {
    /// The settings of the run.
    pub settings: FitSettings,
    /// The user's tokenizer.
    pub counter: Arc<dyn TokenCounter>,
    /// The chat template of the model to be trained, if rendered counts are wanted.
    pub template: Option<Arc<ChatTemplate>>,
    /// The summarizer.
    pub summarizer: Arc<dyn Summarizer>,
    /// The summarizer used when the first one fails and a fallback is configured.
    pub fallback: Arc<dyn Summarizer>,
}

/// The result of fitting one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its row of the metrics; the pipeline fills in `source`, `line` and `duration_ms`.
    pub row: Row,
    /// The record's new text; `None` where it is unchanged.
    pub text: Option<String>,
    /// The summary in it, with its marker, where one was written.
    pub summary: Option<String>,
    /// Tokens that a summarizer read, or would read.
    pub summary_input_tokens: usize,
    /// The reason for ending the run; `None` where it continues.
    pub stop: Option<Stop>,
    /// The request to be answered before the record can be finished.
    pub pending: Option<Box<PendingRequest>>,
}

/// The reason why a run must end at a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The summary of this record failed, and the settings end the run on a failure.
    AtRecord,
    /// No further summaries are possible, for any record.
    Run {
        /// The error message.
        message: String,
        /// Advice for the user.
        help: String,
    },
}

impl Fitted {
    fn untouched(row: Row) -> Self {
        Self {
            row,
            text: None,
            summary: None,
            summary_input_tokens: 0,
            stop: None,
            pending: None,
        }
    }

    /// Returns the result of a record that could not be processed.
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
            Err(error) => return self.reject(&Reason::with(error.code(), error.to_string())),
        };
        let found = structure::faults_of(&record);
        let mut fitted = self.fit_prepared(&record).await;
        structure::note(&mut fitted.row, &record, found);
        fitted.row.id = record
            .id
            .map_or_else(String::new, |id| trajectory::json::decode(id).0.into_owned());
        record.format.name().clone_into(&mut fitted.row.format);
        if fitted.row.still_over_limit && self.settings.over_limit == OverLimit::Reject {
            let reason = Reason::with("still_over_limit", fitted.row.reason_text());
            fitted.row = fitted.row.ended(Status::Rejected, Some(&reason));
            fitted.text = None;
        }
        if let Some(mark) = &self.settings.mark {
            fitted = mark.mark(fitted, &record);
        }
        if self.settings.dry_run {
            fitted.text = None;
        }
        fitted
    }

    /// Returns the name of a record's form; `None` where it cannot be read.
    pub fn form_of(&self, bytes: &[u8]) -> Option<&'static str> {
        let record = trajectory::parse(bytes, self.settings.format).ok()?;
        Some(record.format.name())
    }

    /// Returns the result of a record that cannot be read.
    pub fn reject(&self, reason: &Reason) -> Fitted {
        let row = Row::untouched(0, 0, self.settings.target_max_tokens);
        Fitted::untouched(row.ended(Status::Rejected, Some(reason)))
    }

    async fn fit_record(&self, record: &Record<'_>) -> Fitted {
        let mut counted = Counted::of(self, record);
        let row = counted.row(&self.settings);
        if let (CountMode::Rendered, Some(Err(refusal))) = (self.settings.count, &counted.rendered) {
            // Its rendered tokens are unknown, and no trainer could train on it.
            let reason = Reason::with(Reason::TEMPLATE_REFUSES, refusal);
            let row = Row {
                degraded: true,
                ..row
            };
            return Fitted::untouched(row.ended(Status::Kept, Some(&reason)));
        }
        if row.original_tokens <= self.settings.target_max_tokens as u64 {
            let refusal = counted
                .rendered
                .as_ref()
                .and_then(|rendered| rendered.as_ref().err());
            let reason = refusal.map(|refusal| Reason::with(Reason::TEMPLATE_REFUSES, refusal));
            let row = Row {
                skipped_under_target: true,
                ..row
            };
            return Fitted::untouched(row.ended(Status::UnderTarget, reason.as_ref()));
        }
        if record.ambiguous {
            let reason = Reason::with("repeated_key", "the trajectory's key stands in the record twice");
            return Fitted::untouched(row.ended(Status::Kept, Some(&reason)));
        }
        let views = Views::of(record, std::mem::take(&mut counted.texts));
        let counted = counted.located(record);
        let outline = outline(self, record, &counted, &views);
        let case = Compression::new(self, record, &views, &outline, &counted);
        match self.settings.strategy {
            Strategy::Summarize => passes::run(case, row).await,
            Strategy::Mask | Strategy::MaskThenSummarize => masking::run(case, row).await,
        }
    }
}

/// Returns the facts that the algorithm works on.
fn outline(fitter: &Fitter, record: &Record<'_>, counted: &Counted, views: &Views<'_>) -> Outline {
    let answers = trajectory::answered_turns(views);
    let rendered = counted.governing_rendering(&fitter.settings);
    let rendered_costs = rendered.map(|rendered| rendered.turn_tokens(fitter.counter.as_ref()));
    let turns = record
        .turns
        .iter()
        .zip(&counted.turns)
        .zip(answers)
        .enumerate()
        .map(|(index, ((turn, cost), answers))| {
            let readable = cost.is_exact() && !turn.opaque;
            let quotable = readable && turn.is_plain_text();
            let rendered = rendered_costs.as_ref().and_then(|costs| costs.get(index));
            TurnFacts {
                role: turn.role,
                tokens: rendered.copied().unwrap_or(cost.tokens()),
                asked_before: TurnFacts::asked_before(index, answers),
                readable,
                quotable,
                content: content_of(turn, quotable, index, views),
                empty: turn.is_empty(),
            }
        });
    let last_human = views.all().rev().find(|view| human_text(view).is_some());
    let last_human = last_human.map(|view| view.index);
    let turns: Vec<TurnFacts> = turns.collect();
    let extra_tokens = rendered.map_or(counted.extra_tokens, |rendered| {
        let sum: usize = turns.iter().map(|turn| turn.tokens).sum();
        rendered.tokens.saturating_sub(sum)
    });
    Outline {
        turns,
        extra_tokens,
        last_human,
    }
}

/// Returns the form of a turn's content.
fn content_of(turn: &Turn<'_>, quotable: bool, index: usize, views: &Views<'_>) -> Content {
    let opens_with_summary = || {
        let view = views.get(index);
        turn.role == Role::Human && view.is_some_and(|view| body_of(&view.text).is_some())
    };
    if turn.role == Role::Tool && turn.speaker() == Role::Human {
        Content::Results {
            end_in_text: turn.last_text().is_some(),
        }
    } else if !quotable && turn.is_in_parts() {
        Content::Parts
    } else if opens_with_summary() {
        Content::Summary
    } else {
        Content::Text
    }
}
