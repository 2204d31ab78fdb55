//! What can be wrong with a configuration, and what helps.

use std::path::PathBuf;

use super::provenance::Origin;

/// Why there is no valid configuration. All of them are exit code 2.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// The file is not of a kind that is known by its name.
    #[error("cannot tell what kind of configuration file {} is", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The file is not what its name says.
    #[error("cannot parse the configuration file {}: {cause}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What the parser says, with the line.
        cause: String,
    },
    /// No key has that name.
    #[error("unknown key {key} ({origin})")]
    UnknownKey {
        /// The key as given.
        key: String,
        /// Where it was given.
        origin: Origin,
        /// The key it resembles most.
        nearest: Option<&'static str>,
    },
    /// A key, or the key and its alias, stands twice in the file.
    #[error("{key} is given twice ({origin})")]
    Twice {
        /// The key.
        key: String,
        /// Where it was given.
        origin: Origin,
    },
    /// No choice of that key has that name.
    #[error("unknown value {value:?} for {key} ({origin})")]
    UnknownValue {
        /// The key.
        key: &'static str,
        /// The value as given.
        value: String,
        /// Where it was given.
        origin: Origin,
        /// The names there are.
        known: &'static [&'static str],
        /// The name it resembles most.
        nearest: Option<&'static str>,
    },
    /// The value is of another kind than the key.
    #[error("{key} must be {expected}, not {value} ({origin})")]
    WrongKind {
        /// The key.
        key: &'static str,
        /// What it takes.
        expected: &'static str,
        /// The value as given, quoted where it is text.
        value: String,
        /// Where it was given.
        origin: Origin,
    },
    /// The value is of the right kind, but makes no sense.
    #[error("{key} is {value} ({origin}), but {rule}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// Where it was given.
        origin: Origin,
        /// What must hold: `it must be …`.
        rule: String,
    },
}

impl ConfigError {
    /// What the user can do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Read { .. } => Some("--config takes a YAML, TOML or JSON file".to_owned()),
            Self::Extension { .. } => Some("name it .yaml, .yml, .toml or .json".to_owned()),
            Self::Parse { .. } | Self::WrongKind { .. } => None,
            Self::Twice { .. } => Some("keep one of them".to_owned()),
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean {nearest}?")),
            Self::UnknownKey { nearest: None, .. } => Some("`trajfit config` lists every key".to_owned()),
            Self::UnknownValue { known, nearest, .. } => {
                let known = known.join(", ");
                Some(match nearest {
                    Some(nearest) => format!("did you mean {nearest}? Known values: {known}"),
                    None => format!("known values: {known}"),
                })
            }
            Self::OutOfRange { key, .. } => {
                let flag = super::Key::by_path(key)?.flag;
                Some(format!(
                    "set it with --{flag}, or as {key} in the configuration file"
                ))
            }
        }
    }
}
