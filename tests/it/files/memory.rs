//! Memory that is bounded by a number, whatever the input: peaks of the program.
#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::cli::Workspace;

/// Runs the program. Returns its exit code and its peak of resident memory, in MB, as far as that was seen.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trajfit"));
    let child = command
        .args(arguments)
        .args(["--jobs", "1", "-q"])
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (status, peak) = crate::support::peak_of(child);
    (status.code(), peak)
}

/// What the program takes with nothing to do, in MB: 21 as measured. A run of it is too short to be watched.
const IDLE: f64 = 22.0;

const GOOD: &str =
    r#"{"conversations": [{"from": "human", "value": "Where?"}, {"from": "gpt", "value": "There."}]}"#;

/// A record with a turn of so many letters.
fn of_letters(letters: impl Iterator<Item = char>) -> String {
    let text: String = letters.collect();
    format!(r#"{{"conversations": [{{"from": "human", "value": "{text}"}}]}}"#)
}

/// The rejects of a run, as JSON.
fn rejects(workspace: &Workspace, name: &str) -> Vec<serde_json::Value> {
    let bytes = workspace.read(name);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn a_line_that_is_too_long_is_never_held() {
    let workspace = Workspace::with_input(b"");
    let length = 200_000_000_usize;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writeln!(gzip, "{GOOD}").unwrap();
    for _ in 0..length / 10_000 {
        gzip.write_all(&[b'a'; 10_000]).unwrap();
    }
    write!(gzip, "\r\n{GOOD}").unwrap();
    std::fs::write(workspace.path("in.jsonl.gz"), gzip.finish().unwrap()).unwrap();
    let arguments = [
        "compress",
        "in.jsonl.gz",
        "-o",
        "out.jsonl",
        "--max-record-bytes",
        "1MB",
    ];
    let (code, peak) = run(workspace.path("").as_path(), &arguments);
    assert_eq!(code, Some(3));
    assert!(peak < 100.0, "{peak} MB");
    assert_eq!(workspace.read("out.jsonl"), format!("{GOOD}\n{GOOD}").as_bytes());
    let rejects = rejects(&workspace, "out.rejects.jsonl");
    let [reject] = rejects.as_slice() else {
        panic!("{rejects:?}")
    };
    assert_eq!(
        (reject["line"].as_u64(), reject["bytes"].as_u64()),
        (Some(2), Some(length as u64))
    );
    assert_eq!(reject["offset"].as_u64(), Some(GOOD.len() as u64 + 1));
    assert_eq!(reject["reason"], "record_too_long");
    let detail = reject["reason_detail"].as_str().unwrap();
    assert!(detail.starts_with("200000000 bytes at offset"), "{detail}");
    assert!(reject.get("text").is_none() && reject.get("base64").is_none());
}

#[test]
fn an_element_that_is_too_long_leaves_a_whole_array() {
    let long = of_letters(std::iter::repeat_n('a', 3000));
    for (array, lines) in [
        (format!("[{GOOD},\n {long} ,{GOOD}]\n"), vec![2]),
        (format!("[ {long}]"), vec![1]),
        (format!("[{GOOD}, {long}, {long}\n]"), vec![2, 3]),
    ] {
        let workspace = Workspace::with_input(array.as_bytes());
        let arguments = [
            "in.jsonl",
            "-o",
            "out.json",
            "--max-record-bytes",
            "2kB",
            "--on-invalid",
            "pass",
        ];
        workspace.compress(&arguments).exits(3);
        let output: Vec<serde_json::Value> = serde_json::from_slice(&workspace.read("out.json")).unwrap();
        assert_eq!(output.len(), array.matches("Where?").count());
        let rejects = rejects(&workspace, "out.rejects.jsonl");
        assert_eq!(
            rejects
                .iter()
                .filter_map(|reject| reject["line"].as_u64())
                .collect::<Vec<_>>(),
            lines
        );
        for reject in rejects {
            let (offset, bytes) = (
                reject["offset"].as_u64().unwrap(),
                reject["bytes"].as_u64().unwrap(),
            );
            let (from, to) = (offset as usize, (offset + bytes) as usize);
            assert_eq!(&array[from..to], long);
        }
    }
}

#[test]
fn every_command_passes_over_what_is_too_long() {
    let long = of_letters(std::iter::repeat_n('a', 3000));
    let workspace = Workspace::with_input(format!("{GOOD}\n{long}\n{GOOD}\n").as_bytes());
    std::fs::copy(workspace.path("in.jsonl"), workspace.path("same.jsonl")).unwrap();
    std::fs::write(workspace.path("exact.jsonl"), format!("{long}\n")).unwrap();
    let exact = long.len().to_string();
    for (arguments, code) in [
        (vec!["count", "in.jsonl"], 3),
        (vec!["count", "in.jsonl", "--on-invalid", "fail"], 4),
        (vec!["check", "in.jsonl"], 1),
        (vec!["check", "--against", "in.jsonl", "same.jsonl"], 1),
        (vec!["show", "in.jsonl", "--line", "2"], 2),
        (vec!["show", "in.jsonl", "--line", "3"], 0),
        (vec!["explain", "in.jsonl", "--line", "2"], 2),
        (
            vec!["compress", "in.jsonl", "--dry-run", "--on-invalid", "fail"],
            4,
        ),
        (vec!["count", "exact.jsonl"], 3),
        (vec!["count", "exact.jsonl", "--max-record-bytes", &exact], 0),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trajfit"));
        command.args(&arguments).current_dir(workspace.path(""));
        if !arguments.contains(&"--max-record-bytes") {
            command.args(["--max-record-bytes", "3kB"]);
        }
        let output = command.output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            code == 0 || said.contains("--max-record-bytes") || said.contains("record_too_long"),
            "{said}"
        );
    }
}

#[test]
fn what_a_piece_costs_is_counted_in_little_more_memory_than_its_text() {
    let mut state = 1_u64;
    let letters = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 60) as u8)
    });
    let texts = [
        of_letters(std::iter::repeat_n('a', 12_000_000)),
        of_letters(letters.take(4_000_000)),
    ];
    let workspace = Workspace::with_input(GOOD.as_bytes());
    for text in texts {
        std::fs::write(workspace.path("in.jsonl"), &text).unwrap();
        let (code, peak) = run(workspace.path("").as_path(), &["count", "in.jsonl"]);
        assert_eq!(code, Some(0));
        let most = 4.0 * text.len() as f64 / 1e6 + 8.0;
        assert!(peak - IDLE < most, "{} MB of {most}", peak - IDLE);
    }
}

