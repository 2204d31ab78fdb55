//! The summary of a region: what its summarizer is given to read, whom to ask, and the references that it must hold.

use std::borrow::Cow;

use super::OnFailure;
use super::case::Case;
use super::merged::{beside_summaries, bodies_in, spoken};
use super::region::ReadRegion;
use super::room::Measured;
use crate::compress::anchors::{Anchor, held_mask, invented};
use crate::compress::reuse::Reuse;
use crate::compress::{Reason, Region};
use crate::metrics::Row;
use crate::summarize::extractive::{IN_PROGRESS, asks_for_something};
use crate::summarize::footer::{Files, with_footer};
use crate::summarize::grounding::ground;
use crate::summarize::marker::{body_of, with_marker};
use crate::summarize::redact::redact;
use crate::summarize::{
    Around, Estimate, PendingRequest, Stretch, Summarizer, Summary, SummaryError, SummaryRequest, Usage,
    request_in, summary_in,
};
use crate::trajectory::{Role, TurnView};

/// The part of a summary that its footer may take.
const FOOTER_SHARE: usize = 4;

/// Tokens that joining the footer to the rest may cost.
const FOOTER_JOINT: usize = 3;

/// A summary ready to be written.
pub struct Grounded {
    /// With its marker, and with references to what it did not name.
    pub text: String,
    /// Identifiers that it must name.
    pub anchors_needed: usize,
    /// Of these, those that it names.
    pub anchors_held: usize,
    /// Of these, those that its writer named: the others were appended.
    pub anchors_written: usize,
    /// Identifiers that it names and the record does not.
    pub anchors_invented: usize,
    /// Where it is not of the whole region: of how much.
    pub read_in_part: Option<Reason>,
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
struct Given {
    previous: Option<String>,
    in_progress: Option<String>,
    task: Option<String>,
    asked_later: Option<String>,
    anchors: Vec<Anchor>,
    reuse: Reuse,
    /// What the summarizer may write.
    max_tokens: usize,
    /// What it should write.
    target_tokens: usize,
    /// What comes after that.
    footer: Option<String>,
    /// The files that earlier summaries tell, the latest first.
    earlier_files: Vec<Files>,
    /// What the whole may cost.
    whole_tokens: usize,
    /// Secrets taken out.
    redactions: usize,
    /// Turns that are too many to be read.
    left_out: usize,
}

/// What the summaries in a turn say is in progress.
fn told_in_progress(view: &TurnView<'_>) -> Option<String> {
    let mut lines = bodies_in(view).into_iter().rev().flat_map(str::lines);
    let told = lines.find_map(|line| line.strip_prefix(IN_PROGRESS))?;
    Some(told.trim().to_owned())
}

/// Adds what summaries took to a row.
pub fn note(row: &mut Row, usage: &Usage) {
    row.summarization_api_calls += usage.api_calls as u64;
    row.summarization_errors += usage.errors as u64;
    row.prompt_tokens += usage.prompt_tokens;
    row.completion_tokens += usage.completion_tokens;
    row.fallback_prompt_tokens += usage.fallback_prompt_tokens;
    row.fallback_completion_tokens += usage.fallback_completion_tokens;
    row.cached_summary |= usage.cached > 0;
}

/// Why a summary is refused that names what it cannot know. A secret in it is not told either.
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

impl Given {
    /// Why this is not all of a region, where it is not.
    fn read_in_part(&self, region: Region) -> Option<Reason> {
        let turns = region.range().len();
        let detail = format!("{} of its {turns} turns", turns - self.left_out.min(turns));
        (self.left_out > 0).then(|| Reason::with(Reason::REGION_READ_IN_PART, detail))
    }
}

impl Case<'_> {
    /// What the first summary of a region would take.
    pub fn estimate(&self, region: Region) -> Estimate {
        let (turns, mut given) = self.given(region, Measured::default(), None);
        let turns = Stretch::of(&turns);
        self.add_footer(&mut given, &turns);
        self.fitter.summarizer.estimate(&self.request(&given, &turns))
    }

