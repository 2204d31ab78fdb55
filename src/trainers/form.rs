//! The rules for records of one form, as a trainer's file tells them.

use serde::Deserialize;

use super::action::{Action, Class};

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
