//! The summary of a region: the summarizer's input, the choice of a summarizer, and the identifiers to be kept.

use super::CompressionCase;
use super::asked::CurrentRequest;
use super::correction::PlanCorrection;
use super::region::ReadRegion;
use crate::compress::anchors::{Anchor, held_mask, invented};
use crate::compress::reuse::Reuse;
use crate::compress::{Reason, Region};
use crate::fit::OnFailure;
use crate::fit::merged::{beside_summaries, bodies_in};
use crate::metrics::Row;
use crate::summarize::footer::{Files, with_footer};
use crate::summarize::grounding::ground;
use crate::summarize::marker::{body_of, with_marker};
use crate::summarize::named_files::add_files;
use crate::summarize::redact::redact;
use crate::summarize::{
    Around, Estimate, PendingRequest, Stretch, Summarizer, Summary, SummaryError, SummaryRequest, Usage,
    summary_in,
};
use crate::trajectory::TurnView;

/// A footer may take one in this many tokens of its summary.
const FOOTER_SHARE: usize = 4;

/// Most tokens that joining the footer to the rest adds.
const FOOTER_JOINT: usize = 3;

/// A summary ready to be written.
pub struct GroundedSummary {
    /// Its text, with its marker, and with references to identifiers that it did not name.
    pub text: String,
    /// Number of identifiers that it must name.
    pub anchors_needed: usize,
    /// Number of these that it names.
    pub anchors_held: usize,
    /// Number of these that the summarizer named; the others were appended.
    pub anchors_written: usize,
    /// Number of identifiers that it names and the record does not.
    pub anchors_invented: usize,
    /// The part of the region that was read; `None` for the whole.
    pub read_in_part: Option<Reason>,
    /// The reason why another summarizer wrote it.
    pub instead_of: Option<Reason>,
    /// The request to be answered before the requested summary can be written.
    pub pending: Option<Box<PendingRequest>>,
}

/// The summary of an earlier pass.
#[derive(Clone, Copy)]
pub struct PreviousPass<'s> {
    /// The summarized region.
    pub region: Region,
    /// Its text, with its marker.
    pub text: &'s str,
    /// It substitutes a summary not yet available, which a further request would need.
    pub stands_in: bool,
}

/// The summarizer's input.
struct SummaryInput {
    previous: Option<String>,
    in_progress: Option<CurrentRequest>,
    task: Option<String>,
    asked_later: Option<String>,
    anchors: Vec<Anchor>,
    reuse: Reuse,
    /// Most tokens that the summarizer may write.
    max_tokens: usize,
    /// Tokens that it should write.
    target_tokens: usize,
    /// The footer after the summary.
    footer: Option<String>,
    /// The files listed by earlier summaries, the latest first.
    earlier_files: Vec<Files>,
    /// Most tokens including the footer.
    whole_tokens: usize,
    /// Number of secrets redacted.
    redactions: usize,
    /// Number of turns left out, since there are too many.
    left_out: usize,
}

/// Adds the usage of summaries to a row.
pub fn note(row: &mut Row, usage: &Usage) {
    row.summarization_api_calls += usage.api_calls as u64;
    row.summarization_errors += usage.errors as u64;
    row.prompt_tokens += usage.tokens.prompt;
    row.completion_tokens += usage.tokens.completion;
    row.fallback_prompt_tokens += usage.tokens.fallback_prompt;
    row.fallback_completion_tokens += usage.tokens.fallback_completion;
    row.cached_summary |= usage.cached > 0;
}