    /// Asks for the summary of a region: of all of it, or of what comes after the region that an earlier pass has summarized.
    pub async fn summarize(
        &self,
        region: Region,
        measured: Measured,
        earlier: Option<Earlier<'_>>,
        row: &mut Row,
    ) -> Result<Grounded, SummaryError> {
        let settings = &self.fitter.settings;
        let (turns, mut given) = self.given(region, measured, earlier);
        let turns = Stretch::of(&turns);
        self.add_footer(&mut given, &turns);
        row.redactions += given.redactions as u64;
        // A dry run asks nobody: a summary of the size that will be asked for stands in.
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
        Ok(Grounded {
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

    /// The identifiers of a summary that stand nowhere in the record nor in an earlier summary of it.
    fn invented(&self, summarizer: &dyn Summarizer, summary: &Summary, given: &Given) -> Vec<String> {
        if summarizer.only_quotes() {
            return Vec::new();
        }
        let others = given.previous.as_deref().into_iter().chain([self.record.text]);
        invented(&summary.text, self.views.turns(), others)
    }

    /// The turns that are to be read, and what is given beside them but the footer.
    fn given<'s>(
        &'s self,
        region: Region,
        measured: Measured,
        earlier: Option<Earlier<'_>>,
    ) -> (Vec<TurnView<'s>>, Given) {
        // A shorter summary of the same region is written from its turns once more.
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
            // What another program summarized is an earlier summary as well.
            let other = Some(&view.text).filter(|text| body_of(text).is_none() && view.calls.is_empty());
            if let Some(body) = other.and_then(|text| summary_in(text)) {
                previous.push(body.to_owned());
                continue;
            }
            // The text of the last human turn stands in the summary turn already, word for word.
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
        let given = Given {
            previous: (!previous.is_empty()).then(|| previous.join("\n")),
            in_progress: self.in_progress(region).map(|asked| self.without_secrets(asked)),
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

    /// Text that the kept turns around a region say and repeat.
    fn reuse(&self, region: Region) -> Reuse {
        let before = self.views.part(0..region.start());
        let is_known = self.fitter.settings.grounding;
        self.with_after(region, |after| Reuse::of(before, is_known.then_some(after)))
    }

    /// Adds the files of these turns and of the footers of earlier summaries, and takes their room.
    fn add_footer(&self, given: &mut Given, turns: &Stretch<'_>) {
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

    /// What a person asks first in these turns.
    fn first_asked(&self, turns: std::ops::Range<usize>) -> Option<String> {
        let mut views = self.read_views.range(turns);
        views.find_map(|view| Some(self.without_secrets(self.asked(&view)?)))
    }

    /// What a person asks for in a turn; nothing of what an environment shows there.
    fn asked(&self, view: &TurnView<'_>) -> Option<String> {
        let before = view.index.checked_sub(1);
        let before = before.and_then(|before| self.outline.turns.get(before));
        let said = spoken(view)?;
        let said = request_in(&said, before.is_some_and(|turn| turn.role == Role::Assistant));
        asks_for_something(said).then(|| said.to_owned())
    }

    fn without_secrets(&self, text: String) -> String {
        match self.redaction() {
            Some(secrets) => secrets.redact(&text).0.into_owned(),
            None => text,
        }
    }

    /// What was asked of the assistant that is still at work where a region ends, before any word to go on; `None` where that stands right before the
    /// region, in the protected head, and stays there.
    fn in_progress(&self, region: Region) -> Option<String> {
        let role_at = |turn: usize| self.outline.turns.get(turn).map(|turn| turn.role);
        let goes_on = role_at(region.end()) == Some(Role::Assistant);
        let at_work = matches!(role_at(region.end() - 1), Some(Role::Tool | Role::Assistant));
        if !(goes_on && at_work) {
            return None;
        }
        let merged = self
            .merged_before(region)
            .map(|merged| Cow::Borrowed(&merged.view));
        let turns = merged
            .into_iter()
            .chain(self.read_views.range(region.range()))
            .rev();
        let mut asked = turns.filter_map(|view| {
            let asked = self.asked(&view).or_else(|| told_in_progress(&view))?;
            // The last human turn stands below the summary word for word.
            Some((Some(view.index) != self.outline.last_human).then_some(asked))
        });
        asked.next().flatten()
    }

    fn request<'g>(&'g self, given: &'g Given, turns: &'g Stretch<'g>) -> SummaryRequest<'g> {
        SummaryRequest {
            turns,
            is_redacted: self.fitter.settings.redaction,
            previous: given.previous.as_deref(),
            in_progress: given.in_progress.as_deref(),
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
