//! `trajfit check --unrolled-from`: the proof that every assistant turn is trained in exactly one record.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::cli::flags::inputs;
use crate::cli::runs::running;
use crate::cli::settings::Settings;
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};
use crate::fit::{Reassembly, SummaryMark, TrajectoryId};
use crate::pipeline::{self, RawRecord, Records};
use crate::report::figures::thousands;
use crate::trajectory::Format;

/// Number of differences that are named; the others are counted.
const NAMED: usize = 5;

/// The settings of the check.
pub struct UnrolledCheck<'a> {
    /// The trajectories.
    pub originals: &'a Path,
    /// The records that they were unrolled into.
    pub unrolled: &'a Path,
    /// The field that marks trained turns; `None` for lists of trained turns.
    pub mark: Option<SummaryMark>,
    /// The settings of the configuration.
    pub settings: &'a Settings,
}

/// The result of the check.
#[derive(Debug, Default)]
struct UnrolledOutcome {
    trajectories: u64,
    records: u64,
    turns: u64,
    /// Lines that hold no trajectory: they were rejected.
    unreadable: u64,
    differences: u64,
    named: Vec<String>,
}

impl UnrolledCheck<'_> {
    /// Compares all records and prints the answer.
    pub fn run(&self) -> Result<ExitStatus, CliError> {
        let paths: [PathBuf; 2] = [self.originals.to_owned(), self.unrolled.to_owned()];
        for path in &paths {
            inputs::check(std::slice::from_ref(path))?;
        }
        let [originals, unrolled] = &paths;
        let found = self.compared(self.records(originals)?, self.records(unrolled)?)?;
        let passed = found.differences == 0 && found.trajectories > 0;
        stdout::print(found.text(passed).as_bytes())?;
        Ok(ExitStatus::of_gate(passed))
    }

    fn records(&self, path: &PathBuf) -> Result<Records, CliError> {
        let sources = pipeline::sources(std::slice::from_ref(path)).map_err(running::cli_error)?;
        Ok(Records::of(&sources, self.settings.max_record_bytes))
    }

    fn compared(&self, mut originals: Records, mut unrolled: Records) -> Result<UnrolledOutcome, CliError> {
        let format = self.settings.fit.format;
        let mut found = UnrolledOutcome::default();
        let mut next = unrolled.next_record().map_err(running::cli_error)?;
        while let Some(original) = originals.next_record().map_err(running::cli_error)? {
            let name = format!("{}:{}", file_name(&original.source), original.line);
            let id = TrajectoryId::of_original(&original.bytes, format, &name);
            let reassembly = Reassembly::of(&original.bytes, format, self.mark.as_ref());
            let (Some(id), Some(mut reassembly)) = (id, reassembly) else {
                found.unreadable += 1;
                continue;
            };
            found.trajectories += 1;
            let mut taken = Ok(());
            let mut wanted = 1;
            loop {
                let is_its = |record: &&RawRecord| is_part(record, &original, &id, wanted, format);
                let Some(record) = next.as_ref().filter(is_its) else {
                    break;
                };
                found.records += 1;
                taken = taken.and_then(|()| reassembly.take(&record.bytes));
                let lineage = TrajectoryId::of(&record.bytes, format);
                next = unrolled.next_record().map_err(running::cli_error)?;
                wanted += usize::from(lineage.as_ref().is_none_or(|lineage| !lineage.is_summary));
                if lineage.as_ref().is_none_or(TrajectoryId::is_last) {
                    break;
                }
            }
            match taken.and_then(|()| reassembly.finish()) {
                Ok(turns) => found.turns += turns as u64,
                Err(what) => found.differs(&original, &what),
            }
        }
        if let Some(record) = next {
            found.differs(&record, "a record of no trajectory that is left");
        }
        Ok(found)
    }
}

/// Returns true if a record is the next one of a trajectory: by its lineage, or as the trajectory itself.
fn is_part(
    record: &RawRecord,
    original: &RawRecord,
    id: &str,
    segment: usize,
    format: Option<Format>,
) -> bool {
    if segment == 1 && record.bytes == original.bytes {
        return true;
    }
    let lineage = TrajectoryId::of(&record.bytes, format);
    lineage.is_some_and(|lineage| lineage.comes_next(id, segment))
}

/// The name of the file that a record is in.
pub fn file_name(source: &str) -> String {
    let name = Path::new(source).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

impl UnrolledOutcome {
    fn differs(&mut self, record: &RawRecord, what: &str) {
        self.differences += 1;
        if self.named.len() < NAMED {
            self.named
                .push(format!("{}:{}: {what}", record.source, record.line));
        }
    }

    fn text(&self, passed: bool) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}  {} assistant turns of {} trajectories are trained in exactly one of {} records, byte for byte",
            if passed { "PASS" } else { "FAIL" },
            thousands(self.turns),
            thousands(self.trajectories),
            thousands(self.records)
        );
        if self.unreadable > 0 {
            let _ = writeln!(text, "Lines without a trajectory: {}", thousands(self.unreadable));
        }
        for named in &self.named {
            let _ = writeln!(text, "  {named}");
        }
        let more = self.differences - self.named.len() as u64;
        if more > 0 {
            let _ = writeln!(text, "  and {} more", thousands(more));
        }
        text.push_str(if passed {
            "The check passed.\n"
        } else {
            "The check failed.\n"
        });
        text
    }
}
