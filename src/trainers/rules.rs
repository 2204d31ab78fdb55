//! The rules of a trainer, as read from its file (`assets/trainers/*.toml`): unknown words are errors.

use serde::Deserialize;

use super::action::Action;
use super::form::FormRules;

/// All rules of a trainer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trainer {
    /// The name that `--trainer` takes.
    pub name: String,
    /// The name of its package, as it is installed.
    pub package: String,
    /// The version that the rules were taken from.
    pub version: String,
    /// The command that starts training.
    pub command: String,
    /// The program that reads the file.
    pub reader: DatasetReader,
    /// The templates for rendering chats.
    pub renderer: Renderer,
    /// The pieces that it also renders separately; it refuses a record if they do not match the whole.
    #[serde(default)]
    pub pieces: RenderedPieces,
    /// The action on a record in a form that is not listed.
    pub missing_form: Action,
    /// The source of that rule in the trainer's code.
    pub missing_form_source: String,
    /// The settings of `compress` that `--trainer` makes.
    pub compress: CompressSettings,
    /// Its limit on length.
    pub length: LengthRules,
    /// The turns that are trained on, and those that are masked.
    pub trained: Trained,
    /// The treatment of thinking.
    pub thinking: ThinkingRules,
    /// The forms that it reads.
    #[serde(rename = "form")]
    pub forms: Vec<FormRules>,
}

/// The reader of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatasetReader {
    /// Hugging Face `datasets` from 4.8 on: a place may hold values of several kinds.
    Datasets,
    /// Hugging Face `datasets` before 4.8: one kind per place in the whole file, and null for fields absent in a turn.
    Arrow,
    /// Python's `json`, line by line.
    Json,
    /// Parquet files only.
    Parquet,
}

/// The templates for rendering chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renderer {
    /// The chat template of the model's tokenizer: it may refuse a chat, and leave out turns.
    ChatTemplate,
    /// Templates of its own: counts by the tokenizer's template are close, not exact.
    Own,
}

/// The pieces of a chat that a trainer renders to find the answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenderedPieces {
    /// None.
    #[default]
    None,
    /// Each message alone: together they must match the whole.
    EachAlone,
    /// The chat before each answer, and with the answer: the whole must start with both.
    Prefixes,
}

/// The settings of `compress` that `--trainer` makes: values of configuration keys.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CompressSettings {
    /// `compression.summary_placement`.
    pub placement: String,
    /// `output.format`.
    pub output_form: String,
    /// `compression.count`: the count that the trainer's limit applies to.
    pub count: String,
    /// The field that marks turns to train on, if there is one.
    pub mark: Option<Mark>,
}

/// A field of turns that says if a turn is trained on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mark {
    /// Its name.
    pub field: String,
    /// The turns that have it.
    pub turns: MarkedTurns,
    /// The trainer setting that the field needs to have an effect, if any.
    pub needs: Option<String>,
}

/// The turns that get a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkedTurns {
    /// The summary alone.
    Summary,
    /// All turns: the reader needs one schema, and null is not a valid value.
    All,
}

/// The limit on a record's length.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LengthRules {
    /// The name of the option that sets it.
    pub option: String,
    /// The default in tokens; `None` if the model's own length applies then, or no limit.
    pub default: Option<u64>,
    /// The count that it applies to: `values` or `rendered`.
    pub counts: String,
    /// The treatment of a longer record.
    pub over: OverLength,
    /// If set, a record is dropped if the turns before the last leave fewer tokens than this.
    pub prompt_room: Option<u64>,
    /// The fraction by which a count with the trainer's own template may differ from the tokenizer's.
    #[serde(default)]
    pub slack: f64,
    /// The source of the rule in the trainer's code.
    pub source: String,
}

/// The treatment of a record that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverLength {
    /// It is dropped.
    Drop,
    /// Its end is cut off.
    CutEnd,
    /// Pairs of question and answer are kept from the start; the first that does not fit is cut, the rest dropped.
    CutPairs,
    /// An error ends the run.
    EndsRun,
    /// It is kept at full length.
    Keep,
}

/// The turns that are trained on: those of the assistant only.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trained {
    /// The action on a record without such turns.
    pub none: Action,
    /// The masked turns, in a sentence for people.
    pub masked: String,
    /// The source of the rule in the trainer's code.
    pub source: String,
}

/// The treatment of thinking in earlier turns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ThinkingRules {
    /// The treatment.
    pub earlier: Thinking,
    /// The source of the rule in the trainer's code.
    pub source: String,
}

/// The treatment of thinking in earlier turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// It is trained on unchanged.
    Kept,
    /// It is left out.
    Dropped,
    /// The chat template decides.
    Template,
}

impl Trainer {
    /// The rules for a form; `None` if the trainer does not read it.
    pub fn form(&self, form: &str) -> Option<&FormRules> {
        self.forms.iter().find(|rules| rules.form == form)
    }
}
