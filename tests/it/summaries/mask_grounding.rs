//! Masks name what later turns rely on and nothing else tells any more; the metrics and `check` count it alike.

use crate::support::cli::Workspace;
use serde_json::{Value, json};

/// Eight searches with long outputs; later turns use names that only some of these told.
fn record() -> Value {
    let mut turns = vec![
        json!({"role": "system", "content": "sys"}),
        json!({"role": "user", "content": "Mend the loader."}),
    ];
    let mut group = |number: usize, command: &str, said: &str, output: String| {
        let arguments = json!({"command": command}).to_string();
        let id = format!("c{number}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        turns.push(json!({"role": "assistant", "content": said, "tool_calls": [call]}));
        turns.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    };
    for number in 0..8 {
        let told = match number {
            2 => "found in lib/deep_one.rs and W777123\n",
            4 => "order W777123 is open\n",
            _ => "",
        };
        let noise = "nothing else to be seen in this place\n".repeat(30);
        let (command, said) = match number {
            3 => ("sed -n 1p lib/deep_one.rs", ""),
            6 => ("close W777123", "I close W777123."),
            _ => ("ls", ""),
        };
        group(number, command, said, format!("{told}run {number}\n{noise}"));
    }
    json!({"id": "r", "messages": turns})
}

fn compressed(strategy: &str, more: &[&str]) -> (Workspace, String) {
    let workspace = Workspace::with_input(format!("{}\n", record()));
    let run = [
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--strategy",
        strategy,
        "--summary-target-tokens",
        "60",
        "--last-n-turns",
        "2",
    ];
    workspace.compress(&[&run[..], more].concat()).exits(0);
    let text = workspace.text("out.jsonl");
    (workspace, text)
}

/// What stands in place of the outputs of the commands.
fn outputs(text: &str) -> Vec<String> {
    let record: Value = serde_json::from_str(text).unwrap();
    let turns = record["messages"].as_array().unwrap().iter();
    let tools = turns.filter(|turn| turn["role"] == "tool");
    tools
        .map(|turn| turn["content"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_last_mask_before_its_use_names_what_only_masked_outputs_told() {
    let (workspace, text) = compressed("mask", &["--target-max-tokens", "600"]);
    let outputs = outputs(&text);
    assert!(
        outputs[2].ends_with("; mentions lib/deep_one.rs"),
        "{}",
        outputs[2]
    );
    assert!(outputs[4].ends_with("; mentions W777123"), "{}", outputs[4]);
    assert_eq!(text.matches("; mentions").count(), 2, "{text}");
    let row = &workspace.rows("out.metrics.csv")[0];
    assert_eq!((row.anchors_needed, row.anchors_held), (2, 2));
    let gate = [
        "check",
        "--against",
        "in.jsonl",
        "out.jsonl",
        "--min-grounding",
        "1",
    ];
    let checked = workspace.run(&gate).exits(0);
    assert!(String::from_utf8_lossy(&checked.stdout).contains('2'));
}

#[test]
fn an_output_that_stays_is_named_by_none_and_without_grounding_no_mask_names_anything() {
    let (workspace, text) = compressed("mask", &["--target-max-tokens", "1600"]);
    let row = &workspace.rows("out.metrics.csv")[0];
    assert!(row.masked_turns > 0 && outputs(&text)[4].contains("order W777123 is open"));
    assert!(!text.contains("mentions W777123"), "{text}");
    let (workspace, text) = compressed("mask", &["--target-max-tokens", "600", "--grounding", "false"]);
    assert!(!text.contains("; mentions"), "{text}");
    assert_eq!(workspace.rows("out.metrics.csv")[0].anchors_needed, 0);
}

#[test]
fn masks_beside_a_summary_are_counted_as_check_counts_them() {
    let mut both = 0;
    for target in (620..1000).step_by(40) {
        let target = target.to_string();
        let (workspace, _) = compressed("mask-then-summarize", &["--target-max-tokens", &target]);
        let row = &workspace.rows("out.metrics.csv")[0];
        both += u64::from(row.masked_turns > 0 && row.summary_tokens > 0 && row.anchors_needed > 0);
        let ran = workspace.run(&["check", "--against", "in.jsonl", "out.jsonl"]);
        let told = String::from_utf8(ran.stdout).unwrap();
        let figures = format!("{} of {} ", row.anchors_held, row.anchors_needed);
        assert!(told.starts_with(&figures), "{told} {row:?}");
    }
    assert!(both > 0);
}
