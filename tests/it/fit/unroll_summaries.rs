//! Records that teach summaries, and summaries that know what came after them.

use proptest::prelude::*;
use serde_json::Value;
use trajfit::internals::fit::{SummaryRecords, UnrollSettings};

use super::unroll::{budget, trained, turns, unmarked, unroll, unrolling};
use crate::support::counter;
use crate::support::generate::made;
use crate::support::oracle::cost;
use crate::support::rendered::{THINKING, named_steps, rendered_fitter, thinking_run};

fn teaching() -> UnrollSettings {
    UnrollSettings {
        summary_records: SummaryRecords::All,
        ..unrolling(true)
    }
}

fn is_summary(record: &str) -> bool {
    let record: Value = serde_json::from_str(record).unwrap();
    record["is_summary"].as_bool().unwrap()
}

/// All texts of a turn's content.
fn text_of(turn: &str) -> String {
    fn texts(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(texts).collect(),
            Value::Object(part) => part.values().map(texts).collect(),
            _ => String::new(),
        }
    }
    let turn: Value = serde_json::from_str(turn).unwrap();
    texts(turn.get("value").or_else(|| turn.get("content")).unwrap())
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn each_summary_is_taught_once_behind_the_context_that_it_is_of(
        made in made(),
        target in 500..1500_usize,
        trigger in 0.3..=1.0_f64,
        placement in 0..3_usize,
    ) {
        use trajfit::internals::compress::SummaryPlacement::{Auto, Human, Merge};
        let line = made.line();
        let mut fit = budget(target, 40);
        fit.summary_placement = [Auto, Human, Merge][placement];
        let unrolled = unroll(fit, &UnrollSettings { trigger, ..teaching() }, &line);
        let records = unrolled.texts.clone().unwrap();
        prop_assert_eq!(records.len(), unrolled.rows.len());
        let acting: Vec<String> = records.iter().filter(|record| !is_summary(record)).cloned().collect();
        let (assistant, trained) = trained(&line, &acting, true);
        prop_assert_eq!(assistant, trained);
        prop_assert_eq!(records.len() - acting.len(), acting.len() - 1);
        for (number, (record, row)) in records.iter().zip(&unrolled.rows).enumerate() {
            let tokens = cost(&serde_json::from_str(record).unwrap(), counter().as_ref());
            prop_assert_eq!(tokens as u64, row.compressed_tokens);
            prop_assert_eq!(row.still_over_limit, tokens > target);
            prop_assert!(!row.still_over_limit || row.reason == "group_exceeds_budget", "{}", row.reason_text());
            let figures = row.segment.as_ref().unwrap();
            prop_assert_eq!(figures.summary_records, u64::from(is_summary(record)));
            if !is_summary(record) {
                continue;
            }
            let (before, after) = (turns(&records[number - 1]), turns(&records[number + 1]));
            let own = turns(record);
            // The turns before it, but for one that may take the request in, as they stand there.
            let shared = figures.prefix_turns as usize;
            prop_assert!(shared >= before.len() - 1 && own.len() == before.len() + 1 + usize::from(shared == before.len()));
            for (own, before) in own.iter().zip(&before).take(shared) {
                prop_assert_eq!(unmarked(own).0, unmarked(before).0);
            }
            let trained: Vec<bool> = own.iter().map(|turn| unmarked(turn).1).collect();
            prop_assert!(trained.iter().rposition(|mark| *mark) == Some(own.len() - 1));
            prop_assert_eq!(trained.iter().filter(|mark| **mark).count(), 1);
            // What it teaches is what the next context has.
            let summary = text_of(own.last().unwrap());
            prop_assert!(!summary.starts_with("[CONTEXT SUMMARY]"));
            prop_assert!(after.iter().any(|turn| text_of(turn).contains(&summary)), "{}", summary);
        }
    }
}

#[test]
fn only_summaries_of_models_are_taught_unless_all_are_wanted() {
    let line = named_steps(20);
    let settings = UnrollSettings {
        summary_records: SummaryRecords::Models,
        ..unrolling(true)
    };
    // The embedded summarizer is none.
    let unrolled = unroll(budget(2000, 100), &settings, &line);
    assert!(unrolled.texts.unwrap().iter().all(|record| !is_summary(record)));
    let unrolled = unroll(budget(2000, 100), &teaching(), &line);
    let records = unrolled.texts.unwrap();
    let taught: Vec<Value> = records
        .iter()
        .filter(|record| is_summary(record))
        .map(|record| serde_json::from_str(record).unwrap())
        .collect();
    assert!(taught.len() > 2);
    assert_eq!(
        (&taught[1]["id"], &taught[1]["parent"]),
        (&Value::from("7#2-summary"), &Value::from("7#2"))
    );
    let asked = taught[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .nth(1)
        .unwrap();
    assert!(
        asked["content"]
            .as_str()
            .unwrap()
            .contains("Write the summary now.")
    );
    // All of them fit, since contexts leave room for them.
    assert!(unrolled.rows.iter().all(|row| !row.still_over_limit));
}

#[test]
fn a_rendered_budget_holds_for_records_that_teach_summaries() {
    let line = thinking_run(30);
    let fitter = rendered_fitter(THINKING, budget(2000, 150));
    let unrolled = pollster::block_on(fitter.unroll(line.as_bytes(), &teaching(), "x"));
    let records = unrolled.texts.unwrap();
    let taught = records.iter().filter(|record| is_summary(record)).count();
    assert!(taught > 1 && records.len() == 2 * taught + 1);
    for (record, row) in records.iter().zip(&unrolled.rows) {
        let alone = pollster::block_on(fitter.fit(record.as_bytes())).row;
        assert_eq!(alone.original_tokens, row.compressed_tokens);
        assert!(row.compressed_tokens <= 2000, "{}", row.reason_text());
    }
}

#[test]
fn hindsight_lets_a_summary_name_what_is_needed_later() {
    // The last step needs a file that only the first one told of.
    let filler = "a line of src/read_0.rs and of tests/case_0.rs that says no more; ";
    let line = named_steps(12)
        .replacen(
            filler,
            "it is all in lib/needed_later.rs, which is long enough; ",
            1,
        )
        .replace("cat src/read_11.rs", "cat lib/needed_later.rs");
    let first_summary = |hindsight: bool| {
        let settings = UnrollSettings {
            hindsight,
            ..unrolling(true)
        };
        let mut fit = budget(2500, 60);
        fit.protection.first_tool = false;
        fit.protection.first_gpt = false;
        let unrolled = unroll(fit, &settings, &line);
        assert_eq!(unrolled.rows[1].segment.as_ref().unwrap().hindsight, hindsight);
        let records = unrolled.texts.unwrap();
        let second = turns(&records[1]);
        let found = second.iter().find(|turn| turn.contains("[CONTEXT SUMMARY]:"));
        found.unwrap().clone()
    };
    assert!(first_summary(true).contains("lib/needed_later.rs"));
    assert!(!first_summary(false).contains("lib/needed_later.rs"));
}
