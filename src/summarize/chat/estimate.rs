//! Estimates a summary: its requests and tokens, without requests whose answers are kept.

use super::asking::SummaryTask;
use super::keep;
use super::question::ChatError;
use crate::summarize::Estimate;
use crate::summarize::marker::{body_of, with_marker};

impl SummaryTask<'_> {
    /// Requests and tokens of the first attempt, besides kept answers.
    pub fn estimate(&self) -> Estimate {
        let window = self.summarizer.settings.context_window;
        let pieces = self.pieces(window);
        let mut estimate = Estimate::default();
        let mut so_far = Some(self.request.previous.map(str::to_owned));
        for (index, turns) in pieces.iter().enumerate() {
            let place = (index + 1, pieces.len());
            // The summary of the pieces before it may be unknown, but its maximum length is not.
            let (previous, unknown) = match &so_far {
                Some(previous) => (previous.as_deref(), 0),
                None => (Some(""), self.limit().tokens),
            };
            so_far = match self.kept_piece(turns, previous, place, &mut estimate) {
                Ok(summary) if unknown == 0 => Some(body_of(&summary).map(str::to_owned)),
                Ok(_) => None,
                Err(ask_for) => {
                    let prompt = self.prompt(turns, previous, ask_for, place);
                    let tokens = prompt.map_or(0, |prompt| self.tokens_of(&prompt) + unknown);
                    estimate.requests += 1;
                    estimate.prompt_tokens += tokens as u64;
                    estimate.completion_tokens += ask_for as u64;
                    None
                }
            };
        }
        estimate
    }

    /// The summary of one piece, if all answers for it are kept; otherwise the tokens to ask for, of the first one that
    /// is not.
    fn kept_piece(
        &self,
        turns: &str,
        previous: Option<&str>,
        place: (usize, usize),
        estimate: &mut Estimate,
    ) -> Result<String, usize> {
        let limit = self.limit();
        let mut kept = |ask_for| -> Result<Result<String, ChatError>, usize> {
            let prompt = self
                .prompt(turns, previous, ask_for, place)
                .map_err(|_| ask_for)?;
            let answer = self.summarizer.answers.kept(&self.key(&prompt)).ok_or(ask_for)?;
            estimate.cached += 1;
            Ok(keep::said(answer))
        };
        let ask_for = limit.ask_first();
        let (got, first) = match kept(ask_for)? {
            Ok(text) => {
                let text = with_marker(&text);
                if limit.holds(&text) {
                    return Ok(limit.cut(text));
                }
                (limit.cost(&text), text)
            }
            Err(trouble) if keep::is_cut(&trouble) => (self.max_output(), String::new()),
            Err(_) => return Ok(String::new()),
        };
        let second = kept(limit.ask_next(ask_for, got))?;
        Ok(limit.cut(second.map_or(first, |text| with_marker(&text))))
    }
}
