//! The layers of the configuration, from the outside: files, environment, flags, and what is wrong with them.

use std::path::{Path, PathBuf};

use trajfit::internals::config::{
    Config, ConfigError, ConfigKey, KEYS, MachineFormat, OverLimit, PerTrajectory, Resolved, SettingOrigin,
    Sources, Value, ValueKind,
};

fn config_file(folder: &Path, name: &str, text: &str) -> Sources {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    Sources {
        file: Some(path),
        ..Sources::default()
    }
}

fn resolve_yaml(text: &str) -> Result<Resolved, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    config_file(folder.path(), "run.yaml", text).resolve()
}

fn flags(given: &[(&str, &str)]) -> Sources {
    let flags = given
        .iter()
        .map(|(path, text)| (ConfigKey::by_path(path).unwrap(), (*text).to_owned()))
        .collect();
    Sources {
        flags,
        ..Sources::default()
    }
}

fn help(error: &ConfigError) -> String {
    error.help().unwrap_or_default()
}

#[test]
fn without_any_layer_the_defaults_stand() {
    let resolved = Sources::default().resolve().unwrap();
    assert_eq!(resolved.config, Config::default());
    assert!(resolved.warnings.is_empty());
    assert!(
        KEYS.iter()
            .all(|key| *resolved.provenance.origin(key) == SettingOrigin::Default)
    );
}

#[test]
fn a_file_of_the_predecessor_works_unchanged() {
    let path = PathBuf::from("tests/cmd/config.in/predecessor.yaml");
    let resolved = Sources {
        file: Some(path),
        ..Sources::default()
    }
    .resolve()
    .unwrap();
    let config = resolved.config;
    assert_eq!(config.tokenizer.name, "moonshotai/Kimi-K2-Thinking");
    assert_eq!(config.compression.target_max_tokens, 29_000);
    assert_eq!(config.compression.over_limit, OverLimit::Reject);
    assert_eq!(config.processing.jobs, 4);
    assert!((config.summarization.retry_delay - 2.0).abs() < f64::EPSILON);
    assert!(config.output.summary_notice_text.starts_with("\n\nSome"));
    assert_eq!(config.metrics.per_trajectory, PerTrajectory::Compressed);
    let warned: Vec<&str> = resolved
        .warnings
        .iter()
        .map(|warning| warning.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        warned,
        [
            "tokenizer.trust_remote_code",
            "processing.skip_under_target",
            "processing.per_trajectory_timeout",
            "metrics.output_file",
            "summarization.model,",
        ]
    );
    let network = resolved.warnings.last().unwrap();
    assert!(network.contains("summarization.base_url") && network.contains("max_concurrent_requests"));
    assert!(
        network.ends_with("have no effect with the summarizer extractive"),
        "{network}"
    );
}

#[test]
fn saving_over_limit_yields_to_an_explicit_choice() {
    let text = "processing: {save_over_limit: false}\ncompression: {over_limit: fail}\n";
    assert_eq!(
        resolve_yaml(text).unwrap().config.compression.over_limit,
        OverLimit::Fail
    );
    let flag = flags(&[("compression.over_limit", "keep")]);
    let folder = tempfile::tempdir().unwrap();
    let file = config_file(folder.path(), "a.yaml", "processing: {save_over_limit: false}\n");
    let both = Sources {
        file: file.file,
        ..flag
    }
    .resolve()
    .unwrap();
    assert_eq!(both.config.compression.over_limit, OverLimit::Keep);
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[compression]\ntarget_max_tokens = 1000\nmax_passes = 2\nsummary_target_tokens = 100\n";
    let file = config_file(folder.path(), "run.toml", text);
    let environment = vec![
        ("TRAJFIT_TARGET_MAX_TOKENS".into(), "2000".into()),
        ("TRAJFIT_MAX_PASSES".into(), "4".into()),
        ("TRAJFIT_JOBS".into(), "".into()),
        ("PATH".into(), "/bin".into()),
    ];
    let flags = flags(&[("compression.target_max_tokens", "3000")]).flags;
    let resolved = Sources {
        environment,
        flags,
        ..file.clone()
    }
    .resolve()
    .unwrap();
    let compression = &resolved.config.compression;
    let values = (
        compression.target_max_tokens,
        compression.max_passes,
        compression.summary_target_tokens,
    );
    assert_eq!(values, (3000, 4, 100));
    assert!(resolved.warnings.is_empty());
    let origin = |path| {
        resolved
            .provenance
            .origin(ConfigKey::by_path(path).unwrap())
            .clone()
    };
    assert_eq!(
        origin("compression.target_max_tokens"),
        SettingOrigin::Flag("max-tokens")
    );
    assert_eq!(
        origin("compression.max_passes"),
        SettingOrigin::Environment("TRAJFIT_MAX_PASSES".into())
    );
    assert_eq!(
        origin("compression.summary_target_tokens"),
        SettingOrigin::File(file.file.unwrap())
    );
    assert_eq!(origin("processing.jobs"), SettingOrigin::Default);
}

