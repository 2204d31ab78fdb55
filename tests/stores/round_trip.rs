//! From objects to objects: the bytes of a run from files to files.

use std::io::Write;

use trajfit::internals::metrics::{Row, read_rows};

use super::s3::S3;
use crate::support::cli::{Ran, Workspace, fixture_bytes, many_runs, short};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The rows of metrics without the name of the input and the time taken.
fn rows(metrics: &[u8]) -> Vec<Row> {
    let rows = read_rows(metrics).map(|row| Row {
        source: String::new(),
        duration_ms: 0.0,
        ..row.unwrap()
    });
    rows.collect()
}

#[test]
fn objects_in_and_objects_out_are_as_files_in_and_files_out() {
    let Some(mut s3) = S3::start() else { return };
    let runs = fixture_bytes("agent_runs.jsonl");
    let workspace = Workspace::with_input(&runs);
    workspace.write("in.jsonl.gz", gzip(&runs));
    s3.put("raw/a b%20é#?+.jsonl", &runs);
    s3.put("raw/c.jsonl.gz", gzip(&runs));
    for (input, key, output) in [
        ("in.jsonl", "raw/a b%20é#?+.jsonl", "out.jsonl"),
        ("in.jsonl.gz", "raw/c.jsonl.gz", "zipped.jsonl.zst"),
    ] {
        workspace.compress(&[input, "-o", output]).exits(0);
        let stem = output.split('.').next().unwrap();
        let (input, url) = (format!("s3://data/{key}"), format!("s3://data/fitted/{output}"));
        let ran = s3.compress(&workspace, &[&input, "-o", &url]).exits(0).says(&url);
        ran.says(&format!("s3://data/fitted/{stem}.metrics.csv"));
        assert!(s3.get(&format!("fitted/{output}")) == workspace.read(output));
        let metrics = format!("{stem}.metrics.csv");
        let written = rows(&s3.get(&format!("fitted/{metrics}")));
        assert_eq!(written, rows(&workspace.read(&metrics)));
        let summary: serde_json::Value =
            serde_json::from_slice(&s3.get(&format!("fitted/{stem}.summary.json"))).unwrap();
        assert_eq!(summary["outputs"][0], url);
        assert_eq!(summary["sources"][0]["path"], input);
        // Files in, objects out, and the other way round.
        let local = format!("from-object-{output}");
        s3.compress(&workspace, &[&input, "-o", &local]).exits(0);
        assert_eq!(workspace.read(&local), workspace.read(output));
    }
    assert!(s3.uploads().is_empty());
    // Answers may be used again; nothing else is left on this machine.
    let home: Vec<String> = workspace
        .files()
        .into_iter()
        .filter(|file| file.starts_with("home"))
        .collect();
    assert!(home.is_empty(), "{home:?}");
    let again = s3
        .compress(&workspace, &["in.jsonl", "-o", "s3://data/fitted/out.jsonl"])
        .exits(2);
    again.says("the output s3://data/fitted/out.jsonl exists already");
}

#[test]
fn a_prefix_is_a_folder() {
    let Some(mut s3) = S3::start() else { return };
    let runs = fixture_bytes("agent_runs.jsonl");
    let workspace = Workspace::new();
    for (name, bytes) in [
        ("a.jsonl", runs.clone()),
        (
            "deep/er/b.jsonl",
            [short("b"), "\n{broken\n".to_owned()].concat().into_bytes(),
        ),
        ("empty.jsonl", Vec::new()),
        ("notes.txt", b"no data".to_vec()),
    ] {
        workspace.write(format!("in/{name}"), &bytes);
        s3.put(&format!("in/{name}"), bytes);
    }
    s3.put("in-other/x.jsonl", short("x"));
    workspace.compress(&["in", "-o", "out"]).exits(3);
    for (input, output) in [
        ("s3://data/in/", "s3://data/out/"),
        ("s3://data/in", "s3://data/out2"),
    ] {
        s3.compress(&workspace, &[input, "-o", output]).exits(3);
        let key = output.trim_start_matches("s3://data/").trim_end_matches('/');
        for name in ["a.jsonl", "deep/er/b.jsonl", "empty.jsonl"] {
            assert_eq!(
                s3.get(&format!("{key}/{name}")),
                workspace.read(format!("out/{name}")),
                "{name}"
            );
        }
        let objects = s3.objects();
        for ending in ["metrics.csv", "summary.json", "rejects.jsonl"] {
            assert!(objects.contains(&format!("{key}.{ending}")), "{objects:?}");
        }
    }
    // The output of a run is an input of the next; count reads objects as well.
    let mut count = s3.command(&workspace, &["count", "s3://data/out/"]);
    let counted = Ran::of(count.output().unwrap());
    assert_eq!(counted.status, Some(0), "{}", counted.stderr);
    let merged = s3.compress(
        &workspace,
        &[
            "s3://data/in/",
            "-o",
            "s3://data/merged.jsonl",
            "--report-dir",
            "reports",
        ],
    );
    merged.exits(3).says("reports/merged.metrics.csv");
    workspace.compress(&["in", "-o", "merged.jsonl"]).exits(3);
    assert_eq!(s3.get("merged.jsonl"), workspace.read("merged.jsonl"));
}

