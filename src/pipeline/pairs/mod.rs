//! Two data sets side by side: each compressed record with its original, in bounded memory.

mod by_key;
mod by_run;
mod run_files;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::RunError;
use super::records::RawRecord;
use super::source::Source;
use crate::fit::PairScorer;
use by_key::Keys;
use by_run::RunPairs;

/// Two data sets to be compared.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// The originals.
    pub original: Vec<Source>,
    /// The records made of them.
    pub compressed: Vec<Source>,
    /// The path that the compressed records were named by: metrics of the run that wrote them stand beside it.
    pub compressed_path: PathBuf,
    /// Bytes that a record may have.
    pub max_record_bytes: u64,
}

/// The rule by which records pair.
#[derive(Debug)]
pub struct Matching {
    rule: Rule,
    /// Metrics beside the output that are not about these files, with the reason; a line each.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
enum Rule {
    /// By source and line, as the metrics of the run tell.
    Run(RunPairs),
    /// By id, or by order.
    Keys(Keys),
}

/// The reason that an original has no compressed record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The run rejected it.
    Rejected,
    /// The run did not read it: `--limit`, `--sample`.
    NotTaken,
    /// The data sets have different numbers of records with its id or, where it has none, without one.
    Counts {
        /// True if ids tell the records apart; otherwise all records are counted.
        by_id: bool,
        /// The number of originals.
        originals: u64,
        /// The number of compressed records.
        compressed: u64,
    },
    /// Its compressed record is in a file that is not among those compared.
    Elsewhere,
}

/// A step through two data sets.
#[derive(Debug)]
pub enum Found<'r> {
    /// A record and what was made of it.
    Pair(&'r RawRecord, &'r RawRecord),
    /// A compressed record whose original is not there or not known, or that cannot be read.
    NoOriginal(&'r RawRecord),
    /// An original without a compressed record.
    Left(&'r RawRecord, LeftOut),
}

impl Pairs {
    /// Returns the rule by which the records of these two pair: by source and line, where they come from one run whose metrics stand beside the
    /// compressed ones; else by id, and by order among those that share an id or have none.
    pub fn matching(&self, scorer: PairScorer, stop: &AtomicBool) -> Result<Matching, RunError> {
        let mut warnings = Vec::new();
        if let Some(run) = RunPairs::find(self, scorer, stop, &mut warnings)? {
            return Ok(Matching {
                rule: Rule::Run(run),
                warnings: Vec::new(),
            });
        }
        let keys = Keys::of(self, scorer, stop)?;
        Ok(Matching {
            rule: Rule::Keys(keys),
            warnings,
        })
    }

    /// If nothing breaks off, `take` gets every record once: those that pair together, in the order of the compressed ones.
    pub fn each(
        &self,
        matching: &Matching,
        scorer: PairScorer,
        stop: &AtomicBool,
        mut take: impl FnMut(Found<'_>) -> Result<ControlFlow<()>, RunError>,
    ) -> Result<(), RunError> {
        // Whoever takes them has enough where it breaks.
        let _ = match &matching.rule {
            Rule::Run(run) => run.each(self, stop, &mut take)?,
            Rule::Keys(keys) => keys.each(self, scorer, stop, &mut take)?,
        };
        Ok(())
    }
}

impl Matching {
    /// The name of the rule: `metrics`, `ids`, `ids_and_order` or `order`.
    pub fn name(&self) -> &'static str {
        match &self.rule {
            Rule::Run(_) => "metrics",
            Rule::Keys(keys) => keys.name(),
        }
    }

    /// The metrics that tell which record belongs to which.
    pub fn metrics(&self) -> Option<&Path> {
        match &self.rule {
            Rule::Run(run) => Some(run.metrics()),
            Rule::Keys(_) => None,
        }
    }
}

/// The function that takes the steps.
type Take<'t> = dyn FnMut(Found<'_>) -> Result<ControlFlow<()>, RunError> + 't;

fn interrupted(stop: &AtomicBool) -> Result<(), RunError> {
    if stop.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted { resumable: false });
    }
    Ok(())
}
