//! Turns of a person's role that no person wrote, known by tables: what an environment shows, and other programs' summaries.

mod elements;
mod frames;
mod label_words;
pub(crate) mod openings;
mod results;
pub(crate) mod screen;
mod searched;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;

use elements::TurnElements;
use frames::{Frame, FunctionList};
use openings::{Openings, without_opening};
use results::ResultElements;
use searched::SearchedText;

use super::source_call::part_of;
use crate::knowledge::phrases::{Kinds, PhraseKind};

/// The place of such a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TurnPlace {
    /// Anywhere.
    Anywhere,
    /// Right after an assistant's turn.
    AfterAssistant,
    /// Right after an assistant's turn that calls a tool.
    AfterCall,
    /// The same, where nobody but the environment answers.
    InAnswer,
}

#[derive(Debug, Deserialize)]
struct Observation {
    starts: Option<String>,
    ends: Option<String>,
    holds: Option<SearchedText>,
    within: Option<SearchedText>,
    /// Its last mark: behind it a person speaks.
    closes: Option<String>,
    /// Behind it a person speaks only if they ask for something.
    #[serde(default)]
    asks: bool,
    /// The end of its label, where that is no colon behind `starts`.
    label_ends: Option<String>,
    /// It shows the state of a page, which is no more once somebody has done something with it.
    #[serde(default)]
    page: bool,
    place: TurnPlace,
    /// The marks around the command that a person ran, before what it printed.
    command: Option<[String; 2]>,
    #[cfg(test)]
    example: String,
    #[cfg(test)]
    counterexample: String,
    #[cfg(test)]
    ran: Option<String>,
}

/// The marks around a person's words in an environment's output.
#[derive(Debug, Deserialize)]
struct Spoken {
    opens: String,
    closes: String,
    #[cfg(test)]
    example: String,
    #[cfg(test)]
    says: String,
}

#[derive(Debug, Deserialize)]
struct SummaryStart {
    starts: String,
    #[cfg(test)]
    example: String,
    #[cfg(test)]
    counterexample: String,
}

/// A text that a program appends to every turn of a person's role.
#[derive(Debug, Deserialize)]
struct Appended {
    opens: String,
    ends: Option<String>,
    #[cfg(test)]
    example: String,
    #[cfg(test)]
    counterexample: String,
}

#[derive(Debug, Default, Deserialize)]
struct Tables {
    #[serde(default)]
    observation: Vec<Observation>,
    #[serde(default)]
    appended: Vec<Appended>,
    #[serde(default)]
    spoken: Vec<Spoken>,
    #[serde(default)]
    frame: Vec<Frame>,
    #[serde(default)]
    elements: TurnElements,
    #[serde(default)]
    results: ResultElements,
    #[serde(default)]
    functions: Vec<FunctionList>,
    #[serde(default)]
    summary: Vec<SummaryStart>,
}

static OBSERVATIONS: LazyLock<Tables> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/observations.toml")).unwrap_or_default());

static SUMMARIES: LazyLock<Tables> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/summaries.toml")).unwrap_or_default());

impl Observation {
    /// Its byte offset in a trimmed text.
    fn begins(&self, text: &str) -> Option<usize> {
        let is_there = |pattern: &Option<String>, holds: fn(&str, &str) -> bool| {
            pattern.as_deref().is_none_or(|pattern| holds(text, pattern))
        };
        let fits = is_there(&self.starts, |text, start| {
            text.starts_with(start) || numbered(text, start).is_some()
        }) && is_there(&self.ends, |text, end| text.ends_with(end))
            && self
                .holds
                .as_ref()
                .is_none_or(|held| held.0.find(text.as_bytes()).is_some());
        match &self.within {
            _ if !fits => None,
            None => Some(0),
            Some(mark) => {
                let mut found = mark.0.find_iter(text.as_bytes());
                found.find(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))
            }
        }
    }
}

