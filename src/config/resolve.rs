//! The layers: defaults, then file, environment and flags, each over the one before.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::keys::{ConfigKey, KEYS, Secrecy};
use super::predecessor::{self, PredecessorKey};
use super::provenance::{Provenance, SettingOrigin};
use super::value::{Value, ValueKind};
use super::{Config, file, validate};
use crate::names::nearest;

/// The inputs of the layers above the defaults.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// The environment; variables that do not start with `TRAJFIT_` are ignored.
    pub environment: Vec<(OsString, OsString)>,
    /// The flags given, with their values as text.
    pub flags: Vec<(&'static ConfigKey, String)>,
}

/// A validated configuration, with its provenance and warnings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolved {
    /// The effective values.
    pub config: Config,
    /// The origin of each value.
    pub provenance: Provenance,
    /// Keys that were given but have no effect: a sentence each, in a fixed order.
    pub warnings: Vec<String>,
    /// The same for environment variables that belong to no key.
    pub unknown_variables: Vec<String>,
    /// The settings that the trainer made, in one line; none without a trainer.
    pub trainer_note: Option<String>,
}

impl Sources {
    /// Applies the layers in order and validates the result.
    pub fn resolve(&self) -> Result<Resolved, ConfigError> {
        let mut resolved = Resolved::default();
        if let Some(path) = &self.file {
            resolved.apply_file(path)?;
        }
        resolved.apply_environment(&self.environment)?;
        for (key, text) in &self.flags {
            resolved.set(key, &Value::Text(text.clone()), SettingOrigin::Flag(key.flag))?;
        }
        resolved.fill_from_trainer();
        resolved.fill_summary_target();
        validate::check(&resolved.config, &resolved.provenance)?;
        resolved.warn_of_idle_network_keys();
        Ok(resolved)
    }
}

impl Resolved {
    /// All warnings: keys without effect, then unknown variables.
    pub fn all_warnings(&self) -> Vec<String> {
        [&self.warnings[..], &self.unknown_variables].concat()
    }

    /// Sets these keys if no layer gave the first of them; their origin stays as it is.
    pub fn preset(&mut self, values: &[(&str, Value)]) {
        let key_of = |path: &str| ConfigKey::by_path(path);
        let first = values.first().and_then(|(path, _)| key_of(path));
        if first.is_none_or(|key| self.provenance.is_given(key)) {
            return;
        }
        for (key, value) in values
            .iter()
            .filter_map(|(path, value)| Some((key_of(path)?, value)))
        {
            let _ = key.assign(&mut self.config, value);
        }
    }

    fn set(
        &mut self,
        key: &'static ConfigKey,
        value: &Value,
        origin: SettingOrigin,
    ) -> Result<(), ConfigError> {
        if *value == Value::Null {
            return Ok(());
        }
        if key.assign(&mut self.config, value) {
            self.provenance.record(key, origin);
            return Ok(());
        }
        Err(match (key.kind(), value) {
            (ValueKind::Name(known), Value::Text(text)) => ConfigError::UnknownValue {
                key: key.path,
                value: text.clone(),
                origin,
                known,
                nearest: nearest(text, known.iter().copied()),
            },
            (kind, value) => ConfigError::WrongKind {
                key: key.path,
                expected: kind.expected(),
                value: match value {
                    _ if key.secrecy != Secrecy::None => "a value that is not repeated here".to_owned(),
                    Value::Text(text) => format!("{text:?}"),
                    other => other.to_string(),
                },
                origin,
            },
        })
    }

    fn apply_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let origin = SettingOrigin::File(path.to_owned());
        let mut seen = Vec::new();
        let mut over_limit = None;
        for (given, value) in file::read(path)? {
            let name = predecessor::alias(&given).unwrap_or(&given).to_owned();
            if seen.contains(&name) {
                return Err(ConfigError::Twice { key: name, origin });
            }
            if let Some(key) = ConfigKey::by_path(&name) {
                self.set(key, &value, origin.clone())?;
            } else if let Some(meaning) = predecessor::meaning(&name, &value, &origin) {
                match meaning? {
                    PredecessorKey::Nothing => {}
                    PredecessorKey::Warning(warning) => self.warnings.push(warning),
                    PredecessorKey::OverLimit(choice) => over_limit = Some(choice),
                }
            } else if value != Value::Null || !is_section(&name) {
                let nearest = ConfigKey::nearest(&name).map(|key| key.path);
                return Err(ConfigError::UnknownKey {
                    key: name,
                    origin,
                    nearest,
                });
            }
            seen.push(name);
        }
        if let (Some(choice), Some(key)) = (over_limit, ConfigKey::by_path("compression.over_limit"))
            && !self.provenance.is_given(key)
        {
            self.set(key, &Value::Text(choice.to_string()), origin)?;
        }
        Ok(())
    }

    fn apply_environment(&mut self, environment: &[(OsString, OsString)]) -> Result<(), ConfigError> {
        let mut unknown = Vec::new();
        for (variable, text) in environment {
            let Some(variable) = variable.to_str().filter(|name| name.starts_with("TRAJFIT_")) else {
                continue;
            };
            let Some(key) = KEYS
                .iter()
                .find(|key| key.variables().any(|name| name == variable))
            else {
                unknown.push(variable);
                continue;
            };
            let origin = SettingOrigin::Environment(variable.to_owned());
            match text.to_str() {
                // CI systems set variables to an empty value instead of leaving them out.
                Some("") => {}
                Some(text) => self.set(key, &Value::Text(text.to_owned()), origin)?,
                None => {
                    let (expected, value) = ("valid UTF-8", text.to_string_lossy().into_owned());
                    return Err(ConfigError::WrongKind {
                        key: key.path,
                        expected,
                        value,
                        origin,
                    });
                }
            }
        }
        unknown.sort_unstable();
        let variables: Vec<String> = KEYS.iter().map(ConfigKey::variable).collect();
        for variable in unknown {
            // Not an error: a wrapper script may have variables of its own under this prefix.
            let meant = nearest(variable, variables.iter().map(String::as_str))
                .map_or_else(String::new, |near| format!("; did you mean {near}?"));
            self.unknown_variables.push(format!(
                "the environment variable {variable} has no effect{meant}"
            ));
        }
        Ok(())
    }

    fn fill_summary_target(&mut self) {
        let key = ConfigKey::by_path("compression.summary_target_tokens");
        if key.is_some_and(|key| !self.provenance.is_given(key)) {
            self.config.compression.summary_target_tokens = self.config.default_summary_target_tokens();
        }
    }

    fn warn_of_idle_network_keys(&mut self) {
        let summarizer = self.config.summarization.summarizer;
        let idle: Vec<&str> = KEYS
            .iter()
            .filter(|key| key.is_idle(&self.config) && self.provenance.is_given(key))
            .map(|key| key.path)
            .collect();
        if !idle.is_empty() {
            let verb = if idle.len() == 1 { "has" } else { "have" };
            let idle = idle.join(", ");
            self.warnings.push(format!(
                "{idle} {verb} no effect with the summarizer {summarizer}"
            ));
        }
    }
}

fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.section() == name)
}
