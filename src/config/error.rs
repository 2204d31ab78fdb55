//! Errors of a configuration, and advice on how to solve them.

use std::path::PathBuf;

use super::provenance::SettingOrigin;

/// An error in the configuration. All of them end the program with exit code 2.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
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
        /// The message of the parser, with the line number.
        cause: String,
    },
    /// No key has that name.
    #[error("unknown key {key} ({origin})")]
    UnknownKey {
        /// The key as given.
        key: String,
        /// The source of the key.
        origin: SettingOrigin,
        /// The most similar known key.
        nearest: Option<&'static str>,
    },
    /// A key, or the key and its alias, stands twice in the file.
    #[error("{key} is given twice ({origin})")]
    Twice {
        /// The key.
        key: String,
        /// The source of the key.
        origin: SettingOrigin,
    },
    /// The key takes one of a set of names, and the value is none of them.
    #[error("unknown value {value:?} for {key} ({origin})")]
    UnknownValue {
        /// The key.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The source of the value.
        origin: SettingOrigin,
        /// The names that the key takes.
        known: &'static [&'static str],
        /// The most similar of these names.
        nearest: Option<&'static str>,
    },
    /// The value is of another kind than the key.
    #[error("{key} must be {expected}, not {value} ({origin})")]
    WrongKind {
        /// The key.
        key: &'static str,
        /// The kind of value that the key takes.
        expected: &'static str,
        /// The value as given, quoted where it is text.
        value: String,
        /// The source of the value.
        origin: SettingOrigin,
    },
    /// The value is of the right kind, but breaks a rule.
    #[error("{key} is {value} ({origin}), but {rule}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The source of the value.
        origin: SettingOrigin,
        /// The rule that it breaks: `it must be …`.
        rule: String,
    },
}

impl ConfigError {
    /// Advice on how to solve the error; none for some errors.
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
                let flag = super::ConfigKey::by_path(key)?.flag;
                Some(format!(
                    "set it with --{flag}, or as {key} in the configuration file"
                ))
            }
        }
    }
}