/// The byte offset at which an environment's output begins in a text of a person's role at `place`; `None` if all of it is a person's.
pub(crate) fn observed_from(text: &str, place: TurnPlace, openings: Openings) -> Option<usize> {
    let is_learned = place > TurnPlace::Anywhere && openings.begins(text);
    if place == TurnPlace::InAnswer || is_learned {
        return Some(0);
    }
    let trimmed = text.trim();
    let blanks = text.len() - text.trim_start().len();
    let rows = OBSERVATIONS.observation.iter();
    let found = rows
        .filter(|row| row.place <= place)
        .filter_map(|row| row.begins(trimmed));
    found.min().map(|at| if at == 0 { 0 } else { at + blanks })
}

/// Returns true if a text shows the state of a page.
pub(crate) fn shows_page(text: &str) -> bool {
    let mut pages = OBSERVATIONS.observation.iter().filter(|row| row.page);
    pages.any(|row| row.begins(text.trim()).is_some())
}

/// The command that a person ran and what it printed, in an observation at `place` that tells both of one command.
pub(crate) fn command_in(text: &str, place: TurnPlace) -> Option<(&str, &str)> {
    let rows = OBSERVATIONS.observation.iter().filter(|row| row.place <= place);
    rows.filter_map(|row| Some((row.starts.as_deref()?, row.command.as_ref()?)))
        .find_map(|(starts, [opens, ends])| {
            let rest = text.trim().strip_prefix(starts)?.strip_prefix(opens.as_str())?;
            let (command, printed) = rest.split_once(ends.as_str())?;
            let is_one = !command.trim().is_empty()
                && !command.contains("\n\n")
                && [starts, opens.trim()]
                    .iter()
                    .all(|mark| mark.is_empty() || !printed.contains(mark));
            is_one.then(|| (command.trim(), printed.trim_start()))
        })
}

/// The text of an observation, behind a label such as `OBSERVATION:`, `Observation 3:` or `[read_file for 'a.py'] Result:`.
pub(crate) fn without_label(text: &str, openings: Openings) -> &str {
    let framed = OBSERVATIONS.observation.iter().find_map(|row| {
        let (first, _) = text
            .trim_start()
            .strip_prefix(row.starts.as_deref()?)?
            .split_once('\n')?;
        let ends = row.label_ends.as_deref()?;
        let (_, rest) = text
            .split_once(ends)
            .filter(|_| ends == "\n" || first.contains(ends))?;
        Some(rest.trim_start())
    });
    let wrapped = OBSERVATIONS.observation.iter().find_map(|row| {
        let (starts, closes) = (row.starts.as_deref()?, row.closes.as_deref()?);
        let inner = text.trim().strip_prefix(starts)?;
        let inner = match starts.chars().next()? {
            '<' => inner.strip_suffix(closes)?,
            // Behind a fence a person may speak.
            _ => inner.rsplit_once(closes).filter(|_| closes == "```")?.0,
        };
        Some(inner.trim_matches('\n'))
    });
    if let Some(rest) = framed.or(wrapped) {
        return rest;
    }
    let mut labels = OBSERVATIONS
        .observation
        .iter()
        .filter_map(|row| row.starts.as_deref().filter(|starts| starts.ends_with(':')));
    let rest = |label| numbered(text.trim_start(), label).map(str::trim_start);
    match labels.find_map(rest) {
        Some(rest) => rest,
        None if openings.begins(text) => without_opening(text),
        None => text,
    }
}

/// The text behind a label that ends with a colon, with or without a number before it: `Observation 3:`.
fn numbered<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(label.strip_suffix(':')?)?;
    rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ' ')
        .strip_prefix(':')
}

