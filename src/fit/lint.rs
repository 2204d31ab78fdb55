//! Checks one record against a trainer: judged as it is, rendered as the trainer renders it, and measured.

use std::sync::Arc;

use memchr::memmem;
use serde_json::Value;

use super::count::TurnCounter;
use super::count::rendered::Rendered;
use crate::tokens::TokenCounter;
use crate::tokens::chat_template::ChatTemplate;
use crate::trainers::{
    self, Finding, FindingKind, FormRules, Judged, Judgement, Lengths, RenderedPieces, Renderer, Trainer,
    TrainingOutcome, Verdict, over_length, whole,
};
use crate::trajectory::{self, Format, ParseError, Record, Role, TemplateArguments, Turn, json};

/// Tokens that a trainer's own template may put around a turn, and around a chat (without the schema of tools).
const AROUND_TURN: u64 = 16;
const AROUND_CHAT: u64 = 256;

/// Number of bytes at the end of a turn's text that are searched for in a rendered chat.
const NEEDLE: usize = 48;

/// Checks records against a trainer.
pub struct Linter {
    /// The trainer's rules.
    pub trainer: &'static Trainer,
    /// The user's tokenizer.
    pub counter: Arc<dyn TokenCounter>,
    /// The chat template of the model to be trained, if it is known.
    pub template: Option<Arc<ChatTemplate>>,
    /// The tokens charged for an image.
    pub image_tokens: usize,
    /// The format that all records are in; `None` lets each record decide.
    pub format: Option<Format>,
    /// The trainer's limit in tokens; `None` for no limit.
    pub limit: Option<u64>,
}

impl Linter {
    /// Returns the trainer's verdict on one record, given as the bytes of one JSON object.
    pub fn lint(&self, bytes: &[u8]) -> Result<Verdict, ParseError> {
        let record = trajectory::parse(bytes, self.format)?;
        let Judgement {
            form,
            turns,
            mut verdict,
        } = trainers::judge(&record, self.trainer);
        let is_whole = turns.len() == record.turns.len() && !turns.is_empty();
        let Some(rules) = form.filter(|_| is_whole) else {
            return Ok(verdict);
        };
        let is_taken = verdict.outcome().harm() < TrainingOutcome::Drop.harm();
        let lengths = match (self.trainer.renderer, &self.template) {
            (Renderer::Own, Some(template)) => self.nearly_rendered(&record, &turns, template),
            (Renderer::ChatTemplate, Some(template)) if is_taken => {
                match self.rendered(&record, &turns, rules, template, &mut verdict) {
                    Ok(lengths) => Some(lengths),
                    Err(refusal) => {
                        verdict.add(whole(
                            FindingKind::TemplateRefuses,
                            TrainingOutcome::Refuse,
                            &refusal,
                        ));
                        return Ok(verdict);
                    }
                }
            }
            (Renderer::ChatTemplate, None) => {
                verdict.add(whole(FindingKind::NoTemplate, TrainingOutcome::Undecided, ""));
                None
            }
            _ => None,
        };
        let lengths = lengths.unwrap_or_else(|| self.estimated(&record));
        over_length(&mut verdict, &turns, &lengths, self.trainer, self.limit);
        Ok(verdict)
    }

    /// Returns the estimated length where nothing renders the record: its values, and what may surround them.
    fn estimated(&self, record: &Record<'_>) -> Lengths {
        let mut counter = TurnCounter::new(self.counter.as_ref(), self.image_tokens);
        let turns: Vec<u64> = record
            .turns
            .iter()
            .map(|turn| counter.turn(turn).tokens() as u64)
            .collect();
        let values: u64 = turns.iter().sum();
        let tools = counter.tools(record) as u64;
        let around = AROUND_CHAT + AROUND_TURN * turns.len() as u64;
        // Only thinking may be left out.
        let thinks = |turn: &&Turn<'_>| turn.reasoning().is_some() || turn.text.contains("</think>");
        let said = record.turns.iter().zip(&turns).filter(|(turn, _)| !thinks(turn));
        Lengths {
            least: said.map(|(_, tokens)| *tokens).sum(),
            most: values + counter.extra(record) as u64 + 2 * tools + around,
            turns,
        }
    }