#[test]
fn turns_take_at_most_four_times_their_line() {
    let turns: Vec<String> = (0..400_000)
        .map(|index| format!(r#"{{"from":"{}","value":"x"}}"#, ["human", "gpt"][index % 2]))
        .collect();
    let record = format!(r#"{{"conversations":[{}]}}"#, turns.join(","));
    let workspace = Workspace::with_input(GOOD.as_bytes());
    std::fs::write(workspace.path("in.jsonl"), &record).unwrap();
    let (code, peak) = run(workspace.path("").as_path(), &["count", "in.jsonl"]);
    assert_eq!(code, Some(0));
    // The line itself, what it grows by while it is read, and its turns.
    let most = 5.0 * record.len() as f64 / 1e6 + 8.0;
    assert!(peak - IDLE < most, "{} MB of {most}", peak - IDLE);
    for element in ["1", "{}", "[]"] {
        let record = format!(r#"{{"conversations":[{}]}}"#, vec![element; 1_000_000].join(","));
        std::fs::write(workspace.path("in.jsonl"), &record).unwrap();
        let (code, peak) = run(workspace.path("").as_path(), &["count", "in.jsonl"]);
        assert_eq!(code, Some(3), "{element}");
        assert!(
            peak - IDLE < 6.0 * record.len() as f64 / 1e6 + 24.0,
            "{element}: {} MB",
            peak - IDLE
        );
    }
}

/// A record of so many turns that say next to nothing; every hundredth answer of a tool is long enough to be masked.
fn of_tiny_turns(count: usize, with_tools: bool) -> String {
    let output = "0123456789".repeat(40);
    let turn = |index: usize| match (with_tools, index % 2) {
        (_, 0) => r#"{"from":"gpt","value":"y"}"#.to_owned(),
        (true, _) if index % 200 == 1 => format!(r#"{{"from":"tool","value":"{index} {output}"}}"#),
        (true, _) => r#"{"from":"tool","value":"x"}"#.to_owned(),
        _ => r#"{"from":"human","value":"x"}"#.to_owned(),
    };
    let turns: Vec<String> = (0..count).map(turn).collect();
    format!(
        r#"{{"conversations":[{{"from":"human","value":"go"}},{}]}}"#,
        turns.join(",")
    )
}

#[test]
fn records_over_the_budget_take_little_more_than_others_however_many_turns_they_have() {
    let workspace = Workspace::with_input(GOOD.as_bytes());
    let masking = ["compress", "in.jsonl", "-o", "out.jsonl", "--force", "--strategy"];
    let summarizing = ["compress", "in.jsonl", "--dry-run"];
    // What is masked is held twice: as it was, and as it is written.
    for (with_tools, limit, arguments, strategy, times) in [
        (false, "8000", &summarizing[..], None, 5.0),
        (true, "600000", &masking[..], Some("mask"), 7.0),
        (true, "8000", &masking[..], Some("mask-then-summarize"), 8.5),
    ] {
        let record = of_tiny_turns(400_000, with_tools);
        std::fs::write(workspace.path("in.jsonl"), &record).unwrap();
        let mut arguments = arguments.to_vec();
        arguments.extend(strategy);
        arguments.extend(["--max-tokens", limit]);
        let (code, peak) = run(workspace.path("").as_path(), &arguments);
        assert_eq!(code, Some(0), "{arguments:?}");
        // So many times the line, the line itself among them, what is read of a region whatever its length, and the tables of
        // what tools print.
        let most = times * record.len() as f64 / 1e6 + 18.0;
        assert!(peak - IDLE < most, "{arguments:?}: {} MB of {most}", peak - IDLE);
        if strategy.is_some() {
            assert!(workspace.read("out.jsonl").len() < record.len(), "{arguments:?}");
        }
    }
}

#[test]
fn blank_lines_are_copied_and_counted_however_they_are_read() {
    let blank = ["\n", "\r\n", " \t\r\n", "\u{c}\n"].concat().repeat(70_000);
    let text = format!("{blank}{GOOD}\n{blank}  {GOOD}{blank}not JSON\n \n");
    let workspace = Workspace::with_input(text.as_bytes());
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(3);
    assert_eq!(
        workspace.read("out.jsonl"),
        text.replace("not JSON\n", "").as_bytes()
    );
    let rejects = rejects(&workspace, "out.rejects.jsonl");
    let line = text.lines().position(|line| line == "not JSON").unwrap() as u64 + 1;
    assert_eq!(rejects[0]["line"].as_u64(), Some(line));
}
