//! Defaults, file, environment and flags become one validated `Config`.
//!
//! ```text
//! sections (fields and defaults) ─► keys (one table: path, flag, help) ─► resolve (layers) ─► validate
//!                                          file ─► predecessor ──────────────┘
//! ```

mod byte_size;
mod command_line;
mod error;
mod file;
mod keys;
mod machine;
mod mark;
mod names;
mod object;
mod per_trajectory;
mod place;
mod predecessor;
mod provenance;
mod resolve;
mod sections;
mod trainer;
pub mod units;
mod validate;
mod value;

pub use crate::compress::Protection;
use crate::fit::FitSettings;
use crate::settings::SettingValues;
pub use error::ConfigError;
pub use keys::{AppliesTo, ConfigKey, KEYS};
pub use machine::MachineFormat;
pub use mark::MarkSummary;
pub use names::{
    Api, CountMode, InputFormat, OnFailure, OnInvalid, OutputArguments, OutputCompression, OutputFormat,
    OverLimit, SummarizerKind, TokenLimitField,
};
pub use per_trajectory::PerTrajectory;
pub use place::OutputPath;
pub use provenance::SettingOrigin;
pub use resolve::{Resolved, Sources};
pub use sections::{
    BatchConfig, CompressionConfig, InputConfig, MetricsConfig, OutputConfig, ProcessingConfig,
    RedactionConfig, SummarizationConfig, TokenizerConfig,
};
pub use value::{Value, ValueKind, whole_number};

/// All settings of a run, one field per section of the configuration file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The tokenizer.
    pub tokenizer: TokenizerConfig,
    /// The budget and how it is reached.
    pub compression: CompressionConfig,
    /// The turns that are never summarized.
    pub protected_turns: Protection,
    /// The summarizer and its requests.
    pub summarization: SummarizationConfig,
    /// Batches of requests to language models.
    pub batch: BatchConfig,
    /// Reading of the input.
    pub input: InputConfig,
    /// Content and form of the output.
    pub output: OutputConfig,
    /// Threads and requests in flight.
    pub processing: ProcessingConfig,
    /// Metrics and totals.
    pub metrics: MetricsConfig,
    /// Redaction of secrets.
    pub redaction: RedactionConfig,
}

impl Config {
    /// Returns true if the target length of a summary depends on its region.
    pub fn scales_summaries(&self) -> bool {
        self.compression.summary_ratio > 0.0
    }

    /// Minimum target length of a summary, in tokens.
    pub fn summary_min_tokens(&self) -> usize {
        let compression = &self.compression;
        let least = compression.summary_min_tokens.filter(|_| self.scales_summaries());
        least.unwrap_or(compression.summary_target_tokens)
    }

    /// Maximum target length of a summary, in tokens, for any region.
    pub fn summary_target_max_tokens(&self) -> usize {
        if self.scales_summaries() {
            self.summary_max_tokens()
        } else {
            self.compression.summary_target_tokens
        }
    }

    /// Maximum tokens of a summary where the plan leaves room: as set, or twice the target. A language model's summary
    /// is at most as long as the largest target.
    pub fn summary_max_tokens(&self) -> usize {
        let compression = &self.compression;
        if self.summarization.summarizer.uses_network() && !self.scales_summaries() {
            return compression.summary_target_tokens;
        }
        compression
            .summary_max_tokens
            .unwrap_or(compression.summary_target_tokens.saturating_mul(2))
    }

    /// Target length of a summary, in tokens, if not set: 750, or a quarter of the budget if that is less, but no
    /// less than a line needs.
    pub fn default_summary_target_tokens(&self) -> usize {
        FitSettings::default_summary_tokens(self.compression.target_max_tokens)
    }

    /// Base address of a network summarizer: as set, or the default of its API.
    pub fn base_url(&self) -> &str {
        let summarization = &self.summarization;
        let default = summarization.api.default_base_url();
        summarization.base_url.as_deref().unwrap_or(default)
    }

    /// Returns true if a price for tokens is set.
    pub fn has_prices(&self) -> bool {
        let summarization = &self.summarization;
        summarization.price_prompt.is_some() || summarization.price_completion.is_some()
    }

