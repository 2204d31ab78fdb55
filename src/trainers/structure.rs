//! The judge of a record before rendering: its form, roles, order and contents.

use std::collections::BTreeMap;

use super::action::{Action, Class};
use super::arrow_kinds;
use super::content::judge_turn;
use super::findings::{Finding, FindingKind, TrainingOutcome, whole};
use super::form::{FormRules, ToolsTreatment};
use super::judged::{Judged, outcome};
use super::order::{misplaced, ordered};
use super::rules::{DatasetReader, Thinking, Trainer};
use super::shape::Shape;
use super::turn::{Content, TrainerTurn, kinds_of_parts, trimmed};
use super::verdict::Verdict;
use crate::trajectory::{Format, Record, Turn, json};

/// The judgement on a record before rendering.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// The rules of its form; `None` if the trainer does not read the form.
    pub form: Option<&'static FormRules>,
    /// Its turns; empty if one could not be read.
    pub turns: Vec<Judged<'a>>,
    /// The verdict with the findings.
    pub verdict: Verdict,
}

/// Judges a record by the rules of a trainer.
pub fn judge<'a>(record: &Record<'a>, trainer: &'static Trainer) -> Judgement<'a> {
    let mut verdict = Verdict::default();
    let Some(rules) = trainer.form(record.format.name()) else {
        let outcome = outcome(trainer.missing_form, None).unwrap_or(TrainingOutcome::Empty);
        verdict.add(whole(FindingKind::WrongForm, outcome, record.format.name()));
        return Judgement {
            form: None,
            turns: Vec::new(),
            verdict,
        };
    };
    let turns = judge_turns(record, trainer, rules, &mut verdict);
    if turns.len() == record.turns.len() {
        judge_order(&turns, rules, &mut verdict);
        judge_names(record, &turns, rules, &mut verdict);
        judge_thinking(record, &turns, trainer, &mut verdict);
        if !turns.iter().any(|turn| turn.is_learnt) {
            let outcome = outcome(trainer.trained.none, None).unwrap_or(TrainingOutcome::Empty);
            let unknown = verdict
                .findings
                .iter()
                .find(|found| found.kind == FindingKind::UnknownRole);
            let why = unknown.map_or_else(String::new, |found| {
                format!("the role {} is not known", found.detail)
            });
            verdict.add(whole(FindingKind::NothingLearnt, outcome, &why));
        }
    }
    if matches!(trainer.reader, DatasetReader::Arrow | DatasetReader::Parquet)
        && let Some((turn, place)) = arrow_kinds::mixed(record)
    {
        let finding = whole(FindingKind::MixedKinds, TrainingOutcome::Refuse, &place);
        verdict.add(Finding {
            turn: Some(turn + 1),
            ..finding
        });
    }
    if trainer.reader == DatasetReader::Parquet
        && let Some(turn) = arrow_kinds::uneven(record)
    {
        let finding = whole(FindingKind::UnevenFields, TrainingOutcome::Refuse, "");
        verdict.add(Finding {
            turn: Some(turn + 1),
            ..finding
        });
    }
    judge_frame(record, rules, &mut verdict);
    if trainer.reader != DatasetReader::Json || !rules.one_name.is_empty() {
        verdict.shape = Shape::of(record.text, names(record, &turns, rules));
    }
    Judgement {
        form: Some(rules),
        turns,
        verdict,
    }
}

/// The turns before the first that cannot be read.
fn judge_turns<'a>(
    record: &Record<'a>,
    trainer: &Trainer,
    rules: &FormRules,
    verdict: &mut Verdict,
) -> Vec<Judged<'a>> {
    let keys = keys(record.format);
    let mut turns = Vec::with_capacity(record.turns.len());
    for (index, turn) in record.turns.iter().enumerate() {
        let mut judged = Judged {
            index,
            class: None,
            content: Content::Null,
            is_learnt: false,
        };
        let Some(fields) = TrainerTurn::of(turn) else {
            verdict.add(judged.finding(FindingKind::UnreadableTurn, TrainingOutcome::Refuse, ""));
            return turns;
        };
        let Some(role) = fields.get(keys.0).filter(|role| role.starts_with('"')) else {
            let outcome = outcome(trainer.missing_form, None).unwrap_or(TrainingOutcome::Refuse);
            verdict.add(judged.finding(FindingKind::WrongKeys, outcome, turn.keys().0));
            return turns;
        };
        let role = json::decode(role).0;
        judged.class = rules.class(&role);
        judged.content = fields.content(keys.1);
        let mark = trainer.compress.mark.as_ref();
        let is_masked = mark.is_some_and(|mark| fields.get(&mark.field) == Some("false"));
        judged.is_learnt = judged.is_answer() && !is_masked;
        if judged.class.is_none() {
            let outcome = outcome(rules.unknown_role, None).unwrap_or(TrainingOutcome::Refuse);
            verdict.add(judged.finding(FindingKind::UnknownRole, outcome, &role));
        }
        judge_turn(&judged, &fields, rules, verdict);
        turns.push(judged);
    }
    turns
}

/// The field names of a turn's role and text in a format.
pub fn keys(format: Format) -> (&'static str, &'static str) {
    match format {
        Format::ShareGpt => ("from", "value"),
        Format::Messages => ("role", "content"),
    }
}

