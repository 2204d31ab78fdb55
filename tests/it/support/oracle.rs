//! The contracts, written down a second time without the program's own parser: what a trajectory costs, and whether a
//! compressed one is sound. Works on `serde_json` trees and raw values.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trajfit::internals::metrics::Row;
use trajfit::internals::tokens::TokenCounter;

const IMAGE_TOKENS: usize = 1500;

/// JSON text as written.
type Json = Box<RawValue>;
type Object = HashMap<String, Json>;

/// What a record's trajectory costs, by the rules of the counting section.
pub fn cost(record: &Json, counter: &dyn TokenCounter) -> usize {
    let record = object(record).expect("records are objects");
    let turns = record.get("conversations").or_else(|| record.get("messages"));
    let turns = turns.and_then(|turns| list(turns)).unwrap_or_default();
    let system = record
        .get("system")
        .filter(|system| system.get().starts_with('"'));
    let turns: usize = turns.iter().map(|turn| turn_cost(turn, counter)).sum();
    value_cost(system, counter) + turns
}

fn object(value: &RawValue) -> Option<Object> {
    serde_json::from_str(value.get()).ok()
}

fn list(value: &RawValue) -> Option<Vec<Box<RawValue>>> {
    serde_json::from_str(value.get()).ok()
}

fn turn_cost(turn: &RawValue, counter: &dyn TokenCounter) -> usize {
    let turn = object(turn).expect("generated turns are objects");
    let content = turn.get("value").or_else(|| turn.get("content"));
    let calls = turn
        .get("tool_calls")
        .and_then(|calls| list(calls))
        .unwrap_or_default();
    let functions = calls
        .iter()
        .map(|call| object(call).unwrap().remove("function").unwrap());
    let calls: usize = functions
        .chain(turn.get("function_call").cloned())
        .map(|call| call_cost(&call, counter))
        .sum();
    content_cost(content, counter) + value_cost(turn.get("reasoning_content"), counter) + calls
}

fn call_cost(call: &RawValue, counter: &dyn TokenCounter) -> usize {
    let call = object(call).unwrap_or_default();
    let arguments = call.get("arguments").or_else(|| call.get("input"));
    value_cost(call.get("name"), counter) + value_cost(arguments, counter)
}

fn content_cost(content: Option<&Json>, counter: &dyn TokenCounter) -> usize {
    match content.and_then(|content| list(content)) {
        Some(parts) if !parts.is_empty() && parts.iter().all(|part| object(part).is_some()) => {
            parts.iter().map(|part| part_cost(part, counter)).sum()
        }
        _ => value_cost(content, counter),
    }
}

fn part_cost(part: &Json, counter: &dyn TokenCounter) -> usize {
    let fields = object(part).unwrap_or_default();
    match fields.get("type").map(|kind| kind.get()) {
        Some("\"text\"") => value_cost(fields.get("text"), counter),
        Some("\"thinking\"") => value_cost(fields.get("thinking"), counter),
        Some("\"tool_use\"" | "\"toolCall\"") => call_cost(part, counter),
        Some("\"tool_result\"") => content_cost(fields.get("content"), counter),
        Some("\"image_url\"" | "\"image\"") => IMAGE_TOKENS,
        _ => value_cost(Some(part), counter),
    }
}

fn value_cost(value: Option<&Json>, counter: &dyn TokenCounter) -> usize {
    match value.map(|value| value.get()) {
        None | Some("null") => 0,
        Some(text) if text.starts_with('"') => counter.count(&serde_json::from_str::<String>(text).unwrap()),
        Some(other) => counter.count(other),
    }
}

/// The raw turns of a record, and everything else in it.
pub fn parts(text: &str) -> (Vec<String>, Map<String, Value>) {
    let object: HashMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
    let key = if object.contains_key("conversations") {
        "conversations"
    } else {
        "messages"
    };
    let turns: Vec<Box<RawValue>> = serde_json::from_str(object[key].get()).unwrap();
    let rest = object.iter().filter(|(name, _)| *name != key);
    let rest = rest
        .map(|(name, value)| (name.clone(), Value::String(value.get().to_owned())))
        .collect();
    (turns.iter().map(|turn| turn.get().to_owned()).collect(), rest)
}

