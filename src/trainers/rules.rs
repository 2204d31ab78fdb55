//! The rules of a trainer as its file tells them (`assets/trainers/*.toml`): words that are not known are errors.

use serde::Deserialize;

use super::action::Action;
use super::form::FormRules;

/// Everything that is known of a trainer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trainer {
    /// The name that `--trainer` takes.
    pub name: String,
    /// The name of its package, as people install it.
    pub package: String,
    /// The version that the rules were taken from.
    pub version: String,
    /// The command that trains.
    pub command: String,
    /// The program that reads the file.
    pub reader: Reader,
    /// The templates that it renders chats with.
    pub renderer: Renderer,
    /// The pieces that it renders beside the whole, and refuses a record where they do not fit in it.
    #[serde(default)]
    pub pieces: Pieces,
    /// What happens to a record in a form that is not listed.
    pub missing_form: Action,
    /// The place of that rule.
    pub missing_form_source: String,
    /// What `--trainer` sets for `compress`.
    pub compress: CompressSettings,
    /// Its limit on length.
    pub length: LengthRules,
    /// The turns that are learnt, and those that are masked.
    pub trained: Trained,
    /// What becomes of thinking.
    pub thinking: ThinkingRules,
    /// The forms that it reads.
    #[serde(rename = "form")]
    pub forms: Vec<FormRules>,
}

/// The program that reads a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// Hugging Face `datasets` from 4.8 on: a place may hold values of several kinds.
    Datasets,
    /// Hugging Face `datasets` before: one kind in a place in the whole file, and null for what is absent in a turn.
    Arrow,
    /// Python's `json`, line by line.
    Json,
    /// Parquet files only.
    Parquet,
}

/// The templates that a trainer renders chats with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renderer {
    /// The chat template of the model's tokenizer: it may refuse, and print nothing of a turn.
    ChatTemplate,
    /// Templates of its own: counts by the tokenizer's are close, not exact.
    Own,
}

/// The pieces of a chat that a trainer renders to find its answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pieces {
    /// None.
    #[default]
    None,
    /// Each message alone: they must make up the whole.
    EachAlone,
    /// What stands before each answer, and that with the answer: the whole must begin so.
    Prefixes,
}

/// What `--trainer` sets for `compress`: values of configuration keys.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CompressSettings {
    /// `compression.summary_placement`.
    pub placement: String,
    /// `output.output_format`.
    pub output_form: String,
    /// `compression.count`: what the trainer's limit counts.
    pub count: String,
    /// The field that tells which turns are learnt, where there is one.
    pub mark: Option<Mark>,
}

/// A field of turns that tells if a turn is learnt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mark {
    /// Its name.
    pub field: String,
    /// The turns that have it.
    pub turns: MarkTurns,
    /// What has to stand in the configuration for the field to count, if anything.
    pub needs: Option<String>,
}

/// The turns that a mark is written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkTurns {
    /// The summary alone.
    Summary,
    /// All of them: the reader wants one schema, and null must not stand for a choice.
    All,
}

/// The limit on a record's length.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LengthRules {
    /// The option that sets it.
    pub option: String,
    /// Tokens, where nobody sets it; none where the model's own length or nothing counts then.
    pub default: Option<u64>,
    /// What it counts: `values` or `rendered`.
    pub counts: String,
    /// What happens to a longer record.
    pub over: OverLength,
    /// If a record is left out whose turns before the last leave no room: the tokens of room.
    pub prompt_room: Option<u64>,
    /// The part by which an own template's count may differ from the tokenizer's template.
    #[serde(default)]
    pub slack: f64,
    /// The place of the rule.
    pub source: String,
}

/// What happens to a record that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverLength {
    /// It is left out.
    Drop,
    /// Its end is cut off.
    CutEnd,
    /// Pairs of question and answer are taken from the start; the first that does not fit is cut, those after it are gone.
    CutPairs,
    /// An error ends the run.
    EndsRun,
    /// It is passed on as long as it is.
    Keep,
}

/// What is learnt: the assistant's turns, and no others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trained {
    /// What happens to a record that has none.
    pub none: Action,
    /// What is masked, in a sentence for people.
    pub masked: String,
    /// The place of the rule.
    pub source: String,
}

/// What becomes of the thinking of earlier turns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ThinkingRules {
    /// What becomes of it.
    pub earlier: Thinking,
    /// The place of the rule.
    pub source: String,
}

/// What becomes of the thinking of earlier turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// It is learnt as it stands.
    Kept,
    /// It is left out.
    Dropped,
    /// The chat template decides.
    Template,
}

impl Trainer {
    /// The rules for a form, where it is read.
    pub fn form(&self, form: &str) -> Option<&FormRules> {
        self.forms.iter().find(|rules| rules.form == form)
    }
}
