//! The one table of configuration keys: files, environment, flags, help and the fingerprint derive from it.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Config;
use super::names::SummarizerKind;
use super::units;
use super::value::{Setting, Value, ValueKind};
use crate::http;
use crate::names::nearest;
use crate::summarize::redact::redact;

/// The summarizers that a key has an effect for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliesTo {
    /// All summarizers.
    All,
    /// Summarizers that send requests: a language model or a program.
    Asking,
    /// Summarizers that use the network.
    Network,
    /// The summarizer that runs a program.
    Program,
}

/// The part of a value that is hidden when it is printed or written into files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Nothing is hidden.
    None,
    /// Credentials within an address are hidden.
    Address,
    /// The whole value is hidden.
    Whole,
}

/// One configuration key.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property")]
pub struct ConfigKey {
    /// Its path in the file: `compression.target_max_tokens`.
    pub path: &'static str,
    /// Its flag, without the dashes: `max-tokens`.
    pub flag: &'static str,
    /// Another name of the flag, from which the environment variable is named: `target-max-tokens`.
    pub alias: Option<&'static str>,
    /// A former name of the flag: accepted, but not in the help.
    pub former: Option<&'static str>,
    /// Its short flag, one letter.
    pub short: Option<char>,
    /// Its purpose, in one line of help.
    pub help: &'static str,
    /// The value affects the bytes of a run's files.
    pub affects_output: bool,
    /// The summarizers that it has an effect for.
    pub read_by: AppliesTo,
    /// The short help shows it.
    pub common: bool,
    /// No help shows it.
    pub hidden: bool,
    /// The part of its value that is hidden.
    pub secrecy: Secrecy,
    /// The placeholder of its value in help, if the kind's is not specific enough.
    pub value_name: Option<&'static str>,
    /// The flag without a value means `true`.
    pub bare: bool,
    read: fn(&Config) -> &dyn Setting,
    edit: fn(&mut Config) -> &mut dyn Setting,
}

macro_rules! key {
    ($section:ident.$field:ident, $flag:literal, $help:literal) => {
        ConfigKey {
            path: concat!(stringify!($section), ".", stringify!($field)),
            flag: $flag,
            alias: None,
            former: None,
            short: None,
            help: $help,
            affects_output: true,
            read_by: AppliesTo::All,
            common: false,
            hidden: false,
            secrecy: Secrecy::None,
            value_name: None,
            bare: false,
            read: |config| &config.$section.$field,
            edit: |config| &mut config.$section.$field,
        }
    };
}

