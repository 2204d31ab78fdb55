//! The programs that are kept running: so many at once, started when they are needed, replaced when they fail.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::program::{Program, ProgramFault};
use super::protocol::{self, ProgramAnswer};
use crate::metrics::Tokens;
use crate::summarize::Usage;
use crate::summarize::failure::Failure;
use crate::summarize::redact::redact;
use crate::summarize::run_end::{RESUME, RunEnd};
use crate::summarize::spend::Spend;

/// Attempts at a request: a second one if a program fails at it.
const ATTEMPTS: usize = 2;

/// Failures in a row, at least, after which the run ends: a few records may be too hard for a program.
const MOST_FAILURES: usize = 10;

/// Time that a program has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// The programs of a run.
pub struct Pool {
    command: Vec<String>,
    timeout: Duration,
    places: Semaphore,
    programs: u32,
    idle: Mutex<Vec<Program>>,
    /// Failures since the last answer.
    failures: AtomicUsize,
    has_answered: AtomicBool,
    ended: OnceLock<RunEnd>,
    spend: Arc<Spend>,
}

/// The outcome of a request.
pub struct ProgramOutcome<'p> {
    /// Usage of all attempts.
    pub usage: Usage,
    /// The answer.
    pub result: Result<ProgramAnswer, CommandError>,
    /// Its place among those that are being answered, held until the answer is kept.
    pub place: Option<SemaphorePermit<'p>>,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandError {
    /// The program failed at it.
    Failed(Failure),
    /// The run cannot go on.
    Ended(RunEnd),
}

impl Pool {
    /// A pool of so many programs, none of them started yet.
    pub fn new(command: Vec<String>, programs: usize, timeout: Duration, spend: Arc<Spend>) -> Self {
        let programs = u32::try_from(programs.max(1)).unwrap_or(u32::MAX);
        Self {
            command,
            timeout,
            places: Semaphore::new(programs as usize),
            programs,
            idle: Mutex::default(),
            failures: AtomicUsize::new(0),
            has_answered: AtomicBool::new(false),
            ended: OnceLock::new(),
            spend,
        }
    }

    /// Puts a request to a program that is free, when one is.
    pub async fn ask(&self, id: &str, request: &str) -> ProgramOutcome<'_> {
        let place = self.places.acquire().await.ok();
        let mut usage = Usage::default();
        let result = self.answer(id, request, &mut usage).await;
        ProgramOutcome { usage, result, place }
    }

    /// Asks nothing new, waits until what is being answered is kept, and lets the programs end.
    pub async fn finish(&self) {
        self.end(RunEnd::over());
        let _all = self.places.acquire_many(self.programs).await;
        let idle = std::mem::take(&mut *lock(&self.idle));
        join_all(idle.into_iter().map(|program| program.end(GRACE))).await;
    }

    /// Kills the programs that have nothing to do.
    pub fn kill_idle(&self) {
        lock(&self.idle).clear();
    }

    async fn answer(
        &self,
        id: &str,
        request: &str,
        usage: &mut Usage,
    ) -> Result<ProgramAnswer, CommandError> {
        let line = protocol::line(id, request);
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            if let Some(end) = self.ended.get() {
                return Err(CommandError::Ended(end.clone()));
            }
            if attempt > 0 {
                self.spend.retries.fetch_add(1, Ordering::Relaxed);
            }
            // No limit is set here, so there is none to be reached.
            let _counted = self.spend.admit(Tokens::default()).await.ok();
            usage.api_calls += 1;
            let failure = match self.attempt(id, &line).await {
                Ok(answer) => {
                    self.failures.store(0, Ordering::Relaxed);
                    self.has_answered.store(true, Ordering::Relaxed);
                    usage.tokens.prompt += answer.tokens.0;
                    usage.tokens.completion += answer.tokens.1;
                    self.spend
                        .took(Tokens::of(answer.tokens.0, answer.tokens.1, false));
                    return Ok(answer);
                }
                Err(CommandError::Failed(failure)) => failure,
                Err(ended) => return Err(ended),
            };
            usage.errors += 1;
            let in_a_row = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
            if in_a_row >= self.most_failures() {
                return Err(CommandError::Ended(self.end(failing(&self.command, &failure))));
            }
            last = Some(failure);
        }
        Err(CommandError::Failed(last.unwrap_or_else(|| {
            Failure::new("summary_internal", "the program was never asked")
        })))
    }

    async fn attempt(&self, id: &str, line: &[u8]) -> Result<ProgramAnswer, CommandError> {
        let free = lock(&self.idle).pop().filter(Program::is_quiet);
        let mut program = match free {
            Some(program) => program,
            None => Program::start(&self.command)
                .map_err(|error| CommandError::Ended(self.end(not_started(&self.command, &error))))?,
        };
        let failed = |name, detail: &str| CommandError::Failed(Failure::new(name, detail));
        // On any failure the program is dropped, which kills it: its next answer could not be trusted.
        match tokio::time::timeout(self.timeout, program.ask(line)).await {
            Err(_) => {
                let detail = format!("no answer within {} s", self.timeout.as_secs_f64());
                Err(failed("summary_command_timeout", &detail))
            }
            Ok(Err(ProgramFault::Died(how))) => Err(failed("summary_command_died", &how)),
            Ok(Err(ProgramFault::Endless)) => {
                Err(failed("summary_command_answer", "the answer does not end"))
            }
            Ok(Ok(answer)) => {
                let answer = protocol::read(&answer, id).map_err(CommandError::Failed)?;
                lock(&self.idle).push(program);
                Ok(answer)
            }
        }
    }

    /// Failures in a row after which the run ends. Before any answer, each program may have failed twice.
    fn most_failures(&self) -> usize {
        let at_once = self.programs as usize * ATTEMPTS;
        if self.has_answered.load(Ordering::Relaxed) {
            MOST_FAILURES.max(2 * at_once)
        } else {
            at_once + 2
        }
    }

    /// Ends the run, for the first reason that there was.
    fn end(&self, end: RunEnd) -> RunEnd {
        self.ended.get_or_init(|| end).clone()
    }
}

/// The first word of a command, for messages. If it sets a variable, as shells allow, the value is left out.
fn name(command: &[String]) -> String {
    let Some(word) = command.first() else {
        return "the program".to_owned();
    };
    match word.split_once('=') {
        Some((variable, _)) => format!("{variable}=…"),
        None => redact(word).0.into_owned(),
    }
}

fn not_started(command: &[String], error: &str) -> RunEnd {
    RunEnd {
        message: format!("cannot start {}: {error}", name(command)),
        help: format!("check --command, which no shell reads; {RESUME}"),
    }
}

fn failing(command: &[String], last: &Failure) -> RunEnd {
    RunEnd {
        message: format!(
            "{} fails again and again: {}: {}",
            name(command),
            last.name,
            last.detail
        ),
        help: format!("look at what it says on standard error, and at docs/command.md; {RESUME}"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_variable_before_a_program_is_not_said() {
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (words, said) in [
            (["API_KEY=q7RtZ2mVx9LpK4wN", "prog"], "API_KEY=…"),
            (["./prog", "--fast"], "./prog"),
        ] {
            let end = not_started(&command(&words), "no such file");
            assert_eq!(end.message, format!("cannot start {said}: no such file"));
            assert!(!format!("{end:?}").contains("q7RtZ2mVx9LpK4wN"));
        }
    }
}
