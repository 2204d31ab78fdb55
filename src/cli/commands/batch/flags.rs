//! The flags that all batch commands share, and the settings made of them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::batch::ResponseFiles;
use crate::cli::flags::compress_options::CompressOptions;
use crate::cli::flags::inputs;
use crate::cli::flags::key_flags::{KeyFlags, KeySet};
use crate::cli::flags::run_flags::{PartFlags, PrintFlags, RunFlags};
use crate::cli::settings::Settings;
use crate::cli::{CliError, errors};
use crate::config::{ConfigKey, OverLimit, Sources, SummarizerKind};
use crate::pipeline::RequestFileSet;
use crate::summarize::batch::{BatchAnswers, Responses};

/// Flags of every batch command.
#[derive(Debug, Clone, clap::Args)]
pub struct BatchFlags<S: KeySet + Clone + Send + Sync + 'static> {
    /// Files, directories or URLs; - is standard input
    #[arg(value_name = "INPUT", value_parser = inputs::path(), required = true)]
    pub inputs: Vec<PathBuf>,
    /// Configuration file, YAML, TOML or JSON by its name
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Overwrite an existing output, discard an unfinished one
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub part: PartFlags,
    /// Ask again also the requests that were refused for good, or failed too often
    #[arg(long)]
    pub resend_failed: bool,
    /// Neither read nor keep answers of language models on disk: --cache off
    #[arg(long, conflicts_with = "summarization.cache")]
    pub no_cache: bool,
    #[command(flatten)]
    pub print: PrintFlags,
    #[command(flatten)]
    pub keys: KeyFlags<S>,
}

impl<S: KeySet + Clone + Send + Sync + 'static> BatchFlags<S> {
    /// The options of the run that these flags describe. Its summarizer is `batch`, whatever the other layers say.
    pub fn options(
        self,
        output: Option<PathBuf>,
        fail_over_limit: bool,
    ) -> Result<CompressOptions, CliError> {
        let mut sources: Sources = self.keys.into_sources(self.config);
        let mut set = |path, value: String| {
            sources
                .flags
                .extend(ConfigKey::by_path(path).map(|key| (key, value)));
        };
        set("summarization.summarizer", SummarizerKind::Batch.to_string());
        if self.no_cache {
            set("summarization.cache", "off".to_owned());
        }
        if fail_over_limit {
            set("compression.over_limit", OverLimit::Fail.to_string());
        }
        let resolved = sources.resolve()?;
        let run = RunFlags {
            config: None,
            dry_run: false,
            resume: false,
            force: self.force,
            part: self.part,
        };
        let options = run.options(self.inputs, output, resolved, self.print)?;
        if !options.quiet {
            errors::warn(&options.warnings);
            errors::note(options.trainer_note.as_deref());
        }
        Ok(options)
    }
}

/// Opens responses, and warns about errors in them.
pub fn responses(paths: &[PathBuf], quiet: bool) -> Result<Arc<ResponseFiles>, CliError> {
    let files = ResponseFiles::open(paths).map_err(|why| {
        CliError::usage(why).with_help("--responses takes files, or folders of .jsonl files")
    })?;
    if !quiet {
        let contents = &files.found;
        let mut warnings = contents.complaints.clone();
        let untold = contents.broken - contents.complaints.len() as u64;
        if untold > 0 {
            warnings.push(format!("{untold} more lines of responses cannot be read"));
        }
        if contents.requests > 0 && contents.answered == 0 {
            warnings.push(format!(
                "{} lines of the responses are requests: they have not been answered yet",
                contents.requests
            ));
        }
        if contents.taught > 0 {
            warnings.push(format!(
                "{} requests were refused for their token limit or their temperature, and are written otherwise now; \
                 --token-limit-field and --send-temperature say so beforehand",
                contents.taught
            ));
        }
        errors::warn(&warnings);
    }
    Ok(Arc::new(files))
}

/// Warns about responses whose id no request of this run has.
pub fn tell_strangers(files: &ResponseFiles) {
    let strangers = files.found.foreign + files.unasked();
    if strangers > 0 {
        let have = if strangers == 1 {
            "response has"
        } else {
            "responses have"
        };
        errors::warn(&[format!(
            "{strangers} {have} an id that no request of this run has: other records, settings or prompts"
        )]);
    }
}

/// The settings for answers from files.
pub fn postbox(settings: &Settings, responses: Arc<dyn Responses>, resend_failed: bool) -> BatchAnswers {
    BatchAnswers {
        responses,
        manner: settings.batches.shape,
        resend_failed,
    }
}

/// The files of requests that begin with `path`, and their limits.
pub fn request_target(settings: &Settings, path: PathBuf) -> RequestFileSet {
    let limits = settings.batches.file;
    RequestFileSet {
        path,
        max_requests: limits.requests,
        max_bytes: limits.bytes,
    }
}
