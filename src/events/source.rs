//! The region as the summary reads it: redacted, with prose, calls and answers told apart in every format.

use super::observation::openings::Openings;
use super::observation::screen::split_by_commands;
use super::observation::{
    TurnPlace, command_in, is_summary, observed_from, own_words, results_in, spoken_in, without_appended,
    without_label,
};
use super::source_call::{
    AnswerFlags, CallArguments, SourceCall, is_unread, part_of, with_unread, without_thought_marks,
};
use super::written::forms::Forms;
use super::written::row::AnswerBy;
use super::written::written;
use crate::trajectory::{Role, TurnView};
use std::borrow::Cow;

/// A turn of the region.
pub(crate) struct SourceTurn<'a> {
    /// The role; a human turn that only holds an environment's output counts as a tool's, and another program's summary as none.
    pub role: Role,
    /// The text without its calls.
    pub prose: Cow<'a, str>,
    /// The tool calls.
    pub calls: Vec<SourceCall<'a>>,
    /// The answers of tools, each with the id of its call.
    pub answers: Vec<(Option<&'a str>, Cow<'a, str>)>,
    /// The tools that brought them back, one for each of them that says so at all.
    pub tools: Vec<Option<&'a str>>,
    /// The flags that stand beside the text of each answer.
    pub flags: Vec<AnswerFlags>,
    /// The turn has a person's role and an environment's output.
    pub is_observed: bool,
    /// The one that answers its calls.
    pub answer: AnswerBy,
    /// Turns before it are left out: a summary took their place, say.
    pub is_behind_gap: bool,
}

/// Facts about turns by others of their record.
#[derive(Clone, Copy, Default)]
pub struct Context<'v> {
    /// The turn before them.
    pub before: Option<&'v TurnView<'v>>,
    /// The forms of calls that are written as text.
    pub(crate) forms: Forms,
}

impl Context<'_> {
    /// The facts that the turns of a whole record tell of each other.
    pub fn of(turns: &[TurnView<'_>]) -> Self {
        Self {
            before: None,
            forms: Forms::of(turns),
        }
    }
}

/// The turns as they are read, each text after `clean` (which replaces secrets, say).
pub(crate) fn source_turns<'a>(
    context: Context<'_>,
    turns: &'a [TurnView<'a>],
    mut clean: impl FnMut(&'a str) -> Cow<'a, str>,
) -> Vec<SourceTurn<'a>> {
    let mut sources: Vec<SourceTurn<'a>> = Vec::with_capacity(turns.len());
    let mut place = place_after(context);
    let mut last = None;
    for turn in turns {
        let is_behind_gap = last.is_some_and(|last| turn.index > last + 1);
        if is_behind_gap {
            place = TurnPlace::AfterCall;
        }
        let text = clean(&turn.text);
        let calls: Vec<SourceCall<'a>> = turn
            .calls
            .iter()
            .map(|call| SourceCall {
                id: call.id.as_deref(),
                name: clean(&call.name),
                arguments: CallArguments::Json(clean(&call.arguments)),
            })
            .collect();
        let mut answers: Vec<(Option<&'a str>, Cow<'a, str>)> = turn
            .responses
            .iter()
            .map(|response| (response.id.as_deref(), clean(&response.content)))
            .collect();
        let mut source = SourceTurn {
            role: turn.role,
            prose: Cow::Borrowed(""),
            calls,
            answers: Vec::new(),
            tools: turn
                .responses
                .iter()
                .map(|response| response.name.as_deref())
                .collect(),
            flags: turn.responses.iter().map(AnswerFlags::from).collect(),
            is_observed: false,
            answer: AnswerBy::Tool,
            is_behind_gap,
        };
        last = Some(turn.index);
        match turn.role {
            Role::Tool if answers.is_empty() => answers.push((None, text)),
            Role::Human if is_summary(&text) => {
                source.role = Role::Other;
                source.prose = text;
            }
            Role::Human => {
                let asking = sources.last().filter(|_| !is_behind_gap);
                let shown = source.hear(text, place, context.forms.openings, asking);
                answers = shown.unwrap_or(answers);
            }
            Role::System => source.prose = own_words(&text).map_or(text, Cow::Owned),
            Role::Assistant
                if turn
                    .calls
                    .iter()
                    .all(|call| is_unread(&call.name, &call.arguments)) =>
            {
                let unread = source.calls.drain(..).map(|call| call.arguments.into_text());
                let text = with_unread(text, unread);
                source.write(text, context.forms);
            }
            _ => source.prose = text,
        }
        source.answers = answers;
        if source.role == Role::Assistant {
            source.prose = without_thought_marks(std::mem::take(&mut source.prose));
        }
        place = source.place_behind();
        sources.push(source);
    }
    sources
}

