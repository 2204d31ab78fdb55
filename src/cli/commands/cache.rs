//! `trajfit cache`: figures of the answers on disk, the removal of answers, and caches joined.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cache::{self, CacheError, FILE, Prune};
use crate::cli::settings::Settings;
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus};
use crate::config::{OutputPath, Sources, units};
use crate::pipeline::cache_beside;
use crate::report::{CacheReport, cache_text, merged_text, pruned_text};

/// Look at the answers of language models that are kept on disk, take old ones away, and join caches.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

const EXAMPLES: &str = "\
Examples:
  trajfit cache stats out.jsonl                      the answers kept beside that output
  trajfit cache stats answers/ --json                those in a folder that --cache named
  trajfit cache prune answers/ --older-than 30d      takes away what was not used for 30 days
  trajfit cache prune answers/ --max-size 500MB      keeps what was used last
  trajfit cache merge part-*.cache -o answers/       the answers of all in one";

#[derive(Debug, clap::Subcommand)]
enum CacheCommand {
    /// How many answers there are, of which models, since when
    Stats(StatsArgs),
    /// Take answers away
    Prune(PruneArgs),
    /// Add the answers of several caches to one
    Merge(CacheMergeArgs),
}

#[derive(Debug, clap::Args)]
struct StatsArgs {
    #[command(flatten)]
    place: CacheLocation,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
struct PruneArgs {
    #[command(flatten)]
    place: CacheLocation,
    /// Those that were not used for so long: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = units::time, group = "which")]
    older_than: Option<Duration>,
    /// Those that were not used for the longest time, until the file is no larger: 500MB, 2GB
    #[arg(long, value_name = "SIZE", value_parser = units::size, group = "which")]
    max_size: Option<u64>,
    /// All of them, and a damaged file as well
    #[arg(long, group = "which")]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct CacheMergeArgs {
    /// The caches: folders, or outputs that they stand beside
    #[arg(value_name = "DIR|OUT", required = true)]
    from: Vec<PathBuf>,
    /// Folder of the cache that takes their answers; made if there is none
    #[arg(short, long, value_name = "DIR", required = true)]
    output: PathBuf,
}

#[derive(Debug, clap::Args)]
struct CacheLocation {
    /// The folder, or the output that it stands beside [default: what the variable `TRAJFIT_CACHE` names]
    #[arg(value_name = "DIR|OUT")]
    place: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &CacheArgs) -> Result<ExitStatus, CliError> {
    match &args.command {
        CacheCommand::Stats(args) => {
            let folder = args.place.folder()?;
            let stats = cache::stats(&folder).map_err(|error| refused(&error))?;
            let report = CacheReport::new(stats.ok_or_else(|| missing(&[&folder]))?);
            stdout::print_result(&report, args.json, cache_text)?;
        }
        CacheCommand::Prune(args) => {
            let folder = args.place.folder()?;
            let pruned = cache::prune(&folder, args.which()).map_err(|error| refused(&error))?;
            let pruned = pruned.ok_or_else(|| missing(&[&folder]))?;
            stdout::print(pruned_text(&pruned).as_bytes())?;
        }
        CacheCommand::Merge(args) => {
            let from: Result<Vec<PathBuf>, CliError> =
                args.from.iter().map(|place| folder_at(place)).collect();
            let merged = cache::merge(&from?, &args.output).map_err(|error| refused(&error))?;
            stdout::print(merged_text(&merged).as_bytes())?;
        }
    }
    Ok(ExitStatus::Done)
}

impl PruneArgs {
    fn which(&self) -> Prune {
        match (self.older_than, self.max_size) {
            (Some(age), _) => Prune::OlderThan(age),
            (None, Some(size)) => Prune::MaxSize(size),
            (None, None) => Prune::All,
        }
    }
}

impl CacheLocation {
    /// The folder of the cache that the argument names.
    fn folder(&self) -> Result<PathBuf, CliError> {
        self.place
            .as_ref()
            .map_or_else(configured, |place| folder_at(place))
    }
}

/// The folder of the cache at a place: the folder itself, its file, or an output that it stands beside.
fn folder_at(place: &Path) -> Result<PathBuf, CliError> {
    if place.file_name().is_some_and(|name| name == FILE) {
        return Ok(place.parent().unwrap_or(Path::new("")).to_owned());
    }
    let (place, beside) = (place.to_owned(), cache_beside(place));
    let found = [&place, &beside].into_iter().find(|folder| cache::is_in(folder));
    found.cloned().ok_or_else(|| missing(&[&place, &beside]))
}

/// The folder that the environment names.
fn configured() -> Result<PathBuf, CliError> {
    let sources = Sources {
        environment: std::env::vars_os()
            .filter(|(name, _)| name == "TRAJFIT_CACHE")
            .collect(),
        ..Sources::default()
    };
    match Settings::of(&sources.resolve()?).summaries.cache {
        OutputPath::Named(folder) => Ok(PathBuf::from(folder)),
        OutputPath::Auto | OutputPath::Off => Err(CliError::usage("which cache?").with_help(WHERE)),
    }
}

const WHERE: &str = "name its folder, or the output that it stands beside: trajfit cache stats out.jsonl";

fn missing(places: &[&PathBuf]) -> CliError {
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    CliError::usage(format!("no answers are kept in {}", places.join(" or "))).with_help(WHERE)
}

fn refused(error: &CacheError) -> CliError {
    let help = match error {
        CacheError::Damaged { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            Some(format!(
                "take it away by trajfit cache prune {folder} --all: what it held is lost"
            ))
        }
        CacheError::Foreign { .. } => Some(WHERE.to_owned()),
        CacheError::Newer { .. } => Some("use that version".to_owned()),
        CacheError::ReadOnly { .. } | CacheError::Cannot { .. } => {
            Some("check that the folder is there and writable".to_owned())
        }
    };
    CliError {
        help,
        ..CliError::usage(error.to_string())
    }
}
