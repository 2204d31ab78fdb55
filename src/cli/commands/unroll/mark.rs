//! The field that marks trained turns: `--mark`.

use crate::cli::CliError;
use crate::config::MarkSummary;
use crate::fit::{MarkTurns, SummaryMark};

/// The values that have an opposite.
const VALUES: [&str; 6] = ["false", "true", "0", "0.0", "1", "1.0"];

/// The field of trained turns: as given, else that of the configuration or its trainer, else `train`.
pub fn mark(given: Option<&str>, configured: Option<&SummaryMark>) -> Result<Option<SummaryMark>, CliError> {
    if given == Some("none") {
        return Ok(None);
    }
    let read = |text| MarkSummary::read(text).map(|mark| (mark.field, mark.value));
    let mark = match (given, configured) {
        (None, Some(mark)) => Some((mark.field.clone(), mark.value.clone())),
        (given, _) => read(given.unwrap_or("train")),
    };
    let Some((field, value)) = mark.filter(|(_, value)| VALUES.contains(&value.as_str())) else {
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
