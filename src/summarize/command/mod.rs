//! Summaries by a program of the user's: asked and answering in lines of JSON.
//!
//! ```text
//!  turns ─► protocol ─► answers (asked before?) ─► pool ─► program (so many at once)
//!                            ▲                      │
//!                            └───── protocol ◄──────┘
//! ```

mod keep;
mod pool;
mod program;
mod protocol;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::{Handle, Runtime};

use super::answers::{AnswerKey, AnswerStore, KeptAnswer};
use super::asking::SharedAnswers;
use super::control_tokens::ControlTokens;
use super::failure::Failure;
use super::judge::Judge;
use super::length::Limit;
use super::marker::with_marker;
use super::prompt::{Material, Prompt, PromptSettings, Prompter, pieces};
use super::spend::Spend;
use super::turn::{Claimed, ProcessTurns};
use super::{Estimate, NotReady, Summarizer, Summary, SummaryError, SummaryRequest, Usage};
use crate::compress::Reason;
use crate::names::Named;
use crate::tokens::TokenCounter;
use pool::{CommandError, Pool};
use protocol::{Ask, Reply};

/// Time that running programs have when everything ends; they are killed then.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Settings of the summarizer.
#[derive(Debug, Clone)]
pub struct CommandSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Number of them that run at once.
    pub programs: usize,
    /// Maximum time of an answer.
    pub timeout: Duration,
    /// Maximum tokens of a verbatim summary.
    pub most_tokens: usize,
    /// Settings of the prompts.
    pub prompt: PromptSettings,
}

/// Asks a program for summaries.
pub struct CommandSummarizer {
    settings: CommandSettings,
    prompter: Prompter,
    pool: Arc<Pool>,
    answers: SharedAnswers,
    turns: ProcessTurns,
    spend: Arc<Spend>,
    control_tokens: OnceLock<Arc<ControlTokens>>,
    handle: Handle,
    /// The runtime that waits for programs. `None` once everything has ended.
    runtime: Mutex<Option<Runtime>>,
}

/// A request to a program.
struct ProgramRequest {
    prompt: Prompt,
    key: AnswerKey,
    /// The request as JSON, without its id.
    body: String,
}

/// Usage of a summary so far.
#[derive(Default)]
struct Taken {
    usage: Usage,
    redactions: usize,
}

impl CommandSummarizer {
    /// A summarizer that has started no program yet, and opened no store.
    ///
    /// # Errors
    ///
    /// If the settings are wrong, or the system refuses.
    pub fn new(
        settings: CommandSettings,
        store: Arc<dyn AnswerStore>,
        spend: Arc<Spend>,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("programs")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let command = settings.command.clone();
        let pool = Pool::new(command, settings.programs, settings.timeout, Arc::clone(&spend));
        Ok(Self {
            prompter: Prompter::new(&settings.prompt)?,
            pool: Arc::new(pool),
            turns: ProcessTurns::new(Arc::clone(&store), settings.programs),
            answers: SharedAnswers::new(store),
            spend,
            control_tokens: OnceLock::new(),
            handle: runtime.handle().clone(),
            runtime: Mutex::new(Some(runtime)),
            settings,
        })
    }

    /// The version of the wording of its prompts.
    pub fn prompt_version(&self) -> &str {
        self.prompter.version()
    }

    /// The texts that must not be in a summary: control tokens of known templates, and those of the run's tokenizer.
    fn control_tokens(&self, counter: &dyn TokenCounter) -> Arc<ControlTokens> {
        let tokens = || Arc::new(ControlTokens::and(&counter.special_tokens()));
        Arc::clone(self.control_tokens.get_or_init(tokens))
    }

    async fn summary(&self, request: SummaryRequest<'_>, taken: &mut Taken) -> Result<Summary, Wanted> {
        let limit = Limit::of(&request);
        let ask_for = limit.ask_first();
        let first = match self.ask(&request, ask_for, taken).await? {
            Reply::Summary(text) => with_marker(&text),
            other => return self.other(other, &request),
        };
        if limit.holds(&first) {
            return Ok(summary(limit.cut(first)));
        }
        // Asks once more, for fewer tokens; what is still too long is cut off.
        let ask_for = limit.ask_next(ask_for, limit.cost(&first));
        match self.ask(&request, ask_for, taken).await {
            Ok(Reply::Summary(text)) => Ok(summary(limit.cut(with_marker(&text)))),
            Ok(Reply::Failed(_)) | Err(CommandError::Failed(_)) => Ok(summary(limit.cut(first))),
            Ok(other) => self.other(other, &request),
            Err(ended) => Err(ended.into()),
        }
    }

