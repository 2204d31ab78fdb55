//! One summary from one model: the region in as many pieces as the model needs, the answer in the right length.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::keep;
use super::place;
use super::question::{ChatError, ChatModel, Question};
use super::shared::Shared;
use crate::names::Named;
use crate::summarize::answers::AnswerKey;
use crate::summarize::failure::Failure;
use crate::summarize::judge::Judge;
use crate::summarize::length::Limit;
use crate::summarize::marker::{body_of, with_marker};
use crate::summarize::prompt::{Material, Prompt, pieces};
use crate::summarize::{PendingRequest, SummaryRequest, Usage};

/// Times a prompt is made shorter because the server says that it is too long.
const SHORTENINGS: usize = 5;

/// The part of a window that is left free: another tokenizer may count more.
const MARGIN: f64 = 0.10;

/// The smallest room for turns that is worth a request, in tokens.
const SMALLEST_ROOM: usize = 200;

/// One request for a summary, put to one model.
pub struct SummaryTask<'a> {
    /// The shared part of the summarizer.
    pub summarizer: &'a Shared,
    /// The request.
    pub request: SummaryRequest<'a>,
    /// The model to ask.
    pub model: &'a Arc<ChatModel>,
    /// Usage so far.
    pub taken: &'a mut Spent,
    /// A pending request whose answer would have made the summary better.
    pub pending: Option<Box<PendingRequest>>,
}

/// Usage of a summary, and redactions in its answers.
#[derive(Debug, Default)]
pub struct Spent {
    /// Requests and tokens.
    pub usage: Usage,
    /// Secrets redacted in answers.
    pub redactions: usize,
}

impl<'a> SummaryTask<'a> {
    /// The summary, with its marker, within the limit.
    pub async fn summary(&mut self) -> Result<String, ChatError> {
        let mut window = self.summarizer.settings.context_window;
        let mut tries = 0;
        loop {
            match self.in_pieces(window).await {
                Err(ChatError::TooLong(failure, told)) => {
                    tries += 1;
                    // Less than what was refused, whatever window the server names.
                    let refused =
                        window.unwrap_or_else(|| self.estimate().prompt_tokens as usize + self.max_output());
                    let next = told.filter(|told| *told < refused).unwrap_or(refused * 3 / 5);
                    if tries > SHORTENINGS || self.room(next, self.request.previous) < SMALLEST_ROOM {
                        return Err(ChatError::Failed(failure));
                    }
                    window = Some(next);
                }
                result => return result,
            }
        }
    }

    async fn in_pieces(&mut self, window: Option<usize>) -> Result<String, ChatError> {
        let pieces = self.pieces(window);
        let mut so_far = self.request.previous.map(str::to_owned);
        let mut summary = String::new();
        for (index, turns) in pieces.iter().enumerate() {
            let place = (index + 1, pieces.len());
            summary = self.piece(turns, so_far.as_deref(), place).await?;
            // The next piece depends on this summary, which is not final yet.
            if let Some(request) = self.pending.take_if(|_| index + 1 < pieces.len()) {
                return Err(ChatError::Pending(request));
            }
            so_far = Some(body_of(&summary).unwrap_or(&summary).to_owned());
        }
        Ok(summary)
    }

    /// The summary of one piece. If it is too long, a shorter one is asked for once; what is still too long is cut off.
    async fn piece(
        &mut self,
        turns: &str,
        previous: Option<&str>,
        place: (usize, usize),
    ) -> Result<String, ChatError> {
        let limit = self.limit();
        let ask_for = limit.ask_first();
        let (got, first) = match self.ask(turns, previous, ask_for, place).await {
            Ok(text) => {
                let text = with_marker(&text);
                if limit.holds(&text) {
                    return Ok(limit.cut(text));
                }
                (limit.cost(&text), Ok(text))
            }
            // The answer reached its token limit.
            Err(trouble) if keep::is_cut(&trouble) => (self.max_output(), Err(trouble)),
            Err(trouble) => return Err(trouble),
        };
        let ask_for = limit.ask_next(ask_for, got);
        match (self.ask(turns, previous, ask_for, place).await, first) {
            (Ok(text), _) => Ok(limit.cut(with_marker(&text))),
            (Err(ended @ ChatError::Ended(_)), _) => Err(ended),
            (Err(ChatError::Pending(request)), Ok(first)) => {
                self.pending = Some(request);
                Ok(limit.cut(first))
            }
            // Too long is better than nothing.
            (Err(_), Ok(first)) => Ok(limit.cut(first)),
            (Err(trouble), Err(_)) => Err(trouble),
        }
    }

