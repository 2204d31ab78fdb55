//! `trajfit restore`: the assistant turns of trajectories, put together again from the records that they became.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::check::unrolled::file_name;
use super::unroll::mark;
use crate::cli::flags::inputs;
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::runs::running;
use crate::cli::settings::Settings;
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};
use crate::config::ConfigKey;
use crate::fit::{TrajectoryId, trained_turns};
use crate::pipeline::{self, RawRecord, Records};

/// Restore the assistant turns of the trajectories that records were unrolled from.
///
/// Prints a line of JSON for each trajectory: its id, and the trained turns of its records in order, byte for byte as they
/// stood in the trajectory. A mark is taken off where it stands at the end of a turn. The records must be whole and in order, as
/// trajfit unroll writes them. trajfit check --unrolled-from compares them with the trajectories themselves.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// Records that trajfit unroll wrote: a file or directory; - is standard input
    #[arg(long, value_name = "OUT", value_parser = inputs::path(), required = true)]
    from_unrolled: PathBuf,
    /// Field that is true on trained turns and false on others, or FIELD=VALUE for its value on others; none for records with
    /// a list of trained turns [default: train, or the field of the configuration]
    #[arg(long, value_name = "FIELD[=VALUE]")]
    mark: Option<String>,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyFlags<RestoreKeys>,
}

/// The keys that decide how records are read, and which of their turns are trained.
#[derive(Debug, Clone)]
enum RestoreKeys {}

impl KeySet for RestoreKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        let read = ["input.format", "input.max_record_bytes", "compression.trainer"];
        read.contains(&key.path).then_some(*key)
    }
}

/// A trajectory of which records were read.
struct Restored {
    /// The trajectory's id.
    id: String,
    /// The number of the record that comes next.
    next: usize,
    /// The assistant turns so far, as they stand.
    turns: Vec<String>,
}

/// Runs the command.
pub fn run(args: RestoreArgs) -> Result<ExitStatus, CliError> {
    let settings = Settings::of(&args.keys.into_sources(args.config).resolve()?);
    restore(&args.from_unrolled, args.mark.as_deref(), &settings)?;
    Ok(ExitStatus::Done)
}

fn restore(path: &PathBuf, mark: Option<&str>, settings: &Settings) -> Result<(), CliError> {
    let mark = mark::mark(mark, settings.fit.mark.as_ref())?;
    let format = settings.fit.format;
    let paths = std::slice::from_ref(path);
    inputs::check(paths)?;
    let sources = pipeline::sources(paths).map_err(running::cli_error)?;
    let mut records = Records::of(&sources, settings.max_record_bytes);
    let mut open: Option<Restored> = None;
    while let Some(record) = records.next_record().map_err(running::cli_error)? {
        let turns =
            trained_turns(&record.bytes, format, mark.as_ref()).map_err(|why| faulty(&record, &why))?;
        let name = format!("{}:{}", file_name(&record.source), record.line);
        let lineage = TrajectoryId::of(&record.bytes, format);
        let alone = || TrajectoryId::of_original(&record.bytes, format, &name).unwrap_or_default();
        let mut restored = match open.take() {
            None => Restored {
                id: lineage
                    .as_ref()
                    .map_or_else(alone, |lineage| lineage.trajectory.clone()),
                next: 1,
                turns: Vec::new(),
            },
            Some(restored) => restored,
        };
        let is_next = |lineage: &TrajectoryId| lineage.comes_next(&restored.id, restored.next);
        if !lineage.as_ref().map_or(restored.next == 1, is_next) {
            let why = format!("record {} of {} is missing before it", restored.next, restored.id);
            return Err(faulty(&record, &why));
        }
        restored.turns.extend(turns);
        restored.next += usize::from(lineage.as_ref().is_none_or(|lineage| !lineage.is_summary));
        if lineage.as_ref().is_none_or(TrajectoryId::is_last) {
            stdout::print(restored.line().as_bytes())?;
        } else {
            open = Some(restored);
        }
    }
    open.map_or(Ok(()), |open| {
        let why = format!("record {} of {} is missing at the end", open.next, open.id);
        Err(CliError::usage(why).with_help(HELP))
    })
}

const HELP: &str = "--from-unrolled takes the whole output of trajfit unroll, in its order";

fn faulty(record: &RawRecord, why: &str) -> CliError {
    CliError::usage(format!("{}:{}: {why}", record.source, record.line)).with_help(HELP)
}

impl Restored {
    /// The line of JSON, with the turns as they stand.
    fn line(&self) -> String {
        let id: Value = json!(self.id);
        let turns = self.turns.join(", ");
        format!("{{\"trajectory_id\": {id}, \"assistant_turns\": [{turns}]}}\n")
    }
}
