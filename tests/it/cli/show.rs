//! `explain` and `show`: the decision about a record, and the record itself, safe for a terminal.

use crate::support::cli::{Ran, Workspace, fixture_bytes};
use serde_json::Value;

fn demo() -> Workspace {
    Workspace::with_input(fixture_bytes("agent_runs.jsonl"))
}

fn text(ran: Ran) -> String {
    String::from_utf8(ran.stdout).unwrap()
}

/// The second record of the demo, which is over the budget.
const SECOND: [&str; 3] = ["in.jsonl", "--line", "2"];

fn run(workspace: &Workspace, command: &str, more: &[&str]) -> Ran {
    workspace.run(&[&[command][..], &SECOND, more].concat())
}

#[test]
fn explain_tells_what_compress_does() {
    let workspace = demo();
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    let row = &workspace.rows("out.metrics.csv")[1];
    let explained = run(&workspace, "explain", &["--json"]).exits(0);
    let json: Value = serde_json::from_slice(&explained.stdout).unwrap();
    assert_eq!(json["schema"], "trajfit.explain/1");
    let documented = include_str!("../../../docs/json.md");
    for key in json.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("`{key}`")), "{key}");
    }
    assert_eq!(json["total_tokens"], row.original_tokens);
    assert_eq!(json["region"]["start"], row.region_start);
    assert_eq!(json["region"]["end"], row.region_end);
    assert_eq!(json["row"]["summary_tokens"], row.summary_tokens);
    let anchors = json["anchors"].as_array().unwrap();
    assert_eq!(anchors.len() as u64, row.anchors_needed);
    assert!(
        anchors
            .iter()
            .all(|anchor| anchor["is_held"] == true && anchor["first_turn"].as_i64() >= Some(row.region_end))
    );
    let text = text(run(&workspace, "explain", &[]).exits(0));
    for part in [
        "REGION",
        "head",
        "tail",
        "Head       turns 0 to 3: 1,508 tokens, protected",
        "Tail       turns 24 to 28: 728 tokens, protected",
        "Need       ",
        "Plan       turns 4 to 11: ",
        "slack",
        "Anchors    ",
        "Decision   compressed",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn explain_says_why_a_record_stays_as_it_is() {
    let workspace = demo();
    let fits = text(run(&workspace, "explain", &["--target-max-tokens", "100000"]).exits(0));
    assert!(
        fits.contains("Decision   under_target") && !fits.contains("Need"),
        "{fits}"
    );
    let kept = text(run(&workspace, "explain", &["--last-n-turns", "500"]).exits(0));
    assert!(
        kept.contains("Plan       none") && kept.contains("Decision   kept: "),
        "{kept}"
    );
}

#[test]
fn show_marks_the_region_and_shortens_long_turns_unless_asked_not_to() {
    let workspace = demo();
    let short = text(run(&workspace, "show", &[]).exits(0));
    assert!(
        short.contains("region: turns ")
            && short.contains("│ ")
            && short.contains("more lines (--full shows them)")
    );
    assert!(!short.contains('\u{1b}'), "no colours in a pipe");
    let full = text(run(&workspace, "show", &["--full"]).exits(0));
    assert!(full.len() > 2 * short.len() && !full.contains("--full"));
    let narrow = text(run(&workspace, "show", &["--width", "30"]).exits(0));
    assert!(
        narrow
            .lines()
            .skip(2)
            .filter(|line| line.chars().count() > 60)
            .count()
            <= 1,
        "{narrow}"
    );
}

#[test]
fn before_and_after_stand_side_by_side_where_there_is_room_and_stacked_where_not() {
    let workspace = demo();
    let small = ["--summary-target-tokens", "20", "--summary-max-tokens", "20"];
    let own_turn = ["--summary-placement", "human"];
    workspace
        .compress(&[&["in.jsonl", "-o", "out.jsonl"][..], &small, &own_turn].concat())
        .exits(0);
    let stacked = text(run(&workspace, "show", &["--compressed", "out.jsonl"]).exits(0));
    assert!(
        stacked.contains("before: in.jsonl:2") && stacked.contains("after:  out.jsonl:2"),
        "{stacked}"
    );
    assert!(stacked.contains("\n+ ") && stacked.contains("\n- ") && stacked.contains("[CONTEXT SUMMARY]:"));
    assert!(
        stacked.contains("dangling: ") && stacked.contains("[!"),
        "{stacked}"
    );
    let wide = text(
        run(
            &workspace,
            "show",
            &["--compressed", "out.jsonl", "--width", "120"],
        )
        .exits(0),
    );
    assert!(wide.lines().filter(|line| line.contains(" │ ")).count() > 50);
    // Found by its id, wherever it stands.
    let lines: Vec<String> = workspace
        .text("out.jsonl")
        .lines()
        .rev()
        .map(str::to_owned)
        .collect();
    workspace.write("turned.jsonl", lines.join("\n"));
    let turned = text(run(&workspace, "show", &["--compressed", "turned.jsonl"]).exits(0));
    assert!(turned.contains("after:  turned.jsonl:39"), "{turned}");
    let same = text(run(&workspace, "show", &["--compressed", "in.jsonl"]).exits(0));
    assert!(
        !same.contains("\n- [") && same.contains("no identifier that kept"),
        "{same}"
    );
}

#[test]
fn records_that_have_nothing_in_common_are_not_called_before_and_after() {
    let record = |text: &str| format!(r#"{{"conversations":[{{"from":"human","value":"{text}"}}]}}"#);
    let workspace = Workspace::with_input(record("one"));
    workspace.write("other.jsonl", record("another"));
    let shown = text(
        workspace
            .run(&["show", "in.jsonl", "--compressed", "other.jsonl"])
            .exits(0),
    );
    assert!(
        shown.contains("no turn is the same in both") && !shown.contains("no identifier"),
        "{shown}"
    );
}

#[test]
fn nothing_in_the_data_reaches_the_terminal_as_a_command() {
    let record = serde_json::json!({"id": "x\u{1b}[2J", "conversations": [
        {"from": "human", "value": "a\u{1b}[31mred\u{7} \u{202e}back \u{9b}1m\r over"},
        {"from": "gpt", "value": "ok\u{8}\u{0}"},
    ]});
    let workspace = Workspace::with_input(format!("{record}\n"));
    workspace.write("out.jsonl", format!("{record}\n\n"));
    for arguments in [
        &["show", "in.jsonl"][..],
        &["show", "in.jsonl", "--compressed", "out.jsonl"],
        &[
            "show",
            "in.jsonl",
            "--full",
            "--width",
            "120",
            "--compressed",
            "out.jsonl",
        ],
        &["explain", "in.jsonl"],
    ] {
        let text = text(workspace.run(arguments).exits(0));
        let bad = text
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(bad, None, "{arguments:?}: {text:?}");
    }
}

#[test]
fn what_is_not_there_is_told() {
    let workspace = demo();
    workspace
        .run(&["show", "in.jsonl", "--line", "99"])
        .exits(2)
        .says("no record at line 99");
    workspace
        .run(&["explain", "none.jsonl"])
        .exits(2)
        .says("none.jsonl");
    workspace.write("bad.jsonl", "{\"x\n");
    workspace
        .run(&["explain", "bad.jsonl"])
        .exits(2)
        .says("bad.jsonl:1");
    workspace.run(&["show", "bad.jsonl"]).exits(2).says("bad.jsonl:1");
    workspace
        .run(&["show", "in.jsonl", "--compressed", "bad.jsonl"])
        .exits(2)
        .says("no record with the id");
    std::fs::create_dir(workspace.path("folder")).unwrap();
    workspace.run(&["show", "folder"]).exits(2).says("directory");
}

const MASKING: [&str; 4] = ["--strategy", "mask", "--target-max-tokens", "9000"];

#[test]
fn explain_and_show_tell_of_masks_what_compress_does() {
    let workspace = demo();
    workspace
        .compress(&[&["in.jsonl", "-o", "out.jsonl"][..], &MASKING].concat())
        .exits(0);
    let row = &workspace.rows("out.metrics.csv")[1];
    let explained = run(&workspace, "explain", &[&MASKING[..], &["--json"]].concat()).exits(0);
    let json: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let masked = json["turns"].as_array().unwrap().iter();
    let masked = masked.filter(|turn| turn["masked"] == true).count() as u64;
    assert!(masked > 0);
    assert_eq!(
        (masked, &json["region"], &json["need_tokens"]),
        (
            row.masked_turns,
            &Value::Null,
            &Value::from(row.original_tokens - 9000)
        )
    );
    let told = text(run(&workspace, "explain", &MASKING).exits(0));
    assert!(
        told.contains("MASKED") && told.contains(&format!("Masks      {masked} of ")),
        "{told}"
    );
    assert!(
        !told.contains("Plan ") && !told.contains("Summary ") && !told.contains(" passes"),
        "{told}"
    );
    let shown = text(run(&workspace, "show", &MASKING).exits(0));
    assert_eq!(
        shown.matches("tokens  masked\n").count() as u64,
        masked,
        "{shown}"
    );
    let both = ["--strategy", "mask-then-summarize", "--target-max-tokens", "3000"];
    let told = text(run(&workspace, "explain", &both).exits(0));
    assert!(
        told.contains("Region     turns ") && told.contains("REGION"),
        "{told}"
    );
}

#[test]
fn explain_and_show_mend_first_where_that_is_asked_for() {
    let workspace = Workspace::new();
    let lost = r#"{"role": "tool", "tool_call_id": "s", "content": "lost"}"#;
    workspace.write(
        "bad.jsonl",
        format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"u\"}}, {{\"role\": \"assistant\", \"content\": \"x\"}}, {lost}]}}\n"),
    );
    let plain = text(workspace.run(&["explain", "bad.jsonl"]).exits(0));
    assert!(
        plain.contains("Faults     orphan responses 1; --sanitize mends"),
        "{plain}"
    );
    let mended = text(workspace.run(&["explain", "bad.jsonl", "--sanitize"]).exits(0));
    assert!(
        mended.contains("orphan responses 1; 1 mended before anything else"),
        "{mended}"
    );
    let shown = text(workspace.run(&["show", "bad.jsonl", "--sanitize"]).exits(0));
    assert!(
        shown.contains("output of a tool; its call was not recorded"),
        "{shown}"
    );
}

#[test]
fn explain_says_that_the_files_are_part_of_the_summary() {
    let workspace = demo();
    let told = text(run(&workspace, "explain", &["--file-footer"]).exits(0));
    assert!(
        told.contains(" tokens, with the files of the region of at most"),
        "{told}"
    );
}
