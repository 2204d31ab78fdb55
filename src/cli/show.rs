//! `trajfit show`: a record in the terminal, alone or beside what was made of it.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use super::cells::Page;
use super::errors::CliError;
use super::exit::ExitStatus;
use super::one_record::{self, OneRecord, OneRecordArgs};
use super::show_text::{Shown, alone, beside};
use super::stdout;
use super::visible::one_line;
use crate::compress::anchors::PairScore;
use crate::fit::{PairScorer, TurnCounter, UnreadablePair};
use crate::pipeline::RawRecord;
use crate::trajectory::{self, TurnView};

/// Show one record in the terminal, or what it was and what it became.
///
/// Roles, tokens a turn, and the region that compress would replace with the same flags. With --compressed, the record
/// before and after side by side, whoever compressed it, with the identifiers that kept assistant turns rely on: held, or
/// dangling. The compressed record is found by its id, else by its line. Colours only on a terminal, and not where NO_COLOR is
/// set.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "the text is help for a terminal")]
pub struct ShowArgs {
    #[command(flatten)]
    record: OneRecordArgs,
    /// File with the compressed record
    #[arg(long, value_name = "FILE")]
    compressed: Option<PathBuf>,
    /// Long turns as they are, not shortened
    #[arg(long)]
    full: bool,
    /// Columns to fill [default: those of the terminal; 100 where there is none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(20..=1000))]
    width: Option<u64>,
}

/// Columns where nobody says how many there are.
const WIDTH: usize = 100;

/// Columns that two records side by side need.
const WIDE: usize = 100;

/// Runs the command.
pub fn run(args: ShowArgs) -> Result<ExitStatus, CliError> {
    let is_terminal = io::stdout().is_terminal();
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let own = args.width.map(|width| width as usize);
    let width = own.or(columns.filter(|_| is_terminal)).unwrap_or(WIDTH).max(20);
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let page = Page {
        width,
        colours: is_terminal && !no_color,
        full: args.full,
        side_by_side: width >= WIDE && (is_terminal || own.is_some()),
    };
    let record = args.record.read()?;
    let text = match args.compressed {
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
    let mended = explained.mended.as_ref().map(|mended| RawRecord {
        bytes: mended.clone().into_bytes(),
        ..record.raw.clone()
    });
    let shown = shown(record, mended.as_ref().unwrap_or(&record.raw))?;
    Ok(alone(&shown, &explained, page))
}

fn compare(record: &OneRecord, after: &RawRecord, page: Page) -> Result<String, CliError> {
    let scorer = PairScorer {
        format: record.fitter.settings.format,
    };
    let (old, new) = (shown(record, &record.raw)?, shown(record, after)?);
    let score = if record.raw.bytes == after.bytes {
        // Not compared there, since nothing can be lost.
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

/// The record of the other file with the same id; without an id, the one at the same line.
fn find_compressed(record: &OneRecord, path: &std::path::Path) -> Result<RawRecord, CliError> {
    let scorer = PairScorer {
        format: record.fitter.settings.format,
    };
    let Some(id) = scorer.id(&record.raw.bytes).flatten() else {
        return one_record::record_at(path, record.raw.line);
    };
    let found = one_record::find(path, |other| {
        scorer.id(&other.bytes).flatten().as_ref() == Some(&id)
    })?;
    found.ok_or_else(|| {
        CliError::usage(format!(
            "{} has no record with the id {}",
            path.display(),
            one_line(&id)
        ))
        .with_help("--compressed names a file that was made of INPUT")
    })
}

fn shown(record: &OneRecord, raw: &RawRecord) -> Result<Shown, CliError> {
    let fitter = &record.fitter;
    let parsed = trajectory::parse(&raw.bytes, fitter.settings.format);
    let parsed = parsed.map_err(|error| unreadable_record(raw, &error))?;
    let mut counter = TurnCounter::new(fitter.counter.as_ref(), fitter.settings.image_tokens);
    let turns = parsed.turns.iter().enumerate().map(|(index, turn)| {
        let view = trajectory::view(turn, index);
        (view.role, counter.turn(turn).tokens, said(&view))
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

/// All that a turn says, as text.
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
