//! `trajfit unroll`: its flags, and the run that they describe.

mod compare;
mod engine;
pub(super) mod mark;
mod values;

use std::path::PathBuf;

use clap::{Args, FromArgMatches};

use crate::cli::flags::inputs::{self, trigger};
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::flags::run_flags::{PrintFlags, RunFlags};
use crate::cli::runs::execute::{self, TableFacts};
use crate::cli::runs::{running, summarizer};
use crate::cli::settings::{Settings, prepare_unrolling};
use crate::cli::{CliError, ExitStatus, errors};
use crate::config::{ConfigKey, OverLimit, Resolved, SummarizerKind};
use crate::fit::{Overlap, Strategy, SummaryRecords, UnrollSettings};
use crate::metrics::{AgentPrices, Columns, Status};
use crate::names::Named;
use crate::pipeline::{RunError, RunReport};
use crate::report::{UnrollFigures, unroll_table};
use engine::{AgentEngine, Preset};
use values::{Rows, by_name, price, savings};

/// Unroll each trajectory into the records that an agent with a bounded context would have lived through.
///
/// Turns are added group by group. When the next group would take the context over the trigger, it is compacted
/// first: the protected head, a summary of what follows, the last turns. A record is written for each stretch between
/// compactions, and no summary knows anything that came after it.
///
/// Every assistant turn is marked as trained in exactly one record, the first that holds it; copies in later records,
/// and summaries, are marked as context. trajfit check --unrolled-from INPUT OUT proves it.
///
/// Every flag from Counting on is a key of the configuration file as well, and an environment variable
/// (TRAJFIT_TARGET_MAX_TOKENS for --max-tokens): see trajfit config.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct UnrollArgs {
    /// Files, directories or URLs (s3://, gs://, az://, https://, hf://datasets/); - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path(), required = true)]
    inputs: Vec<PathBuf>,
    /// File or directory to write; or a URL (s3://, gs://, az://); - is standard output [default: {stem}_unrolled.jsonl beside the input]
    #[arg(short, long, value_name = "OUT", value_parser = inputs::path())]
    output: Option<PathBuf>,
    /// Replay as this agent compacts: sets trigger, head and tail unless they are given
    #[arg(long, value_name = "NAME", value_parser = by_name::<AgentEngine>)]
    engine: Option<AgentEngine>,
    /// Part of the budget at which the context is compacted, over 0 and at most 1; with --dry-run several, such as
    /// 0.5,0.75,0.85, which are compared in one table [default: 1]
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = trigger)]
    trigger: Vec<f64>,
    /// Compact the context as well before it would have more turns than these: half as many stay then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(8..))]
    max_turns: Option<u64>,
    /// Part of the context that a compaction should save, 0 to below 1: the tail gives way to it [default: 0.1]
    #[arg(long, value_name = "PART", value_parser = savings)]
    min_savings: Option<f64>,
    /// After the first compaction, keep only system turns and the request in progress as head
    #[arg(long)]
    head_decay: bool,
    /// Earlier turns that a record begins with: head and tail, or none, for trainers that cannot mask a turn
    /// [default: tail]
    #[arg(long, value_name = "NAME", value_parser = by_name::<Overlap>)]
    overlap: Option<Overlap>,
    /// Write one more record for each summary, which teaches it: the context before the compaction, a request, the summary
    /// as the trained turn. Those of language models and programs, or all with --with-summaries=all
    #[arg(
        long,
        value_name = "WHICH",
        value_parser = by_name::<SummaryRecords>,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "models",
        default_value = "none",
        hide_default_value = true
    )]
    with_summaries: SummaryRecords,
    /// Let summaries name what later turns of the trajectory rely on, though no agent could have known
    #[arg(long)]
    hindsight: bool,
    /// Field that is true on trained turns and false on others, or FIELD=VALUE for its value on others; none writes a list of
    /// trained turns into each record instead [default: train, or the field of --trainer]
    #[arg(long, value_name = "FIELD[=VALUE]")]
    mark: Option<String>,
    /// US dollars for a million tokens that the agent sends: the report says what its calls would have cost
    #[arg(long, value_name = "NUMBER", value_parser = price)]
    agent_price: Option<f64>,
    /// US dollars for a million of them that a prefix cache has [default: --agent-price]
    #[arg(long, value_name = "NUMBER", value_parser = price, requires = "agent_price")]
    agent_price_cached: Option<f64>,
    /// Rows of the metrics: one for each record, or one for each trajectory [default: segments]
    #[arg(long, value_name = "NAME", value_parser = by_name::<Rows>)]
    rows: Option<Rows>,
    #[command(flatten)]
    run: RunFlags,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    keys: KeyFlags<UnrollKeys>,
}

