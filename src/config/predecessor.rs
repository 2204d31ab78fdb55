//! Keys that only the Python predecessor's files have: what each of them means here.

use super::error::ConfigError;
use super::names::OverLimit;
use super::provenance::Origin;
use super::value::{Kind, Setting, Value};

/// What a key of the predecessor comes to.
pub enum Meaning {
    /// It asks for what happens here anyway.
    Nothing,
    /// It has no effect, and the user should know.
    Warning(String),
    /// What remains over the budget is treated so, unless `compression.over_limit` says otherwise.
    OverLimit(OverLimit),
}

/// The key of ours that another name stands for: the predecessor's, or that of the flag.
pub fn alias(path: &str) -> Option<&'static str> {
    match path {
        "processing.num_workers" => Some("processing.jobs"),
        "metrics.enabled" => Some("metrics.file"),
        "compression.max_tokens" => Some("compression.target_max_tokens"),
        _ => None,
    }
}

/// What a key means that exists only there; `None` if it does not exist there either.
pub fn meaning(path: &str, value: &Value, origin: &Origin) -> Option<Result<Meaning, ConfigError>> {
    let no_effect = |key: &str, why: &str| Meaning::Warning(format!("{key} has no effect ({origin}): {why}"));
    let switch = |key: &'static str, meaning: fn(bool) -> Option<Meaning>, why: &str| {
        let mut on = true;
        if *value != Value::Null && !on.assign(value) {
            let expected = Kind::Switch.expected();
            return Err(ConfigError::WrongKind {
                key,
                expected,
                value: value.to_string(),
                origin: origin.clone(),
            });
        }
        Ok(meaning(on).unwrap_or_else(|| no_effect(key, why)))
    };
    Some(match path {
        "tokenizer.trust_remote_code" => switch(
            "tokenizer.trust_remote_code",
            |trusted| (!trusted).then_some(Meaning::Nothing),
            "a tokenizer is data here, no remote code is ever run",
        ),
        "processing.skip_under_target" => switch(
            "processing.skip_under_target",
            |skip| skip.then_some(Meaning::Nothing),
            "a trajectory within the budget is always copied unchanged",
        ),
        "processing.save_over_limit" => switch(
            "processing.save_over_limit",
            |save| {
                Some(Meaning::OverLimit(if save {
                    OverLimit::Keep
                } else {
                    OverLimit::Reject
                }))
            },
            "",
        ),
        "processing.per_trajectory_timeout" => Ok(no_effect(
            "processing.per_trajectory_timeout",
            "a trajectory is never given up because it takes long",
        )),
        "metrics.output_file" => Ok(no_effect(
            "metrics.output_file",
            "metrics are written beside the output, as .metrics.csv and .summary.json",
        )),
        _ => return None,
    })
}