    /// The result of an answer that is no ordinary summary.
    fn other(&self, said: Reply, request: &SummaryRequest<'_>) -> Result<Summary, Wanted> {
        match said {
            Reply::Summary(text) => Ok(summary(with_marker(&text))),
            Reply::Whole(text) => Ok(self.whole(&text, request)),
            Reply::Veto(reason) => Err(Wanted::Veto(reason)),
            Reply::Failed(failure) => Err(Wanted::Trouble(CommandError::Failed(failure))),
        }
    }

    /// A verbatim summary, cut if it is longer than `most_tokens`.
    fn whole(&self, text: &str, request: &SummaryRequest<'_>) -> Summary {
        let text = with_marker(text);
        let limit = Limit {
            tokens: self.settings.most_tokens,
            ..Limit::of(request)
        };
        let cost = limit.cost(&text);
        let cut = (cost > limit.tokens).then(|| {
            let detail = format!("{cost} tokens, of which a summary may have {}", limit.tokens);
            Reason::with("summary_command_cut", detail)
        });
        let text = if cut.is_some() {
            limit.cut_plainly(&text).to_owned()
        } else {
            text
        };
        Summary {
            text,
            instead_of: cut,
            verbatim: true,
            ..Summary::default()
        }
    }

    async fn ask(
        &self,
        request: &SummaryRequest<'_>,
        ask_for: usize,
        taken: &mut Taken,
    ) -> Result<Reply, CommandError> {
        let question = self.question(request, ask_for)?;
        let usage = &mut taken.usage;
        let asked = self.answers.ask_once(question.key, || async {
            let (pool, turns) = (Arc::clone(&self.pool), self.turns.clone());
            let name = self.settings.command.first().cloned().unwrap_or_default();
            // The task runs to its end even if nobody waits for it any more: it may be paid for.
            let redaction = self.settings.prompt.redaction;
            // A program may answer at any length.
            let judge = Judge {
                control_tokens: self.control_tokens(request.counter),
                region: 0,
            };
            let task = self
                .handle
                .spawn(ask_and_keep(pool, turns, question, name, judge, redaction));
            let lost = |_| CommandError::Failed(Failure::new("summary_internal", "the request was lost"));
            let (result, took) = task.await.map_err(lost)?;
            usage.add(&took);
            result
        });
        let (answer, known) = asked.await?;
        taken.redactions += answer.redactions;
        if known {
            taken.usage.cached += 1;
            self.spend.cache_hits.fetch_add(1, Ordering::Relaxed);
        }
        Ok(keep::said(answer))
    }

    fn question(&self, request: &SummaryRequest<'_>, ask_for: usize) -> Result<ProgramRequest, CommandError> {
        let keep = Limit::of(request).keep();
        let turns = pieces::split(request.turns, None, request.counter).concat();
        let prompt = self.prompter.prompt(&Material {
            turns: &turns,
            previous: request.previous,
            in_progress: request.in_progress,
            around: request.around,
            keep: &keep,
            max_tokens: ask_for,
            piece: (1, 1),
        });
        let prompt = prompt.map_err(|why| CommandError::Failed(Failure::new("summary_prompt", &why)))?;
        let settings = &self.settings.prompt;
        let ask = Ask {
            keep: &keep,
            max_tokens: ask_for,
            most_tokens: self.settings.most_tokens,
            style: settings.style.name(),
            focus: settings.focus.as_deref(),
            prompt: &prompt,
            redaction: settings.redaction,
        };
        let body = protocol::request(request, &ask);
        let words = self.settings.command.iter().map(String::as_str);
        let parts: Vec<&str> = ["command"]
            .into_iter()
            .chain(words)
            .chain([body.as_str()])
            .collect();
        Ok(ProgramRequest {
            key: AnswerKey::of(&parts),
            prompt,
            body,
        })
    }
}