const EXAMPLES: &str = "\
Examples:
  trajfit unroll runs.jsonl -o unrolled.jsonl --max-tokens 32k
  trajfit unroll runs.jsonl -o unrolled.jsonl --trigger 0.75 --tail-tokens 4000
  trajfit unroll runs.jsonl -o unrolled.jsonl --overlap none --mark none
  trajfit unroll runs.jsonl --dry-run --trigger 0.5,0.75,1 --agent-price 3 --agent-price-cached 0.3
  trajfit check --unrolled-from runs.jsonl unrolled.jsonl";

/// The flags about unrolling itself.
const OF_UNROLLING: [&str; 9] = [
    "engine",
    "trigger",
    "max-turns",
    "min-savings",
    "head-decay",
    "overlap",
    "with-summaries",
    "hindsight",
    "mark",
];

/// Keys without effect here: no system turn is changed, and marks have a flag of their own.
const LEFT_OUT: [&str; 7] = [
    "compression.min_grounding",
    "output.add_summary_notice",
    "output.summary_notice_text",
    "output.output_suffix",
    "output.mark_summary",
    "output.mark_turns",
    "metrics.per_trajectory",
];

/// The keys that decide how trajectories are read, counted, summarized and written.
#[derive(Debug, Clone)]
enum UnrollKeys {}

impl KeySet for UnrollKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        (key.section() != "batch" && !LEFT_OUT.contains(&key.path)).then_some(*key)
    }
}

/// Runs the command.
pub fn run(args: UnrollArgs) -> Result<ExitStatus, CliError> {
    let mut resolved = args
        .keys
        .clone()
        .into_sources(args.run.config.clone())
        .resolve()?;
    let preset = match args.engine {
        Some(engine) => engine.apply(&mut resolved)?,
        None => Preset::NONE,
    };
    let settings = settings(&args, preset, &Settings::of(&resolved))?;
    let prices = args.agent_price.map(|prompt| AgentPrices {
        prompt,
        cached: args.agent_price_cached.unwrap_or(prompt),
    });
    let triggers = args.trigger.clone();
    let merges_rows = args.rows == Some(Rows::Trajectories);
    prepare_unrolling(&mut resolved);
    let options = args.run.options(args.inputs, args.output, resolved, args.print)?;
    if !options.quiet {
        errors::warn(&options.warnings);
        errors::note(options.trainer_note.as_deref());
    }
    if triggers.len() > 1 {
        if !options.dry_run {
            return Err(CliError::usage("several triggers are compared in a dry run only")
                .with_help("add --dry-run, or name one trigger"));
        }
        return compare::run(&options, &settings, &triggers, prices);
    }
    let mut job = execute::job(&options)?;
    job.columns = Columns::Segments;
    job.settings.extend(fingerprint(&settings, merges_rows));
    let counter = running::tokenizer(&options.settings)?;
    let chosen = summarizer::chosen(&options, job.targets.cache(), &counter)?;
    let mut worker = execute::worker(&options.settings, &job.sources, &chosen)?;
    worker.unroll = Some(settings);
    worker.merges_rows = merges_rows;
    let (job, ended) = execute::ended(&options, job, worker, chosen)?;
    match ended {
        Ok(report) => {
            execute::print(&options, &report, || {
                let cost = job.cost(&report.totals.sums);
                unroll_table(&figures(TableFacts::of(&options), &report, cost, prices))
            });
            Ok(execute::exit_status(
                &report.totals,
                options.settings.fit.over_limit == OverLimit::Fail,
            ))
        }
        Err(RunError::OutputClosed) => Ok(ExitStatus::Done),
        Err(error) => Err(running::cli_error(error)),
    }
}

/// The settings that flags of this command stand for, with a configuration that is resolved already. Those that determine
/// the records are in the fingerprint.
pub fn of_flags(
    flags: &[(String, String)],
    mut resolved: Resolved,
) -> Result<(Settings, UnrollSettings), CliError> {
    if let Some((unknown, _)) = flags.iter().find(|(flag, _)| !OF_UNROLLING.contains(&&**flag)) {
        return Err(CliError::usage(format!("unrolling has no setting {unknown}"))
            .with_help(format!("it has: {}", OF_UNROLLING.join(", "))));
    }
    let name = "trajfit unroll".to_owned();
    let words = flags.iter().map(|(flag, value)| match value.as_str() {
        "true" => format!("--{flag}"),
        value => format!("--{flag}={value}"),
    });
    let words = [name].into_iter().chain(words).chain(["-".to_owned()]);
    let command = UnrollArgs::augment_args(clap::Command::new("unroll"));
    let parsed = command.try_get_matches_from(words);
    let args = parsed
        .and_then(|matches| UnrollArgs::from_arg_matches(&matches))
        .map_err(|error| CliError::of_arguments(&error, &clap::Command::new("trajfit unroll"), &[]))?;
    let preset = match args.engine {
        Some(engine) => engine.apply(&mut resolved)?,
        None => Preset::NONE,
    };
    if args.trigger.len() > 1 {
        return Err(
            CliError::usage("only trajfit unroll --dry-run compares several triggers")
                .with_help("name one trigger"),
        );
    }
    let unrolling = settings(&args, preset, &Settings::of(&resolved))?;
    prepare_unrolling(&mut resolved);
    let mut settings = Settings::of(&resolved);
    settings.fingerprint.extend(fingerprint(&unrolling, false));
    Ok((settings, unrolling))
}