/// The ids that a turn calls with, and those that it answers.
fn ids(turn: &str) -> (Vec<String>, Vec<String>) {
    let turn: Value = serde_json::from_str(turn).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let calls = turn["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|call| text(&call["id"]))
        .collect();
    let mut answers: Vec<String> = text(&turn["tool_call_id"]).into_iter().collect();
    if let Some(value) = turn["value"].as_str().filter(|_| turn["from"] == "tool") {
        let ids = value
            .split("\"tool_call_id\": \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        answers.extend(ids.map(str::to_owned));
    }
    (calls, answers)
}

fn role(turn: &str) -> String {
    let turn: Value = serde_json::from_str(turn).unwrap();
    turn.get("from")
        .or_else(|| turn.get("role"))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn text_of(turn: &str) -> String {
    let turn: Value = serde_json::from_str(turn).unwrap();
    let content = turn
        .get("value")
        .or_else(|| turn.get("content"))
        .cloned()
        .unwrap_or_default();
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// The words of a turn, or the text of the last result in a turn that is nothing but results.
fn told_in(turn: &str) -> String {
    let said = text_of(turn);
    if !said.is_empty() {
        return said;
    }
    let turn: Value = serde_json::from_str(turn).unwrap();
    let results = turn["content"].as_array().cloned().unwrap_or_default();
    let last = results.iter().rfind(|part| part["type"] == "tool_result");
    match last.map(|last| &last["content"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .rev()
            .find_map(|part| part["text"].as_str())
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}

/// A text without the summaries in it: the one that it begins with, and those that were appended to it.
fn beside_summaries(text: &str) -> String {
    const END: &str = "[END OF CONTEXT SUMMARY]";
    let message = |text: &str| match text.trim().strip_prefix("[USER MESSAGE") {
        Some(rest) => rest.split_once("]:").unwrap().1.trim().to_owned(),
        None => text.trim().to_owned(),
    };
    let mut said = text.to_owned();
    if said.trim_start().starts_with("[CONTEXT SUMMARY]:") {
        said = said
            .split_once(END)
            .map_or(String::new(), |(_, said)| message(said));
    }
    while let Some((before, after)) = said
        .split_once("\n\n[CONTEXT SUMMARY]:\n")
        .and_then(|(before, after)| Some((before, after.split_once(END)?.1)))
    {
        said = format!("{}\n\n{}", before.trim(), message(after));
    }
    said.trim().to_owned()
}

/// What a person says in a human turn: what stands in it beside summaries.
fn said_by_human(text: &str) -> Option<String> {
    if !text.contains("[CONTEXT SUMMARY]:") {
        return Some(text.to_owned());
    }
    Some(beside_summaries(text)).filter(|said| !said.is_empty())
}

/// If a turn as written is the one that it was, with a summary in front of what it says.
fn is_behind_summary(old: &str, new: &str) -> bool {
    let (old_text, new_text) = (text_of(old), text_of(new));
    let Some(summary) = new_text.strip_suffix(&format!("\n\n[END OF CONTEXT SUMMARY]\n\n{old_text}")) else {
        return false;
    };
    let written = serde_json::to_string(&format!("{summary}\n\n[END OF CONTEXT SUMMARY]\n\n")).unwrap();
    summary.starts_with("[CONTEXT SUMMARY]:") && new.replacen(written.trim_matches('"'), "", 1) == old
}

/// The sides of the turns: people, tools, the assistant, others by their names.
fn sides(record: &str) -> Vec<String> {
    let turns = parts(record).0;
    let side = |turn: &String| match role(turn).as_str() {
        "human" | "user" => "human".to_owned(),
        "tool" | "observation" | "function" => "tool".to_owned(),
        "gpt" | "assistant" | "function_call" => "assistant".to_owned(),
        other => other.to_owned(),
    };
    turns.iter().map(side).collect()
}

/// If human or tool turns alternate with assistant turns, after a system turn.
pub fn alternates(record: &str) -> bool {
    is_in_turn(&sides(record))
}

fn is_in_turn(sides: &[String]) -> bool {
    let system = usize::from(sides.first().is_some_and(|side| side == "system"));
    let mut pairs = sides[system..].windows(2);
    let known = |side: &String| ["human", "tool", "assistant"].contains(&side.as_str());
    sides[system..].iter().all(known)
        && pairs.all(|pair| (pair[0] == "assistant") != (pair[1] == "assistant"))
}

/// Asserts that the orders of roles that held before hold after.
pub fn assert_in_order(before: &str, after: &str) {
    let runs = |record: &str| {
        let mut sides = sides(record);
        sides.dedup_by(|next, before| next == "tool" && before == "tool");
        is_in_turn(&sides)
    };
    let are_apart = |record: &str| {
        let sides = sides(record);
        !sides
            .windows(2)
            .any(|pair| pair[0] == "human" && pair[1] == "human")
    };
    let kept = |holds: &dyn Fn(&str) -> bool| !holds(before) || holds(after);
    let is_kept = kept(&alternates) && kept(&runs) && kept(&are_apart);
    assert!(is_kept, "{:?} -> {:?}", sides(before), sides(after));
}

/// Asserts that no turn has more than one summary in it.
pub fn assert_one_summary_each(text: &str) {
    for turn in parts(text).0 {
        let said = told_in(&turn);
        for marker in ["[CONTEXT SUMMARY]:", "[END OF CONTEXT SUMMARY]"] {
            assert!(said.matches(marker).count() <= 1, "{said}");
        }
    }
}

/// A message of the user behind a summary.
const MESSAGE_BEHIND: &str = "[END OF CONTEXT SUMMARY]\n\n[USER MESSAGE";

/// Asserts invariants 2 to 6 of a compressed record.
pub fn assert_sound(before: &str, after: &str, row: &Row, notice: Option<&str>, counter: &dyn TokenCounter) {
    let (old, old_rest) = parts(before);
    let (new, new_rest) = parts(after);
    assert_eq!(old_rest, new_rest, "a field beside the turns changed");
    let (start, end) = (
        usize::try_from(row.region_start).unwrap(),
        usize::try_from(row.region_end).unwrap(),
    );
    let own_turn = new.len() == old.len() - (end - start) + 1;
    assert!(
        own_turn || new.len() == old.len() - (end - start),
        "{} turns became {}",
        old.len(),
        new.len()
    );
    assert_eq!(own_turn, row.placement == "own", "{}", row.placement);
    let is_after = row.placement == "human-after";
    let shift = end - start - usize::from(own_turn);
    let is = |names: &'static [&'static str]| move |turn: &String| names.contains(&role(turn).as_str());
    let said = |turn: &String| {
        let is_answer = turn.contains("\"tool_result\"") && text_of(turn).is_empty();
        (is(&["human", "user"])(turn) && !is_answer)
            .then(|| said_by_human(&text_of(turn)))
            .flatten()
    };
    for index in (0..start).chain(end..old.len()) {
        let kept = &new[if index < start { index } else { index - shift }];
        let noticed = role(&old[index]) == "system"
            && notice.is_some_and(|notice| text_of(kept) == format!("{}{notice}", text_of(&old[index])));
        // It has what it had, beside a summary that may have been replaced, with a message that is not the last one any more.
        let told = told_in(&old[index]);
        let is_passed = old[index + 1..].iter().any(|later| said(later).is_some());
        let told = told
            .split_once(MESSAGE_BEHIND)
            .filter(|_| is_passed)
            .map_or(told.clone(), |(told, _)| {
                format!("{told}[END OF CONTEXT SUMMARY]")
            });
        let merged = !own_turn
            && !is_after
            && index + 1 == start
            && beside_summaries(&told_in(kept)).starts_with(&beside_summaries(&told));
        let merged = merged || (is_after && index == end && is_behind_summary(&old[index], kept));
        assert!(
            *kept == old[index] || noticed || merged,
            "turn {index} changed: {} -> {kept}",
            old[index]
        );
    }
    let summary = told_in(&new[if own_turn || is_after { start } else { start - 1 }]);
    assert_eq!(summary.matches("[CONTEXT SUMMARY]:").count(), 1, "{summary}");
    assert!(!(own_turn || is_after) || summary.starts_with("[CONTEXT SUMMARY]:"));
    assert_no_group_split(&old, start, end);
    if let Some(last) = old.iter().rposition(is(&["gpt", "assistant"])) {
        assert!(last < start || last >= end, "the last assistant turn is gone");
    }
    if let Some(last) = old
        .iter()
        .rposition(|turn| said(turn).is_some())
        .filter(|last| (start..end).contains(last))
    {
        assert!(
            summary.ends_with(&said(&old[last]).unwrap()),
            "the last human turn is gone: {summary}"
        );
    }
    let written = cost(&serde_json::from_str(after).unwrap(), counter);
    assert_eq!(
        written as u64, row.compressed_tokens,
        "the figures are not those of what was written"
    );
    assert!(row.compressed_tokens < row.original_tokens);
    assert_eq!(
        row.still_over_limit,
        row.compressed_tokens > row.target_max_tokens
    );
}

fn assert_no_group_split(old: &[String], start: usize, end: usize) {
    let inside = |index: usize| (start..end).contains(&index);
    let is_tool = |turn: &String| ["tool", "observation", "function"].contains(&role(turn).as_str());
    for (index, turn) in old.iter().enumerate().filter(|(_, turn)| is_tool(turn)) {
        let (_, answers) = ids(turn);
        let calls = |caller: &&String| ids(caller).0.iter().any(|id| answers.contains(id));
        let by_id = old[..index]
            .iter()
            .rev()
            .find(calls)
            .map(|_| old[..index].iter().rposition(|caller| calls(&caller)).unwrap());
        let by_place = old[..index]
            .iter()
            .rposition(|turn| !is_tool(turn))
            .filter(|caller| ["gpt", "assistant", "function_call"].contains(&role(&old[*caller]).as_str()));
        if let Some(caller) = by_id.or(by_place) {
            assert_eq!(
                inside(caller),
                inside(index),
                "turn {index} answers {caller}, and the region is {start}..{end}"
            );
        }
    }
    assert!(
        !old.get(end).is_some_and(is_tool),
        "a tool turn follows the summary"
    );
}
