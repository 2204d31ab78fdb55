//! Notes on records that other processes fitted, gathered into the reports of a single run.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::core::Session;
use super::error::{SessionError, SessionErrorKind};
use super::fitting::FittedRecord;
use crate::metrics::{Columns, Reject, Row, Totals, csv_header, csv_rows};
use crate::pipeline::{RowsReport, rows_report};

/// The part of a result that reports are made of. It travels as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    row: Row,
    summary_input_tokens: u64,
    /// The bytes of a rejected record, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rejected: Option<String>,
}

impl FittedRecord {
    /// The row, the tokens that summarizers read and, if it was rejected, the bytes of the record: JSON for [`Gathering`]. `None`
    /// of an unrolled trajectory.
    pub fn note(&self) -> Option<String> {
        let row = self.rows().first().filter(|row| row.segment.is_none())?;
        let note = Note {
            row: row.clone(),
            summary_input_tokens: self.summary_input_tokens(),
            rejected: self.rejected().map(|_| STANDARD.encode(self.input())),
        };
        serde_json::to_string(&note).ok()
    }
}

/// The lines that a note adds to the files of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct GatheredLines {
    /// The line of the metrics.
    pub metrics: Vec<u8>,
    /// The line of the rejects; `None` if the record was not rejected.
    pub reject: Option<Vec<u8>>,
}

/// The reports of records that other processes fitted with the same settings.
pub struct Gathering {
    facts: RowsReport,
    totals: Totals,
    is_csv_safe: bool,
    started: Instant,
}

impl Session {
    /// Reports without any record yet.
    pub fn gathering(&self) -> Gathering {
        Gathering {
            facts: self.facts(self.settings.fingerprint.clone()),
            totals: Totals::default(),
            is_csv_safe: self.settings.files.csv_safe,
            started: Instant::now(),
        }
    }
}

impl Gathering {
    /// The first line of the metrics.
    pub fn header(&self) -> Vec<u8> {
        csv_header(Columns::Records)
    }

    /// Adds a note. The row gets the number of its record among all, from 1, as line.
    ///
    /// # Errors
    ///
    /// It is no note of this version.
    pub fn add(&mut self, note: &str, line: u64) -> Result<GatheredLines, SessionError> {
        let note: Note = serde_json::from_str(note).map_err(|error| not_a_note(&error))?;
        let row = Row { line, ..note.row };
        self.totals.add(&row);
        self.facts.summary_input_tokens += note.summary_input_tokens;
        let rejected = note.rejected.map(|bytes| STANDARD.decode(bytes)).transpose();
        let reject = rejected.map_err(|error| not_a_note(&error))?.map(|bytes| {
            let mut line = Vec::new();
            Reject::new(&row, &bytes).append_to(&mut line);
            line
        });
        Ok(GatheredLines {
            metrics: csv_rows(&[row], Columns::Records, self.is_csv_safe),
            reject,
        })
    }

    /// The totals as JSON, as the program writes them into the file `.summary.json`.
    pub fn report(&self) -> String {
        rows_report(
            &self.facts,
            &self.totals,
            Columns::Records,
            self.started.elapsed(),
        )
    }
}

fn not_a_note(error: &dyn std::fmt::Display) -> SessionError {
    SessionError {
        kind: SessionErrorKind::Stopped,
        message: format!("cannot gather a result: {error}"),
        help: Some("install the same version of trajfit everywhere".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathered_notes_give_the_report_of_one_session() {
        let session = Session::builder().build().unwrap();
        let line =
            r#"{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi."}]}"#;
        let records = [
            line.as_bytes().to_vec(),
            b"\xff no record".to_vec(),
            line.as_bytes().to_vec(),
        ];
        let mut fitting = session.fit(records.into_iter(), "s").unwrap();
        let fitted: Vec<FittedRecord> = fitting.by_ref().collect::<Result<_, _>>().unwrap();
        let mut gathering = session.gathering();
        let lines: Vec<GatheredLines> = (1..)
            .zip(&fitted)
            .map(|(line, result)| gathering.add(&result.note().unwrap(), line).unwrap())
            .collect();
        assert_eq!(
            lines[2].metrics,
            csv_rows(fitted[2].rows(), Columns::Records, false)
        );
        let reject = String::from_utf8(lines[1].reject.clone().unwrap()).unwrap();
        assert!(
            reject.starts_with(r#"{"source":"s","line":2,"reason":"invalid_"#),
            "{reject}"
        );
        assert!(reject.contains(&STANDARD.encode(b"\xff no record")));
        assert!(lines[0].reject.is_none());
        let without_time = |report: &str| {
            let mut report: serde_json::Value = serde_json::from_str(report).unwrap();
            report.as_object_mut().unwrap().remove("timing");
            report
        };
        assert_eq!(without_time(&gathering.report()), without_time(&fitting.report()));
        assert!(
            gathering
                .add("{}", 1)
                .unwrap_err()
                .help
                .unwrap()
                .contains("same version")
        );
    }
}
