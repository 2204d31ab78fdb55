//! Bad input and bad places: rejected with the exact bytes or refused with path and cause, never a crash.

use std::fmt::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::cli::{Ran, SMALL, Workspace, fixture_bytes, short};

/// Lines of a quirk that must be rejected (from 1), and with which code.
const REJECTED: [(&str, &[u64], &str); 12] = [
    ("reject_invalid_json.jsonl", &[2, 3, 4], "invalid_json"),
    ("reject_truncated_line.jsonl", &[2], "invalid_json"),
    ("reject_truncated_in_the_middle.jsonl", &[2], "invalid_json"),
    ("reject_raw_control_character.jsonl", &[2], "invalid_json"),
    ("reject_nan.jsonl", &[2, 3], "invalid_json"),
    ("reject_nul_bytes.jsonl", &[2, 3, 4], "invalid_json"),
    ("reject_two_values_on_a_line.jsonl", &[2, 3], "invalid_json"),
    ("reject_raw_cr_in_string.jsonl", &[2], "invalid_json"),
    ("reject_invalid_utf8.jsonl", &[2, 3, 4, 5], "invalid_utf8"),
    ("reject_not_an_object.jsonl", &[2, 3, 4, 5, 6], "no_trajectory"),
    ("reject_no_trajectory.jsonl", &[2, 3, 4], "no_trajectory"),
    (
        "reject_conversations_of_wrong_type.jsonl",
        &[2, 3, 4, 5, 6],
        "no_trajectory",
    ),
];

/// The lines of a file without their line ends; a carriage return ends none.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'\n')
        .collect()
}

#[test]
fn a_bad_line_goes_to_the_rejects_with_its_exact_bytes_and_the_rest_goes_on() {
    for (file, rejected, code) in REJECTED {
        let input = fixture_bytes(&format!("quirks/{file}"));
        let workspace = Workspace::with_input(&input);
        workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(3);
        let rejects = workspace.rejects("out.rejects.jsonl");
        let numbers: Vec<u64> = rejects.iter().map(|reject| reject.1).collect();
        assert_eq!(numbers, rejected, "{file}");
        for (source, line, reason, bytes) in &rejects {
            assert_eq!(source, "in.jsonl");
            assert!(reason.starts_with(code), "{file}:{line}: {reason}");
            assert_eq!(bytes, lines(&input)[*line as usize - 1], "{file}:{line}");
        }
        let good: Vec<&[u8]> = (1..)
            .zip(lines(&input))
            .filter(|(number, _)| !rejected.contains(number))
            .map(|(_, line)| line)
            .collect();
        assert_eq!(lines(&workspace.read("out.jsonl")), good, "{file}");
        let rows = workspace.rows("out.metrics.csv");
        assert_eq!(rows.len(), rejects.len() + good.len(), "{file}");
    }
}

#[test]
fn what_holds_no_trajectory_is_written_through_where_that_is_asked_for() {
    for (file, _, _) in REJECTED {
        let input = fixture_bytes(&format!("quirks/{file}"));
        let workspace = Workspace::with_input(&input);
        workspace
            .compress(&["in.jsonl", "-o", "out.jsonl", "--on-invalid", "pass"])
            .exits(0);
        assert_eq!(workspace.read("out.jsonl"), input, "{file}");
        assert!(!workspace.exists("out.rejects.jsonl"), "{file}");
    }
}

#[test]
fn the_first_bad_line_ends_the_run_where_that_is_asked_for() {
    let input = format!("{}\n{{broken\n{}\n", short("one"), short("two"));
    let workspace = Workspace::with_input(input);
    let fail = ["in.jsonl", "-o", "out.jsonl", "--on-invalid", "fail"];
    workspace
        .compress(&fail)
        .exits(4)
        .says("in.jsonl:2")
        .says("--on-invalid reject");
    assert!(!workspace.exists("out.jsonl"));
    // Resuming does not slip past it.
    let resume = [&fail[..], &["--resume"]].concat();
    workspace.compress(&resume).exits(4).says("in.jsonl:2");
    let reject = ["in.jsonl", "-o", "out.jsonl", "--force"];
    workspace.compress(&reject).exits(3);
    let expected = format!("{}\n{}\n", short("one"), short("two"));
    assert_eq!(workspace.text("out.jsonl"), expected);
}

#[test]
fn odd_turns_and_values_are_handled_and_keep_their_bytes() {
    for file in [
        "turn_is_a_string_or_null.jsonl",
        "from_missing_null_number.jsonl",
        "value_of_any_type.jsonl",
        "duplicate_keys.jsonl",
        "lone_surrogate_escape.jsonl",
        "integer_of_30_digits.jsonl",
        "float_1e400.jsonl",
        "cr_escaped_in_string.jsonl",
        "cr_between_tokens.jsonl",
        "only_system_turns.jsonl",
        "empty_trajectory.jsonl",
    ] {
        let input = fixture_bytes(&format!("quirks/{file}"));
        let workspace = Workspace::with_input(&input);
        workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
        assert_eq!(workspace.read("out.jsonl"), input, "{file}");
        let small = [&["in.jsonl", "-o", "small.jsonl"], &SMALL[..]].concat();
        workspace.compress(&small).exits(0);
        let statuses: Vec<&str> = workspace
            .rows("small.metrics.csv")
            .iter()
            .map(|row| row.status.name())
            .collect();
        assert!(
            !statuses.contains(&"failed") && !statuses.contains(&"rejected"),
            "{file}: {statuses:?}"
        );
    }
}