/// Returns the error for a summary with invented identifiers; secrets among them are redacted.
fn invented_error(invented: &[String], usage: Usage) -> SummaryError {
    let some: Vec<&str> = invented.iter().take(3).map(String::as_str).collect();
    let named = redact(&some.join(", ")).0.into_owned();
    let more = invented.len().saturating_sub(some.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    SummaryError::Failed {
        name: "summary_invented",
        detail: format!("it names {named}{more}, which the record does not"),
        usage,
    }
}

impl SummaryInput {
    /// Returns the reason if not all of a region was read.
    fn read_in_part(&self, region: Region) -> Option<Reason> {
        let turns = region.range().len();
        let detail = format!("{} of its {turns} turns", turns - self.left_out.min(turns));
        (self.left_out > 0).then(|| Reason::with(Reason::REGION_READ_IN_PART, detail))
    }
}

impl CompressionCase<'_> {
    /// Returns the estimated usage of a region's first summary.
    pub fn estimate(&self, region: Region) -> Estimate {
        let (turns, mut given) = self.given(region, PlanCorrection::default(), None);
        let before = self.before(&turns);
        let turns = Stretch::within(self.context(before.as_deref()), &turns).ending_before(region.end());
        self.add_footer(&mut given, &turns);
        self.fitter.summarizer.estimate(&self.request(&given, &turns))
    }

    /// Requests the summary of a region: of all of it, or of the turns after an earlier pass's region.
    pub async fn summarize(
        &self,
        region: Region,
        measured: PlanCorrection,
        earlier: Option<PreviousPass<'_>>,
        row: &mut Row,
    ) -> Result<GroundedSummary, SummaryError> {
        let settings = &self.fitter.settings;
        let (turns, mut given) = self.given(region, measured, earlier);
        let before = self.before(&turns);
        let turns = Stretch::within(self.context(before.as_deref()), &turns).ending_before(region.end());
        self.with_after(region, |after| add_files(&mut given.anchors, &turns, after));
        self.add_footer(&mut given, &turns);
        row.redactions += given.redactions as u64;
        // A dry run sends no request: a summary of the size to be requested replaces the answer.
        let is_estimate = settings.dry_run && !self.fitter.summarizer.only_quotes();
        if is_estimate {
            given.max_tokens = given.max_tokens.min(given.target_tokens);
        }
        if self.fitter.summarizer.only_quotes() || is_estimate {
            given.reuse = self.reuse(region);
        }
        let request = self.request(&given, &turns);
        let summarizer = if is_estimate || earlier.is_some_and(|earlier| earlier.stands_in) {
            &self.fitter.fallback
        } else {
            &self.fitter.summarizer
        };
        summarizer.name().clone_into(&mut row.summarizer);
        let mut anchors_invented = 0;
        let made_up = |summary: Summary| {
            let invented = self.invented(summarizer.as_ref(), &summary, &given);
            anchors_invented = invented.len();
            if !settings.reject_invented || invented.is_empty() {
                return Ok(summary);
            }
            anchors_invented = 0;
            Err(invented_error(&invented, summary.usage))
        };
        let summary = match summarizer.summarize(request).await.and_then(made_up) {
            Ok(summary) => summary,
            Err(error @ (SummaryError::EndRun { .. } | SummaryError::Vetoed { .. })) => return Err(error),
            Err(error) if settings.on_failure == OnFailure::Fallback => {
                note(row, &error.usage());
                self.fitter.fallback.name().clone_into(&mut row.summarizer);
                let reuse = self.reuse(region);
                let request = SummaryRequest {
                    reuse: &reuse,
                    ..request
                };
                let mut summary = self.fitter.fallback.summarize(request).await?;
                summary.instead_of = Some(error.reason());
                summary.pending = error.into_pending();
                summary
            }
            Err(error) => return Err(error),
        };
        note(row, &summary.usage);
        row.redactions += summary.redactions as u64;
        let (text, secrets) = match self.redaction() {
            Some(secrets) => secrets.redact(&summary.text),
            None => (summary.text.as_str().into(), 0),
        };
        row.redactions += secrets as u64;
        let text = with_marker(&text);
        let own = || {
            let held = held_mask(&given.anchors, &text);
            held.iter().filter(|is_held| **is_held).count()
        };
        let (text, anchors_held, anchors_written) = if summary.verbatim {
            let held = own();
            (text, held, held)
        } else {
            let (footed, own) = match &given.footer {
                Some(footer) => (with_footer(&text, footer), Some(own())),
                None => (text, None),
            };
            let (text, held) = ground(footed, &given.anchors, given.whole_tokens, request.counter);
            (text, held.after, own.unwrap_or(held.before))
        };
        Ok(GroundedSummary {
            text,
            anchors_needed: given.anchors.len(),
            anchors_held,
            anchors_written,
            anchors_invented,
            instead_of: summary.instead_of,
            read_in_part: given.read_in_part(region),
            pending: summary.pending,
        })
    }

    /// Returns the identifiers of a summary that neither the record nor an earlier summary of it contains.
    fn invented(&self, summarizer: &dyn Summarizer, summary: &Summary, given: &SummaryInput) -> Vec<String> {
        if summarizer.only_quotes() {
            return Vec::new();
        }
        let others = given.previous.as_deref().into_iter().chain([self.record.text]);
        invented(&summary.text, self.views.turns(), others)
    }

    /// Returns the turns to be read, and the rest of the input except the footer.
    fn given<'s>(
        &'s self,
        region: Region,
        measured: PlanCorrection,
        earlier: Option<PreviousPass<'_>>,
    ) -> (Vec<TurnView<'s>>, SummaryInput) {
        // A shorter summary of the same region is written from its turns again.
        let earlier = earlier.filter(|earlier| earlier.region != region);
        let start = earlier.map_or(0, |earlier| earlier.region.end());
        let mut previous: Vec<String> = earlier
            .and_then(|earlier| body_of(earlier.text))
            .map(str::to_owned)
            .into_iter()
            .collect();
        let ReadRegion {
            turns: read,
            anchors,
            left_out,
        } = self.read(region);
        let mut turns = Vec::new();
        let mut redactions = 0;
        let new = read.into_iter().filter(|(view, _)| view.index >= start);
        for (view, secrets) in new {
            redactions += secrets;
            previous.extend(bodies_in(&view).into_iter().map(str::to_owned));
            // Another program's summary counts as an earlier summary as well.
            let other = Some(&view.text).filter(|text| body_of(text).is_none() && view.calls.is_empty());
            if let Some(body) = other.and_then(|text| summary_in(text)) {
                previous.push(body.to_owned());
                continue;
            }
            // The summary turn already quotes the last human turn verbatim.
            if Some(view.index) != self.outline.last_human || view.index < region.start() {
                turns.extend(beside_summaries(view));
            }
        }
        let mut earlier_files = Vec::new();
        if self.fitter.settings.file_footer {
            for body in previous.iter_mut().rev() {
                let (rest, files) = Files::taken_from(body);
                *body = rest;
                earlier_files.push(files);
            }
        }
        let whole_tokens = self.summary_budget(region, measured);
        let given = SummaryInput {
            previous: (!previous.is_empty()).then(|| previous.join("\n")),
            in_progress: self.in_progress(region).map(|asked| CurrentRequest {
                text: self.without_secrets(asked.text),
                ..asked
            }),
            task: self.first_asked(0..region.start()),
            asked_later: self.first_asked(region.end()..self.known()),
            anchors,
            reuse: Reuse::default(),
            max_tokens: whole_tokens,
            target_tokens: self.summary_target(region).min(whole_tokens),
            footer: None,
            earlier_files,
            whole_tokens,
            redactions,
            left_out,
        };
        (turns, given)
    }

    /// Returns the text that the kept turns around a region contain and repeat.
    fn reuse(&self, region: Region) -> Reuse {
        let before = self.views.part(0..region.start());
        let is_known = self.fitter.settings.grounding;
        let goes_on = self
            .compaction
            .as_ref()
            .is_some_and(|compaction| compaction.goes_on);
        self.with_after(region, |after| {
            Reuse::of(before, is_known.then_some(after)).with_more(goes_on)
        })
    }

    /// Adds a footer with the files of these turns and of earlier footers, and subtracts its tokens from the limits.
    fn add_footer(&self, given: &mut SummaryInput, turns: &Stretch<'_>) {
        if !self.fitter.settings.file_footer {
            return;
        }
        let counter = self.fitter.counter.as_ref();
        let files = Files::of(turns).and_earlier(std::mem::take(&mut given.earlier_files));
        let footer = files.footer(given.target_tokens / FOOTER_SHARE, counter);
        if !footer.is_empty() {
            let taken = counter.count(&footer) + FOOTER_JOINT;
            given.max_tokens -= taken;
            given.target_tokens = given.target_tokens.saturating_sub(taken);
            given.footer = Some(footer);
        }
    }

    pub(super) fn without_secrets(&self, text: String) -> String {
        match self.redaction() {
            Some(secrets) => secrets.redact(&text).0.into_owned(),
            None => text,
        }
    }

    fn request<'g>(&'g self, given: &'g SummaryInput, turns: &'g Stretch<'g>) -> SummaryRequest<'g> {
        let in_progress = given.in_progress.as_ref().filter(|asked| !asked.is_done(turns));
        SummaryRequest {
            turns,
            is_redacted: self.fitter.settings.redaction,
            previous: given.previous.as_deref(),
            in_progress: in_progress.map(|asked| asked.text.as_str()),
            around: Around {
                task: given.task.as_deref(),
                asked_later: given.asked_later.as_deref(),
            },
            files_follow: given.footer.is_some(),
            anchors: &given.anchors,
            reuse: &given.reuse,
            max_tokens: given.max_tokens,
            target_tokens: given.target_tokens,
            counter: self.fitter.counter.as_ref(),
        }
    }
}
