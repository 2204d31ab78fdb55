//! The rules of a trainer as its file tells them (`assets/trainers/*.toml`): words that are not known are errors.

use serde::Deserialize;

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
    /// If it renders each message alone and refuses a record whose parts do not make up the whole.
    #[serde(default)]
    pub renders_alone: bool,
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
    /// Hugging Face `datasets`: one schema for the whole file; what is absent in a turn is null where another turn has it.
    Datasets,
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

/// What a trainer does with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Takes it as it stands.
    Keep,
    /// Takes it as an empty text.
    Empty,
    /// Takes the texts of its parts.
    Join,
    /// Leaves it out without a word.
    Ignore,
    /// Hands it to the chat template.
    Template,
    /// Hands it to the chat template, which prints nothing, or no answer to learn, for it.
    Unprinted,
    /// Leaves the record out.
    Drop,
    /// Ends with an error.
    EndsRun,
}

impl Action {
    /// If the text that stands there is still there afterwards, as far as the trainer itself goes.
    pub fn keeps_text(self) -> bool {
        matches!(self, Self::Keep | Self::Join)
    }
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

/// A class of turns, by what the trainer takes them for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The model, asking a tool, in a turn of its own.
    Call,
    /// What a tool brought back.
    Tool,
}

/// How records of one form are read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule")]
pub struct FormRules {
    /// `sharegpt` or `messages`.
    pub form: String,
    /// The data set's entry in the trainer's configuration.
    pub config: String,
    /// The place of the rules.
    pub source: String,
    /// The names of roles.
    pub roles: RoleNames,
    /// What happens to any other role.
    pub unknown_role: Action,
    /// Classes for which the configuration takes one name only.
    #[serde(default)]
    pub one_name: Vec<Class>,
    /// If a system turn may stand at the start only.
    #[serde(default)]
    pub system_first: bool,
    /// Classes of which neighbours become one turn before the order is looked at.
    #[serde(default)]
    pub merge: Vec<Class>,
    /// If a tool's turn behind a person's becomes part of it.
    #[serde(default)]
    pub tool_joins_user: bool,
    /// If an assistant's turn at the start gets an empty question before it.
    #[serde(default)]
    pub adds_first_user: bool,
    /// If turns of tools at the end are cut off.
    #[serde(default)]
    pub cuts_last_tools: bool,
    /// The order of turns that is wanted.
    pub order: Order,
    /// What the first turn may be, system turns aside.
    #[serde(default)]
    pub first: Vec<Class>,
    /// What the last turn may be.
    #[serde(default)]
    pub last: Vec<Class>,
    /// What happens where the order is another.
    pub wrong_order: Action,
    /// Turns that a record has at least.
    #[serde(default)]
    pub least_turns: usize,
    /// What happens to a record with fewer.
    pub too_few: Action,
    /// If turns have two fields and no more.
    #[serde(default)]
    pub exact_keys: bool,
    /// If every tool turn needs the id of its call.
    #[serde(default)]
    pub tool_ids: bool,
    /// The rules on what a turn says.
    pub content: ContentRules,
    /// What becomes of `tool_calls`.
    pub tool_calls: Calls,
    /// What becomes of `tool_calls` that are null.
    #[serde(default = "kept")]
    pub null_tool_calls: Action,
    /// What becomes of a call whose arguments are a string that is no JSON.
    #[serde(default = "kept")]
    pub broken_arguments: Action,
    /// If arguments that are strings of JSON are handed on as that JSON.
    #[serde(default)]
    pub parses_arguments: bool,
    /// What stands between the texts of parts that are joined.
    #[serde(default)]
    pub joint: String,
    /// What becomes of a `function_call` field.
    pub function_call: Action,
    /// What becomes of a call's turn that is no JSON.
    pub call_text: Action,
    /// What becomes of a record's `tools`.
    pub tools: Tools,
    /// What becomes of a record's `system` text.
    pub system_text: Action,
}

fn kept() -> Action {
    Action::Keep
}

/// The order of turns that a trainer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// None of its own.
    Any,
    /// A question (person, tool), an answer (assistant, call), and so on.
    Alternating,
    /// An assistant's turn behind a person's only, and no two persons' in a row.
    AfterUser,
}

/// The names of roles, by class.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct RoleNames {
    /// Of instructions.
    pub system: Vec<String>,
    /// Of persons.
    pub user: Vec<String>,
    /// Of the model.
    pub assistant: Vec<String>,
    /// Of calls as turns.
    pub call: Vec<String>,
    /// Of tools.
    pub tool: Vec<String>,
}

/// What is done with contents that are no text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ContentRules {
    /// Null, or no content: readers make one of the other.
    pub null: Action,
    /// The same beside `tool_calls`.
    pub null_beside_calls: Action,
    /// A list of parts.
    pub parts: Action,
    /// A list of parts in a system turn, where that is another matter.
    pub parts_of_system: Option<Action>,
    /// If calls and results among the parts are taken as turns of their own.
    #[serde(default)]
    pub splits_parts: bool,
    /// Anything else.
    pub other: Action,
}

/// What becomes of `tool_calls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// They are taken, beside the text.
    Keep,
    /// They are taken in place of the text.
    ReplaceText,
    /// They are left out without a word.
    Ignore,
}

/// What becomes of a record's `tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tools {
    /// They are taken, as a list or as a string.
    Keep,
    /// They must be a string of JSON; a list ends the run.
    String,
    /// They are left out without a word.
    Ignore,
}

impl Trainer {
    /// The rules for a form, where it is read.
    pub fn form(&self, form: &str) -> Option<&FormRules> {
        self.forms.iter().find(|rules| rules.form == form)
    }
}

impl FormRules {
    /// The class of turns of that role.
    pub fn class(&self, role: &str) -> Option<Class> {
        let RoleNames {
            system,
            user,
            assistant,
            call,
            tool,
        } = &self.roles;
        let classes = [
            (Class::System, system),
            (Class::User, user),
            (Class::Assistant, assistant),
            (Class::Call, call),
            (Class::Tool, tool),
        ];
        classes
            .into_iter()
            .find(|(_, names)| names.iter().any(|name| name == role))
            .map(|(class, _)| class)
    }
}
