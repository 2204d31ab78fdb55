//! `trajfit show`: a record in the terminal, alone or beside its compressed record.

mod text;
mod timeline;

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::cli::flags::inputs;
use crate::cli::runs::one_record::{OneRecord, OneRecordArgs};
use crate::cli::runs::running;
use crate::cli::terminal::cells::Page;
use crate::cli::terminal::color::Color;
use crate::cli::terminal::stdout;
use crate::cli::terminal::visible::one_line;
use crate::cli::{CliError, ExitStatus, errors};
use crate::compress::anchors::PairScore;
use crate::fit::{PairScorer, TurnCounter, UnreadablePair};
use crate::pipeline::{self, LeftOut, Paired, Pairs, RawRecord};
use crate::trajectory::{self, Format, TurnView};
use text::{Shown, alone, beside, replayed};

/// Show one record in the terminal, or before and after a compression.
///
/// Roles, tokens a turn, and the region that compress would replace with the same flags. With --compressed, the record
/// before and after side by side, whichever program compressed it, with the identifiers that kept assistant turns rely on: held, or
/// dangling. The compressed record is found by source and line, as the metrics beside FILE say; without them by its id, or by
/// order where both files have as many records with that id, or without one.
///
/// With --unroll, the record with the compactions of trajfit unroll between its turns.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    #[command(flatten)]
    record: OneRecordArgs,
    /// Compressed data to compare with
    #[arg(long, value_name = "OUT", value_parser = inputs::path(), conflicts_with = "unroll")]
    compressed: Option<PathBuf>,
    /// Long turns as they are, not shortened
    #[arg(long)]
    full: bool,
    /// Columns to fill [default: those of the terminal; 100 where there is none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(20..=1000))]
    width: Option<u64>,
}

/// Number of columns if it is not known.
const WIDTH: usize = 100;

/// Minimum number of columns for two records side by side.
const WIDE: usize = 100;

/// Runs the command.
pub fn run(args: ShowArgs, color: Color) -> Result<ExitStatus, CliError> {
    let is_terminal = io::stdout().is_terminal();
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let own = args.width.map(|width| width as usize);
    let width = own.or(columns.filter(|_| is_terminal)).unwrap_or(WIDTH).max(20);
    let page = Page {
        width,
        colours: color.is_wanted(is_terminal),
        full: args.full,
        side_by_side: width >= WIDE && (is_terminal || own.is_some()),
    };
    let record = args.record.read()?;
    let text = match args.compressed {
        None if record.unroll.is_some() => show_replayed(&record, page)?,
        None => show(&record, page)?,
        Some(path) => {
            let after = find_compressed(&record, &path)?;
            compare(&record, &after, page)?
        }
    };
    stdout::print(text.as_bytes())?;
    Ok(ExitStatus::Done)
}

fn show(record: &OneRecord, page: Page) -> Result<String, CliError> {
    let explained = record.explanation()?;
    let shown = match &explained.prepared {
        Some((text, form)) => {
            let raw = RawRecord {
                bytes: text.clone().into_bytes(),
                ..record.raw.clone()
            };
            shown(record, &raw, Some(*form))
        }
        None => shown(record, &record.raw, record.fitter.settings.format),
    }?;
    Ok(alone(&shown, &explained, page))
}

/// The record with the compactions of its replay between its turns.
fn show_replayed(record: &OneRecord, page: Page) -> Result<String, CliError> {
    let timeline = record.timeline(record.unroll.unwrap_or(1.0))?;
    let shown = shown(record, &record.raw, record.fitter.settings.format)?;
    Ok(replayed(&shown, &timeline, page))
}

fn compare(record: &OneRecord, after: &RawRecord, page: Page) -> Result<String, CliError> {
    let scorer = PairScorer {
        format: record.fitter.settings.format,
    };
    let shown = |raw| shown(record, raw, record.fitter.settings.format);
    let (old, new) = (shown(&record.raw)?, shown(after)?);
    let score = if record.raw.bytes == after.bytes {
        // Equal records are not compared, since nothing can be lost.
        Ok(PairScore {
            origins: (0..old.turns.len())
                .map(crate::compress::alignment::Origin::Kept)
                .collect(),
            ..PairScore::default()
        })
    } else {
        scorer.score(&record.raw.bytes, &after.bytes)
    };
    let score = score.map_err(|unreadable| match unreadable {
        UnreadablePair::Original(error) => unreadable_record(&record.raw, &error),
        UnreadablePair::Compressed(error) => unreadable_record(after, &error),
    })?;
    Ok(beside(&old, &new, &score, page))
}

