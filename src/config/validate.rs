//! Rules between values, beyond their kinds.

use super::Config;
use super::error::ConfigError;
use super::keys::ConfigKey;
use super::names::{OnInvalid, OutputArguments, OutputFormat, Strategy, SummarizerKind};
use super::place::OutputPath;
use super::provenance::Provenance;
use crate::fit::SMALLEST_SUMMARY_TARGET;

/// Far above what any model charges for an image, and small enough that sums cannot overflow.
const MAX_IMAGE_TOKENS: usize = 1_000_000;

/// More threads than any machine has cores; beyond this, a run dies of thread creation instead of a message.
const MOST_JOBS: usize = 1024;

/// Byte offsets in a record have 32 bits.
const MOST_RECORD_BYTES: u64 = 4_000_000_000;

/// Tokens of a context window for instructions and one turn, beside summaries.
const SMALLEST_WINDOW: usize = 2_000;

/// A key, whether its rule holds, and the rule in words.
type ValidationRule = (&'static str, bool, String);

/// Checks the rules in table order and reports the first that is broken.
pub fn check(config: &Config, provenance: &Provenance) -> Result<(), ConfigError> {
    for (path, holds, rule) in general_rules(config)
        .into_iter()
        .chain(form_rules(config))
        .chain(summary_rules(config))
        .chain(asking_rules(config))
        .chain(network_rules(config))
    {
        if let (false, Some(key)) = (holds, ConfigKey::by_path(path)) {
            // An address with a password is refused, and the message does not repeat it.
            let value = key.shown(config);
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

/// Rules for every summarizer.
fn general_rules(config: &Config) -> Vec<ValidationRule> {
    let compression = &config.compression;
    let summarization = &config.summarization;
    vec![
        (
            "tokenizer.name",
            !config.tokenizer.name.is_empty(),
            "it must name a tokenizer".to_owned(),
        ),
        at_least("compression.target_max_tokens", compression.target_max_tokens, 1),
        at_least("compression.max_passes", compression.max_passes, 1),
        (
            "input.max_record_bytes",
            (1..=MOST_RECORD_BYTES).contains(&config.input.max_record_bytes.0),
            "it must be from 1 byte to 4 GB".to_owned(),
        ),
        (
            "compression.min_grounding",
            compression
                .min_grounding
                .is_none_or(|least| (0.0..=1.0).contains(&least)),
            "it must be from 0 to 1".to_owned(),
        ),
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
            (0.0..=2.0).contains(&summarization.temperature),
            "it must be from 0 to 2".to_owned(),
        ),
        (
            "summarization.retry_delay",
            (0.0..=3600.0).contains(&summarization.retry_delay),
            "it must be from 0 to 3600 seconds".to_owned(),
        ),
        (
            "output.output_suffix",
            is_file_name_part(&config.output.output_suffix),
            "it must be part of a file name: not empty, without path separators".to_owned(),
        ),
        not_empty("output.report_dir", config.output.report_dir.as_deref()),
        not_empty("output.state_dir", config.output.state_dir.as_deref()),
        on_this_machine("output.state_dir", config.output.state_dir.as_deref()),
        on_this_machine(
            "summarization.cache",
            match &summarization.cache {
                OutputPath::Named(folder) => Some(folder),
                OutputPath::Auto | OutputPath::Off => None,
            },
        ),
        not_empty("output.rejects_file", config.output.rejects_file.as_deref()),
        not_empty("metrics.summary_file", config.metrics.summary_file.as_deref()),
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
    ]
}

/// Rules for the format of the output.
fn form_rules(config: &Config) -> Vec<ValidationRule> {
    vec![
        (
            "output.arguments",
            config.output.arguments == OutputArguments::Auto || config.output.format != OutputFormat::Same,
            "it needs output.format sharegpt or messages".to_owned(),
        ),
        (
            "output.join_text_parts",
            !config.output.join_text_parts || config.output.sanitize,
            "it needs output.sanitize".to_owned(),
        ),
        (
            "output.end_with_assistant",
            !config.output.end_with_assistant || config.output.sanitize,
            "it needs output.sanitize".to_owned(),
        ),
        (
            "input.on_invalid",
            config.input.on_invalid != OnInvalid::Pass || config.output.format == OutputFormat::Same,
            "records that cannot be read have no other form: output.format needs reject or fail".to_owned(),
        ),
    ]
}

/// Rules for the lengths of summaries.
fn summary_rules(config: &Config) -> Vec<ValidationRule> {
    let compression = &config.compression;
    vec![
        at_least(
            "compression.summary_target_tokens",
            compression.summary_target_tokens,
            SMALLEST_SUMMARY_TARGET,
        ),
        (
            "compression.summary_target_tokens",
            compression.strategy == Strategy::Mask
                || compression.summary_target_tokens < compression.target_max_tokens,
            format!(
                "it must be less than compression.target_max_tokens, {}",
                compression.target_max_tokens
            ),
        ),
        (
            "compression.summary_ratio",
            (0.0..1.0).contains(&compression.summary_ratio),
            "it must be from 0 to below 1".to_owned(),
        ),
        at_least(
            "compression.summary_min_tokens",
            config.summary_min_tokens(),
            SMALLEST_SUMMARY_TARGET,
        ),
        (
            "compression.summary_min_tokens",
            compression.strategy == Strategy::Mask
                || config.summary_min_tokens() < compression.target_max_tokens,
            format!(
                "it must be less than compression.target_max_tokens, {}",
                compression.target_max_tokens
            ),
        ),
        (
            "compression.summary_max_tokens",
            config.summary_max_tokens() >= config.summary_min_tokens(),
            format!(
                "it must be at least compression.{}, {}",
                if config.summary_min_tokens() == compression.summary_target_tokens {
                    "summary_target_tokens"
                } else {
                    "summary_min_tokens"
                },
                config.summary_min_tokens()
            ),
        ),
    ]
}

/// Rules for summarizers that send requests.
fn asking_rules(config: &Config) -> Vec<ValidationRule> {
    let summarization = &config.summarization;
    if !summarization.summarizer.asks() {
        return Vec::new();
    }
    vec![
        (
            "summarization.command",
            summarization.summarizer != SummarizerKind::Command || !summarization.command.0.is_empty(),
            "the summarizer command must know which program to start".to_owned(),
        ),
        (
            "summarization.timeout",
            summarization.timeout > 0.0 && summarization.timeout <= 86_400.0,
            "it must be more than 0 and at most 86400 seconds".to_owned(),
        ),
    ]
}

/// Rules for summarizers that use the network.
fn network_rules(config: &Config) -> Vec<ValidationRule> {
    let summarization = &config.summarization;
    if !summarization.summarizer.uses_network() {
        return Vec::new();
    }
    vec![
        (
            "summarization.model",
            summarization.model.is_some(),
            format!(
                "the summarizer {} must know which model to ask",
                summarization.summarizer
            ),
        ),
        (
            "summarization.base_url",
            is_address(config.base_url()),
            "it must be http:// or https:// with a host, and no key in it".to_owned(),
        ),
        (
            "summarization.headers",
            summarization.headers.0.values().all(serde_json::Value::is_string),
            "the values of headers must be texts".to_owned(),
        ),
        at_least(
            "summarization.context_window",
            summarization.context_window.unwrap_or(usize::MAX),
            SMALLEST_WINDOW + 4 * config.summary_target_max_tokens(),
        ),
        at_least(
            "summarization.max_output_tokens",
            summarization.max_output_tokens.unwrap_or(1),
            1,
        ),
        at_least(
            "batch.max_requests_per_file",
            config.batch.max_requests_per_file.unwrap_or(1),
            1,
        ),
        (
            "batch.max_file_size",
            config.batch.max_file_size.is_none_or(|megabytes| megabytes > 0.0),
            "it must be more than 0 megabytes".to_owned(),
        ),
        at_least(
            "batch.max_enqueued_tokens",
            config.batch.max_enqueued_tokens.unwrap_or(1),
            1,
        ),
        (
            "batch.poll_interval",
            (0.0..=86_400.0).contains(&config.batch.poll_interval),
            "it must be from 0 to 86400 seconds".to_owned(),
        ),
        at_least("batch.max_rounds", config.batch.max_rounds, 1),
        at_least("summarization.rpm", summarization.rpm.unwrap_or(1), 1),
        at_least("summarization.tpm", summarization.tpm.unwrap_or(1), 1),
        at_least(
            "summarization.max_requests",
            summarization.max_requests.unwrap_or(1),
            1,
        ),
        not_negative("summarization.price_prompt", summarization.price_prompt),
        not_negative("summarization.price_completion", summarization.price_completion),
        not_negative(
            "summarization.fallback_price_prompt",
            summarization.fallback_price_prompt,
        ),
        not_negative(
            "summarization.fallback_price_completion",
            summarization.fallback_price_completion,
        ),
        not_negative("summarization.max_cost", summarization.max_cost),
        (
            "summarization.max_cost",
            summarization.max_cost.is_none() || config.has_prices(),
            "without summarization.price_prompt or price_completion nobody knows what a request costs"
                .to_owned(),
        ),
    ]
}

fn at_least(path: &'static str, value: usize, least: usize) -> ValidationRule {
    (path, value >= least, format!("it must be at least {least}"))
}

fn not_empty(path: &'static str, value: Option<&str>) -> ValidationRule {
    (path, value != Some(""), "it must name a file".to_owned())
}

/// The rule for folders that are worked in: none of an object store.
fn on_this_machine(path: &'static str, value: Option<&str>) -> ValidationRule {
    let is_url = value.is_some_and(|value| value.contains("://"));
    (
        path,
        !is_url,
        "it must be a folder on this machine, not a URL".to_owned(),
    )
}

fn not_negative(path: &'static str, value: Option<f64>) -> ValidationRule {
    let holds = value.is_none_or(|value| value >= 0.0);
    (path, holds, "it must not be negative".to_owned())
}

fn is_address(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_file_name_part(suffix: &str) -> bool {
    !suffix.is_empty() && !suffix.contains(['/', '\\', '\0'])
}