fn settings(args: &UnrollArgs, preset: Preset, configured: &Settings) -> Result<UnrollSettings, CliError> {
    let overlap = args.overlap.unwrap_or(preset.overlap);
    if overlap == Overlap::None && configured.fit.strategy != Strategy::Summarize {
        return Err(CliError::usage(
            "a record whose outputs are masked keeps all turns, and --overlap none allows no copies",
        )
        .with_help("use --overlap tail, or --strategy summarize"));
    }
    if overlap == Overlap::None && args.with_summaries != SummaryRecords::None {
        return Err(CliError::usage(
            "a record that teaches a summary repeats turns, and --overlap none allows no copies",
        )
        .with_help("use --overlap tail, or leave out --with-summaries"));
    }
    if configured.fit.strategy == Strategy::Mask && (args.max_turns.is_some() || preset.max_turns.is_some()) {
        return Err(
            CliError::usage("masks keep all turns, and --max-turns wants fewer")
                .with_help("use --strategy summarize or mask-then-summarize"),
        );
    }
    let is_embedded = configured.summaries.kind == SummarizerKind::Extractive;
    if is_embedded && args.with_summaries == SummaryRecords::Models {
        return Err(CliError::usage(
            "--with-summaries teaches summaries of language models and programs, and extractive is none",
        )
        .with_help("choose another --summarizer, or say --with-summaries=all"));
    }
    let mark = mark::mark(args.mark.as_deref(), configured.fit.mark.as_ref())?;
    if configured.summaries.kind == SummarizerKind::Batch {
        return Err(
            CliError::usage("trajfit unroll cannot wait for a batch between two compactions")
                .with_help("use --summarizer extractive, chat or command"),
        );
    }
    Ok(UnrollSettings {
        trigger: args.trigger.first().copied().unwrap_or(preset.trigger),
        max_turns: args.max_turns.map(|turns| turns as usize).or(preset.max_turns),
        min_savings: args.min_savings.unwrap_or(preset.min_savings),
        head_decay: args.head_decay || preset.head_decay,
        overlap,
        summary_records: args.with_summaries,
        hindsight: args.hindsight,
        mark,
    })
}

/// The settings that decide the output, by flag.
fn fingerprint(settings: &UnrollSettings, merges_rows: bool) -> [(String, serde_json::Value); 9] {
    let rows = if merges_rows {
        Rows::Trajectories
    } else {
        Rows::Segments
    };
    let mark = settings.mark.as_ref();
    let mark = mark.map_or_else(
        || "none".to_owned(),
        |mark| format!("{}={}", mark.field, mark.value),
    );
    [
        ("--trigger".to_owned(), settings.trigger.into()),
        ("--max-turns".to_owned(), settings.max_turns.into()),
        ("--min-savings".to_owned(), settings.min_savings.into()),
        ("--head-decay".to_owned(), settings.head_decay.into()),
        ("--overlap".to_owned(), settings.overlap.name().into()),
        (
            "--with-summaries".to_owned(),
            settings.summary_records.name().into(),
        ),
        ("--hindsight".to_owned(), settings.hindsight.into()),
        ("--mark".to_owned(), mark.into()),
        ("--rows".to_owned(), rows.name().into()),
    ]
}

/// The figures of a run's table.
pub fn figures(
    facts: TableFacts,
    report: &RunReport,
    cost: Option<f64>,
    prices: Option<AgentPrices>,
) -> UnrollFigures {
    let totals = &report.totals;
    let sums = &totals.sums;
    let of = |status| (totals.with_status(status), execute::reasons(totals, status));
    let over = totals.over_limit_reasons.iter();
    UnrollFigures {
        sums: totals.unroll.clone(),
        kept: of(Status::Kept),
        rejected: of(Status::Rejected),
        failed: of(Status::Failed),
        target_max_tokens: facts.target_max_tokens,
        over_limit: (
            sums.still_over_limit,
            over.map(|(reason, count)| (reason.clone(), *count)).collect(),
        ),
        degraded: sums.degraded,
        anchors: (sums.anchors_needed, sums.anchors_held),
        requests: (
            sums.summarization_api_calls,
            sums.prompt_tokens,
            sums.completion_tokens,
            cost,
        ),
        agent_cost: prices.map(|prices| prices.cost(&totals.unroll)),
        elapsed: report.elapsed,
        bytes_in: report.bytes_read,
        files: report.files.clone(),
        dry_run: facts.dry_run,
    }
}
