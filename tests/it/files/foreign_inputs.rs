//! Inputs that hold something else than records, and lines that hold none: told once, with what helps.

use std::io::Write;

use crate::support::cli::{Workspace, short};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Inputs that hold no records, by their file names, with what they are and what reads them.
fn foreign() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let binary = |start: &[u8]| [start, &[0, 21, 4, 21, 10, 255].repeat(300)].concat();
    let lines = |events: &[&str]| events.join("\n").repeat(50).into_bytes();
    let claude_code = lines(&[
        r#"{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"Mend it."},"uuid":"u"}"#,
        r#"{"parentUuid":"u","sessionId":"s","type":"assistant","message":{"role":"assistant","content":[]},"uuid":"v"}"#,
        "",
    ]);
    vec![
        (
            "a.parquet",
            binary(b"PAR1"),
            "a Parquet file",
            "--features parquet",
        ),
        (
            "b.arrow",
            binary(b"ARROW1\0\0"),
            "an Arrow IPC file",
            "--features parquet",
        ),
        (
            "c.zip",
            binary(b"PK\x03\x04"),
            "a zip archive",
            "unzip -p c.zip | trajfit",
        ),
        (
            "d.png",
            binary(b"\x89PNG\r\n\x1a\n"),
            "a binary file",
            "JSON Lines or a JSON array",
        ),
        (
            "e.jsonl",
            claude_code.clone(),
            "an event log of Claude Code",
            "jq -c -s",
        ),
        (
            "f.jsonl.gz",
            gzip(&claude_code),
            "an event log of Claude Code",
            "jq -c -s",
        ),
        (
            "g.jsonl",
            lines(&[
                r#"{"type":"session","id":"s","cwd":"/"}"#,
                r#"{"type":"message","message":{"role":"user","content":"x"}}"#,
                "",
            ]),
            "an event log of pi",
            "select(.type == \"message\")",
        ),
        (
            "h.json",
            format!(
                "[\n  {}]",
                [r#"{"type":"message","role":"user","content":[]}"#; 50].join(",\n  ")
            )
            .into_bytes(),
            "a list of Responses API items",
            "docs/inputs.md",
        ),
        (
            "i.jsonl",
            lines(&[r#"{"type":"response_item","payload":{}}"#, ""]),
            "an event log of Codex",
            "docs/inputs.md",
        ),
        (
            "j.csv",
            b"id,messages\n1,\"[]\"\n".repeat(2000),
            "text without JSON",
            "docs/inputs.md",
        ),
        (
            "k.json",
            b"{\n  \"messages\": [\n  ]\n}\n".to_vec(),
            "JSON over several lines",
            "jq -c . k.json",
        ),
    ]
}

#[test]
fn what_holds_no_records_is_one_error_that_says_what_reads_it() {
    let workspace = Workspace::new();
    let foreign = foreign();
    for (name, bytes, ..) in &foreign {
        workspace.write(name, bytes);
    }
    let inputs = workspace.files();
    for (name, bytes, kind, help) in &foreign {
        for command in ["compress", "count", "check", "show"] {
            let ran = workspace.run(&[command, name]).exits(2);
            let ran = ran
                .says(&format!("error: cannot read {name}: it is {kind}"))
                .says(help);
            assert_eq!(
                (ran.stderr.lines().count(), ran.stdout.len()),
                (2, 0),
                "{}",
                ran.stderr
            );
        }
        for to in [&["-"][..], &["-", "-o", "out.jsonl"]] {
            let ran = workspace.compress_stdin(to, bytes).exits(2);
            ran.says(&format!("error: cannot read -: it is {kind}"));
        }
    }
    // Nothing was begun, so nothing is left behind.
    assert_eq!(workspace.files(), inputs);
    workspace.write("data/good.jsonl", short("a"));
    workspace.write("data/log.jsonl", &foreign[4].1);
    workspace
        .compress(&["data", "-o", "out/"])
        .exits(2)
        .says("data/log.jsonl");
    assert!(!workspace.exists("out"));
}

#[test]
fn sessions_that_were_made_records_are_read() {
    let turns = r#"[{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "text", "text": "y"}]}]"#;
    let record = format!(r#"{{"type": "session", "sessionId": "s", "messages": {turns}}}"#);
    let workspace = Workspace::with_input(&record);
    workspace.compress(&["in.jsonl", "-o", "out.jsonl"]).exits(0);
    assert_eq!(workspace.text("out.jsonl"), record);
}

#[test]
fn complaints_that_say_the_same_are_one_line_with_a_count() {
    let workspace = Workspace::with_input([&b"{\"text\": \"no turns\"}\n".repeat(100)[..], b"{\n"].concat());
    workspace.write("other.jsonl", workspace.read("in.jsonl"));
    for arguments in [
        &["count", "in.jsonl"][..],
        &["check", "in.jsonl"],
        &["check", "--against", "in.jsonl", "other.jsonl"],
    ] {
        let ran = workspace.run(arguments);
        let said = String::from_utf8(ran.stdout).unwrap();
        let told: Vec<&str> = said.lines().filter(|line| line.contains(".jsonl:")).collect();
        assert_eq!(told.len(), 2, "{said}");
        assert!(
            told[0].contains(".jsonl:1: no_trajectory") && told[0].ends_with("(100 records)"),
            "{said}"
        );
        assert!(told[1].contains(".jsonl:101: invalid_json"), "{said}");
        assert!(!said.contains(" more"), "{said}");
    }
}
