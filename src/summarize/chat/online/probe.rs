//! Tiny questions of our own, which fail only because of the server or the settings: they find out if a server is back,
//! and if all requests would fail as one did.

use std::sync::Arc;

use super::client::{Client, lock};
use super::wire::HttpReply;
use crate::summarize::Usage;
use crate::summarize::chat::answer;
use crate::summarize::chat::answer::error_names::FORBIDDEN;
use crate::summarize::chat::answer::retry::{self, RetryVerdict};
use crate::summarize::chat::pace::breaker::Pass;
use crate::summarize::chat::question::{ChatModel, Question};
use crate::summarize::failure::Failure;
use crate::summarize::prompt::Prompt;
use crate::summarize::run_end::RunEnd;

/// The question, and the tokens that its answer may have.
const QUESTION: &str = "Answer with OK.";
const MAX_OUTPUT: usize = 16;

impl Client {
    /// Waits until the server is believed to be up.
    pub(super) async fn until_up(&self, model: &ChatModel, usage: &mut Usage) -> Result<(), RunEnd> {
        loop {
            if let Some(end) = self.ended.get() {
                return Err(end.clone());
            }
            let now = self.places.now();
            let pass = self.breaker().pass(now);
            match pass {
                Pass::Go => return Ok(()),
                Pass::Probe => self.probe(model, usage).await?,
                Pass::Wait(wait) => tokio::time::sleep(wait).await,
                Pass::GiveUp => {
                    let end = RunEnd::down(self.wire.url(), &lock(&self.last_failure));
                    return Err(self.end(end));
                }
            }
        }
    }

    /// Checks if the server is back.
    async fn probe(&self, model: &ChatModel, usage: &mut Usage) -> Result<(), RunEnd> {
        let failure = match self.ask_something(model, usage).await? {
            Ok(reply) if reply.status < 500 => {
                self.breaker().answered();
                return Ok(());
            }
            Ok(reply) => format!("HTTP {}", reply.status),
            Err(detail) => detail,
        };
        usage.errors += 1;
        *lock(&self.last_failure) = failure;
        let now = self.places.now();
        self.breaker().probe_failed(now);
        Ok(())
    }

    /// Sends a tiny question, which fails only because of the server or the settings.
    async fn ask_something(
        &self,
        model: &ChatModel,
        usage: &mut Usage,
    ) -> Result<Result<HttpReply, String>, RunEnd> {
        let prompt = Prompt {
            system: Arc::from(""),
            user: QUESTION.to_owned(),
        };
        let reserved = self.reserve(0, MAX_OUTPUT as u64, model.is_fallback).await?;
        usage.api_calls += 1;
        let replied = self.wire.post(self.request(model, &prompt, MAX_OUTPUT)).await;
        let answered = replied.as_ref().ok();
        let tokens = answered.and_then(|reply| {
            let answer = answer::read(self.api, &reply.body).ok()?;
            Some((
                answer.prompt_tokens.unwrap_or(0),
                answer.completion_tokens.unwrap_or(0),
            ))
        });
        reserved.settle(tokens);
        self.note(usage, model, tokens.unwrap_or_default());
        Ok(replied.map_err(|(_, detail)| detail))
    }

    /// Returns true if every request to that model would fail as this one did; `None` if that is unknown. A tiny
    /// question finds out if the model accepted no request, or none of the last ones, or forbade this one.
    pub(super) async fn is_for_all(
        &self,
        question: &Question,
        usage: &mut Usage,
        failure: &Failure,
    ) -> Result<Option<bool>, RunEnd> {
        let dialect = &question.model.dialect;
        let is_servers = failure.name.starts_with("summary_http_") || failure.name == "summary_error_body";
        let answers = dialect.answers();
        if !is_servers || !(dialect.refused() || failure.name == FORBIDDEN) {
            return Ok(Some(false));
        }
        // One request finds out for all.
        let _turn = self.turn.lock().await;
        if let Some(end) = self.ended.get() {
            return Err(end.clone());
        }
        if dialect.answers() > answers {
            return Ok(Some(false));
        }
        let Ok(reply) = self.ask_something(&question.model, usage).await? else {
            return Ok(None);
        };
        let manner = dialect.manner();
        let verdict = if (200..300).contains(&reply.status) {
            let bad = answer::read(self.api, &reply.body).err();
            let bad = bad.filter(|bad| bad.error.is_some());
            bad.map(|bad| retry::after_answer(bad, None, manner, ""))
        } else {
            Some(retry::after_status(reply.status, None, &reply.body, manner, ""))
        };
        Ok(match verdict {
            None => {
                dialect.is_there_still();
                Some(false)
            }
            Some(RetryVerdict::EndRun(..)) => Some(true),
            Some(RetryVerdict::Fail(other)) if other.name == failure.name => Some(true),
            Some(_) => None,
        })
    }
}
