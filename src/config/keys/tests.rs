//! The table of keys: no name twice, every default readable, near misses found.

use std::collections::BTreeSet;

use super::*;

#[test]
fn no_two_keys_share_a_path_a_flag_or_a_variable() {
    let paths: BTreeSet<_> = KEYS.iter().map(|key| key.path).collect();
    let variables: BTreeSet<_> = KEYS.iter().map(ConfigKey::variable).collect();
    assert_eq!((paths.len(), variables.len()), (KEYS.len(), KEYS.len()));
}

#[test]
fn keys_of_a_section_stand_together() {
    let mut sections: Vec<_> = KEYS.iter().map(ConfigKey::section).collect();
    sections.dedup();
    let distinct: BTreeSet<_> = sections.iter().collect();
    assert_eq!(distinct.len(), sections.len());
}

#[test]
fn every_key_takes_its_own_default_back_as_text() {
    for key in KEYS {
        let mut config = Config::default();
        let default = key.value(&config);
        if default != Value::Null {
            assert!(
                key.assign(&mut config, &Value::Text(default.to_string())),
                "{key:?}"
            );
            assert_eq!(config, Config::default(), "{key:?}");
        }
    }
}

#[test]
fn the_nearest_key_is_found_by_spelling_and_by_place() {
    let nearest_path = |path| ConfigKey::nearest(path).map(|key| key.path);
    assert_eq!(
        nearest_path("compression.target_max_token"),
        Some("compression.target_max_tokens")
    );
    assert_eq!(
        nearest_path("compresion.target_max_tokens"),
        Some("compression.target_max_tokens")
    );
    assert_eq!(
        nearest_path("target_max_tokens"),
        Some("compression.target_max_tokens")
    );
    assert_eq!(nearest_path("last_n_turn"), Some("protected_turns.last_n_turns"));
    assert_eq!(nearest_path("xyzzy"), None);
}
