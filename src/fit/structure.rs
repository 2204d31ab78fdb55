//! The faults of a record: reported in its row, and mended before anything else if configured.

use super::count::Counted;
use super::fitted::Fitted;
use super::fitter::Fitter;
use super::settings::{CountMode, FitSettings};
use crate::compress::Reason;
use crate::metrics::{Row, Status};
use crate::summarize::marker::SUMMARY_MARKER;
use crate::trajectory::{
    self, Converted, Faults, Format, Losses, NotConvertible, Record, Role, Sanitized, TidyCounts, Turn,
    Wishes,
};

/// Returns the faults of a record.
pub fn faults_of(record: &Record<'_>) -> Faults {
    trajectory::faults(record, SUMMARY_MARKER)
}

/// Returns the mended and tidied record; `None` where that is not configured, or nothing can be done.
pub fn sanitized(record: &Record<'_>, settings: &FitSettings) -> Option<Sanitized> {
    let wishes = Wishes {
        join_text_parts: settings.join_text_parts,
        end_with_assistant: settings.end_with_assistant,
    };
    let wanted = settings.sanitize.then_some(record)?;
    trajectory::sanitize(wanted, wishes, SUMMARY_MARKER)
}

/// Records the faults of the original record in its row.
pub fn note(row: &mut Row, record: &Record<'_>, found: Faults) {
    row.orphan_responses = found.orphan_responses as u64;
    row.unanswered_calls = found.unanswered_calls as u64;
    row.repeated_ids = found.repeated_ids as u64;
    row.packed_responses = found.packed_responses as u64;
    row.same_role_neighbours = found.same_role_neighbours as u64;
    let is_unknown = |turn: &&Turn<'_>| !turn.opaque && turn.role == Role::Other;
    row.unknown_roles = record.turns.iter().filter(is_unknown).count() as u64;
}

/// Records the original's figures in the row of a mended record, and recomputes the savings.
fn as_it_came(row: &mut Row, before: &Row, count: CountMode) {
    row.original_turns = before.original_turns;
    row.turns_removed = row.original_turns.cast_signed() - row.compressed_turns.cast_signed();
    row.original_value_tokens = row.original_value_tokens.and(before.original_value_tokens);
    // A template may refuse the broken record; its rendered tokens are unknown then.
    if row.original_rendered_tokens.is_some() && before.original_rendered_tokens.is_some() {
        row.original_rendered_tokens = before.original_rendered_tokens;
    } else if count == CountMode::Rendered {
        return;
    }
    row.original_tokens = before.original_tokens;
    row.tokens_saved = row.original_tokens.cast_signed() - row.compressed_tokens.cast_signed();
    row.compression_ratio = row.compressed_tokens as f64 / row.original_tokens.max(1) as f64;
}

/// A record ready to be fitted: mended, and converted to the configured form.
pub(super) struct Prepared {
    text: String,
    format: Format,
    mended: Faults,
    shapes: TidyCounts,
    losses: Losses,
    is_converted: bool,
}

impl Prepared {
    /// Returns the record's text and form.
    pub(super) fn into_text(self) -> (String, Format) {
        (self.text, self.format)
    }
}

impl Fitter {
    /// Fits a record, mended and converted first if configured. Its original cost is that of the record as read, as far
    /// as that is known.
    pub(super) async fn fit_prepared(&self, record: &Record<'_>) -> Fitted {
        let prepared = match self.prepared(record) {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return self.fit_record(record).await,
            Err(refused) => return self.reject(&Reason::with(Reason::NOT_CONVERTIBLE, refused.to_string())),
        };
        let Ok(whole) = trajectory::parse(prepared.text.as_bytes(), Some(prepared.format)) else {
            let reason = Reason::with("internal_error", "the prepared record cannot be read");
            return Fitted::failed(&reason, self.settings.target_max_tokens);
        };
        let mut fitted = self.fit_record(&whole).await;
        fitted.row.converted = prepared.is_converted;
        fitted.row.format_losses = prepared.losses.total() as u64;
        fitted.row.format_loss_kinds = prepared.losses.to_string();
        if fitted.row.status == Status::Failed && !prepared.is_converted {
            return fitted;
        }
        let before = Counted::of(self, record).row(&self.settings);
        as_it_came(&mut fitted.row, &before, self.settings.count);
        let Prepared { mended, shapes, .. } = &prepared;
        fitted.row.mended_faults = mended.total() as u64;
        fitted.row.mended_shapes = shapes.total() as u64;
        format!("{mended} {shapes}")
            .trim()
            .clone_into(&mut fitted.row.mended_kinds);
        fitted.text.get_or_insert(prepared.text);
        fitted
    }

    /// Returns the record mended and converted; `None` where it is fitted as it is.
    pub(super) fn prepared(&self, record: &Record<'_>) -> Result<Option<Prepared>, NotConvertible> {
        let sanitized = sanitized(record, &self.settings);
        let (mended, shapes) = sanitized
            .as_ref()
            .map(|sanitized| (sanitized.mended, sanitized.shapes))
            .unwrap_or_default();
        let text = sanitized.map(|sanitized| sanitized.text);
        let Some(target) = self.settings.output_form else {
            return Ok(text.map(|text| Prepared {
                text,
                format: record.format,
                mended,
                shapes,
                losses: Losses::default(),
                is_converted: false,
            }));
        };
        let current = text
            .as_deref()
            .and_then(|text| trajectory::parse(text.as_bytes(), Some(record.format)).ok());
        let Converted {
            text: written,
            losses,
        } = trajectory::convert(current.as_ref().unwrap_or(record), target)?;
        let is_converted = written != text.as_deref().unwrap_or(record.text);
        let is_prepared = is_converted || text.is_some() || losses.total() > 0;
        Ok(is_prepared.then_some(Prepared {
            text: written,
            format: target.form,
            mended,
            shapes,
            losses,
            is_converted,
        }))
    }
}
