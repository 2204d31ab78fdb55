//! A configuration with its tokenizer and summarizer, and the threads that use them.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::error::SessionError;
use crate::cli::runs::summarizer::RunSummarizers;
use crate::cli::settings::Settings;
use crate::config::{CountMode, Resolved};
use crate::fit::Fitter;
use crate::pipeline::{Capacity, RowsReport, WORKER_THREADS, Worker, block_on_until_stopped};
use crate::settings::SettingValues;
use crate::summarize::Summarizer;
use crate::tokens::chat_template::ChatTemplate;

/// Time that the end of a session waits for answers under way.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A configuration with its tokenizer and summarizer, loaded once: fits records from any source as `trajfit compress` and
/// `trajfit unroll` fit those of files, to the same bytes.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use trajfit::session::Session;
///
/// let session = Session::builder().set("max_tokens", "8k")?.build()?;
/// let line = r#"{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi."}]}"#;
/// let records = [line.as_bytes().to_vec(), b"no record".to_vec()];
///
/// let fitted: Vec<_> = session.fit(records.into_iter(), "memory")?.collect::<Result<_, _>>()?;
/// assert_eq!(fitted[0].records(), [line.as_bytes()]);
/// assert!(fitted[1].rejected().is_some_and(|reason| reason.starts_with("invalid_json")));
/// # Ok(())
/// # }
/// ```
pub struct Session {
    /// The configuration, for commands whose flags change it.
    pub(super) resolved: Resolved,
    /// Its settings.
    pub(super) settings: Settings,
    pub(super) chosen: RunSummarizers,
    pub(super) template: Option<Arc<ChatTemplate>>,
    pub(super) end: Arc<EndOfSummaries>,
    /// The pool, and the process that its threads belong to: a fork does not have them.
    pub(super) pool: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>>,
}

impl Session {
    /// Sentences about settings without effect.
    pub fn warnings(&self) -> Vec<String> {
        self.resolved.all_warnings()
    }

    /// A worker with these settings.
    pub(super) fn worker(&self, settings: &Settings, source: &str) -> Worker {
        Worker {
            fitter: Fitter {
                settings: settings.fit.clone(),
                counter: Arc::clone(&self.chosen.counter),
                template: self.template.clone(),
                summarizer: Arc::clone(&self.chosen.summarizer),
                fallback: Arc::clone(&self.chosen.fallback),
            },
            on_invalid: settings.on_invalid,
            source_names: vec![source.to_owned()],
            csv_safe: false,
            makes_csv: false,
            unroll: None,
            merges_rows: false,
        }
    }

    /// The facts of a report on records that were fitted with these settings.
    pub(super) fn facts(&self, mut fingerprint: SettingValues) -> RowsReport {
        fingerprint.extend(self.chosen.wording.clone());
        RowsReport {
            settings: fingerprint,
            tokenizer: self.chosen.counter.identity().clone(),
            template: self.template.as_ref().map(|template| template.identity().clone()),
            count: match self.settings.fit.count {
                CountMode::Values => "values",
                CountMode::Rendered => "rendered",
            },
            prices: self.settings.summaries.limits.prices,
            summary_input_tokens: 0,
            bytes_read: 0,
        }
    }

    /// The threads of this process, started at the first call.
    pub(super) fn capacity(&self) -> Result<Capacity, SessionError> {
        let settings = &self.settings;
        let process = std::process::id();
        let mut held = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = match held.take() {
            Some((of, pool)) if of == process => pool,
            of_parent => {
                // Its threads are not here, and nobody may wait for them.
                std::mem::forget(of_parent);
                let builder = rayon::ThreadPoolBuilder::new()
                    .num_threads(settings.jobs)
                    .thread_name(|index| format!("{WORKER_THREADS}{index}"));
                Arc::new(builder.build().map_err(|error| SessionError::threads(&error))?)
            }
        };
        *held = Some((process, Arc::clone(&pool)));
        Ok(Capacity {
            pool,
            requests: settings.summaries.requests(),
            max_record_bytes: settings.max_record_bytes,
        })
    }
}

/// Ends a summarizer when neither a session nor results need it any more.
pub struct EndOfSummaries {
    summarizer: Arc<dyn Summarizer>,
}

impl EndOfSummaries {
    /// The end of a summarizer that is prepared.
    pub(super) fn of(summarizer: &Arc<dyn Summarizer>) -> Arc<Self> {
        Arc::new(Self {
            summarizer: Arc::clone(summarizer),
        })
    }
}

impl Drop for EndOfSummaries {
    fn drop(&mut self) {
        block_on_until_stopped(self.summarizer.finish(), &AtomicBool::new(true), LAST_ANSWERS);
    }
}