#[test]
fn an_unknown_key_is_an_error_that_names_file_key_and_nearest() {
    let error = resolve_yaml("compression:\n  target_max_token: 5\n").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("unknown key compression.target_max_token (file "),
        "{error}"
    );
    assert!(error.to_string().ends_with("run.yaml)"), "{error}");
    assert_eq!(help(&error), "did you mean compression.target_max_tokens?");
    let error = resolve_yaml("zzz: 1\n").unwrap_err();
    assert_eq!(help(&error), "`trajfit config` lists every key");
}

#[test]
fn an_unknown_variable_is_a_warning_that_names_the_nearest() {
    let environment = vec![("TRAJFIT_TARGET_MAX_TOKEN".into(), "8000".into())];
    let resolved = Sources {
        environment,
        ..Sources::default()
    }
    .resolve()
    .unwrap();
    assert_eq!(
        resolved.unknown_variables,
        [
            "the environment variable TRAJFIT_TARGET_MAX_TOKEN has no effect; did you mean TRAJFIT_TARGET_MAX_TOKENS?"
        ]
    );
}

#[test]
fn a_name_that_is_not_built_is_unknown_and_the_known_ones_are_listed() {
    for (path, name) in [
        ("compression.strategy", "truncate"),
        ("summarization.summarizer", "oracle"),
    ] {
        let error = flags(&[(path, name)]).resolve().unwrap_err();
        assert!(matches!(error, ConfigError::UnknownValue { .. }), "{error}");
        assert!(help(&error).starts_with("known values: "), "{}", help(&error));
    }
    let error = flags(&[("compression.over_limit", "rejct")])
        .resolve()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown value \"rejct\" for compression.over_limit (flag --over-limit)"
    );
    assert_eq!(
        help(&error),
        "did you mean reject? Known values: keep, reject, fail"
    );
}

#[test]
fn values_that_make_no_sense_are_refused_with_their_origin() {
    for (path, value, part) in [
        ("compression.target_max_tokens", "0", "at least 1"),
        ("compression.summary_target_tokens", "19", "at least 20"),
        (
            "compression.summary_target_tokens",
            "15250",
            "less than compression.target_max_tokens, 15250",
        ),
        (
            "compression.summary_max_tokens",
            "749",
            "at least compression.summary_target_tokens, 750",
        ),
        ("compression.max_passes", "0", "at least 1"),
        ("protected_turns.tail_tokens", "15250", "less than"),
        ("summarization.temperature", "2.1", "from 0 to 2"),
        ("summarization.retry_delay", "-1", "from 0 to 3600"),
        ("output.output_suffix", "a/b", "file name"),
        ("processing.jobs", "1025", "at most 1024"),
        ("processing.max_concurrent_requests", "0", "at least 1"),
        ("redaction.kept_turns", "true", "never changed"),
    ] {
        let error = flags(&[(path, value)]).resolve().unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("{path} is {value} (flag --")),
            "{message}"
        );
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_default_that_a_flag_makes_senseless_is_named_as_a_default() {
    let error = flags(&[("compression.target_max_tokens", "15")])
        .resolve()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "compression.summary_target_tokens is 20 (default), but it must be less than compression.target_max_tokens, 15"
    );
    assert_eq!(
        help(&error),
        "set it with --summary-target-tokens, or as compression.summary_target_tokens in the configuration file"
    );
    // Where there are no summaries, what they should cost is no matter.
    let masking = [
        ("compression.target_max_tokens", "15"),
        ("compression.strategy", "mask"),
    ];
    assert!(flags(&masking).resolve().is_ok());
}

