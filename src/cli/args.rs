//! The program's subcommands, and the first part of its help.

use clap::{Parser, Subcommand};

use super::commands::batch::BatchArgs;
use super::commands::cache::CacheArgs;
use super::commands::check::CheckArgs;
use super::commands::completions::CompletionsArgs;
use super::commands::compress::CompressArgs;
use super::commands::config::ConfigArgs;
use super::commands::count::CountArgs;
use super::commands::explain::ExplainArgs;
use super::commands::lint::LintArgs;
use super::commands::merge::MergeArgs;
use super::commands::restore::RestoreArgs;
use super::commands::show::ShowArgs;
use super::commands::unroll::UnrollArgs;
use super::terminal::color::Color;
use super::version;

/// Fit agent trajectories into a token budget.
///
/// A trajectory that is too long for the training context is made to fit by replacing a stretch of its middle by one
/// summary turn. Both ends are protected, everything else stays byte for byte, and what happened is reported.
#[derive(Debug, Parser)]
#[command(name = "trajfit", version, long_version = version::LONG, max_term_width = 100)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct Cli {
    /// When to print colours; auto heeds the terminal, NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Color,
    #[command(subcommand)]
    pub command: Subcommands,
}

const EXAMPLES: &str = "\
Examples:
  trajfit compress runs.jsonl                        writes runs_compressed.jsonl beside it
  trajfit compress runs.jsonl -o out.jsonl --max-tokens 32000
  trajfit unroll runs.jsonl -o unrolled.jsonl        a record for each context that an agent would have had
  trajfit count runs.jsonl                           how many tokens the records have
  trajfit check runs_compressed.jsonl                exits with 1 if a record is over the budget
  trajfit lint runs.jsonl --trainer axolotl          what a trainer will do with each record
  trajfit explain runs.jsonl --line 7                what compress would do with a record, and why
  trajfit show runs.jsonl --line 7 --compressed out.jsonl
  trajfit config --config run.yaml                   shows every setting and where it comes from

Exit codes: 0 done, 1 a gate failed, 2 wrong usage or configuration, 3 done, but some records were
rejected or degraded, 4 could not go on (resumable), 130 interrupted (resumable)";

/// The subcommands. Each command's help is the first paragraph of its arguments' type.
#[derive(Debug, Subcommand)]
pub enum Subcommands {
    Compress(Box<CompressArgs>),
    Unroll(Box<UnrollArgs>),
    Restore(RestoreArgs),
    Batch(BatchArgs),
    Merge(MergeArgs),
    Count(Box<CountArgs>),
    Check(Box<CheckArgs>),
    Lint(Box<LintArgs>),
    Explain(Box<ExplainArgs>),
    Show(Box<ShowArgs>),
    Config(ConfigArgs),
    Cache(CacheArgs),
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{Arg, Command, CommandFactory};

    /// Flags that differ in one command, with the reason.
    const EXCEPTIONS: [(&str, &str); 2] = [
        // It writes requests, and never a data set.
        ("trajfit batch export", "output"),
        // It writes a cache.
        ("trajfit cache merge", "output"),
    ];

    #[test]
    fn a_flag_means_the_same_in_all_commands() {
        let mut root = super::Cli::command();
        root.build();
        let mut meanings: BTreeMap<String, BTreeMap<Meaning, Vec<String>>> = BTreeMap::new();
        collect(&root, "trajfit", &mut meanings);
        let differing: Vec<_> = meanings
            .iter()
            .filter(|(_, meanings)| meanings.len() > 1)
            .collect();
        assert!(differing.is_empty(), "{differing:#?}");
    }

    /// The name of the value, and the first sentence or clause of the help.
    type Meaning = (Option<String>, String);

    fn collect(
        command: &Command,
        path: &str,
        meanings: &mut BTreeMap<String, BTreeMap<Meaning, Vec<String>>>,
    ) {
        for argument in command.get_arguments() {
            let long = argument.get_long().unwrap_or_default();
            if EXCEPTIONS.contains(&(path, long)) || ["help", "version"].contains(&long) {
                continue;
            }
            let short = argument.get_short().map(|letter| format!("-{letter}"));
            let aliases = argument.get_visible_aliases().unwrap_or_default().into_iter();
            let names = aliases.chain(argument.get_long()).map(|name| format!("--{name}"));
            for name in names.chain(short) {
                let commands = meanings.entry(name).or_default().entry(meaning(argument));
                commands.or_default().push(path.to_owned());
            }
        }
        for command in command.get_subcommands() {
            collect(command, &format!("{path} {}", command.get_name()), meanings);
        }
    }

    fn meaning(argument: &Arg) -> Meaning {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let ends = [". ", ": ", "; ", " ["]
            .into_iter()
            .filter_map(|end| help.find(end));
        let first = help.get(..ends.min().unwrap_or(help.len())).unwrap_or_default();
        let value = argument.get_value_names().and_then(|names| names.first());
        (value.map(ToString::to_string), first.to_owned())
    }

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