impl Summarizer for CommandSummarizer {
    fn name(&self) -> &'static str {
        "command"
    }

    fn summarize<'a>(&'a self, request: SummaryRequest<'a>) -> BoxFuture<'a, Result<Summary, SummaryError>> {
        Box::pin(async move {
            let mut taken = Taken::default();
            let result = self.summary(request, &mut taken).await;
            let usage = taken.usage;
            result
                .map(|summary| Summary {
                    usage,
                    redactions: taken.redactions,
                    ..summary
                })
                .map_err(|wanted| wanted.error(usage))
        })
    }

    fn prepare(&self) -> Result<(), NotReady> {
        self.answers.store().open()
    }

    fn finish(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // No program outlives this, whether it completes or is dropped.
            let _end = EndOnDrop(self);
            let pool = Arc::clone(&self.pool);
            let _ = self.handle.spawn(async move { pool.finish().await }).await;
            self.answers.store().close();
        })
    }

    fn estimate(&self, request: &SummaryRequest<'_>) -> Estimate {
        let ask_for = Limit::of(request).ask_first();
        let Ok(question) = self.question(request, ask_for) else {
            return Estimate::default();
        };
        if self.answers.kept(&question.key).is_some() {
            return Estimate {
                cached: 1,
                ..Estimate::default()
            };
        }
        let count = |text: &str| request.counter.count(text) as u64;
        Estimate {
            requests: 1,
            prompt_tokens: count(&question.prompt.system) + count(&question.prompt.user),
            completion_tokens: ask_for as u64,
            cached: 0,
        }
    }
}

impl Drop for CommandSummarizer {
    fn drop(&mut self) {
        drop(EndOnDrop(self));
    }
}

/// Ends the runtime and the programs when it is dropped.
struct EndOnDrop<'s>(&'s CommandSummarizer);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let runtime = self
            .0
            .runtime
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(runtime) = runtime {
            // Requests in flight are dropped with it, and their programs are killed.
            runtime.shutdown_timeout(LAST_MOMENT);
        }
        self.0.pool.kill_idle();
    }
}

/// The reason why there is no summary.
enum Wanted {
    Trouble(CommandError),
    Veto(String),
}

impl From<CommandError> for Wanted {
    fn from(trouble: CommandError) -> Self {
        Self::Trouble(trouble)
    }
}

impl Wanted {
    fn error(self, usage: Usage) -> SummaryError {
        match self {
            Self::Veto(detail) => SummaryError::Vetoed { detail, usage },
            Self::Trouble(CommandError::Failed(failure)) => SummaryError::Failed {
                name: failure.name,
                detail: failure.detail,
                usage,
            },
            Self::Trouble(CommandError::Ended(end)) => SummaryError::EndRun {
                message: end.message,
                help: end.help,
                usage,
            },
        }
    }
}

fn summary(text: String) -> Summary {
    Summary {
        text,
        ..Summary::default()
    }
}

/// Asks, unless another process does, and keeps the answer before its place is released. Returns the answer, and true
/// if another process had it already.
async fn ask_and_keep(
    pool: Arc<Pool>,
    turns: ProcessTurns,
    question: ProgramRequest,
    program: String,
    judge: Judge,
    redaction: bool,
) -> (Result<(KeptAnswer, bool), CommandError>, Usage) {
    let claim = match turns.of(question.key).await {
        Claimed::Ours(claim) => claim,
        Claimed::Known(answer) => return (Ok((answer, true)), Usage::default()),
    };
    let id = format!("{:016x}", question.key.seed());
    let asked = pool.ask(&id, &question.body).await;
    let usage = asked.usage;
    let kept = asked.result.and_then(|answer| {
        keep::kept(answer.said, &judge, program, &usage, redaction).map_err(CommandError::Failed)
    });
    let answer = match kept {
        Ok(answer) => Ok((claim.keep(answer).await, false)),
        Err(trouble) => Err(trouble),
    };
    drop(asked.place);
    (answer, usage)
}
