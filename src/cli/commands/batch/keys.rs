//! The configuration keys for which each batch command has flags.

use crate::cli::flags::key_flags::KeySet;
use crate::config::ConfigKey;

/// Keys about requests that are sent one by one.
const ONE_BY_ONE: [&str; 4] = [
    "summarization.summarizer",
    "summarization.rpm",
    "summarization.tpm",
    "processing.max_concurrent_requests",
];

/// Keys about sending requests.
const SENDING: [&str; 9] = [
    "summarization.api_key_env",
    "summarization.headers",
    "summarization.timeout",
    "summarization.retry_delay",
    "summarization.max_requests",
    "summarization.max_cost",
    "batch.max_enqueued_tokens",
    "batch.poll_interval",
    "batch.max_rounds",
];

/// Keys about writing the output.
const WRITING: [&str; 9] = [
    "summarization.on_failure",
    "compression.over_limit",
    "output.compress",
    "output.output_suffix",
    "output.rejects_file",
    "metrics.file",
    "metrics.summary_file",
    "metrics.csv_safe",
    "metrics.per_trajectory",
];

/// The keys that determine the requests.
#[derive(Debug, Clone)]
pub enum ExportKeys {}

/// The keys that determine the requests and the output.
#[derive(Debug, Clone)]
pub enum ApplyKeys {}

/// All keys but `ONE_BY_ONE`.
#[derive(Debug, Clone)]
pub enum BatchRunKeys {}

impl KeySet for ExportKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        ApplyKeys::key(key).filter(|key| !WRITING.contains(&key.path))
    }
}

impl KeySet for ApplyKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        BatchRunKeys::key(key).filter(|key| !SENDING.contains(&key.path))
    }
}

impl KeySet for BatchRunKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        (!ONE_BY_ONE.contains(&key.path)).then_some(*key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn what_is_left_out_is_a_key() {
        for path in ONE_BY_ONE.iter().chain(&SENDING).chain(&WRITING) {
            assert!(ConfigKey::by_path(path).is_some(), "{path}");
        }
        assert_eq!(BatchRunKeys::keys().count() + ONE_BY_ONE.len(), KEYS.len());
        assert_eq!(
            ApplyKeys::keys().count() + SENDING.len(),
            BatchRunKeys::keys().count()
        );
        assert_eq!(
            ExportKeys::keys().count() + WRITING.len(),
            ApplyKeys::keys().count()
        );
    }
}
