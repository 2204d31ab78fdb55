//! The origin of each value of a configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::keys::ConfigKey;

/// The layer that gave a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// No layer gave one.
    Default,
    /// The trainer that is set.
    Trainer(&'static str),
    /// The configuration file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag, without the dashes.
    Flag(&'static str),
}

/// The origin of every key's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    given: BTreeMap<&'static str, SettingOrigin>,
}

impl Provenance {
    /// The origin of that key's value.
    pub fn origin(&self, key: &ConfigKey) -> &SettingOrigin {
        self.given.get(key.path).unwrap_or(&SettingOrigin::Default)
    }

    /// Returns true if some layer gave that key a value.
    pub fn is_given(&self, key: &ConfigKey) -> bool {
        self.given.contains_key(key.path)
    }

    pub(super) fn record(&mut self, key: &ConfigKey, origin: SettingOrigin) {
        self.given.insert(key.path, origin);
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Trainer(name) => write!(formatter, "trainer {name}"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Environment(variable) => write!(formatter, "env {variable}"),
            Self::Flag(flag) => write!(formatter, "flag --{flag}"),
        }
    }
}