    /// Returns the length where the trainer's own templates print nearly the same as the model's.
    fn nearly_rendered(
        &self,
        record: &Record<'_>,
        turns: &[Judged<'_>],
        template: &ChatTemplate,
    ) -> Option<Lengths> {
        let counter = self.counter.as_ref();
        let rendered = Rendered::of(
            record,
            template,
            TemplateArguments::AsWritten,
            counter,
            self.image_tokens,
        );
        let rendered = rendered.ok()?;
        // Text that the model's template omits is no finding about a trainer with other templates.
        let ends = located(record, turns, rendered.text(), &mut Verdict::default());
        let rendered = rendered.with_ends(ends);
        let tokens = rendered.tokens as u64;
        let slack = (tokens as f64 * self.trainer.length.slack).ceil() as u64 + AROUND_TURN;
        let turns = rendered.turn_tokens(counter);
        Some(Lengths {
            least: tokens.saturating_sub(slack),
            most: tokens + slack,
            turns: turns.into_iter().map(|tokens| tokens as u64).collect(),
        })
    }

    /// Returns the length as the chat template renders the trainer's messages; omitted text is added to the verdict.
    ///
    /// # Errors
    ///
    /// The template refuses the record, for the reason returned.
    fn rendered(
        &self,
        record: &Record<'_>,
        turns: &[Judged<'_>],
        rules: &FormRules,
        template: &ChatTemplate,
        verdict: &mut Verdict,
    ) -> Result<Lengths, String> {
        let messages = trainers::messages(record, turns, rules);
        let tools = record
            .tools
            .filter(|_| rules.tools != trainers::ToolsTreatment::Ignore);
        let tools = tools.map(trajectory::tool_list).transpose();
        let tools = tools.map_err(|error| error.to_string())?.flatten();
        let render = |messages: &str, with_tools: bool| {
            let tools = tools.as_deref().filter(|_| with_tools);
            template
                .render(messages, tools)
                .map_err(|refusal| refusal.to_string())
        };
        let text = render(&trainers::list(&messages), true)?;
        let fits = match self.trainer.pieces {
            RenderedPieces::None => true,
            RenderedPieces::EachAlone => trainers::same_alone(&messages, &text, render)?,
            RenderedPieces::Prefixes => trainers::fits_in_prefixes(&messages, &text, render)?,
        };
        if !fits {
            verdict.add(whole(
                FindingKind::RendersOtherwiseAlone,
                TrainingOutcome::Refuse,
                "",
            ));
        }
        let ends = located(record, turns, &text, verdict);
        let counter = self.counter.as_ref();
        let images: usize = record.turns.iter().map(Turn::images).sum();
        let tokens = counter.count(&text) + images * self.image_tokens;
        let turns = Rendered::with_text(text, tokens)
            .with_ends(ends)
            .turn_tokens(counter);
        Ok(Lengths {
            least: tokens as u64,
            most: tokens as u64,
            turns: turns.into_iter().map(|tokens| tokens as u64).collect(),
        })
    }
}

/// The texts of a turn that a template prints: its thinking, the rest of its text, the end of its last call.
struct PrintedTexts {
    thinking: String,
    rest: String,
    call: String,
}

impl PrintedTexts {
    fn of(turn: &Turn<'_>) -> Self {
        let text = turn.last_text().unwrap_or_default();
        let thought = matches!(turn.role, Role::Assistant)
            .then(|| text.rsplit_once("</think>"))
            .flatten();
        let (thinking, rest) = match thought {
            Some((thinking, rest)) => (
                thinking.trim().trim_start_matches("<think>").trim().to_owned(),
                rest,
            ),
            None => (
                turn.reasoning().map(trainers::trimmed).unwrap_or_default(),
                &*text,
            ),
        };
        let calls = turn
            .tool_calls()
            .and_then(|calls| serde_json::from_str(calls).ok());
        Self {
            thinking,
            rest: rest.trim().to_owned(),
            call: calls.and_then(|calls| last_leaf(&calls)).unwrap_or_default(),
        }
    }
}

/// Returns the last string or number of the last call's arguments; without one, the call's name.
fn last_leaf(calls: &Value) -> Option<String> {
    let last = calls.as_array().and_then(|calls| calls.last())?;
    let call = last.get("function").unwrap_or(last);
    let arguments = call.get("arguments")?;
    let parsed = arguments
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    leaf(parsed.as_ref().unwrap_or(arguments)).or_else(|| leaf(call.get("name")?))
}

fn leaf(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => items.iter().rev().find_map(leaf),
        Value::Object(fields) => fields.values().rev().find_map(leaf),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Returns the end of each turn in the rendered chat, as far as its texts are found, and reports those that are not.
fn located(record: &Record<'_>, turns: &[Judged<'_>], rendered: &str, verdict: &mut Verdict) -> Vec<usize> {
    let (mut at, mut ends) = (0, Vec::with_capacity(turns.len()));
    let (mut learnt, mut printed) = (0, 0);
    for (turn, judged) in record.turns.iter().zip(turns) {
        let said = PrintedTexts::of(turn);
        let mut found = |text: &str, kind: Option<FindingKind>, verdict: &mut Verdict| {
            if text.is_empty() {
                return false;
            }
            let end = find_end(rendered, at, text);
            at = end.unwrap_or(at);
            if let Some(kind) = kind.filter(|_| end.is_none()) {
                verdict.add(Finding {
                    turn: Some(judged.index + 1),
                    ..whole(kind, TrainingOutcome::Lose, "")
                });
            }
            end.is_some()
        };
        let mut is_printed = found(&said.thinking, Some(FindingKind::ThinkingDropped), verdict);
        is_printed |= found(&said.rest, Some(FindingKind::TextLost), verdict);
        is_printed |= found(&said.call, None, verdict);
        learnt += usize::from(judged.is_learnt);
        printed += usize::from(judged.is_learnt && is_printed);
        ends.push(at);
    }
    if let Some(last) = ends.last_mut() {
        *last = rendered.len();
    }
    if learnt > 0 && printed == 0 {
        verdict.add(whole(
            FindingKind::NothingLearnt,
            TrainingOutcome::Empty,
            "the template prints no answer",
        ));
    }
    ends
}

/// Returns the end in the rendered chat, after `at`, of a text's last words, as they are or as JSON spells them.
fn find_end(rendered: &str, at: usize, text: &str) -> Option<usize> {
    let mut cut = text.len().saturating_sub(NEEDLE);
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    let words = text.get(cut..)?;
    let window = rendered.as_bytes().get(at..)?;
    let found = |words: &str| Some(at + memmem::find(window, words.as_bytes())? + words.len());
    found(words).or_else(|| {
        let mut spelled = String::new();
        json::escape_into(words, &mut spelled);
        found(&spelled)
    })
}
