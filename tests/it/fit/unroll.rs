//! The promises of `trajfit unroll`, on made-up and real trajectories, with no help from the program's own parser.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;
use trajfit::internals::fit::{
    FitSettings, MarkTurns, Overlap, Reassembly, Strategy, SummaryMark, SummaryRecords, UnrollSettings,
    Unrolled,
};
use trajfit::internals::metrics::Status;

use crate::support::generate::made;
use crate::support::oracle::{cost, parts};
use crate::support::rendered::{THINKING, named_steps, rendered_fitter, thinking_run};
use crate::support::{counter, fitter, settings};

pub fn unrolling(mark: bool) -> UnrollSettings {
    UnrollSettings {
        trigger: 1.0,
        max_turns: None,
        min_savings: 0.1,
        head_decay: false,
        overlap: Overlap::Tail,
        summary_records: SummaryRecords::None,
        hindsight: false,
        mark: mark.then(|| SummaryMark {
            field: "train".to_owned(),
            value: "false".to_owned(),
            turns: MarkTurns::All,
        }),
    }
}

pub fn unroll(fit: FitSettings, unroll: &UnrollSettings, line: &str) -> Unrolled {
    pollster::block_on(fitter(fit).unroll(line.as_bytes(), unroll, "in.jsonl:1"))
}

/// The budget as `trajfit unroll` uses it: no turn gains a notice.
pub fn budget(tokens: usize, summary: usize) -> FitSettings {
    FitSettings {
        notice: None,
        ..settings(tokens, summary)
    }
}

const STRATEGIES: [Strategy; 3] = [Strategy::Summarize, Strategy::Mask, Strategy::MaskThenSummarize];

/// The records' texts; of a record that stays as it is, its line.
fn texts(unrolled: &Unrolled, line: &str) -> Vec<String> {
    unrolled.texts.clone().unwrap_or_else(|| vec![line.to_owned()])
}

pub fn turns(text: &str) -> Vec<String> {
    parts(text).0
}

