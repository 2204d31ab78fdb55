//! Marks on turns: they are added where they should be, and nothing else changes.

use crate::support::generate::made;
use crate::support::{fit, fitter, settings};
use proptest::prelude::*;
use serde_json::Value;
use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, MarkTurns, SummaryMark};
use trajfit::internals::metrics::Status;

/// A field that stands in no made-up text.
const FIELD: &str = "q7_learn";

fn mark(turns: MarkTurns) -> SummaryMark {
    SummaryMark {
        field: FIELD.to_owned(),
        value: "false".to_owned(),
        turns,
    }
}

/// The text without the field, wherever it stands: taken out as text, by another way than it was put in.
fn without_field(text: &str) -> String {
    let mut rest = text.to_owned();
    for value in ["true", "false"] {
        for spelled in [format!(", \"{FIELD}\": {value}"), format!(",\"{FIELD}\":{value}")] {
            rest = rest.replace(&spelled, "");
        }
    }
    assert!(!rest.contains(FIELD), "{rest}");
    rest
}

fn turns(text: &str) -> Vec<Value> {
    let record: Value = serde_json::from_str(text).unwrap();
    let turns = record.get("conversations").or_else(|| record.get("messages"));
    turns.and_then(Value::as_array).unwrap().clone()
}

fn text_of(turn: &Value) -> &str {
    let text = turn.get("value").or_else(|| turn.get("content"));
    text.and_then(Value::as_str).unwrap_or_default()
}

fn role_of(turn: &Value) -> &str {
    let role = turn.get("from").or_else(|| turn.get("role"));
    role.and_then(Value::as_str).unwrap_or_default()
}

proptest! {
    #![proptest_config(crate::support::generate::config())]

    #[test]
    fn a_marked_record_is_the_unmarked_one_with_the_field_added(
        made in made(),
        target in 60..1500_usize,
        merges in any::<bool>(),
        scope in prop_oneof![Just(MarkTurns::Summary), Just(MarkTurns::Compressed), Just(MarkTurns::All)],
    ) {
        let line = made.line();
        let placement = if merges { SummaryPlacement::Merge } else { SummaryPlacement::Human };
        let plain = FitSettings { summary_placement: placement, ..settings(target, 40) };
        let marked = FitSettings { mark: Some(mark(scope)), ..plain.clone() };
        let plain = fit(&fitter(plain), &line);
        let marked = fit(&fitter(marked), &line);
        prop_assert_eq!(marked.row.status, plain.row.status);
        prop_assert_eq!(marked.row.compressed_tokens, plain.row.compressed_tokens);
        let before = plain.text.unwrap_or_else(|| line.clone());
        let after = marked.text.unwrap_or_else(|| line.clone());
        prop_assert_eq!(&without_field(&after), &before);
        let compressed = plain.row.status == Status::Compressed;
        for turn in turns(&after) {
            let is_summary = text_of(&turn).starts_with("[CONTEXT SUMMARY]:");
            let is_marked = is_summary && compressed || scope == MarkTurns::All
                || (scope == MarkTurns::Compressed && compressed);
            let is_answer = matches!(role_of(&turn), "gpt" | "assistant" | "function_call");
            let expected = is_marked.then_some(is_answer);
            prop_assert_eq!(turn.get(FIELD).and_then(Value::as_bool), expected, "{}", turn);
        }
        // Marked once is marked for good.
        let again = FitSettings { mark: Some(mark(scope)), ..settings(1_000_000, 40) };
        let again = fit(&fitter(again), &after);
        prop_assert_eq!(again.text.unwrap_or_else(|| after.clone()), after);
    }
}
