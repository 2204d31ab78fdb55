//! The summary of a region: what its summarizer is given to read, whom to ask, and the references that it must hold.

use super::OnFailure;
use super::case::Case;
use super::redacted::redacted;
use crate::compress::anchors::Anchor;
use crate::compress::{Reason, Region};
use crate::metrics::Row;
use crate::summarize::grounding::ground;
use crate::summarize::marker::{body_of, with_marker};
use crate::summarize::redact::redact;
use crate::summarize::{Estimate, PendingRequest, SummaryError, SummaryRequest, Usage};
use crate::trajectory::{Role, TurnView};

/// A summary ready to be written.
pub struct Grounded {
    /// With its marker, and with references to what it did not name.
    pub text: String,
    /// Identifiers that it must name.
    pub anchors_needed: usize,
    /// Of these, those that it names.
    pub anchors_held: usize,
    /// Why it is not from whom it was asked.
    pub instead_of: Option<Reason>,
    /// What has to be answered before there can be the summary that was asked for.
    pub pending: Option<Box<PendingRequest>>,
}

/// The summary of an earlier pass.
#[derive(Clone, Copy)]
pub struct Earlier<'s> {
    /// What it is of.
    pub region: Region,
    /// It, with its marker.
    pub text: &'s str,
    /// Whether it stands in for another that is still to come. What another pass would ask, it would ask about that one.
    pub stands_in: bool,
}

/// What a summarizer is given.
struct Given<'v> {
    turns: Vec<TurnView<'v>>,
    previous: Option<String>,
    anchors: Vec<Anchor>,
    max_tokens: usize,
    /// Secrets taken out.
    redactions: usize,
}

/// Adds what summaries took to a row.
pub fn note(row: &mut Row, usage: &Usage) {
    row.summarization_api_calls += usage.api_calls as u64;
    row.summarization_errors += usage.errors as u64;
    row.prompt_tokens += usage.prompt_tokens;
    row.completion_tokens += usage.completion_tokens;
    row.cached_summary |= usage.cached > 0;
}

impl<'a> Case<'a> {
    /// What the first summary of a region would take.
    pub fn estimate(&self, region: Region) -> Estimate {
        let given = self.given(region, None);
        self.fitter.summarizer.estimate(&self.request(&given))
    }

    /// Asks for the summary of a region: of all of it, or of what comes after the region that an earlier pass has summarized.
    pub async fn summarize(
        &self,
        region: Region,
        earlier: Option<Earlier<'_>>,
        row: &mut Row,
    ) -> Result<Grounded, SummaryError> {
        let settings = &self.fitter.settings;
        let given = self.given(region, earlier);
        row.redactions += given.redactions as u64;
        let request = self.request(&given);
        let summarizer = if earlier.is_some_and(|earlier| earlier.stands_in) {
            &self.fitter.fallback
        } else {
            &self.fitter.summarizer
        };
        summarizer.name().clone_into(&mut row.summarizer);
        let summary = match summarizer.summarize(request).await {
            Ok(summary) => summary,
            Err(error @ SummaryError::EndRun { .. }) => return Err(error),
            Err(error) if settings.on_failure == OnFailure::Fallback => {
                note(row, &error.usage());
                self.fitter.fallback.name().clone_into(&mut row.summarizer);
                let mut summary = self.fitter.fallback.summarize(request).await?;
                summary.instead_of = Some(error.reason());
                summary.pending = error.into_pending();
                summary
            }
            Err(error) => return Err(error),
        };
        note(row, &summary.usage);
        row.redactions += summary.redactions as u64;
        let (text, secrets) = if settings.redaction {
            redact(&summary.text)
        } else {
            (summary.text.as_str().into(), 0)
        };
        row.redactions += secrets as u64;
        let text = with_marker(&text);
        let (text, anchors_held) = ground(text, &given.anchors, given.max_tokens, request.counter);
        Ok(Grounded {
            text,
            anchors_needed: given.anchors.len(),
            anchors_held,
            instead_of: summary.instead_of,
            pending: summary.pending,
        })
    }

    fn given(&self, region: Region, earlier: Option<Earlier<'_>>) -> Given<'a> {
        let settings = &self.fitter.settings;
        let start = earlier.map_or(region.start(), |earlier| earlier.region.end());
        let mut previous: Vec<String> = earlier
            .and_then(|earlier| body_of(earlier.text))
            .map(str::to_owned)
            .into_iter()
            .collect();
        let views: &'a [TurnView<'a>] = self.views;
        let views = views.get(region.range()).unwrap_or_default();
        let (views, secrets): (Vec<TurnView<'a>>, Vec<usize>) =
            redacted(views, settings.redaction).into_iter().unzip();
        let anchors = if settings.grounding {
            self.anchors(region, &views)
        } else {
            Vec::new()
        };
        let mut turns = Vec::new();
        let mut redactions = 0;
        let new = views
            .into_iter()
            .zip(secrets)
            .filter(|(view, _)| view.index >= start);
        for (view, secrets) in new {
            redactions += secrets;
            match body_of(&view.text).filter(|_| view.role == Role::Human) {
                Some(body) => previous.push(body.to_owned()),
                // Its text stands in the summary turn already, word for word.
                None if Some(view.index) == self.outline.last_human => {}
                None => turns.push(view),
            }
        }
        Given {
            turns,
            previous: (!previous.is_empty()).then(|| previous.join("\n")),
            anchors,
            max_tokens: self.summary_budget(region),
            redactions,
        }
    }

    fn request<'g>(&'g self, given: &'g Given<'g>) -> SummaryRequest<'g> {
        SummaryRequest {
            turns: &given.turns,
            is_redacted: self.fitter.settings.redaction,
            previous: given.previous.as_deref(),
            anchors: &given.anchors,
            max_tokens: given.max_tokens,
            target_tokens: self.fitter.settings.summary_target_tokens,
            counter: self.fitter.counter.as_ref(),
        }
    }
}
