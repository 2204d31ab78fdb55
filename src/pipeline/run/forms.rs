//! One form of record per file: merged inputs are of one form, or written in one.

use super::job::Job;
use crate::fit::Fitter;
use crate::metrics::{Row, Status, Totals};
use crate::pipeline::{Records, RunError, Source};

/// Number of first records read to find the form of an input.
const FIRST_RECORDS: usize = 8;

const HELP: &str = "write all of them in one form with --output-format messages or --output-format sharegpt, or each input to \
    a file of its own with -o OUTDIR/";

/// Refuses to merge inputs that begin with records of different forms, before anything is written.
pub fn refuse_mixed(job: &Job, fitter: &Fitter) -> Result<(), RunError> {
    // If only some records are taken, their forms are known when they are read.
    let takes_all = job.limit.is_none() && job.sample == crate::pipeline::read::sample::Sample::ALL;
    if !OneForm::is_needed(job, fitter) || !takes_all {
        return Ok(());
    }
    let mut first: Option<(String, &'static str)> = None;
    // A pipe can be read only once.
    for source in job.sources.iter().filter(|source| source.path.is_file()) {
        let Some(form) = form_of(source, job, fitter) else {
            continue;
        };
        match &first {
            None => first = Some((source.name(), form)),
            Some((_, first_form)) if *first_form == form => {}
            Some((name, first_form)) => {
                return Err(RunError::usage(
                    format!(
                        "cannot merge {}: its records are {form}, those of {name} {first_form}",
                        source.name()
                    ),
                    HELP,
                ));
            }
        }
    }
    Ok(())
}

/// The form of the first readable record; an input that cannot be opened is reported when it is read.
fn form_of(source: &Source, job: &Job, fitter: &Fitter) -> Option<&'static str> {
    let mut records = Records::of(std::slice::from_ref(source), job.max_record_bytes);
    (0..FIRST_RECORDS).find_map(|_| fitter.form_of(&records.next_record().ok()??.bytes))
}

/// The form of the records written, if all must have one.
pub struct OneForm {
    form: Option<String>,
    is_needed: bool,
}

impl OneForm {
    /// The form after the records of these totals.
    pub fn of(job: &Job, fitter: &Fitter, totals: &Totals) -> Self {
        Self {
            form: totals.by_format.keys().next().cloned(),
            is_needed: Self::is_needed(job, fitter),
        }
    }

    fn is_needed(job: &Job, fitter: &Fitter) -> bool {
        job.targets.merged() && fitter.settings.output_form.is_none() && fitter.settings.format.is_none()
    }

    /// Refuses rows of another form.
    pub fn check(&mut self, rows: &[Row]) -> Result<(), RunError> {
        let written = rows
            .iter()
            .filter(|row| self.is_needed && row.status != Status::Rejected && !row.format.is_empty());
        for row in written {
            let form = self.form.get_or_insert_with(|| row.format.clone());
            if *form != row.format {
                return Err(RunError::CannotGoOn {
                    message: format!(
                        "cannot merge the record {}:{}: it is {}, those before it are {form}",
                        row.source, row.line, row.format
                    ),
                    help: format!("start over with --force, and {HELP}"),
                });
            }
        }
        Ok(())
    }
}