#[test]
fn values_of_the_wrong_kind_are_shown_as_given() {
    for (text, expected) in [
        (
            "compression: {target_max_tokens: many}",
            "must be a whole number, not \"many\"",
        ),
        (
            "compression: {target_max_tokens: 1.5}",
            "must be a whole number, not 1.5",
        ),
        (
            "compression: {target_max_tokens: -5}",
            "must be a whole number, not -5",
        ),
        (
            "compression: {target_max_tokens: [1]}",
            "must be a whole number, not a list",
        ),
        ("compression: {strategy: 5}", "must be a name, not 5"),
        (
            "protected_turns: {first_gpt: maybe}",
            "must be true or false, not \"maybe\"",
        ),
        (
            "processing: {save_over_limit: maybe}",
            "must be true or false, not maybe",
        ),
    ] {
        let message = resolve_yaml(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn null_and_empty_sections_leave_the_defaults() {
    let text = "compression:\n  target_max_tokens: null\n  summary_max_tokens: ~\nmetrics:\n";
    let resolved = resolve_yaml(text).unwrap();
    assert_eq!(resolved.config, Config::default());
    let key = ConfigKey::by_path("compression.target_max_tokens").unwrap();
    assert_eq!(resolved.provenance.origin(key), &SettingOrigin::Default);
    assert!(resolve_yaml("compression: 5\n").is_err());
}

#[test]
fn a_key_and_its_alias_together_are_refused() {
    let error = resolve_yaml("processing: {jobs: 2, num_workers: 4}\n").unwrap_err();
    assert!(
        error.to_string().starts_with("processing.jobs is given twice"),
        "{error}"
    );
    assert!(resolve_yaml("metrics: {enabled: true}\nmetrics: {enabled: false}\n").is_err());
}

#[test]
fn files_that_are_missing_or_of_an_unknown_kind_are_named() {
    let missing = Sources {
        file: Some("no/such.yaml".into()),
        ..Sources::default()
    };
    let message = missing.resolve().unwrap_err().to_string();
    assert!(
        message.starts_with("cannot read the configuration file no/such.yaml: "),
        "{message}"
    );
    let folder = tempfile::tempdir().unwrap();
    let error = config_file(folder.path(), "run.ini", "").resolve().unwrap_err();
    assert_eq!(help(&error), "name it .yaml, .yml, .toml or .json");
    let error = config_file(folder.path(), "run.toml", "[compression\n")
        .resolve()
        .unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
}

#[test]
fn the_machine_form_of_any_configuration_reads_back_as_itself() {
    let mut config = Config::default();
    config.compression.target_max_tokens = 8000;
    config.compression.summary_max_tokens = Some(900);
    config.summarization.model = Some("a: #b".to_owned());
    config.summarization.retry_delay = 2.0;
    config.output.summary_notice_text =
        "\n\n\"quoted\" \\ \u{7f}\u{85}\u{feff}\0 tab\t 你好 🙂 - { # ".to_owned();
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("a.yaml", MachineFormat::Yaml),
        ("a.toml", MachineFormat::Toml),
        ("a.json", MachineFormat::Json),
    ] {
        let read_back = config_file(folder.path(), name, &config.to_machine(format)).resolve();
        assert_eq!(read_back.unwrap().config, config, "{name}");
    }
}

#[test]
fn every_flag_takes_its_environment_variable_to_the_same_effect() {
    for key in KEYS {
        let default = key.value(&Config::default());
        let text = if key.kind() == ValueKind::Object {
            "{\"a\":\"b\"}".to_owned()
        } else if key.path == "compression.min_grounding" {
            "0.99".to_owned()
        } else if let (ValueKind::Name([name, ..]), Value::Null) = (key.kind(), &default) {
            (*name).to_owned()
        } else if key.kind() == ValueKind::Mark {
            "train".to_owned()
        } else if default == Value::Null {
            "100000".to_owned()
        } else {
            default.to_string()
        };
        let environment = vec![(key.variable().into(), text.clone().into())];
        let from_environment = Sources {
            environment,
            ..Sources::default()
        }
        .resolve()
        .unwrap();
        let from_flag = Sources {
            flags: vec![(key, text)],
            ..Sources::default()
        }
        .resolve()
        .unwrap();
        assert_eq!(from_environment.config, from_flag.config, "{key:?}");
        assert!(from_flag.provenance.is_given(key));
    }
}