    async fn ask(
        &mut self,
        turns: &str,
        previous: Option<&str>,
        ask_for: usize,
        place: (usize, usize),
    ) -> Result<String, ChatError> {
        let prompt = self
            .prompt(turns, previous, ask_for, place)
            .map_err(|why| ChatError::Failed(Failure::new("summary_prompt", &why)))?;
        let summarizer = self.summarizer;
        let key = self.key(&prompt);
        let max_output = self.max_output();
        let counts_tokens = summarizer.transport.counts_tokens();
        let prompt_tokens = if counts_tokens { self.tokens_of(&prompt) } else { 0 };
        let question = Question {
            model: Arc::clone(self.model),
            prompt,
            prompt_tokens: prompt_tokens as u64,
            max_output,
            seed: key.seed(),
            judge: Judge {
                control_tokens: summarizer.control_tokens(self.request.counter),
                region: turns.len() + previous.map_or(0, str::len),
            },
        };
        let taken = &mut *self.taken;
        let asked = summarizer.answers.ask_once(key, || async {
            let (result, usage) = summarizer.transport.put(key, question, ask_for).await?;
            taken.usage.add(&usage);
            result
        });
        let (answer, known) = asked.await?;
        self.taken.redactions += answer.redactions;
        if known {
            self.taken.usage.cached += 1;
            summarizer.spend.cache_hits.fetch_add(1, Ordering::Relaxed);
        }
        keep::said(answer)
    }

    pub(super) fn prompt(
        &self,
        turns: &str,
        previous: Option<&str>,
        ask_for: usize,
        piece: (usize, usize),
    ) -> Result<Prompt, String> {
        let keep = self.limit().keep();
        self.summarizer.prompter.prompt(&Material {
            turns,
            previous,
            in_progress: self.request.in_progress,
            around: self.request.around,
            keep: &keep,
            max_tokens: ask_for,
            piece,
        })
    }

    pub(super) fn pieces(&self, window: Option<usize>) -> Vec<String> {
        let room = window.map(|window| self.room(window, self.request.previous).max(SMALLEST_ROOM));
        pieces::split(self.request.turns, room, self.request.counter)
    }

    /// Tokens of turns that fit into a window beside everything else.
    fn room(&self, window: usize, previous: Option<&str>) -> usize {
        // Every piece after the first one has the summary so far, which is as long as summaries may be.
        let longest = previous
            .map_or(0, |text| self.request.counter.count(text))
            .max(self.limit().tokens);
        let empty = self.prompt("", Some(""), self.limit().tokens, (1, 2));
        let around = empty.map_or(0, |prompt| self.tokens_of(&prompt));
        let usable = window - (window as f64 * MARGIN) as usize;
        usable.saturating_sub(around + longest + self.max_output())
    }

    pub(super) fn limit(&self) -> Limit<'a> {
        Limit::of(&self.request)
    }

    /// Maximum completion tokens: other tokenizers count otherwise, and some models reason first.
    pub(super) fn max_output(&self) -> usize {
        let summary = self.limit().tokens;
        self.summarizer
            .settings
            .max_output_tokens
            .unwrap_or(2 * summary + 256)
    }

    pub(super) fn tokens_of(&self, prompt: &Prompt) -> usize {
        self.request.counter.count(&prompt.system) + self.request.counter.count(&prompt.user)
    }

    /// The key of all that the answer depends on, besides chance.
    pub(super) fn key(&self, prompt: &Prompt) -> AnswerKey {
        let settings = &self.summarizer.settings;
        let body = serde_json::to_string(&settings.body).unwrap_or_default();
        AnswerKey::of(&[
            settings.api.name(),
            &place::of(settings.api, &settings.base_url),
            &self.model.name,
            &settings.temperature.to_string(),
            &self.max_output().to_string(),
            &body,
            self.summarizer.prompter.version(),
            &prompt.system,
            &prompt.user,
        ])
    }
}
