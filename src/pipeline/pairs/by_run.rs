//! Records paired by source and line: the rows of a run's metrics stand in the order in which it wrote its records.

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::data_sets::{LeftOut, OnPair, Paired, Pairs, interrupted};
use super::run_files::PairFiles;
use crate::fit::PairScorer;
use crate::metrics::{PairRow, read_pair_rows};
use crate::pipeline::paths::beside::metrics_beside;
use crate::pipeline::{RawRecord, Records, RunError, Source};

/// The metrics of the run that both data sets belong to.
#[derive(Debug)]
pub struct RunPairs {
    metrics: PathBuf,
    files: PairFiles,
}

/// A step through the rows of a run and their records.
enum PairStep<'r> {
    /// A row with its original and its compressed record, if these are among the records compared.
    Row(&'r PairRow, Option<&'r RawRecord>, Option<&'r RawRecord>),
    /// An original without a row.
    NotTaken(&'r RawRecord),
    /// A record of a compressed file that the run did not write.
    Unlisted(&'r RawRecord),
}

/// The reason why the rows do not belong to these records.
struct Mismatch(String);

/// The end of a walk through the rows.
type Walked = Result<Result<ControlFlow<()>, Mismatch>, RunError>;

impl RunPairs {
    /// The first metrics beside the compressed records that fit both data sets, record by record. For others that name
    /// both, adds the reason why they do not fit to `warnings`.
    pub fn find(
        pairs: &Pairs,
        scorer: PairScorer,
        stop: &AtomicBool,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, RunError> {
        for beside in metrics_beside(&pairs.compressed_path) {
            let Some(files) = PairFiles::of(&beside, pairs) else {
                continue;
            };
            let run = Self {
                metrics: beside.metrics,
                files,
            };
            let fits = run.walk(pairs, stop, &mut |step| {
                let is_of_run = match &step {
                    PairStep::Row(row, Some(old), Some(new)) => {
                        scorer.is_pair_of(row, &old.bytes, &new.bytes)
                    }
                    _ => true,
                };
                Ok(if is_of_run {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            })?;
            let reason = match fits {
                Ok(ControlFlow::Continue(())) => return Ok(Some(run)),
                Ok(ControlFlow::Break(())) => "records are not those that it has rows for".to_owned(),
                Err(Mismatch(reason)) => reason,
            };
            let metrics = run.metrics.display();
            warnings.push(format!("{metrics} is not about these data sets: {reason}"));
        }
        Ok(None)
    }

    /// The path of the metrics.
    pub fn metrics(&self) -> &Path {
        &self.metrics
    }

    /// The same as [`Pairs::each`].
    pub fn each(
        &self,
        pairs: &Pairs,
        stop: &AtomicBool,
        take: &mut OnPair<'_>,
    ) -> Result<ControlFlow<()>, RunError> {
        let walked = self.walk(pairs, stop, &mut |step| match step {
            PairStep::Row(_, Some(old), Some(new)) => take(Paired::Pair(old, new)),
            PairStep::Row(_, None, Some(new)) | PairStep::Unlisted(new) => take(Paired::NoOriginal(new)),
            PairStep::Row(row, Some(old), None) => {
                let why = if row.is_written() {
                    LeftOut::Elsewhere
                } else {
                    LeftOut::Rejected
                };
                take(Paired::Left(old, why))
            }
            PairStep::Row(_, None, None) => Ok(ControlFlow::Continue(())),
            PairStep::NotTaken(old) => take(Paired::Left(old, LeftOut::NotTaken)),
        })?;
        walked.map_err(|Mismatch(reason)| {
            let message = format!("the data changed while they were compared: {reason}");
            RunError::usage(message, "run it again")
        })
    }

    fn walk(
        &self,
        pairs: &Pairs,
        stop: &AtomicBool,
        take: &mut dyn FnMut(PairStep<'_>) -> Result<ControlFlow<()>, RunError>,
    ) -> Walked {
        let file = File::open(&self.metrics).map_err(|error| RunError::input(&self.metrics, &error))?;
        let mut originals = SourceRecords::new(&pairs.original, pairs.max_record_bytes);
        let mut compressed = SourceRecords::new(&pairs.compressed, pairs.max_record_bytes);
        let mismatch = |reason: String| Ok(Err(Mismatch(reason)));
        for row in read_pair_rows(BufReader::new(file)) {
            interrupted(stop)?;
            let row = match row {
                Ok(row) => row,
                Err(error) => return mismatch(error.to_string()),
            };
            let (old_file, new_file) = self.files.of_source(&row.source);
            if originals.is_elsewhere(old_file) {
                while let Some(old) = originals.next()? {
                    if take(PairStep::NotTaken(&old))?.is_break() {
                        return Ok(Ok(ControlFlow::Break(())));
                    }
                }
            }
            if compressed.is_elsewhere(new_file)
                && let Some(new) = compressed.next()?
            {
                return mismatch(format!("{}:{} has no row", new.source, new.line));
            }
            if !originals.go_to(old_file) || !compressed.go_to(new_file) {
                return mismatch(format!("the rows of {} do not stand together", row.source));
            }
            let mut old = None;
            while old_file.is_some() && old.is_none() {
                match originals.next()? {
                    Some(next) if next.line < row.line => {
                        if take(PairStep::NotTaken(&next))?.is_break() {
                            return Ok(Ok(ControlFlow::Break(())));
                        }
                    }
                    Some(next) if next.line == row.line => old = Some(next),
                    _ => return mismatch(format!("{} has no line {}", row.source, row.line)),
                }
            }
            let mut new = None;
            if new_file.is_some() && row.is_written() {
                new = compressed.next()?;
                if new.is_none() {
                    let place = format!("{}:{}", row.source, row.line);
                    return mismatch(format!("the output has no record for its row about {place}"));
                }
            }
            if take(PairStep::Row(&row, old.as_ref(), new.as_ref()))?.is_break() {
                return Ok(Ok(ControlFlow::Break(())));
            }
        }
        if let Some(new) = compressed.next()? {
            return mismatch(format!("{}:{} has no row", new.source, new.line));
        }
        while let Some(old) = originals.next()? {
            if take(PairStep::NotTaken(&old))?.is_break() {
                return Ok(Ok(ControlFlow::Break(())));
            }
        }
        // Files that no row names.
        while let Some(old) = originals.next_of_unread()? {
            interrupted(stop)?;
            if take(PairStep::NotTaken(&old))?.is_break() {
                return Ok(Ok(ControlFlow::Break(())));
            }
        }
        while let Some(new) = compressed.next_of_unread()? {
            interrupted(stop)?;
            if take(PairStep::Unlisted(&new))?.is_break() {
                return Ok(Ok(ControlFlow::Break(())));
            }
        }
        Ok(Ok(ControlFlow::Continue(())))
    }
}

/// The records of some sources, one source at a time, in any order, each once.
struct SourceRecords<'s> {
    sources: &'s [Source],
    is_read: Vec<bool>,
    current: Option<usize>,
    records: Records,
    /// The sources before this one were read, or are being read.
    first_unread: usize,
    max_record_bytes: u64,
}

impl<'s> SourceRecords<'s> {
    fn new(sources: &'s [Source], max_record_bytes: u64) -> Self {
        Self {
            sources,
            is_read: vec![false; sources.len()],
            current: None,
            records: Records::of(&[], max_record_bytes),
            first_unread: 0,
            max_record_bytes,
        }
    }

    /// Returns true if a source other than `source` is being read.
    fn is_elsewhere(&self, source: Option<usize>) -> bool {
        source.is_some() && self.current.is_some() && self.current != source
    }

    /// Opens a source, unless it is the current one or `None`. Returns false if it was read before.
    fn go_to(&mut self, source: Option<usize>) -> bool {
        let Some(source) = source.filter(|source| self.current != Some(*source)) else {
            return true;
        };
        let opened = self.sources.get(source..=source).unwrap_or_default();
        match self.is_read.get_mut(source) {
            Some(is_read) if !*is_read => *is_read = true,
            _ => return false,
        }
        self.current = Some(source);
        self.records = Records::of(opened, self.max_record_bytes);
        true
    }

    /// The next record of the current source.
    fn next(&mut self) -> Result<Option<RawRecord>, RunError> {
        self.records.next_record()
    }

    /// The next record of those sources that were never opened.
    fn next_of_unread(&mut self) -> Result<Option<RawRecord>, RunError> {
        loop {
            if let Some(record) = self.records.next_record()? {
                return Ok(Some(record));
            }
            while self.is_read.get(self.first_unread) == Some(&true) {
                self.first_unread += 1;
            }
            if self.first_unread >= self.sources.len() || !self.go_to(Some(self.first_unread)) {
                return Ok(None);
            }
        }
    }
}