/// The record of the other file that was made from this one.
fn find_compressed(record: &OneRecord, path: &Path) -> Result<RawRecord, CliError> {
    if inputs::is_dash(&record.input) || inputs::is_dash(path) {
        return Err(
            CliError::usage("--compressed cannot read standard input: both files are read twice")
                .with_help("name files"),
        );
    }
    inputs::check(&[path.to_owned()])?;
    if path.is_dir() {
        return Err(CliError::usage(format!("{} is a directory", path.display()))
            .with_help("name the file that the record is in"));
    }
    let sources = |path: &Path| pipeline::sources(&[path.to_owned()]).map_err(running::cli_error);
    let pairs = Pairs {
        original: sources(&record.input)?,
        compressed: sources(path)?,
        compressed_path: path.to_owned(),
        max_record_bytes: record.max_record_bytes,
    };
    let scorer = PairScorer {
        format: record.fitter.settings.format,
    };
    let stop = running::stop_on_signals()?;
    let matching = pairs.matching(scorer, &stop).map_err(running::cli_error)?;
    errors::warn(&matching.warnings);
    let mut found = None;
    let searched = pairs.each(&matching, scorer, &stop, |step| {
        found = match step {
            Paired::Pair(old, new) if old.line == record.raw.line => Some(Ok(new.clone())),
            Paired::Left(old, why) if old.line == record.raw.line => Some(Err(why)),
            _ => return Ok(ControlFlow::Continue(())),
        };
        Ok(ControlFlow::Break(()))
    });
    searched.map_err(running::cli_error)?;
    let id = scorer.id(&record.raw.bytes).flatten();
    found
        .unwrap_or(Err(LeftOut::NotTaken))
        .map_err(|why| not_found(record, path, id.as_deref(), why))
}

/// The error for a record without a compressed one.
fn not_found(record: &OneRecord, path: &Path, id: Option<&str>, why: LeftOut) -> CliError {
    let (input, output) = (record.input.display(), path.display());
    let place = one_line(&format!("{}:{}", record.raw.source, record.raw.line));
    match why {
        LeftOut::Rejected => CliError::usage(format!("the run rejected {place}"))
            .with_help("the rejects file beside the output, .rejects.jsonl, has it with the reason"),
        LeftOut::NotTaken => CliError::usage(format!("the run did not read {place}"))
            .with_help("it took a part of its input only: --limit, --sample"),
        LeftOut::Elsewhere => CliError::usage(format!("the run wrote {place} to another file than {output}"))
            .with_help("--compressed names the file of the same name in the output directory"),
        LeftOut::Counts {
            by_id,
            originals,
            compressed,
        } => {
            let with = match id {
                _ if !by_id => String::new(),
                Some(id) => format!(" with the id {}", one_line(id)),
                None => " without an id".to_owned(),
            };
            let message = if compressed == 0 {
                format!("{output} has no record{with}")
            } else {
                format!(
                    "which record of {output} was made of {place} is not known: it has {compressed}{with}, {input} {originals}"
                )
            };
            CliError::usage(message).with_help(
                "--compressed names a file that was made of INPUT; with the metrics of its run beside it, records pair by line",
            )
        }
    }
}

fn shown(record: &OneRecord, raw: &RawRecord, form: Option<Format>) -> Result<Shown, CliError> {
    let fitter = &record.fitter;
    let parsed = trajectory::parse(&raw.bytes, form);
    let parsed = parsed.map_err(|error| unreadable_record(raw, &error))?;
    let mut counter = TurnCounter::new(fitter.counter.as_ref(), fitter.settings.image_tokens);
    let turns = parsed.turns.iter().enumerate().map(|(index, turn)| {
        let view = trajectory::view(turn, index);
        (view.role, counter.turn(turn).tokens(), said(&view))
    });
    let turns = turns.collect();
    let system = parsed
        .system
        .map(|system| trajectory::json::decode(system).0.into_owned());
    let extra_tokens = counter.extra(&parsed);
    let id = parsed.id.map(|id| trajectory::json::decode(id).0.into_owned());
    Ok(Shown {
        place: format!("{}:{}", raw.source, raw.line),
        id: id.unwrap_or_default(),
        turns,
        system,
        extra_tokens,
    })
}

/// All content of a turn, as text.
fn said(view: &TurnView<'_>) -> String {
    let mut text = view.text.trim_end().to_owned();
    let mut add = |piece: String| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&piece);
    };
    for call in &view.calls {
        add(format!("-> {} {}", call.name, call.arguments));
    }
    for response in &view.responses {
        add(format!("<- {}", response.content.trim_end()));
    }
    text
}

fn unreadable_record(raw: &RawRecord, error: &trajectory::ParseError) -> CliError {
    let place = one_line(&format!("{}:{}", raw.source, raw.line));
    CliError::usage(format!("cannot parse record ({place}): {error}"))
        .with_help("--format names the format of the records; --line another record")
}
