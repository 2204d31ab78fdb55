//! Files, variables and flags: any text in them is a configuration or an error, never a panic, and names mean the same.

use proptest::prelude::*;
use trajfit::internals::config::{Config, KEYS, MachineFormat, Sources};

proptest! {
    #[test]
    fn any_text_is_a_configuration_file_or_an_error(
        text in prop_oneof![
            any::<String>(),
            "(compression|output|x)?(:|=|\\.| |\n|\\[|\\]|\\{|\\}|\"|'|&a|\\*a|!t|-|5|~|<<|max_passes){0,24}",
        ],
        name in prop_oneof![Just("a.yaml"), Just("a.toml"), Just("a.json")],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        if let Err(error) = (Sources { file: Some(path), ..Sources::default() }).resolve() {
            prop_assert!(!error.to_string().is_empty());
            let _ = error.help();
        }
    }

    #[test]
    fn any_value_of_any_key_is_taken_as_given_or_refused(index in 0..KEYS.len(), text in any::<String>()) {
        let key = &KEYS[index];
        let sources = Sources { flags: vec![(key, text)], ..Sources::default() };
        match sources.resolve() {
            Ok(resolved) => prop_assert!(resolved.provenance.is_given(key)),
            Err(error) => prop_assert!(error.to_string().contains(key.path)),
        }
    }

    #[test]
    fn any_notice_survives_the_machine_form(
        notice in any::<String>(),
        (name, format) in prop_oneof![
            Just(("a.yaml", MachineFormat::Yaml)),
            Just(("a.toml", MachineFormat::Toml)),
            Just(("a.json", MachineFormat::Json)),
        ],
    ) {
        let mut config = Config::default();
        config.output.summary_notice_text = notice;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, config.to_machine(format)).unwrap();
        let read_back = Sources { file: Some(path), ..Sources::default() }.resolve().unwrap();
        prop_assert_eq!(read_back.config, config);
    }
}

#[test]
fn the_budget_has_the_name_of_its_flag_in_files_and_variables_too() {
    let budget = |sources: Sources| sources.resolve().unwrap().config.compression.target_max_tokens;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, "compression: {max_tokens: 16k}").unwrap();
    let file = Sources {
        file: Some(path),
        ..Sources::default()
    };
    assert_eq!(budget(file), 16_000);
    let environment = vec![("TRAJFIT_MAX_TOKENS".into(), "9k".into())];
    assert_eq!(
        budget(Sources {
            environment,
            ..Sources::default()
        }),
        9_000
    );
}
