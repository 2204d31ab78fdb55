//! The field that marks trained turns: `--mark`.

use crate::cli::errors::CliError;
use crate::config::{Config, MarkSummary};
use crate::fit::{MarkTurns, SummaryMark};

/// The values that have an opposite.
const VALUES: [&str; 6] = ["false", "true", "0", "0.0", "1", "1.0"];

/// The field of trained turns: as given, else that of the configuration or its trainer, else `train`.
pub fn mark(given: Option<&str>, config: &Config) -> Result<Option<SummaryMark>, CliError> {
    if given == Some("none") {
        return Ok(None);
    }
    let configured = Some(config.output.mark_summary.clone()).filter(|mark| !mark.field.is_empty());
    let mark = match given {
        Some(text) => MarkSummary::read(text),
        None => configured.or_else(|| MarkSummary::read("train")),
    };
    let has_opposite = |mark: &MarkSummary| VALUES.contains(&mark.value.as_str());
    let Some(MarkSummary { field, value }) = mark.filter(has_opposite) else {
        let given = given.unwrap_or("output.mark_summary");
        return Err(CliError::usage(format!(
            "--mark {given}: no field that tells trained turns from others"
        ))
        .with_help("name a field such as train, weight=0 or loss=false, or say none"));
    };
    Ok(Some(SummaryMark {
        field,
        value,
        turns: MarkTurns::All,
    }))
}
