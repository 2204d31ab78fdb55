//! Fits one record: parse, count, plan, summarize, splice, verify.

mod compression;
mod count;
mod explain;
mod fitted;
mod fitter;
mod lint;
mod mark;
mod masking;
mod merged;
mod outline;
mod pair;
mod redacted;
mod settings;
mod structure;
mod summary_size;
mod unroll;

use compression::CompressionCase;
use count::Counted;
pub use count::TurnCounter;
pub use count::measure::Measurer;
pub use explain::{AnchorLine, Explanation, TurnLine};
pub use fitted::{Fitted, Stop};
pub use fitter::Fitter;
pub use lint::Linter;
pub use mark::{MarkTurns, SummaryMark};
use outline::{AnswerInText, outline};
pub use pair::{PairScorer, UnreadablePair, score};
pub use settings::{
    CountMode, FitSettings, OnFailure, OverLimit, PerTrajectory, SMALLEST_SUMMARY_TARGET, SUMMARY_NOTICE,
    Strategy,
};
pub use summary_size::SummarySize;
pub use unroll::{
    CompactionLine, Overlap, Reassembly, SummaryRecords, TimelineStretch, TrajectoryId, UnrollSettings,
    Unrolled, trained_turns,
};

use crate::compress::Reason;
use crate::metrics::{Row, Status};
pub use crate::summarize::PendingRequest;
#[cfg(test)]
pub use crate::summarize::answers::AnswerKey;
pub use crate::trajectory::TemplateArguments;
use crate::trajectory::{self, Record, Views};

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
        let outline = outline(self, record, &counted, &views, AnswerInText::InGroup);
        let case = CompressionCase::new(self, record, &views, &outline, &counted);
        match self.settings.strategy {
            Strategy::Summarize => compression::passes::run(case, row).await,
            Strategy::Mask | Strategy::MaskThenSummarize => masking::run(case, row).await,
        }
    }
}
