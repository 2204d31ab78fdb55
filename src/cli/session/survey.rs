//! Records that are measured or judged, and not changed: what `count`, `check` and `lint` report of them.

use std::sync::Arc;
use std::time::Duration;

use super::core::Session;
use super::error::{SessionError, SessionErrorKind};
use crate::cli::commands::{check, lint};
use crate::cli::runs::{running, survey};
use crate::config::OnInvalid;
use crate::fit::{Linter, Measurer};
use crate::metrics::{Census, LintCensus, Unreadable};
use crate::pipeline::{Next, Process, ReadBatch, RecordStream, read_record};
use crate::report::{self, CheckLimits, CheckOutcome, CountReport, LintReport, SurveyFigures, Tokenizer};

/// The time between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(50);

impl Session {
    /// Counts the tokens of records: the JSON that `trajfit count --json` prints, with the `largest` largest records.
    /// `stop` is asked now and then; `true` ends the count.
    ///
    /// # Errors
    ///
    /// A record cannot be read and `on_invalid` is `fail`, or it was stopped.
    pub fn count(
        &self,
        records: impl Iterator<Item = Vec<u8>>,
        source: &str,
        largest: usize,
        stop: impl FnMut() -> bool,
    ) -> Result<String, SessionError> {
        let (census, figures) = self.census(records, source, largest, stop)?;
        let limit = self.settings.fit.target_max_tokens as u64;
        let note = self.chosen.counter.note();
        Ok(report::json(&CountReport::new(figures, &census, limit, note)))
    }

    /// Checks that records are within the budget: the JSON that `trajfit check --json` prints. `max_over` is the number of
    /// records that may be over it, or a percentage such as `0.5%`.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count); or `max_over` is neither of both.
    pub fn check(
        &self,
        records: impl Iterator<Item = Vec<u8>>,
        source: &str,
        max_over: &str,
        p99: Option<u64>,
        stop: impl FnMut() -> bool,
    ) -> Result<String, SessionError> {
        let max_over = check::allowance(max_over).map_err(|why| usage(format!("max_over: {why}")))?;
        let (census, figures) = self.census(records, source, LISTED, stop)?;
        let settings = &self.settings;
        let limits = CheckLimits {
            max_tokens: settings.fit.target_max_tokens as u64,
            max_over,
            p99,
            allow_unreadable: settings.on_invalid == OnInvalid::Pass,
            allow_refused: false,
        };
        let note = self.chosen.counter.note();
        Ok(report::json(&CheckOutcome::new(figures, &census, &limits, note)))
    }

    /// Holds records against the rules of the trainer that the configuration names: the JSON that `trajfit lint --json`
    /// prints. `max_length` is the trainer's limit in tokens, if it is not its default.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count); or no trainer is named.
    pub fn lint(
        &self,
        records: impl Iterator<Item = Vec<u8>>,
        source: &str,
        max_length: Option<u64>,
        stop: impl FnMut() -> bool,
    ) -> Result<String, SessionError> {
        let settings = &self.settings;
        let rules = lint::rules(settings)?;
        let linter = Linter {
            trainer: rules,
            counter: Arc::clone(&self.chosen.counter),
            template: match &settings.chat_template {
                Some(_) => running::template(settings)?,
                None => None,
            },
            image_tokens: settings.fit.image_tokens,
            format: settings.fit.format,
            limit: max_length.or(rules.length.default),
        };
        let mut census = LintCensus::new(rules.reader);
        let judge = move |bytes: &[u8]| {
            linter
                .lint(bytes)
                .map_err(|error| (error.code(), error.to_string()))
        };
        self.survey(records, judge, stop, |line, verdict| match verdict {
            Ok(mut verdict) => census.add(source, line, &mut verdict),
            Err(unreadable) => census.add_unreadable(source, &unreadable),
        })?;
        Ok(report::json(&LintReport::new(rules, max_length, &census, false)))
    }

    fn census(
        &self,
        records: impl Iterator<Item = Vec<u8>>,
        source: &str,
        largest: usize,
        stop: impl FnMut() -> bool,
    ) -> Result<(Census, SurveyFigures), SessionError> {
        let settings = &self.settings;
        let measurer = Measurer {
            counter: Arc::clone(&self.chosen.counter),
            template: self.template.clone(),
            template_arguments: settings.fit.template_arguments,
            image_tokens: settings.fit.image_tokens,
            format: settings.fit.format,
        };
        let mut census = Census::new(survey::measured(settings), largest);
        let measure = move |bytes: &[u8]| {
            measurer
                .measure(bytes)
                .map_err(|error| (error.code(), error.to_string()))
        };
        self.survey(records, measure, stop, |line, measured| match measured {
            Ok(mut measure) => {
                measure.line = line;
                census.add(source, &measure);
            }
            Err(unreadable) => census.add_unreadable(source, &unreadable),
        })?;
        let identity = self.chosen.counter.identity();
        let tokenizer = Tokenizer {
            name: identity.name.clone(),
            sha256: identity.sha256.clone(),
            engine: identity.engine.clone(),
        };
        let figures = SurveyFigures::of(&census, vec![source.to_owned()], tokenizer);
        Ok((census, figures))
    }

    /// Reads every record on the pool, and passes the results to `take` in order.
    fn survey<T: Send + 'static>(
        &self,
        records: impl Iterator<Item = Vec<u8>>,
        read: impl Fn(&[u8]) -> Result<T, (&'static str, String)> + Send + Sync + 'static,
        mut stop: impl FnMut() -> bool,
        mut take: impl FnMut(u64, Result<T, Unreadable>),
    ) -> Result<(), SessionError> {
        let ends = self.settings.on_invalid == OnInvalid::Fail;
        let read = Arc::new(read);
        let process: Process<(u64, Result<T, Unreadable>)> = Arc::new(move |batch: ReadBatch| {
            let read = Arc::clone(&read);
            Box::pin(async move { read_record(&batch, |bytes| read(bytes)) })
        });
        let mut stream = RecordStream::new(records, self.capacity()?, process);
        let mut taken = 0_u64;
        loop {
            let mut asks = taken.is_multiple_of(ASKED_EVERY);
            match stream.next_within(LOOK) {
                Next::Ready((line, Err(unreadable))) if ends => {
                    let Unreadable { code, error, .. } = unreadable;
                    return Err(SessionError {
                        kind: SessionErrorKind::Stopped,
                        message: format!("stopped at record {line}: {code}: {error}"),
                        help: Some("set on_invalid to reject or pass".to_owned()),
                    });
                }
                Next::Ready((line, result)) => take(line, result),
                Next::End => return Ok(()),
                Next::Pending => asks = true,
            }
            taken += 1;
            if asks && stop() {
                return Err(SessionError {
                    kind: SessionErrorKind::Stopped,
                    message: "interrupted".to_owned(),
                    help: None,
                });
            }
        }
    }
}

/// Offenders listed by `check`.
const LISTED: usize = 10;

/// Results between two questions whether to stop.
const ASKED_EVERY: u64 = 16;

fn usage(message: String) -> SessionError {
    SessionError {
        kind: SessionErrorKind::Usage,
        message,
        help: None,
    }
}
