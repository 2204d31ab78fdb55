//! Tests from words on the command line to a run that can start, or to an error.

use clap::Parser;

use super::*;
use crate::cli::args::{Cli, Subcommands};
use crate::fit::FitSettings;

fn parse(words: &[&str]) -> Result<CompressOptions, CliError> {
    let cli = Cli::try_parse_from([&["trajfit", "compress"], words].concat())
        .map_err(|error| CliError::usage(error.to_string()))?;
    let Subcommands::Compress(args) = cli.command else {
        panic!("another command")
    };
    CompressOptions::new(*args)
}

fn message(words: &[&str]) -> String {
    parse(words).unwrap_err().message
}

#[test]
fn stdin_alone_goes_to_stdout_with_the_defaults() {
    let options = parse(&["-"]).unwrap();
    assert!(options.writes_stdout());
    assert_eq!(options.inputs, [PathBuf::from("-")]);
    assert_eq!((options.seed, options.limit, options.sample), (0, None, None));
    assert!(!options.dry_run && !options.resume && !options.force && !options.quiet && !options.verbose);
}

#[test]
fn the_library_has_the_defaults_of_the_command_line() {
    for (words, budget) in [
        (vec!["-"], 15_250),
        (vec!["-", "--target-max-tokens", "1000"], 1000),
    ] {
        let options = parse(&words).unwrap();
        assert_eq!(options.settings.fit, FitSettings::with_budget(budget, None));
    }
}

#[test]
fn flags_of_keys_arrive_in_the_configuration() {
    let options = parse(&[
        "-",
        "--target-max-tokens",
        "8000",
        "--first-gpt",
        "false",
        "--jobs=3",
        "--summary-notice-text=--",
    ])
    .unwrap();
    assert_eq!(options.settings.fit.target_max_tokens, 8000);
    assert!(!options.settings.fit.protection.first_gpt);
    assert_eq!(options.settings.jobs, 3);
    assert_eq!(options.settings.fit.notice.as_deref(), Some("--"));
}

#[test]
fn fail_over_limit_is_another_word_for_over_limit_fail() {
    assert_eq!(
        parse(&["-", "--fail-over-limit"])
            .unwrap()
            .settings
            .fit
            .over_limit,
        OverLimit::Fail
    );
    assert!(message(&["-", "--fail-over-limit", "--over-limit", "keep"]).contains("cannot be used with"));
}

#[test]
fn a_sample_is_over_zero_and_at_most_all() {
    assert_eq!(
        parse(&["-", "--sample", "2.5%", "--seed", "7"]).unwrap().sample,
        Some(2.5)
    );
    for wrong in ["0", "-1", "100.1", "NaN", "inf", "half", ""] {
        assert!(message(&["-", "--sample", wrong]).contains("--sample"), "{wrong}");
    }
    assert!(message(&["-", "--seed", "7"]).contains("--sample"));
    assert!(message(&["-", "--limit", "0"]).contains("--limit"));
}

#[test]
fn what_went_to_a_stream_cannot_be_resumed() {
    assert!(parse(&["-", "-o", "out.jsonl", "--resume"]).is_ok());
    assert!(message(&["Cargo.toml", "-o", "-", "--resume"]).contains("standard output"));
    assert!(parse(&["Cargo.toml", "-o", "out.jsonl", "--resume"]).is_ok());
}

#[test]
fn contradictions_are_wrong_usage() {
    for words in [
        ["-", "--resume", "--force"],
        ["-", "--resume", "--dry-run"],
        ["-", "--quiet", "--verbose"],
    ] {
        assert!(message(&words).contains("cannot be used with"), "{words:?}");
    }
}

#[test]
fn inputs_that_are_missing_or_given_twice_are_named() {
    assert_eq!(
        message(&["no/such.jsonl"]),
        "cannot read the input no/such.jsonl: no such file"
    );
    assert_eq!(message(&["-", "-"]), "the input - is given twice");
    assert_eq!(
        message(&["src", "-o", "-"]),
        "the directory src cannot be written to standard output"
    );
    assert!(message(&[]).contains("INPUT"));
}