/// All keys, by section, in the order in which help and `trajfit config` show them.
#[rustfmt::skip]
pub static KEYS: &[ConfigKey] = &[
    key!(tokenizer.name, "tokenizer", "Tokenizer of the model to be trained: a built-in name (o200k_base, cl100k_base), a tokenizer.json, or a folder that holds one").common(),
    key!(tokenizer.chat_template, "chat-template", "Count tokens of rendered chats, as the trainer does, too: a template's file, or auto for the tokenizer's own template").common(),
    key!(tokenizer.template_arguments, "template-arguments", "How the template gets arguments of tool calls that are strings of JSON: as they are, as trainers do, or parsed, which some templates demand"),
    key!(tokenizer.image_tokens, "image-tokens", "Tokens that an image part costs"),
    key!(compression.target_max_tokens, "max-tokens", "Budget: tokens that a trajectory may cost, such as 16000 or 16k").alias("target-max-tokens").common(),
    key!(compression.summary_target_tokens, "summary-target-tokens", "Tokens that a summary should cost [default: 750, or a quarter of the budget where that is less]").common(),
    key!(compression.summary_ratio, "summary-ratio", "Part of its region (0 to below 1) that a summary should cost, within the next two; 0 is the summary target for all"),
    key!(compression.summary_min_tokens, "summary-min-tokens", "Tokens that such a part is at least [default: the summary target]"),
    key!(compression.summary_max_tokens, "summary-max-tokens", "Tokens that such a part is at most, and that an extractive summary may cost where the budget leaves room [default: twice the summary target]"),
    key!(compression.strategy, "strategy", "How a trajectory is made to fit: a summary in place of a stretch of its middle, a line in place of each tool output there, or lines first and a summary where they are not enough").common(),
    key!(compression.count, "count", "Count that the budget applies to: the sum of the turns' values, or the whole chat as its template renders it"),
    key!(compression.trainer, "trainer", "Trainer that the records are made for: sets placement, output form, count and mark of the summary unless they are given").common(),
    key!(compression.over_limit, "over-limit", "Treatment of a record that is still over the budget: write it, reject it, or write it and exit with 1").common(),
    key!(compression.max_passes, "max-passes", "Times a plan may be extended when one summary was not enough"),
    key!(compression.summary_placement, "summary-placement", "Place of the summary: the first one that keeps the order of roles, a human turn of its own, or the end of the turn before it"),
    key!(compression.grounding, "grounding", "Keep the identifiers in the summary that later turns rely on"),
    key!(compression.min_grounding, "min-grounding", "Exit with 1 if less than this part (0 to 1) of the identifiers that later turns rely on is held").no_effect_on_output(),
    key!(compression.file_footer, "file-footer", "End the summary with the files that the stretch read and modified").bare(),
    key!(protected_turns.first_system, "first-system", "Protect the first system turn"),
    key!(protected_turns.first_human, "first-human", "Protect the first human turn"),
    key!(protected_turns.first_gpt, "first-gpt", "Protect the first assistant turn"),
    key!(protected_turns.first_tool, "first-tool", "Protect the tool turns that answer the first assistant turn"),
    key!(protected_turns.last_n_turns, "last-n-turns", "Protect this many turns at the end").common(),
    key!(protected_turns.tail_tokens, "tail-tokens", "Protect more turns at the end, up to this many tokens"),
    key!(summarization.summarizer, "summarizer", "Writer of summaries: the embedded one, which quotes the turns, a language model, or a program of your own").common(),
    key!(summarization.command, "command", "Program that writes summaries, with its arguments: asked in lines of JSON, so many of it at once as there are jobs; no shell").program().secret(),
    key!(summarization.on_failure, "on-failure", "Treatment of a record whose summary failed: use the embedded summarizer, keep the original, or end the run"),
    key!(summarization.reject_invented, "reject-invented", "Take a summary as failed that names identifiers which the record does not have").network(),
    key!(summarization.model, "model", "Model to ask").network().common(),
    key!(summarization.base_url, "base-url", "Address of the endpoint, with its version [default: https://api.openai.com/v1, or https://api.anthropic.com]").network().common().address(),
    key!(summarization.api, "api", "Interface of the endpoint: OpenAI's chat completions, which most servers have, or Anthropic's messages").network(),
    key!(summarization.api_key_env, "api-key-env", "Environment variable that holds the key [default: OPENAI_API_KEY, OPENROUTER_API_KEY or ANTHROPIC_API_KEY, by the endpoint]").network().no_effect_on_output(),
    key!(summarization.fallback_model, "fallback-model", "Model to ask where the first one fails").network(),
    key!(summarization.style, "style", "Form of the summaries: dense prose, or a working record with headings").asking(),
    key!(summarization.focus, "focus", "Topic that summaries should cover in detail; auto: the request after the region").asking(),
    key!(summarization.prompt_template, "prompt-template", "File with other wording for the prompt").asking(),
    key!(summarization.temperature, "temperature", "Sampling temperature, 0 to 2").network(),
    key!(summarization.context_window, "context-window", "Tokens that the model reads and writes at most; longer stretches are summarized in pieces").network(),
    key!(summarization.max_output_tokens, "max-output-tokens", "Tokens that an answer may have, thoughts included [default: twice the summary and 256]").network(),
    key!(summarization.headers, "headers", "Headers for every request, as JSON").network().no_effect_on_output().secret(),
    key!(summarization.body, "body", "Fields for the body of every request, as JSON").network().secret(),
    key!(summarization.timeout, "timeout", "Seconds that a request may take").asking().no_effect_on_output(),
    key!(summarization.max_retries, "max-retries", "Times a failed request is repeated").network().no_effect_on_output(),
    key!(summarization.retry_delay, "retry-delay", "Seconds before the first repetition").network().no_effect_on_output(),
    key!(summarization.rpm, "rpm", "Requests a minute, at most").network().no_effect_on_output(),
    key!(summarization.tpm, "tpm", "Tokens a minute, at most, read and written").network().no_effect_on_output(),
    key!(summarization.price_prompt, "price-prompt", "US dollars for a million tokens read").network().no_effect_on_output(),
    key!(summarization.price_completion, "price-completion", "US dollars for a million tokens written").network().no_effect_on_output(),
    key!(summarization.fallback_price_prompt, "fallback-price-prompt", "US dollars for a million tokens that the fallback model reads [default: as the first one]").network().no_effect_on_output(),
    key!(summarization.fallback_price_completion, "fallback-price-completion", "US dollars for a million tokens that it writes [default: as the first one]").network().no_effect_on_output(),
    key!(summarization.max_requests, "max-requests", "Requests after which the run ends; it can be resumed").network().no_effect_on_output(),
    key!(summarization.max_cost, "max-cost", "US dollars that the run may cost; it can be resumed").network().no_effect_on_output(),
    key!(summarization.cache, "cache", "Folder for answers, so that none is paid for twice: auto is beside the output (and none for standard output), off is none").asking().no_effect_on_output(),
    key!(batch.token_limit_field, "token-limit-field", "Field that says how many tokens an answer may have; auto: max_completion_tokens for OpenAI's own server, max_tokens for others").network().no_effect_on_output(),
    key!(batch.send_temperature, "send-temperature", "Send the temperature; some models take none").network().no_effect_on_output(),
    key!(batch.max_requests_per_file, "max-requests-per-file", "Requests in a file, at most [default: 50000, or 100000 with --api anthropic]").network().no_effect_on_output(),
    key!(batch.max_file_size, "max-file-size", "Megabytes in a file of requests, at most [default: 200, or 255.9 with --api anthropic]").network().no_effect_on_output(),
    key!(batch.max_enqueued_tokens, "max-enqueued-tokens", "Maximum tokens in all batches under way [default: the vendor's limit, once it refuses a batch]").network().no_effect_on_output(),
    key!(batch.poll_interval, "poll-interval", "Seconds between two looks at how far a batch is").network().no_effect_on_output(),
    key!(batch.max_rounds, "max-rounds", "Maximum rounds of batches: each asks the questions that earlier answers lead to").network().no_effect_on_output(),
    key!(input.format, "format", "Format of the records; auto detects it a record at a time").former("input-format").common(),
    key!(input.on_invalid, "on-invalid", "Treatment of a line that holds no readable trajectory: write it to the rejects file, copy it to the output, or end the run").common(),
    key!(input.max_record_bytes, "max-record-bytes", "Bytes that a record may have; a longer one is rejected while it is read, and no more of it is held"),
    key!(output.add_summary_notice, "add-summary-notice", "Say in the system turn of a compressed trajectory that there is a summary"),
    key!(output.summary_notice_text, "summary-notice-text", "Notice that is appended to the system turn"),
    key!(output.compress, "compress", "Compression of the output file; auto goes by its name (.gz, .zst)").common(),
    key!(output.output_suffix, "output-suffix", "Suffix of the file's stem if no output is named").no_effect_on_output(),
    key!(output.format, "output-format", "Form of every record: the one it has, ShareGPT, or chat messages; the metrics list content that a form cannot hold").common(),
    key!(output.arguments, "arguments", "How the written form holds arguments of tool calls: auto is a string of JSON in messages, as loaders need it, and an object in ShareGPT"),
    key!(output.sanitize, "sanitize", "Mend faults of records: calls without answers, answers without calls, repeated ids; otherwise they are only reported").common().bare(),
    key!(output.join_text_parts, "join-text-parts", "With --sanitize, make a string of content that is text parts and nothing else").bare(),
    key!(output.end_with_assistant, "end-with-assistant", "With --sanitize, cut the turns after the last assistant turn").bare(),
    key!(output.report_dir, "report-dir", "Folder for metrics, totals and rejects, so that only data stands beside data").dir(),
    key!(output.state_dir, "state-dir", "Folder on this machine for runs whose output is in an object store: checkpoint, answers, and files until they are uploaded [default: ~/.local/state/trajfit]").dir().no_effect_on_output(),
    key!(output.mark_summary, "mark-summary", "Field for turns that are summaries, such as train or weight=0, so that trainers leave them out of the loss [default: none; the value false where none is given]"),
    key!(output.mark_turns, "mark-turns", "Turns that get the field: summaries; all turns of compressed records; or all turns of all records, for loaders that want one schema. Assistant turns get the opposite value"),
    key!(output.rejects_file, "rejects", "JSON Lines of records that are in no output [default: beside the output; for standard output a name of its own in the current directory]").file(),
    key!(processing.jobs, "jobs", "Worker threads; 0 for as many as there are cores").short('j').common().no_effect_on_output(),
    key!(processing.max_concurrent_requests, "max-concurrent-requests", "Network requests in flight at once; those that take ten times as long as others, and two seconds at least, lend their places, up to twice as many").network().no_effect_on_output(),
    key!(metrics.file, "metrics", "CSV with a row a record: auto is beside the output (and none for standard output), off is none").file(),
    key!(metrics.summary_file, "summary", "JSON with the totals [default: beside the output; none for standard output]").file(),
    key!(metrics.csv_safe, "csv-safe", "Put an apostrophe before cells of the CSV that a spreadsheet would run as formulas").bare(),
    key!(metrics.per_trajectory, "per-trajectory", "Add a compression_metrics object to compressed records (true) or to all; load_dataset(\"json\") needs all, or it fails where the first 10 MB hold no compressed record"),
    key!(redaction.enabled, "redaction", "Replace secrets in the input and output of summarizers"),
    key!(redaction.pii, "redact-pii", "Replace mail addresses and phone numbers as secrets are").bare(),
    key!(redaction.kept_turns, "redact-kept-turns", "Replace secrets in kept turns too").network().hidden(),
];

