//! One trajectory replayed as an agent with a bounded context would have lived it: a record for each stretch between compactions.

mod compaction;
mod context;
mod lineage;
mod proof;
mod segment;
mod settings;
mod summary_record;
mod timeline;

use std::sync::{Arc, OnceLock};

use context::{ReplayContext, ReplayedTrajectory};
pub use proof::{Reassembly, TrajectoryId, trained_turns};
pub use settings::{Overlap, SummaryRecords, UnrollSettings};
pub use timeline::{CompactionLine, TimelineStretch};

use super::count::Counted;
use super::redacted::secrets_of;
use super::structure::Prepared;
use super::{AnswerInText, CountMode, Fitted, Fitter, OverLimit, Stop, Strategy, outline};
use crate::compress::compaction::{CompactionWindow, Guard, Size, steps};
use crate::compress::{CutPoints, Reason};
use crate::metrics::{Row, SegmentRow, Status};
use crate::summarize::redact::RecordSecrets;
use crate::trajectory::{self, Record, Views};

/// The records that a trajectory was unrolled into.
#[derive(Debug, Clone, PartialEq)]
pub struct Unrolled {
    /// The trajectory's id.
    pub trajectory: String,
    /// The row of each record in the output, in order; one row where the trajectory is rejected or stays as it is.
    pub rows: Vec<Row>,
    /// The records' texts, in order; `None` where the record that was read stays byte for byte.
    pub texts: Option<Vec<String>>,
    /// The stretches between compactions, in order; empty where it was not replayed.
    pub timeline: Vec<TimelineStretch>,
    /// Tokens that a summarizer was, or would be, given to read.
    pub summary_input_tokens: usize,
    /// Why the run must end here, if it must.
    pub stop: Option<Stop>,
}

impl Unrolled {
    /// A trajectory that is no longer than its one record.
    fn alone(row: Row, text: Option<String>) -> Self {
        Self {
            trajectory: String::new(),
            rows: vec![row],
            texts: text.map(|text| vec![text]),
            timeline: Vec::new(),
            summary_input_tokens: 0,
            stop: None,
        }
    }
}

impl From<Fitted> for Unrolled {
    fn from(fitted: Fitted) -> Self {
        let row = Row {
            segment: Some(SegmentRow::default()),
            ..fitted.row
        };
        Self {
            stop: fitted.stop,
            ..Self::alone(row, fitted.text)
        }
    }
}

/// A trajectory that is being replayed.
struct Replay<'r> {
    fitter: &'r Fitter,
    settings: &'r UnrollSettings,
    source: ReplayedTrajectory<'r>,
    views: &'r Views<'r>,
    secrets: OnceLock<Arc<RecordSecrets<'r>>>,
    window: CompactionWindow,
    guard: Guard,
    context: ReplayContext,
    /// The contexts before each compaction, each with the record that teaches its summary.
    done: Vec<ReplayContext>,
    /// The row of the last compaction that was wanted and could not be made.
    refused: Option<Row>,
    /// The tokens that the context had left then, with all its masks and without the step that wanted it; 0 where it is summarized.
    masked_tokens: usize,
    summary_input_tokens: usize,
}

impl Fitter {
    /// Unrolls one trajectory, given as the bytes of one JSON object. `name` is the trajectory's id if the record has none.
    pub async fn unroll(&self, bytes: &[u8], settings: &UnrollSettings, name: &str) -> Unrolled {
        let record = match trajectory::parse(bytes, self.settings.format) {
            Ok(record) => record,
            Err(error) => return self.reject(&Reason::with(error.code(), error.to_string())).into(),
        };
        let id = record.id.map_or_else(
            || name.to_owned(),
            |id| trajectory::json::decode(id).0.into_owned(),
        );
        let mut unrolled = self.unroll_as(&record, settings, &id).await;
        for row in &mut unrolled.rows {
            record.format.name().clone_into(&mut row.format);
            if row.id.is_empty() {
                id.clone_into(&mut row.id);
            }
        }
        id.clone_into(&mut unrolled.trajectory);
        let over = unrolled.rows.iter().find(|row| row.still_over_limit);
        if let Some(row) = over.filter(|_| self.settings.over_limit == OverLimit::Reject) {
            let reason = Reason::with("still_over_limit", row.reason_text());
            let row = row.clone().ended(Status::Rejected, Some(&reason));
            unrolled = Unrolled {
                rows: vec![Row { id, ..row }],
                texts: None,
                ..unrolled
            };
        }
        if self.settings.dry_run {
            unrolled.texts = None;
        }
        unrolled
    }

    async fn unroll_as(&self, record: &Record<'_>, settings: &UnrollSettings, id: &str) -> Unrolled {
        let prepared = match self.prepared(record) {
            Ok(prepared) => prepared.map(Prepared::into_text),
            Err(refused) => {
                let reason = Reason::with(Reason::NOT_CONVERTIBLE, refused.to_string());
                return self.reject(&reason).into();
            }
        };
        let Some((text, format)) = prepared else {
            return self.unroll_record(record, settings, id).await;
        };
        let Ok(whole) = trajectory::parse(text.as_bytes(), Some(format)) else {
            let reason = Reason::with("internal_error", "the prepared record cannot be read");
            return Fitted::failed(&reason, self.settings.target_max_tokens).into();
        };
        let mut unrolled = self.unroll_record(&whole, settings, id).await;
        let is_failed = unrolled.rows.iter().any(|row| row.status == Status::Failed);
        if !is_failed {
            unrolled.texts.get_or_insert_with(|| vec![text.clone()]);
        }
        unrolled
    }