impl<'a> SourceTurn<'a> {
    /// Reads the text of an assistant's turn, and the calls in it.
    fn write(&mut self, text: Cow<'a, str>, forms: Forms) {
        let read = written(text, forms);
        (self.prose, self.calls, self.answer) = (read.prose, read.calls, read.answer);
    }

    /// Reads the text of a person's turn: their words, and the answers that it shows, to the calls of the turn before it or to a command
    /// that the person ran.
    fn hear(
        &mut self,
        text: Cow<'a, str>,
        place: TurnPlace,
        openings: Openings,
        asking: Option<&SourceTurn<'_>>,
    ) -> Option<Vec<(Option<&'a str>, Cow<'a, str>)>> {
        if let Some((command, printed)) = command_in(&text, place) {
            let fields = vec![("command".to_owned(), command.to_owned())];
            self.calls.push(SourceCall::tagged("", fields));
            (self.role, self.is_observed) = (Role::Tool, true);
            return Some(vec![(None, Cow::Owned(printed.to_owned()))]);
        }
        let own = own_words(&text);
        match observed_from(own.as_deref().unwrap_or(&text), place, openings) {
            Some(0) => return Some(self.observe(text, openings, asking)),
            Some(at) => {
                let own = own.map_or(text, Cow::Owned);
                self.prose = part_of(own, |text| text.get(..at).unwrap_or_default());
            }
            None => self.prose = part_of(own.map_or(text, Cow::Owned), without_appended),
        }
        None
    }

    /// Reads the text of an environment's output in a person's turn.
    fn observe(
        &mut self,
        text: Cow<'a, str>,
        openings: Openings,
        asking: Option<&SourceTurn<'_>>,
    ) -> Vec<(Option<&'a str>, Cow<'a, str>)> {
        self.is_observed = true;
        // Words of a person in it stay theirs.
        let said = spoken_in(&text).unwrap_or_default().to_owned();
        let text = if said.is_empty() {
            self.role = Role::Tool;
            text
        } else {
            Cow::Owned(text.replacen(&said, "", 1))
        };
        self.prose = Cow::Owned(said);
        let results = results_in(without_appended(&text));
        let shown = part_of(text, |text| without_label(without_appended(text), openings));
        match results.or_else(|| asking?.shown_by_call(&shown)) {
            Some(parts) => parts.into_iter().map(|part| (None, part.into())).collect(),
            None => vec![(None, shown)],
        }
    }

    /// If calls in it were made: by an assistant, or by a person who shows what a command printed.
    pub fn makes_calls(&self) -> bool {
        self.role == Role::Assistant || self.is_observed && !self.calls.is_empty()
    }

    /// The parts of a terminal's screen that show its calls, if those are several commands that were typed there.
    fn shown_by_call(&self, screen: &str) -> Option<Vec<String>> {
        let typed = self
            .calls
            .iter()
            .map(|call| call.arguments.texts().first().copied());
        let typed: Option<Vec<&str>> = typed.collect();
        let parts = split_by_commands(screen, &typed.filter(|typed| typed.len() > 1)?)?;
        Some(parts.into_iter().map(str::to_owned).collect())
    }

    /// The place of the turn behind it.
    fn place_behind(&self) -> TurnPlace {
        match (self.role, self.calls.is_empty(), self.answer) {
            (Role::Assistant, true, _) => TurnPlace::AfterAssistant,
            (Role::Assistant, false, AnswerBy::NextTurn) => TurnPlace::InAnswer,
            (Role::Assistant, false, _) => TurnPlace::AfterCall,
            _ => TurnPlace::Anywhere,
        }
    }
}

/// The place of a turn by the turn before it.
pub(crate) fn place_after(context: Context<'_>) -> TurnPlace {
    let Some(before) = context.before else {
        return TurnPlace::Anywhere;
    };
    if before.role != Role::Assistant {
        // Turns that a summary replaced end with a call more often than not.
        let is_behind_summary = before.text.lines().any(is_summary);
        return if is_behind_summary {
            TurnPlace::AfterCall
        } else {
            TurnPlace::Anywhere
        };
    }
    let alone = Context {
        before: None,
        ..context
    };
    let sources = source_turns(alone, std::slice::from_ref(before), Into::into);
    sources
        .first()
        .map_or(TurnPlace::Anywhere, SourceTurn::place_behind)
}

/// If a turn of a person's role is the environment's answer to a call in the turn before it: `said` is its text without summaries.
pub(crate) fn answers_call(context: Context<'_>, said: &str) -> bool {
    let place = place_after(context);
    let own = own_words(said);
    place >= TurnPlace::AfterCall
        && observed_from(own.as_deref().unwrap_or(said), place, context.forms.openings) == Some(0)
}

#[cfg(test)]
mod tests;
