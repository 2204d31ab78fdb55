//! Checks records against the rules of a trainer, in input order, and writes none.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::survey::{Survey, read, unreadable_ends};
use crate::fit::Linter;
use crate::metrics::LintCensus;
use crate::pipeline::{Counters, RunError};

/// Judges every record of a survey and adds the verdicts to the census. `stop` ends it early, at the next batch.
pub fn lint(
    survey: &Survey,
    linter: Linter,
    census: &mut LintCensus,
    counters: &Arc<Counters>,
    stop: &Arc<AtomicBool>,
) -> Result<(), RunError> {
    let stops = survey.stop_at_unreadable;
    let judge = move |batch: &crate::pipeline::read::batch::ReadBatch, _: &str| {
        let mut judged = Vec::with_capacity(batch.items.len());
        for item in &batch.items {
            let Some(record) = &item.record else { continue };
            let bytes = batch.slice(record);
            let verdict = read(item, || {
                linter
                    .lint(bytes)
                    .map_err(|error| (error.code(), error.to_string()))
            });
            let is_last = stops && verdict.is_err();
            judged.push((item.line, verdict));
            if is_last {
                break;
            }
        }
        judged
    };
    survey.walk(counters, stop, judge, |source, judged| {
        Counters::add(&counters.records, judged.len() as u64);
        for (line, verdict) in judged {
            match verdict {
                Ok(mut verdict) => census.add(source, line, &mut verdict),
                Err(unreadable) => {
                    Counters::add(&counters.rejected, 1);
                    census.add_unreadable(source, &unreadable);
                    if stops {
                        return Err(unreadable_ends(source, &unreadable));
                    }
                }
            }
        }
        Ok(())
    })
}