fn judge_order(turns: &[Judged<'_>], rules: &FormRules, verdict: &mut Verdict) {
    if turns.len() < rules.least_turns {
        let outcome = outcome(rules.too_few, None).unwrap_or(TrainingOutcome::Drop);
        verdict.add(whole(FindingKind::TooFewTurns, outcome, ""));
    }
    // An unknown role is a separate finding.
    if turns.iter().any(|turn| turn.class.is_none()) {
        if let Some(last) = turns
            .last()
            .filter(|turn| turn.class.is_none() && !rules.last.is_empty())
        {
            let outcome = outcome(rules.wrong_order, None).unwrap_or(TrainingOutcome::Drop);
            verdict.add(last.finding(
                FindingKind::WrongOrder,
                outcome,
                "the last turn is not the assistant's",
            ));
        }
        return;
    }
    let classes: Vec<(usize, Class)> = turns.iter().flat_map(|turn| classes(turn, rules)).collect();
    let (order, cut) = ordered(&classes, rules);
    if cut > 0 {
        let finding = whole(FindingKind::LastToolsCut, TrainingOutcome::Lose, "");
        verdict.add(Finding {
            turn: Some(turns.len() - cut + 1),
            ..finding
        });
    }
    if let Some(misplaced) = misplaced(&order, rules) {
        let outcome = outcome(rules.wrong_order, None).unwrap_or(TrainingOutcome::Drop);
        let finding = whole(FindingKind::WrongOrder, outcome, misplaced.why);
        verdict.add(Finding {
            turn: misplaced.turn.map(|turn| turn + 1),
            ..finding
        });
    }
}

/// The classes of a turn for the order; for a turn with results among its parts, the classes of its parts.
fn classes(turn: &Judged<'_>, rules: &FormRules) -> Vec<(usize, Class)> {
    let Some(class) = turn.class else {
        return Vec::new();
    };
    let parts = match turn.content {
        Content::Parts(list) if class == Class::User && rules.content.splits_parts => kinds_of_parts(list),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        return vec![(turn.index, class)];
    }
    let class_of = |kind: &String| if kind == "tool_result" { Class::Tool } else { class };
    let mut classes: Vec<Class> = parts.iter().map(class_of).collect();
    classes.dedup();
    classes.into_iter().map(|class| (turn.index, class)).collect()
}

/// Adds a finding if a role has two names, and the configuration allows one.
fn judge_names(record: &Record<'_>, turns: &[Judged<'_>], rules: &FormRules, verdict: &mut Verdict) {
    let mut names: BTreeMap<u8, &str> = BTreeMap::new();
    for turn in turns {
        let Some(class) = turn.class.filter(|class| rules.one_name.contains(class)) else {
            continue;
        };
        let name = record.turns.get(turn.index).and_then(Turn::role_name);
        let name = name.unwrap_or_default();
        if *names.entry(class as u8).or_insert(name) != name {
            let outcome = outcome(rules.unknown_role, None).unwrap_or(TrainingOutcome::Drop);
            verdict.add(turn.finding(FindingKind::TwoNames, outcome, name.trim_matches('"')));
        }
    }
}

/// The names used for roles that the configuration limits to one name.
fn names(
    record: &Record<'_>,
    turns: &[Judged<'_>],
    rules: &FormRules,
) -> Vec<(Class, String, TrainingOutcome)> {
    let outcome = outcome(rules.unknown_role, None).unwrap_or(TrainingOutcome::Drop);
    let mut names: Vec<(Class, String, TrainingOutcome)> = Vec::new();
    for turn in turns {
        let Some(class) = turn.class.filter(|class| rules.one_name.contains(class)) else {
            continue;
        };
        let name = record.turns.get(turn.index).and_then(Turn::role_name);
        let name = json::decode(name.unwrap_or_default()).0;
        if names.iter().all(|(known, ..)| *known != class) {
            names.push((class, name.into_owned(), outcome));
        }
    }
    names
}

/// Adds a finding for thinking that the trainer itself leaves out, whatever the template.
fn judge_thinking(record: &Record<'_>, turns: &[Judged<'_>], trainer: &Trainer, verdict: &mut Verdict) {
    if trainer.thinking.earlier != Thinking::Dropped {
        return;
    }
    let last = turns
        .iter()
        .rev()
        .find(|turn| turn.is_answer())
        .map(|turn| turn.index);
    let thinks = |turn: &&Judged<'_>| {
        let text = record.turns.get(turn.index);
        Some(turn.index) != last
            && turn.is_answer()
            && text.is_some_and(|turn| turn.text.contains("</think>"))
    };
    if let Some(turn) = turns.iter().find(thinks) {
        verdict.add(turn.finding(FindingKind::ThinkingDropped, TrainingOutcome::Lose, ""));
    }
}

/// Judges the record's tools and system text beside the turns.
fn judge_frame(record: &Record<'_>, rules: &FormRules, verdict: &mut Verdict) {
    let tools = record
        .tools
        .filter(|tools| !matches!(*tools, "[]" | "\"\"" | "\"[]\""));
    match (rules.tools, tools) {
        (ToolsTreatment::String, Some(tools)) if !tools.starts_with('"') => {
            verdict.add(whole(FindingKind::ToolsForm, TrainingOutcome::Refuse, ""));
        }
        (ToolsTreatment::Ignore, Some(_)) => {
            verdict.add(whole(FindingKind::ToolsLost, TrainingOutcome::Lose, ""));
        }
        _ => {}
    }
    let is_said = record.system.is_some_and(|system| !trimmed(system).is_empty());
    if is_said && rules.system_text == Action::Ignore {
        verdict.add(whole(FindingKind::SystemLost, TrainingOutcome::Lose, ""));
    }
}