#[test]
fn nothing_makes_an_empty_output_and_a_header() {
    for file in ["empty_file", "only_blank_lines", "byte_order_mark_only"] {
        let input = fixture_bytes(&format!("quirks/{file}.jsonl"));
        let workspace = Workspace::with_input(&input);
        workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
        assert_eq!(workspace.read("out.jsonl"), input);
        assert_eq!(workspace.text("out.metrics.csv").lines().count(), 1);
        assert_eq!(workspace.json("out.summary.json")["records"], 0);
    }
}

#[test]
fn brackets_100000_deep_are_rejected_wherever_they_are() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let trajectory = |field: &str| {
        format!(
            r#"{{"conversations": [{{"from": "human", "value": "Hello."{field}}}, {{"from": "gpt", "value": "Hi."}}]"#
        )
    };
    let bad = [
        deep.clone(),
        objects.clone(),
        "[".repeat(100_000),
        format!("{}}}", trajectory(&format!(", \"extra\": {deep}"))),
        format!("{}, \"other\": {deep}}}", trajectory("")),
        format!("{}, \"other\": {objects}}}", trajectory("")),
        format!("{{\"conversations\": {deep}}}"),
        format!(r#"{{"conversations": [{{"from": "human", "value": {deep}}}]}}"#),
        format!(r#"{{"messages": [{{"role": "assistant", "content": null, "tool_calls": {deep}}}]}}"#),
    ];
    let input = format!("{}\n{}\n{}\n", short("one"), bad.join("\n"), short("two"));
    let workspace = Workspace::with_input(&input);
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(3);
    let expected = format!("{}\n{}\n", short("one"), short("two"));
    assert_eq!(workspace.text("out.jsonl"), expected);
    let rejects = workspace.rejects("out.rejects.jsonl");
    assert_eq!(rejects.len(), bad.len());
    for (reject, bytes) in rejects.iter().zip(&bad) {
        assert_eq!(reject.3, bytes.as_bytes());
    }
}

/// Peak memory of a process in bytes, as long as it can be asked.
fn peak_memory(child: &mut Child) -> Option<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = kilobytes.map(|kilobytes| kilobytes * 1024).max(peak);
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

#[track_caller]
fn run_within(workspace: &Workspace, arguments: &[&str], status: i32, most_bytes: usize) {
    let mut command = workspace.command(&[&["compress", "in.jsonl", "-o", "out.jsonl"], arguments].concat());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let peak = peak_memory(&mut child);
    Ran::of(child.wait_with_output().unwrap()).exits(status);
    let peak = peak.unwrap_or_default();
    assert!(peak <= most_bytes as u64, "{peak} bytes, allowed {most_bytes}");
}

#[test]
fn garbage_of_50_mb_is_rejected_byte_for_byte() {
    // Bytes of all values but line ends, from a small generator of pseudo-random numbers.
    let mut state = 1_u32;
    let garbage: Vec<u8> = (0..50_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .map(|byte| if byte == b'\n' { b'x' } else { byte })
        .collect();
    // A file that begins so is taken for something else.
    let mut input = format!("{}\n", short("before")).into_bytes();
    input.extend_from_slice(&garbage);
    input.extend_from_slice(format!("\n{}\n", short("after")).as_bytes());
    let workspace = Workspace::with_input(&input);
    run_within(&workspace, &[], 3, 10 * garbage.len());
    let written = format!("{}\n{}\n", short("before"), short("after"));
    assert_eq!(workspace.text("out.jsonl"), written);
    let rejects = workspace.rejects("out.rejects.jsonl");
    assert!(rejects.len() == 1 && rejects[0].3 == garbage);
}

/// A trajectory of about 30 MB: so many turns between its ends, of so many lines.
fn thirty_megabytes(turns: usize) -> String {
    let mut line =
        r#"{"id": "big", "conversations": [{"from": "human", "value": "Count the parcels."}"#.to_owned();
    let lines = 30_000_000 / 39 / turns;
    for turn in 0..turns {
        let from = if turn % 2 == 0 { "gpt" } else { "human" };
        write!(line, r#", {{"from": "{from}", "value": ""#).unwrap();
        for number in 0..lines {
            write!(line, "Parcel {number:07} lies in lane {:04}. Ok.\\n", number % 97).unwrap();
        }
        line.push_str(r#""}"#);
    }
    line.push_str(r#", {"from": "human", "value": "Thanks."}, {"from": "gpt", "value": "Done."}]}"#);
    line
}

#[test]
fn a_record_of_30_mb_is_compressed_in_at_most_ten_times_its_size() {
    for turns in [2000, 6] {
        let line = thirty_megabytes(turns);
        assert!(line.len() > 29_000_000, "{}", line.len());
        let workspace = Workspace::with_input(format!("{line}\n"));
        let few_protected = ["--last-n-turns", "2", "--target-max-tokens", "16000"];
        run_within(&workspace, &few_protected, 0, 10 * line.len());
        let row = workspace.rows("out.metrics.csv").remove(0);
        let expected = if turns == 6 {
            // The first answer is part of the protected head, and too big by itself.
            row.reason.starts_with("protected_turns_exceed_budget")
        } else {
            row.was_compressed && !row.still_over_limit
        };
        assert!(expected, "{turns} turns: {} {}", row.status.name(), row.reason);
    }
}