fn role(turn: &Value) -> &str {
    turn.get("from")
        .or_else(|| turn.get("role"))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn is_assistant(turn: &str) -> bool {
    ["gpt", "assistant"].contains(&role(&serde_json::from_str(turn).unwrap()))
}

/// A turn without its mark, and the mark.
pub fn unmarked(turn: &str) -> (String, bool) {
    for (written, mark) in [("true", true), ("false", false)] {
        for ending in [
            format!(r#", "train": {written}}}"#),
            format!(r#","train":{written}}}"#),
        ] {
            if let Some(inner) = turn.strip_suffix(&ending) {
                return (format!("{inner}}}"), mark);
            }
        }
    }
    panic!("no mark: {turn}");
}

/// The assistant turns of a trajectory, and those that its records train, in order, as they stand.
pub fn trained(line: &str, records: &[String], is_marked: bool) -> (Vec<String>, Vec<String>) {
    let assistant: Vec<String> = turns(line)
        .into_iter()
        .filter(|turn| is_assistant(turn))
        .collect();
    let mut trained = Vec::new();
    for record in records {
        let listed: Value = serde_json::from_str(record).unwrap();
        for (index, turn) in turns(record).into_iter().enumerate() {
            if is_marked {
                let (turn, mark) = unmarked(&turn);
                assert!(!mark || is_assistant(&turn), "{turn}");
                trained.extend(mark.then_some(turn));
            } else {
                let is_listed = match listed.get("trained_turns") {
                    Some(list) => list.as_array().unwrap().contains(&Value::from(index)),
                    None => records.len() == 1 && is_assistant(&turn),
                };
                trained.extend(is_listed.then_some(turn));
            }
        }
    }
    (assistant, trained)
}

/// Asserts that no answer of a tool stands in a record without the call that it answers in the trajectory.
fn assert_groups_are_whole(line: &str, record: &str) {
    let of = |text: &str, key: &str| -> Vec<String> {
        let values = turns(text)
            .into_iter()
            .map(|turn| serde_json::from_str::<Value>(&turn).unwrap());
        let ids = values.flat_map(|turn| match key {
            "call" => turn["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|call| call["id"].as_str().map(str::to_owned))
                .collect(),
            _ => turn["tool_call_id"]
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect::<Vec<_>>(),
        });
        ids.collect()
    };
    let called: BTreeSet<String> = of(line, "call").into_iter().collect();
    let there: BTreeSet<String> = of(record, "call").into_iter().collect();
    for id in of(record, "answer") {
        assert!(
            !called.contains(&id) || there.contains(&id),
            "{id} answers nothing in {record}"
        );
    }
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn every_assistant_turn_is_trained_once_and_every_record_fits_or_says_why(
        made in made(),
        target in 60..900_usize,
        summary in 20..120_usize,
        trigger in 0.3..=1.0_f64,
        last_n_turns in 0..6_usize,
        tail_tokens in prop_oneof![Just(0), 1..400_usize],
        head_decay in any::<bool>(),
        is_apart in any::<bool>(),
        is_marked in any::<bool>(),
        placement in 0..3_usize,
        strategy in 0..3_usize,
    ) {
        use trajfit::internals::compress::SummaryPlacement::{Auto, Human, Merge};
        let line = made.line();
        let mut fit = budget(target, summary);
        fit.summary_placement = [Auto, Human, Merge][placement];
        fit.protection.last_n_turns = last_n_turns;
        fit.protection.tail_tokens = tail_tokens;
        fit.strategy = STRATEGIES[strategy];
        let is_apart = is_apart && strategy == 0;
        let over = if fit.strategy == Strategy::Mask { "masks_exhausted" } else { "group_exceeds_budget" };
        let settings = UnrollSettings {
            trigger,
            head_decay,
            overlap: if is_apart { Overlap::None } else { Overlap::Tail },
            ..unrolling(is_marked)
        };
        let unrolled = unroll(fit, &settings, &line);
        let records = texts(&unrolled, &line);
        prop_assert_eq!(records.len(), unrolled.rows.len());
        let (assistant, trained) = trained(&line, &records, is_marked);
        prop_assert_eq!(assistant, trained);
        for (number, (record, row)) in records.iter().zip(&unrolled.rows).enumerate() {
            prop_assert_ne!(row.status, Status::Failed, "{}", row.reason_text());
            assert_groups_are_whole(&line, record);
            let tokens = cost(&serde_json::from_str(record).unwrap(), counter().as_ref());
            prop_assert_eq!(tokens as u64, row.compressed_tokens);
            prop_assert_eq!(row.still_over_limit, tokens > target);
            prop_assert!(!row.still_over_limit || row.reason == over, "{}", row.reason_text());
            let figures = row.segment.as_ref().unwrap();
            prop_assert_eq!((figures.segment, figures.segments), (number as u64 + 1, records.len() as u64));
            let value: Value = serde_json::from_str(record).unwrap();
            if is_marked || records.len() > 1 {
                prop_assert_eq!(&value["id"], &Value::from(row.id.clone()));
                prop_assert_eq!(&value["trajectory_id"], &Value::from("made-1"));
                prop_assert_eq!(&value["segment"], &Value::from(number + 1));
            }
            // Without a copy there is nothing to be trained on twice.
            if is_apart && number > 0 {
                let here = turns(record).into_iter().filter(|turn| is_assistant(turn)).count();
                prop_assert_eq!(here as u64, figures.trained_turns);
            }
        }
        if records.len() == 1 && !is_marked {
            prop_assert_eq!(unrolled.texts, None);
        }
        // The program's own proof agrees.
        let mut proof = Reassembly::of(line.as_bytes(), None, settings.mark.as_ref()).unwrap();
        for record in &records {
            proof.take(record.as_bytes()).unwrap();
        }
        prop_assert!(proof.finish().is_ok());
    }

    #[test]
    fn a_record_depends_on_nothing_that_comes_after_it(
        made in made(),
        target in 60..600_usize,
        trigger in 0.4..=1.0_f64,
        strategy in 0..3_usize,
    ) {
        let line = made.line();
        let settings = UnrollSettings { trigger, ..unrolling(false) };
        let fit = || FitSettings { strategy: STRATEGIES[strategy], ..budget(target, 30) };
        let whole = texts(&unroll(fit(), &settings, &line), &line);
        let record: Value = serde_json::from_str(&line).unwrap();
        let key = if made.sharegpt { "conversations" } else { "messages" };
        // Without its last turns the trajectory has the same records up to there.
        let mut seen = 0;
        for (number, text) in whole.iter().enumerate().take(whole.len() - 1) {
            let value: Value = serde_json::from_str(text).unwrap();
            let listed = value["trained_turns"].as_array().unwrap();
            seen += listed.len();
            let mut assistants = 0;
            let all = record[key].as_array().unwrap().clone();
            let end = all.iter().position(|turn| {
                assistants += usize::from(["gpt", "assistant"].contains(&role(turn)));
                assistants > seen
            });
            let cut: Vec<Value> = all[..end.unwrap()].to_vec();
            let mut shorter = record.clone();
            shorter[key] = Value::from(cut);
            let shorter = shorter.to_string();
            let again = texts(&unroll(fit(), &settings, &shorter), &shorter);
            for (before, after) in whole.iter().zip(&again).take(number) {
                let tree = |text: &str| -> Vec<Value> {
                    turns(text).iter().map(|turn| serde_json::from_str(turn).unwrap()).collect()
                };
                prop_assert_eq!(tree(before), tree(after));
            }
        }
    }
}

#[test]
fn no_summary_names_what_came_after_it() {
    let line = named_steps(30);
    for head_decay in [false, true] {
        let settings = UnrollSettings {
            head_decay,
            ..unrolling(true)
        };
        let unrolled = unroll(budget(1500, 200), &settings, &line);
        let records = texts(&unrolled, &line);
        assert!(records.len() > 5, "{}", records.len());
        let mut seen = 0;
        for record in &records {
            let text: String = turns(record)
                .iter()
                .map(|turn| serde_json::from_str::<Value>(turn).unwrap())
                .filter_map(|turn| turn["content"].as_str().map(str::to_owned))
                .filter(|text| text.contains("[CONTEXT SUMMARY]:"))
                .collect();
            assert_eq!(seen == 0, text.is_empty());
            for later in seen..30 {
                for name in ["read", "made", "case"] {
                    assert!(!text.contains(&format!("{name}_{later}.rs")), "{later}: {text}");
                }
            }
            seen += turns(record).iter().filter(|turn| unmarked(turn).1).count();
        }
        assert_eq!(seen, 30);
    }
}

#[test]
fn masks_keep_all_turns_until_they_are_not_enough() {
    let line = named_steps(30);
    let with = |strategy, tokens| {
        let fit = FitSettings {
            strategy,
            ..budget(tokens, 100)
        };
        unroll(fit, &unrolling(true), &line)
    };
    let masked = with(Strategy::Mask, 1000);
    let records = texts(&masked, &line);
    assert!(records.len() > 1);
    for (record, row) in records.iter().zip(&masked.rows).skip(1) {
        assert!(row.masked_turns > 0 && !record.contains("[CONTEXT SUMMARY]:"));
        assert_eq!(row.summary_tokens, 0);
    }
    // A context that no mask makes small enough goes on in one record, and says so.
    let last = turns(records.last().unwrap());
    assert_eq!(last.len(), turns(&line).len());
    assert!(masked.rows.last().unwrap().reason == "masks_exhausted");
    // Where masks are not enough, a summary is, and outputs were masked before any was summarized.
    let both = with(Strategy::MaskThenSummarize, 1500);
    assert!(both.rows.iter().all(|row| !row.still_over_limit));
    assert!(both.rows[1].masked_turns > 0 && both.rows[1].summary_tokens == 0);
    assert!(both.rows.iter().any(|row| row.summary_tokens > 0));
    assert_eq!(trained(&line, &texts(&both, &line), true).1.len(), 30);
}

#[test]
fn a_context_of_too_many_turns_is_halved() {
    let line = named_steps(30);
    let settings = UnrollSettings {
        max_turns: Some(16),
        ..unrolling(true)
    };
    let unrolled = unroll(budget(100_000, 100), &settings, &line);
    assert_eq!(trained(&line, &texts(&unrolled, &line), true).1.len(), 30);
    assert!(unrolled.rows.len() > 4 && unrolled.rows.iter().all(|row| row.compressed_turns <= 16));
    for stretch in &unrolled.timeline[1..] {
        let calls = stretch.calls.len() as u64;
        // Half of them stay, the next step among these; each other step has two.
        let row = &unrolled.rows[unrolled
            .timeline
            .iter()
            .position(|other| other == stretch)
            .unwrap()];
        assert!(
            row.compressed_turns - 2 * (calls - 1) <= 8,
            "{}",
            row.compressed_turns
        );
    }
}

#[test]
fn a_mark_that_the_data_has_is_no_second_training() {
    let line = named_steps(12).replace(
        r#""role": "assistant","#,
        r#""role": "assistant", "train": true,"#,
    );
    let unrolled = unroll(budget(1500, 200), &unrolling(true), &line);
    let records = texts(&unrolled, &line);
    let trained = |record: &String| {
        let turns = turns(record);
        turns
            .iter()
            .filter(|turn| turn.contains(r#""train": true"#))
            .count()
    };
    assert!(records.len() > 2);
    assert_eq!(records.iter().map(trained).sum::<usize>(), 12);
    assert!(records[1].contains(r#""role": "assistant", "train": false,"#));
}

#[test]
fn a_record_tells_its_trajectory_and_its_place() {
    let line = named_steps(12);
    let unrolled = unroll(budget(1500, 200), &unrolling(true), &line);
    let records: Vec<Value> = texts(&unrolled, &line)
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(records[0]["id"], "7#1");
    assert_eq!(records[0]["parent"], Value::Null);
    for (number, record) in records.iter().enumerate().skip(1) {
        assert_eq!(record["trajectory_id"], "7");
        assert_eq!(record["parent"], format!("7#{number}"));
        assert_eq!(record["segments"], records.len());
        let shared = record["prefix_turns"].as_u64().unwrap() as usize;
        let before = &records[number - 1]["messages"];
        for turn in 0..shared {
            assert_eq!(record["messages"][turn]["content"], before[turn]["content"]);
        }
    }
}

#[test]
fn rendered_budgets_hold_for_every_record() {
    let line = thinking_run(30);
    let fit = budget(2500, 150);
    let fitter = rendered_fitter(THINKING, fit);
    let settings = unrolling(true);
    let unrolled = pollster::block_on(fitter.unroll(line.as_bytes(), &settings, "x"));
    let records = texts(&unrolled, &line);
    assert!(records.len() > 2, "{}", records.len());
    let (assistant, trained) = trained(&line, &records, true);
    assert_eq!(assistant, trained);
    for (record, row) in records.iter().zip(&unrolled.rows) {
        let alone = pollster::block_on(fitter.fit(record.as_bytes())).row;
        assert_eq!(alone.original_tokens, row.compressed_tokens);
        assert!(
            !row.still_over_limit && row.compressed_tokens <= 2500,
            "{}",
            row.reason_text()
        );
    }
}
