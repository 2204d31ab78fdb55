//! `trajfit config`: the effective configuration, and where each value comes from.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::flags::key_flags::KeyFlags;
use crate::cli::terminal::stdout;
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::{KEYS, MachineFormat, Resolved, Value};

/// Show the effective configuration and where each value comes from.
///
/// Later layers win: defaults, then the file, then the environment (TRAJFIT_TARGET_MAX_TOKENS for
/// --max-tokens, and so on), then flags.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct ConfigArgs {
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print it as a file that --config reads, instead of a table
    #[arg(long = "as", value_name = "FORMAT")]
    file_format: Option<FileFormat>,
    #[command(flatten)]
    keys: KeyFlags,
}

const EXAMPLES: &str = "\
Examples:
  trajfit config                                     every key, its value, and its origin
  trajfit config --as yaml > run.yaml            a file to start from
  trajfit config --config run.yaml --max-tokens 8000";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FileFormat {
    Yaml,
    Toml,
    Json,
}

/// Runs the command.
pub fn run(args: ConfigArgs) -> Result<ExitStatus, CliError> {
    let resolved = args.keys.into_sources(args.config).resolve()?;
    errors::warn(&resolved.all_warnings());
    if args.file_format.is_some() {
        let hidden = KEYS.iter().filter(|key| key.is_hidden(&resolved.config));
        let left_out = hidden.map(|key| format!("{} is left out: it may hold secrets", key.path));
        errors::warn(&left_out.collect::<Vec<_>>());
    }
    let text = match args.file_format {
        None => table(&resolved),
        Some(FileFormat::Yaml) => resolved.config.to_machine(MachineFormat::Yaml),
        Some(FileFormat::Toml) => resolved.config.to_machine(MachineFormat::Toml),
        Some(FileFormat::Json) => resolved.config.to_machine(MachineFormat::Json),
    };
    stdout::print(text.as_bytes())?;
    Ok(ExitStatus::Done)
}

/// Width of the column of values; longer values push their origin to the right.
const VALUE_WIDTH: usize = 24;

fn table(resolved: &Resolved) -> String {
    let key_width = KEYS.iter().map(|key| key.path.len()).max().unwrap_or_default();
    let mut text = String::new();
    for key in KEYS {
        let value = match key.value(&resolved.config) {
            Value::Null if key.path == "compression.summary_max_tokens" => {
                resolved.config.summary_max_tokens().to_string()
            }
            Value::Null if key.path == "compression.summary_min_tokens" => {
                resolved.config.summary_min_tokens().to_string()
            }
            Value::Null if key.path == "summarization.base_url" => resolved.config.base_url().to_owned(),
            Value::Null => "not set".to_owned(),
            _ if key.is_hidden(&resolved.config) => key.shown(&resolved.config),
            Value::Text(text)
                if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) =>
            {
                format!("{text:?}")
            }
            value => value.to_string(),
        };
        let origin = resolved.provenance.origin(key);
        let effect = if key.is_idle(&resolved.config) {
            " (no effect)"
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:key_width$}  {value:VALUE_WIDTH$}  {origin}{effect}",
            key.path
        );
    }
    text
}
