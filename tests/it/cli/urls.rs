//! A build without object stores says so, and how to get one with them.

use crate::support::cli::{Workspace, short};

#[test]
fn a_url_is_refused_with_the_way_to_a_build_that_takes_it() {
    let workspace = Workspace::with_input(short("a"));
    for arguments in [
        ["s3://bucket/in.jsonl", "-o", "out.jsonl"],
        ["https://127.0.0.1:1/in.jsonl", "-o", "out.jsonl"],
        ["in.jsonl", "-o", "s3://bucket/out.jsonl"],
        ["in.jsonl", "-o", "gs://bucket/out/"],
    ] {
        let ran = workspace.compress(&arguments).exits(2);
        ran.says("not read and written by this build")
            .says("--features stores");
    }
    assert_eq!(workspace.files(), ["in.jsonl"]);
}
