//! The rules for records of one form, as read from a trainer's file.

use serde::Deserialize;

use super::action::{Action, Class};

/// Rules for reading records of one form.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule")]
pub struct FormRules {
    /// `sharegpt` or `messages`.
    pub form: String,
    /// The data set's entry in the trainer's configuration.
    pub config: String,
    /// The source of the rules in the trainer's code.
    pub source: String,
    /// The names of roles.
    pub roles: RoleNames,
    /// The action on any other role.
    pub unknown_role: Action,
    /// Classes for which the configuration takes one name only.
    #[serde(default)]
    pub one_name: Vec<Class>,
    /// A system turn may stand at the start only.
    #[serde(default)]
    pub system_first: bool,
    /// Classes whose neighbouring turns are merged before the order is checked.
    #[serde(default)]
    pub merge: Vec<Class>,
    /// A tool's turn after a user's turn becomes part of it.
    #[serde(default)]
    pub tool_joins_user: bool,
    /// An assistant's turn at the start gets an empty user turn before it.
    #[serde(default)]
    pub adds_first_user: bool,
    /// Tool turns at the end are cut off.
    #[serde(default)]
    pub cuts_last_tools: bool,
    /// The required order of turns.
    pub order: Order,
    /// The classes allowed for the first turn, not counting system turns.
    #[serde(default)]
    pub first: Vec<Class>,
    /// The classes allowed for the last turn.
    #[serde(default)]
    pub last: Vec<Class>,
    /// The action on another order.
    pub wrong_order: Action,
    /// Minimum number of turns of a record.
    #[serde(default)]
    pub least_turns: usize,
    /// The action on a record with fewer turns.
    pub too_few: Action,
    /// Turns must have exactly two fields.
    #[serde(default)]
    pub exact_keys: bool,
    /// Every tool turn needs the id of its call.
    #[serde(default)]
    pub tool_ids: bool,
    /// The rules on contents of turns.
    pub content: ContentRules,
    /// The treatment of `tool_calls`.
    pub tool_calls: CallsTreatment,
    /// The action on `tool_calls` that are null.
    #[serde(default = "kept")]
    pub null_tool_calls: Action,
    /// The action on a call whose arguments are a string but not JSON.
    #[serde(default = "kept")]
    pub broken_arguments: Action,
    /// Arguments that are JSON in a string are parsed before they are passed on.
    #[serde(default)]
    pub parses_arguments: bool,
    /// The text between the texts of joined parts.
    #[serde(default)]
    pub joint: String,
    /// The action on a `function_call` field.
    pub function_call: Action,
    /// The action on a turn of a call that is not JSON.
    pub call_text: Action,
    /// The treatment of a record's `tools`.
    pub tools: ToolsTreatment,
    /// The action on a record's `system` text.
    pub system_text: Action,
}

fn kept() -> Action {
    Action::Keep
}

/// The order of turns that a trainer requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Any order.
    Any,
    /// A question (user, tool) and an answer (assistant, call) alternate.
    Alternating,
    /// An assistant's turn follows only a user's turn, and no two user turns are adjacent.
    AfterUser,
}

/// The names of roles, by class.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct RoleNames {
    /// Names of the system role.
    pub system: Vec<String>,
    /// Names of the user role.
    pub user: Vec<String>,
    /// Names of the assistant role.
    pub assistant: Vec<String>,
    /// Names of the role of calls as turns.
    pub call: Vec<String>,
    /// Names of the tool role.
    pub tool: Vec<String>,
}

/// Actions on contents that are not text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ContentRules {
    /// Null or absent content; readers do not distinguish the two.
    pub null: Action,
    /// Null or absent content beside `tool_calls`.
    pub null_beside_calls: Action,
    /// A list of parts.
    pub parts: Action,
    /// A list of parts in a system turn, if different.
    pub parts_of_system: Option<Action>,
    /// Calls and results among the parts are taken as separate turns.
    #[serde(default)]
    pub splits_parts: bool,
    /// Anything else.
    pub other: Action,
}

/// The treatment of `tool_calls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallsTreatment {
    /// They are taken, beside the text.
    Keep,
    /// They are taken in place of the text.
    ReplaceText,
    /// They are left out silently.
    Ignore,
}

/// The treatment of a record's `tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolsTreatment {
    /// They are taken, as a list or a string.
    Keep,
    /// They must be a string of JSON; a list ends the run.
    String,
    /// They are left out silently.
    Ignore,
}

impl FormRules {
    /// The class of a role; `None` for an unknown one.
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
