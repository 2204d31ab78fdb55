//! The flags that repeat configuration keys, made from the table of keys.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgMatches, Command, FromArgMatches};

use crate::config::{AppliesTo, Config, ConfigKey, KEYS, Sources, Value, ValueKind};

/// The keys that a command has flags for.
pub trait KeySet {
    /// The key as the command has it; `None` if it has no flag for it.
    fn key(key: &ConfigKey) -> Option<ConfigKey>;

    /// The keys, in the order of the help.
    fn keys() -> impl Iterator<Item = ConfigKey> {
        KEYS.iter().filter_map(Self::key)
    }
}

/// Every key.
#[derive(Debug, Clone)]
pub enum EveryKey {}

impl KeySet for EveryKey {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        Some(*key)
    }
}

/// The keys of commands that summarize while they run: all but those about batches.
#[derive(Debug, Clone)]
pub enum RunKeys {}

impl KeySet for RunKeys {
    fn key(key: &ConfigKey) -> Option<ConfigKey> {
        (key.section() != "batch").then_some(*key)
    }
}

/// The flags for the keys of a set that the user gave.
#[derive(Debug, Clone)]
pub struct KeyFlags<S = EveryKey> {
    given: Vec<(&'static ConfigKey, String)>,
    set: PhantomData<S>,
}

impl<S> KeyFlags<S> {
    /// The layers of this process: the file named, the environment, these flags.
    pub fn into_sources(self, file: Option<PathBuf>) -> Sources {
        Sources {
            file,
            environment: std::env::vars_os().collect(),
            flags: self.given,
        }
    }
}

impl<S: KeySet> clap::Args for KeyFlags<S> {
    fn augment_args(command: Command) -> Command {
        command.args(S::keys().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: KeySet> FromArgMatches for KeyFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self {
            given: Vec::new(),
            set: PhantomData,
        };
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in KEYS.iter().filter(|key| S::key(key).is_some()) {
            if let Ok(Some(text)) = matches.try_get_one::<String>(key.path) {
                self.given.push((key, text.clone()));
            }
        }
        Ok(())
    }
}

fn argument(key: ConfigKey) -> Arg {
    let (value_name, parser) = match key.kind() {
        ValueKind::Count => ("N", StringValueParser::new().into()),
        ValueKind::Number => ("NUMBER", StringValueParser::new().into()),
        ValueKind::Size => ("SIZE", StringValueParser::new().into()),
        ValueKind::Text => ("TEXT", StringValueParser::new().into()),
        ValueKind::Object => ("JSON", StringValueParser::new().into()),
        ValueKind::Mark => ("FIELD[=VALUE]", StringValueParser::new().into()),
        ValueKind::Words => ("COMMAND", StringValueParser::new().into()),
        ValueKind::Switch => ("true|false", ValueParser::new(AnyOf(&["true", "false"]))),
        ValueKind::Name(names) => ("NAME", ValueParser::new(AnyOf(names))),
    };
    let default = match key.value(&Config::default()) {
        Value::Null => String::new(),
        _ if key.help.contains("[default: ") => String::new(),
        Value::Text(text) if text.contains(char::is_whitespace) => format!(" [default: {text:?}]"),
        value => format!(" [default: {value}]"),
    };
    let arg = Arg::new(key.path);
    let arg = if key.bare {
        // With a space between them, an input after it would be taken for its value.
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
    } else {
        arg
    };
    arg.long(key.flag)
        .short(key.short)
        .visible_aliases(key.alias)
        .aliases(key.former)
        .value_name(key.value_name.unwrap_or(value_name))
        .value_parser(parser)
        .allow_negative_numbers(matches!(key.kind(), ValueKind::Count | ValueKind::Number))
        .hide_possible_values(key.kind() == ValueKind::Switch)
        .help(format!("{}{default}", key.help))
        .help_heading(match (key.section(), key.read_by) {
            ("batch", _) => "Batches",
            (_, AppliesTo::Network | AppliesTo::Asking) => "Language model",
            (section, AppliesTo::All | AppliesTo::Program) => heading(section),
        })
        .hide_short_help(!key.common)
        .hide(key.hidden)
}

fn heading(section: &'static str) -> &'static str {
    match section {
        "tokenizer" => "Counting",
        "compression" => "Budget and summary",
        "protected_turns" => "Protected turns",
        "summarization" => "Summarizer",
        "input" => "Input",
        "output" => "Output",
        "processing" => "Processing",
        "metrics" => "Metrics",
        other => other,
    }
}

/// Names for help and completions. The configuration checks that a value is one of them, so that a wrong one is the
/// same error from a flag, a file and the environment.
#[derive(Debug, Clone, Copy)]
struct AnyOf(&'static [&'static str]);

impl TypedValueParser for AnyOf {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().copied().map(PossibleValue::new)))
    }
}