/// The words of a person in an environment's output: a refusal with a reason, an answer to a question, a field of its state, or words
/// behind its end.
pub(crate) fn spoken_in(text: &str) -> Option<&str> {
    let rows = || OBSERVATIONS.observation.iter();
    let is_observed = |said: &str| rows().any(|row| row.begins(said) == Some(0));
    let mut closed = rows().filter_map(|row| {
        let text = text.trim_start();
        let is_its = row
            .starts
            .as_deref()
            .is_none_or(|starts| text.starts_with(starts));
        let text = Some(text).filter(|text| is_its && row.begins(text).is_some())?;
        let (_, behind) = text.rsplit_once(row.closes.as_deref()?)?;
        let said = behind.trim();
        let speaks = || {
            !row.asks
                || asks_for_something(said)
                    && !rows().any(|row| row.begins(text) == Some(0) && row.closes.is_none())
        };
        (!said.is_empty() && !is_observed(said) && speaks()).then_some(said)
    });
    if let Some(said) = closed.next() {
        return Some(said);
    }
    OBSERVATIONS.spoken.iter().find_map(|row| {
        let (_, rest) = text.split_once(row.opens.as_str())?;
        let said = rest.split_once(row.closes.as_str())?.0.trim();
        (!said.is_empty()).then_some(said)
    })
}

/// If a text has a word of requests or demands.
fn asks_for_something(text: &str) -> bool {
    let kinds = Kinds::of(text);
    kinds.has(PhraseKind::Demand) || kinds.has(PhraseKind::Request)
}

/// A text without what its program appends to every turn.
pub(crate) fn without_appended(text: &str) -> &str {
    let is_there = |ends: &Option<String>| ends.as_deref().is_none_or(|ends| text.trim_end().ends_with(ends));
    let rows = OBSERVATIONS.appended.iter().filter(|row| is_there(&row.ends));
    // Behind a blank line a person goes on.
    let is_last = |at: &usize| {
        text.get(*at..)
            .is_some_and(|rest| !rest.trim_end().contains("\n\n"))
    };
    let at = |row: &Appended| {
        let at = text.rfind(row.opens.as_str())?;
        (row.ends.is_some() || is_last(&at)).then_some(at)
    };
    let first = rows.filter_map(at).min();
    first.and_then(|at| text.get(..at)).map_or(text, str::trim_end)
}

/// A text without what its program puts around a person's words; `None` if it puts nothing there.
pub(crate) fn own_words(text: &str) -> Option<String> {
    let framed = frames::taken_out(text, &OBSERVATIONS.frame, &OBSERVATIONS.functions);
    let said = OBSERVATIONS.elements.own_words(framed.as_deref().unwrap_or(text));
    said.or(framed)
}

/// The part of a text that a person wrote: without an environment's output, another program's summary, and what a program puts around
/// a task.
pub(crate) fn request_in(text: &str, place: TurnPlace, openings: Openings) -> Cow<'_, str> {
    if is_summary(text) {
        return "".into();
    }
    let own = own_words(text).map_or(Cow::Borrowed(text), Cow::Owned);
    match observed_from(&own, place, openings) {
        Some(0) => spoken_in(text).unwrap_or_default().to_owned().into(),
        Some(at) => part_of(own, |text| text.get(..at).unwrap_or_default().trim_end()),
        None => part_of(own, without_appended),
    }
}

/// The results of several calls in one text.
pub(crate) fn results_in(text: &str) -> Option<Vec<String>> {
    OBSERVATIONS.results.read(text)
}

/// If a text is a summary that another program put in the conversation.
pub(crate) fn is_summary(text: &str) -> bool {
    summary_in(text).is_some()
}

/// The words of a summary that another program put in the conversation, without the line that only tells that it is one.
pub fn summary_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let mut rows = SUMMARIES.summary.iter();
    let row = rows.find(|row| text.starts_with(row.starts.as_str()))?;
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_labelled = row.starts.ends_with(':') && first.len() > row.starts.len();
    Some(if is_labelled || rest.is_empty() {
        text
    } else {
        rest.trim()
    })
}
