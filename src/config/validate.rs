//! What must hold between values, beyond their kinds.

use super::Config;
use super::error::ConfigError;
use super::keys::Key;
use super::provenance::Provenance;

/// No model charges an image near as much; sums of it stay far from overflow.
const MAX_IMAGE_TOKENS: usize = 1_000_000;

/// More threads than any machine has cores; beyond this, a run dies of thread creation instead of a message.
const MOST_JOBS: usize = 1024;

/// The smallest summary that can hold its marker and a line.
const SMALLEST_SUMMARY: usize = 20;

/// Checks the rules in table order and reports the first that is broken.
pub fn check(config: &Config, provenance: &Provenance) -> Result<(), ConfigError> {
    let compression = &config.compression;
    let rules = [
        (
            "tokenizer.name",
            !config.tokenizer.name.is_empty(),
            "it must name a tokenizer".to_owned(),
        ),
        at_least("compression.target_max_tokens", compression.target_max_tokens, 1),
        at_least(
            "compression.summary_target_tokens",
            compression.summary_target_tokens,
            SMALLEST_SUMMARY,
        ),
        (
            "compression.summary_target_tokens",
            compression.summary_target_tokens < compression.target_max_tokens,
            format!(
                "it must be less than compression.target_max_tokens, {}",
                compression.target_max_tokens
            ),
        ),
        (
            "compression.summary_max_tokens",
            config.summary_max_tokens() >= compression.summary_target_tokens,
            format!(
                "it must be at least compression.summary_target_tokens, {}",
                compression.summary_target_tokens
            ),
        ),
        at_least("compression.max_passes", compression.max_passes, 1),
        (
            "protected_turns.tail_tokens",
            config.protected_turns.tail_tokens < compression.target_max_tokens,
            format!(
                "it must be less than compression.target_max_tokens, {}",
                compression.target_max_tokens
            ),
        ),
        (
            "summarization.temperature",
            (0.0..=2.0).contains(&config.summarization.temperature),
            "it must be from 0 to 2".to_owned(),
        ),
        (
            "summarization.retry_delay",
            (0.0..=3600.0).contains(&config.summarization.retry_delay),
            "it must be from 0 to 3600 seconds".to_owned(),
        ),
        (
            "output.output_suffix",
            is_file_name_part(&config.output.output_suffix),
            "it must be part of a file name: not empty, without path separators".to_owned(),
        ),
        (
            "processing.jobs",
            config.processing.jobs <= MOST_JOBS,
            format!("it must be at most {MOST_JOBS}; 0 takes all cores"),
        ),
        at_least(
            "processing.max_concurrent_requests",
            config.processing.max_concurrent_requests,
            1,
        ),
        (
            "tokenizer.image_tokens",
            config.tokenizer.image_tokens <= MAX_IMAGE_TOKENS,
            format!("at most {MAX_IMAGE_TOKENS}"),
        ),
        (
            "redaction.kept_turns",
            !config.redaction.kept_turns,
            "kept turns are never changed by this version".to_owned(),
        ),
    ];
    for (path, holds, rule) in rules {
        if let (false, Some(key)) = (holds, Key::by_path(path)) {
            let value = key.value(config).to_string();
            let value = if value.is_empty() {
                "empty".to_owned()
            } else {
                value
            };
            return Err(ConfigError::OutOfRange {
                key: key.path,
                value,
                origin: provenance.origin(key).clone(),
                rule,
            });
        }
    }
    Ok(())
}

fn at_least(path: &'static str, value: usize, least: usize) -> (&'static str, bool, String) {
    (path, value >= least, format!("it must be at least {least}"))
}

fn is_file_name_part(suffix: &str) -> bool {
    !suffix.is_empty() && !suffix.contains(['/', '\\', '\0'])
}
