//! Two data sets side by side: each compressed record with its original, in bounded memory.

mod by_key;
mod by_run;
mod data_sets;
mod run_files;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::RunError;
use crate::fit::PairScorer;
use by_key::PairKeys;
use by_run::RunPairs;
pub use data_sets::{LeftOut, Paired, Pairs};

/// The rule by which records pair.
#[derive(Debug)]
pub struct Matching {
    rule: PairingRule,
    /// Metrics beside the output that are not about these files, with the reason; a line each.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
enum PairingRule {
    /// By source and line, according to the metrics of the run.
    Run(RunPairs),
    /// By id, or by order.
    Keys(PairKeys),
}

impl Pairs {
    /// Returns the rule by which the records of these two pair: by source and line, if they come from one run whose
    /// metrics stand beside the compressed ones; else by id, and by order among those that share an id or have none.
    pub fn matching(&self, scorer: PairScorer, stop: &AtomicBool) -> Result<Matching, RunError> {
        let mut warnings = Vec::new();
        if let Some(run) = RunPairs::find(self, scorer, stop, &mut warnings)? {
            return Ok(Matching {
                rule: PairingRule::Run(run),
                warnings: Vec::new(),
            });
        }
        let keys = PairKeys::of(self, scorer, stop)?;
        Ok(Matching {
            rule: PairingRule::Keys(keys),
            warnings,
        })
    }

    /// Passes every record to `take` once, pairs together, in the order of the compressed ones, until `take` breaks.
    pub fn each(
        &self,
        matching: &Matching,
        scorer: PairScorer,
        stop: &AtomicBool,
        mut take: impl FnMut(Paired<'_>) -> Result<ControlFlow<()>, RunError>,
    ) -> Result<(), RunError> {
        // A break means that `take` needs no more.
        let _ = match &matching.rule {
            PairingRule::Run(run) => run.each(self, stop, &mut take)?,
            PairingRule::Keys(keys) => keys.each(self, scorer, stop, &mut take)?,
        };
        Ok(())
    }
}

impl Matching {
    /// The name of the rule: `metrics`, `ids`, `ids_and_order` or `order`.
    pub fn name(&self) -> &'static str {
        match &self.rule {
            PairingRule::Run(_) => "metrics",
            PairingRule::Keys(keys) => keys.name(),
        }
    }

    /// The metrics by which records pair, if they do.
    pub fn metrics(&self) -> Option<&Path> {
        match &self.rule {
            PairingRule::Run(run) => Some(run.metrics()),
            PairingRule::Keys(_) => None,
        }
    }
}