#[test]
fn an_output_of_several_parts_has_the_bytes_of_a_file() {
    let Some(mut s3) = S3::start() else { return };
    // Nothing of it is compressed: what is tested is the way of 39 MB.
    let input = many_runs(22);
    let workspace = Workspace::with_input(&input);
    s3.put("large.jsonl", &input);
    let budget = ["--max-tokens", "1m", "--no-cache"];
    s3.compress(
        &workspace,
        &[
            &["s3://data/large.jsonl", "-o", "s3://data/out.jsonl"],
            &budget[..],
        ]
        .concat(),
    )
    .exits(0);
    assert_eq!(s3.objects().len(), 4);
    assert!(s3.get("out.jsonl") == input);
}

/// Google's servers take requests of the same form, with a token in place of a signature.
#[test]
fn google_storage_is_read_and_written() {
    let Some(mut server) = S3::open() else { return };
    let input = many_runs(20);
    server.put("in/a b.jsonl", &input);
    let workspace = Workspace::new();
    let arguments = [
        "compress",
        "gs://data/in/",
        "-o",
        "gs://data/out/",
        "--max-tokens",
        "1m",
        "--no-cache",
    ];
    let command = |more: &[&str], token: &str| {
        let mut command = server.command(&workspace, &[&arguments, more].concat());
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("GOOGLE_") {
                command.env_remove(variable);
            }
        }
        command
            .env("GOOGLE_BASE_URL", &server.address)
            .env("GOOGLE_BEARER_TOKEN", token)
            .env("AWS_EC2_METADATA_DISABLED", "true");
        Ran::of(command.output().unwrap())
    };
    command(&[], "").exits(2).says("no credentials were found");
    let ran = command(&[], "secret-token")
        .exits(0)
        .says("gs://data/out/a b.jsonl");
    assert!(!ran.stderr.contains("secret-token"));
    assert!(server.get("out/a b.jsonl") == input);
    assert!(server.uploads().is_empty());
}

#[cfg(feature = "parquet")]
#[test]
fn rows_are_read_from_objects_and_written_to_objects() {
    let Some(mut s3) = S3::start() else { return };
    let workspace = Workspace::with_input(many_runs(4));
    for name in ["a.parquet", "b.arrow", "c.arrows"] {
        workspace
            .compress(&["in.jsonl", "-o", name, "--max-tokens", "1m"])
            .exits(0);
        s3.put(&format!("in/{name}"), workspace.read(name));
        let local = format!("fitted.{name}");
        workspace.compress(&[name, "-o", &local]).exits(0);
        let (input, output) = (format!("s3://data/in/{name}"), format!("s3://data/fitted.{name}"));
        let ran = s3.compress(
            &workspace,
            &[
                &input,
                "-o",
                &output,
                "--metrics",
                "s3://data/m.parquet",
                "--force",
            ],
        );
        ran.exits(0);
        assert!(
            s3.get(&format!("fitted.{name}")) == workspace.read(&local),
            "{name}"
        );
        assert!(s3.get("m.parquet").starts_with(b"PAR1"));
    }
    let mut count = s3.command(&workspace, &["count", "s3://data/in/"]);
    let counted = Ran::of(count.output().unwrap()).exits(0);
    assert!(String::from_utf8(counted.stdout).unwrap().contains("480"));
}
