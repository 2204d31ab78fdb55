//! Keys that only the Python predecessor's files have, and their meaning here.

use super::error::ConfigError;
use super::names::OverLimit;
use super::provenance::SettingOrigin;
use super::value::{Setting, Value, ValueKind};

/// The meaning of a key of the predecessor.
pub enum PredecessorKey {
    /// It asks for what is always done here.
    Nothing,
    /// It has no effect; the user is warned.
    Warning(String),
    /// The treatment of records still over the budget, unless `compression.over_limit` is set.
    OverLimit(OverLimit),
}

/// The key that another name stands for: the predecessor's name, or one made from a flag.
pub fn alias(path: &str) -> Option<&'static str> {
    match path {
        "processing.num_workers" => Some("processing.jobs"),
        "metrics.enabled" => Some("metrics.file"),
        "compression.max_tokens" => Some("compression.target_max_tokens"),
        _ => None,
    }
}

/// The meaning of a key that only the predecessor has; `None` if it does not have it either.
pub fn meaning(
    path: &str,
    value: &Value,
    origin: &SettingOrigin,
) -> Option<Result<PredecessorKey, ConfigError>> {
    let no_effect =
        |key: &str, why: &str| PredecessorKey::Warning(format!("{key} has no effect ({origin}): {why}"));
    let switch = |key: &'static str, meaning: fn(bool) -> Option<PredecessorKey>, why: &str| {
        let mut on = true;
        if *value != Value::Null && !on.assign(value) {
            let expected = ValueKind::Switch.expected();
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
            |trusted| (!trusted).then_some(PredecessorKey::Nothing),
            "a tokenizer is data here, no remote code is ever run",
        ),
        "processing.skip_under_target" => switch(
            "processing.skip_under_target",
            |skip| skip.then_some(PredecessorKey::Nothing),
            "a trajectory within the budget is always copied unchanged",
        ),
        "processing.save_over_limit" => switch(
            "processing.save_over_limit",
            |save| {
                Some(PredecessorKey::OverLimit(if save {
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
