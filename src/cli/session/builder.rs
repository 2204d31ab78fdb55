//! Settings become a session: configuration resolved, tokenizer loaded, summarizer made.

use std::path::PathBuf;
use std::sync::Mutex;

use super::core::{EndOfSummaries, Session};
use super::error::{SessionError, SessionErrorKind};
use crate::cache::CacheAccess;
use crate::cli::runs::running;
use crate::cli::runs::summarizer::{self, StoredAnswers};
use crate::cli::settings::Settings;
use crate::config::{ConfigKey, KEYS, Sources};
use crate::names::nearest;

/// The settings of a [`Session`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SessionBuilder {
    sources: Sources,
}

impl Session {
    /// A builder with the defaults of the command line. The environment is not read.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }
}

impl SessionBuilder {
    /// Sets the configuration file: YAML, TOML or JSON, by its name.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.file = Some(path.into());
        self
    }

    /// Sets a key of the configuration, which goes before the file: its path (`compression.target_max_tokens`), the last part
    /// of that, or its flag without dashes (`max_tokens`). The value is the text that the flag takes.
    ///
    /// # Errors
    ///
    /// There is no such key, or several.
    pub fn set(mut self, key: &str, value: &str) -> Result<Self, SessionError> {
        let key = key_of(key)?;
        self.sources.flags.push((key, value.to_owned()));
        Ok(self)
    }

    /// Resolves the configuration, and loads what it names.
    ///
    /// # Errors
    ///
    /// A setting is wrong, a tokenizer or template cannot be loaded, or the summarizer is not ready.
    pub fn build(self) -> Result<Session, SessionError> {
        let resolved = self.sources.resolve()?;
        let settings = Settings::of(&resolved);
        let counter = running::tokenizer(&settings)?;
        let stored = StoredAnswers {
            beside: None,
            access: CacheAccess::Keep,
            quiet: true,
        };
        let chosen = summarizer::configured(&settings, stored, &counter)?;
        let template = running::template(&settings)?;
        chosen.summarizer.prepare().map_err(|refused| SessionError {
            kind: SessionErrorKind::Usage,
            message: refused.message,
            help: Some(refused.help),
        })?;
        Ok(Session {
            end: EndOfSummaries::of(&chosen.summarizer),
            resolved,
            settings,
            chosen,
            template,
            pool: Mutex::default(),
        })
    }
}

/// The key with this path, flag or last part of the path. Flags go first: they are what help and pages name.
fn key_of(name: &str) -> Result<&'static ConfigKey, SessionError> {
    let flag = name.replace('_', "-");
    let has_flag = |key: &&ConfigKey| [Some(key.flag), key.alias, key.former].contains(&Some(&*flag));
    let last = |key: &&ConfigKey| key.path.rsplit('.').next() == Some(name);
    if let Some(key) = ConfigKey::by_path(name).or_else(|| KEYS.iter().find(has_flag)) {
        return Ok(key);
    }
    let named: Vec<&'static ConfigKey> = KEYS.iter().filter(last).collect();
    if let [key] = named.as_slice() {
        return Ok(key);
    }
    let help = match (named.is_empty(), nearest(&flag, KEYS.iter().map(|key| key.flag))) {
        (false, _) => {
            let paths: Vec<&str> = named.iter().map(|key| key.path).collect();
            format!("name it with its section: {}", paths.join(", "))
        }
        (true, Some(nearest)) => format!("did you mean {}?", nearest.replace('-', "_")),
        (true, None) => "trajfit config lists all keys".to_owned(),
    };
    Err(SessionError {
        kind: SessionErrorKind::Usage,
        message: format!("unknown key {name}"),
        help: Some(help),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_their_flags_and_paths() {
        for (name, path) in [
            ("max_tokens", "compression.target_max_tokens"),
            ("target_max_tokens", "compression.target_max_tokens"),
            ("compression.target_max_tokens", "compression.target_max_tokens"),
            ("tokenizer", "tokenizer.name"),
            ("format", "input.format"),
            ("jobs", "processing.jobs"),
            ("enabled", "redaction.enabled"),
        ] {
            assert_eq!(key_of(name).unwrap().path, path, "{name}");
        }
        let unknown = key_of("max_token").unwrap_err();
        assert_eq!(unknown.help.as_deref(), Some("did you mean max_tokens?"));
    }
}