impl ConfigKey {
    const fn common(mut self) -> Self {
        self.common = true;
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    const fn former(mut self, former: &'static str) -> Self {
        self.former = Some(former);
        self
    }

    const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    const fn network(mut self) -> Self {
        self.read_by = AppliesTo::Network;
        self
    }

    const fn asking(mut self) -> Self {
        self.read_by = AppliesTo::Asking;
        self
    }

    const fn program(mut self) -> Self {
        self.read_by = AppliesTo::Program;
        self
    }

    const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    const fn secret(mut self) -> Self {
        self.secrecy = Secrecy::Whole;
        self
    }

    const fn address(mut self) -> Self {
        self.secrecy = Secrecy::Address;
        self
    }

    const fn file(mut self) -> Self {
        self.value_name = Some("FILE");
        self
    }

    const fn dir(mut self) -> Self {
        self.value_name = Some("DIR");
        self
    }

    const fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    const fn no_effect_on_output(mut self) -> Self {
        self.affects_output = false;
        self
    }

    /// The same key, with the help of a command in which it has another effect.
    #[must_use]
    pub fn with_help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// The key with that path in the file.
    pub fn by_path(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.path == path)
    }

    /// The section it is in: `compression`.
    pub fn section(&self) -> &'static str {
        self.path
            .split_once('.')
            .map_or(self.path, |(section, _)| section)
    }

    /// Its name within the section: `target_max_tokens`.
    pub fn field(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, field)| field)
    }

    /// Its environment variable: `TRAJFIT_TARGET_MAX_TOKENS`.
    pub fn variable(&self) -> String {
        self.variables().next().unwrap_or_default()
    }

    /// All names of its environment variable, the one made from the flag included.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        let names = self.alias.into_iter().chain([self.flag]);
        names.map(|name| format!("TRAJFIT_{}", name.replace('-', "_").to_ascii_uppercase()))
    }

    /// The kind of its value.
    pub fn kind(&self) -> ValueKind {
        (self.read)(&Config::default()).kind()
    }

    /// Its value in that configuration.
    pub fn value(&self, config: &Config) -> Value {
        (self.read)(config).value()
    }

    /// Its value for output and files: a hidden part is replaced with a short check code, so that changes can be seen.
    pub fn shown(&self, config: &Config) -> String {
        let value = self.value(config);
        let text = value.to_string();
        match self.secrecy {
            _ if value == Value::Null => text,
            // Nobody's secret, and the search for secrets takes a while to set up.
            Secrecy::None if value == self.value(&Config::default()) => text,
            Secrecy::None => redact(&text).0.into_owned(),
            Secrecy::Address => {
                let shown = http::shown(&text);
                if shown == text {
                    text
                } else {
                    format!("{shown} ({})", check_code(&text))
                }
            }
            Secrecy::Whole => format!("set ({})", check_code(&text)),
        }
    }

    /// Its value as it is kept in files of a run: a number or boolean as such, a size in bytes, `null` if it is not set.
    pub fn json(&self, config: &Config) -> serde_json::Value {
        match self.value(config) {
            Value::Null => serde_json::Value::Null,
            Value::Switch(on) => on.into(),
            Value::Number(number) => number.into(),
            Value::Whole(number) => {
                u64::try_from(number).map_or_else(|_| number.to_string().into(), Into::into)
            }
            Value::Text(text) if self.kind() == ValueKind::Size => {
                units::size(&text).map_or_else(|_| text.into(), Into::into)
            }
            Value::Text(_) | Value::Words(_) | Value::Other(_) => self.shown(config).into(),
        }
    }

    /// Returns true if a part of its value is not printed.
    pub fn is_hidden(&self, config: &Config) -> bool {
        let value = self.value(config);
        value != Value::Null && self.secrecy != Secrecy::None && self.shown(config) != value.to_string()
    }

    /// Sets it in that configuration. Returns false, and changes nothing, if the value is not of its kind.
    #[must_use]
    pub fn assign(&self, config: &mut Config, value: &Value) -> bool {
        (self.edit)(config).assign(value)
    }

    /// Returns true if the summarizer of that configuration does not use it.
    pub fn is_idle(&self, config: &Config) -> bool {
        let summarizer = config.summarization.summarizer;
        !match self.read_by {
            AppliesTo::All => true,
            AppliesTo::Asking => summarizer.asks(),
            AppliesTo::Network => summarizer.uses_network(),
            AppliesTo::Program => summarizer == SummarizerKind::Command,
        }
    }

    /// The key that a mistyped or misplaced key most probably stands for.
    pub fn nearest(path: &str) -> Option<&'static Self> {
        let field = path.rsplit('.').next().unwrap_or(path);
        let misplaced = KEYS.iter().find(|key| key.field() == field);
        misplaced
            .or_else(|| nearest(path, KEYS.iter().map(|key| key.path)).and_then(Self::by_path))
            .or_else(|| {
                let close = nearest(field, KEYS.iter().map(ConfigKey::field))?;
                KEYS.iter().find(|key| key.field() == close)
            })
    }
}

/// Sixteen bits of a hash: enough to show that a value changed, too few to guess the value from.
fn check_code(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let bits = digest.iter().take(2).map(|byte| format!("{byte:02x}"));
    format!("check code {}", bits.collect::<String>())
}

impl fmt::Debug for ConfigKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.path)
    }
}

impl PartialEq for ConfigKey {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

#[cfg(test)]
mod tests;