    /// The text appended to the system turn of a compressed trajectory; none if it is switched off.
    pub fn summary_notice(&self) -> Option<&str> {
        let output = &self.output;
        (output.add_summary_notice && !output.summary_notice_text.is_empty())
            .then_some(output.summary_notice_text.as_str())
    }

    /// The effective values that affect the bytes of a run's files, by key. Two runs with equal fingerprints on equal
    /// inputs write equal files, so a resume compares them. They are written into files of the run, so secrets are
    /// hidden.
    pub fn fingerprint(&self) -> SettingValues {
        let mut effective = self.clone();
        effective.compression.summary_min_tokens = Some(self.summary_min_tokens());
        effective.compression.summary_max_tokens = Some(self.summary_max_tokens());
        effective.summarization.base_url = Some(self.base_url().to_owned());
        KEYS.iter()
            .filter(|key| key.affects_output && !key.is_idle(self))
            .map(|key| (key.path.to_owned(), key.json(&effective)))
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::settings::differences;

    /// The configuration with values of flags by their keys' paths.
    pub fn resolved(flags: &[(&str, &str)]) -> Resolved {
        let given = flags
            .iter()
            .map(|(path, text)| (ConfigKey::by_path(path).unwrap(), (*text).to_owned()));
        let sources = Sources {
            flags: given.collect(),
            ..Sources::default()
        };
        sources.resolve().unwrap()
    }

    #[test]
    fn the_summary_may_cost_twice_its_target_unless_told_otherwise() {
        let mut config = Config::default();
        assert_eq!(config.summary_max_tokens(), 1500);
        config.compression.summary_max_tokens = Some(900);
        assert_eq!(config.summary_max_tokens(), 900);
    }

    #[test]
    fn a_ratio_bounds_what_a_summary_should_cost_and_without_one_it_is_the_same_everywhere() {
        let mut config = Config::default();
        let bounds = |config: &Config| (config.summary_min_tokens(), config.summary_target_max_tokens());
        config.compression.summary_min_tokens = Some(100);
        config.compression.summary_max_tokens = Some(900);
        assert_eq!(bounds(&config), (750, 750));
        config.compression.summary_ratio = 0.1;
        assert_eq!(bounds(&config), (100, 900));
        // A language model's summaries grow as well.
        config.summarization.summarizer = SummarizerKind::Chat;
        assert_eq!(bounds(&config), (100, 900));
        config.compression.summary_min_tokens = None;
        config.compression.summary_max_tokens = None;
        assert_eq!(bounds(&config), (750, 1500));
    }

    #[test]
    fn an_empty_notice_is_no_notice() {
        let mut config = Config::default();
        assert!(
            config
                .summary_notice()
                .is_some_and(|text| text.starts_with("\n\n"))
        );
        config.output.summary_notice_text.clear();
        assert_eq!(config.summary_notice(), None);
    }

    #[test]
    fn the_fingerprint_ignores_what_cannot_change_the_output() {
        let mut config = Config::default();
        let before = config.fingerprint();
        config.processing.jobs = 7;
        config.summarization.model = Some("unused".to_owned());
        config.compression.summary_max_tokens = Some(1500);
        assert_eq!(config.fingerprint(), before);
        config.compression.target_max_tokens = 8000;
        assert_eq!(
            differences(&before, &config.fingerprint()),
            ["compression.target_max_tokens: was 15250, is 8000"]
        );
    }

    #[test]
    fn a_small_budget_makes_the_default_summary_small() {
        let budget = "compression.target_max_tokens";
        let key = "compression.summary_target_tokens";
        for (tokens, summary) in [
            ("15250", 750),
            ("16k", 750),
            ("3000", 750),
            ("2999", 749),
            ("700", 175),
            ("60", 20),
        ] {
            let resolved = resolved(&[(budget, tokens)]);
            assert_eq!(
                resolved.config.compression.summary_target_tokens, summary,
                "{tokens}"
            );
            assert_eq!(resolved.config.summary_max_tokens(), 2 * summary, "{tokens}");
            assert!(!resolved.provenance.is_given(ConfigKey::by_path(key).unwrap()));
        }
        let given = resolved(&[(budget, "1000"), (key, "750")]);
        assert_eq!(given.config.compression.summary_target_tokens, 750);
    }
}