    async fn unroll_record(&self, record: &Record<'_>, settings: &UnrollSettings, id: &str) -> Unrolled {
        let mut counted = Counted::of(self, record);
        let row = counted.row(&self.settings);
        let kept = self.reason_to_keep(record, &counted, &row);
        let budget = self.settings.target_max_tokens;
        let views = Views::of(record, std::mem::take(&mut counted.texts));
        let counted = counted.located(record);
        let outline = outline(self, record, &counted, &views, AnswerInText::WithNextTurn);
        let steps = steps(&outline, &CutPoints::of(&outline));
        let source = ReplayedTrajectory::of(record, &outline, &counted);
        let mut replay = Replay {
            fitter: self,
            settings,
            context: ReplayContext::empty(&source),
            source,
            views: &views,
            secrets: OnceLock::new(),
            window: CompactionWindow {
                trigger: settings.trigger(budget),
                budget,
            },
            guard: Guard::default(),
            done: Vec::new(),
            refused: None,
            masked_tokens: 0,
            summary_input_tokens: 0,
        };
        let room = budget.saturating_sub(replay.reserve()).max(1);
        replay.window.budget = room;
        let trigger = &mut replay.window.trigger;
        trigger.tokens = trigger.tokens.min(room);
        let is_short = row.original_tokens <= trigger.tokens as u64 && record.turns.len() <= trigger.turns;
        let stop = if is_short || kept.is_some() {
            // What needs no compaction is one step.
            let whole = 0..record.turns.len();
            replay
                .context
                .add(&replay.source, whole, row.original_tokens as usize);
            None
        } else {
            replay.take(&steps).await
        };
        if let Some(stop) = stop {
            let unwritten = Unrolled::alone(row.ended(Status::Kept, None), None);
            return Unrolled {
                stop: Some(stop),
                ..unwritten
            };
        }
        let mut unrolled = replay.written(row, id);
        if let Some(reason) = kept {
            unrolled.rows = unrolled
                .rows
                .into_iter()
                .map(|row| row.ended(Status::Kept, Some(&reason)))
                .collect();
            for row in &mut unrolled.rows {
                row.degraded |= row.is_uncounted();
            }
        }
        unrolled
    }

    /// Why a trajectory over the budget is not to be replayed, where that is so.
    fn reason_to_keep(&self, record: &Record<'_>, counted: &Counted, row: &Row) -> Option<Reason> {
        if let (CountMode::Rendered, Some(Err(refusal))) = (self.settings.count, &counted.rendered) {
            return Some(Reason::with(Reason::TEMPLATE_REFUSES, refusal));
        }
        let is_over = row.original_tokens > self.settings.target_max_tokens as u64;
        let repeated = || Reason::with("repeated_key", "the trajectory's key stands in the record twice");
        (record.ambiguous && is_over).then(repeated)
    }
}

impl<'r> Replay<'r> {
    /// Takes the steps, one after another, with the compactions that they want. Returns why the run must end, if it must.
    async fn take(&mut self, steps: &[std::ops::Range<usize>]) -> Option<Stop> {
        for step in steps {
            let (next, is_exact) = self.tokens_with(step);
            let is_first = self.context.turns.is_empty();
            // Masks that were not enough are no more with more turns.
            let masked = self.masked_tokens;
            let is_vain = masked > 0 && masked + self.source.tokens(step) > self.window.budget;
            let size = Size {
                tokens: next,
                turns: self.context.turns.len() + step.len(),
            };
            if !is_first && !is_vain && self.guard.wants_compaction(size, self.window) {
                match Box::pin(self.compacted(step, size)).await {
                    Ok(Some((compacted, taught))) => {
                        let before = std::mem::replace(&mut self.context, compacted);
                        self.done.push(before);
                        self.done.extend(taught);
                        continue;
                    }
                    Ok(None) => {}
                    Err(stop) => return Some(stop),
                }
            }
            self.context.add(&self.source, step.clone(), next);
            self.context.is_exact = is_exact;
            if next > self.window.budget {
                self.context.over = Some(step.clone());
            }
        }
        None
    }

    /// The tokens of the context with a step added, and true if they are exact: rendered counts are exact wherever that matters.
    fn tokens_with(&self, step: &std::ops::Range<usize>) -> (usize, bool) {
        let estimate = self.context.tokens + self.source.tokens(step);
        let Some(whole) = self.source.counted.governing_rendering(&self.fitter.settings) else {
            return (estimate, true);
        };
        let text = self.context.text_with(&self.source, step);
        let half = self.window.trigger.tokens / 2;
        // A template may drop from the whole what it shows of a beginning: thoughts, say.
        let by_length =
            |bytes: usize| (bytes as f64 / whole.bytes().max(1) as f64 * whole.tokens as f64) as usize;
        let is_low = |bytes: usize| estimate.max(by_length(bytes)) < half;
        if estimate < half && self.fitter.rendered_bytes(&text, &self.source).is_none_or(is_low) {
            return (estimate, false);
        }
        let exact = self.fitter.rendered_tokens(&text, &self.source);
        exact.map_or((estimate, false), |exact| (exact, true))
    }

    /// The secrets of the whole record: what is one anywhere leaves the machine nowhere.
    fn secrets(&self) -> Arc<RecordSecrets<'r>> {
        let settings = &self.fitter.settings;
        let found = self.secrets.get_or_init(|| {
            if settings.redaction || settings.strategy != Strategy::Summarize {
                let personal = settings.redaction && settings.redact_pii;
                Arc::new(secrets_of(self.source.record, self.views, personal))
            } else {
                Arc::default()
            }
        });
        Arc::clone(found)
    }
}
