//! The ways in which agents write calls as text, by a table of their marks.

use std::sync::LazyLock;

use serde::Deserialize;

/// Calls of one text at most.
pub(super) const MAX_CALLS: usize = 64;

/// A way to write a call.
#[derive(Debug, Deserialize)]
pub(super) struct CallForm {
    #[serde(default)]
    pub opens: String,
    #[serde(default)]
    pub closes: String,
    /// The mark between the name of the tool, or what an edit takes out, and the rest.
    #[serde(default)]
    pub until: String,
    pub form: CallParts,
    /// The marks around each argument of tags.
    #[serde(default)]
    pub parameter: Option<Parameter>,
    #[serde(default)]
    pub tool: String,
    #[serde(default)]
    pub argument: String,
    /// Pointers to what a JSON object holds; without one to the arguments they stand beside the name of the tool.
    #[serde(default)]
    pub arguments: String,
    #[serde(default)]
    pub list: String,
    #[serde(default)]
    pub item: String,
    #[serde(default)]
    pub words: Vec<String>,
    /// Elements that hold arguments and are none themselves.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Tools that only say something.
    #[serde(default)]
    pub says: Vec<String>,
    #[serde(default)]
    pub answer: AnswerBy,
    #[cfg(test)]
    #[serde(default)]
    pub example: Option<CallFormExample>,
}

/// The marks around the name and the value of an argument.
#[derive(Debug, Deserialize)]
pub(super) struct Parameter {
    pub opens: String,
    pub key_ends: String,
    #[serde(default)]
    pub value_opens: String,
    pub closes: String,
}

impl CallForm {
    /// If its marks are a model's own, which nobody writes for others to read.
    pub fn is_token(&self) -> bool {
        let tokens = ["<|", "<｜", "[TOOL_CALLS]", "✿"];
        let is_token = |mark: &str| tokens.iter().any(|start| mark.starts_with(start));
        self.form == CallParts::Tagged || is_token(&self.opens) || is_token(&self.until)
    }

    /// If a tool only says something.
    pub fn says(&self, tool: &str) -> bool {
        let mut says = self.says.iter();
        says.any(|says| {
            tool.get(..says.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(says))
        })
    }
}

/// The parts that a call consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CallParts {
    /// The block that the text ends with is the value of `argument`.
    Block,
    /// The same, where the next turn is an environment's: else it is what the assistant answers.
    Code,
    /// The line behind a label with or without a number: `go to desk 1`, `Search[x]`.
    Line,
    /// The name of the tool, `until`, and its arguments; there may be several.
    Named,
    /// The text taken out, `until`, and the text put in, under the name of the file; there may be several.
    Edit,
    /// The text is a JSON object, or ends with one.
    Object,
    /// Calls of Python with literals, in a list or alone; there may be several.
    Python,
    /// A tag with the name of the tool, and tags with the arguments; there may be several.
    Tagged,
    /// The text ends with an element named like the tool, which holds one for each argument.
    Elements,
}

/// The one that answers a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AnswerBy {
    /// Somebody, or nobody.
    #[default]
    Anybody,
    /// A tool.
    Tool,
    /// The next turn that is not the assistant's, whosever role it has.
    NextTurn,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct CallFormExample {
    pub text: String,
    pub line: String,
}

#[derive(Debug, Default, Deserialize)]
struct CallFormTable {
    call: Vec<CallForm>,
}

static TABLE: LazyLock<CallFormTable> =
    LazyLock::new(|| toml::from_str(include_str!("../../knowledge/calls.toml")).unwrap_or_default());

/// All rows.
pub(super) fn rows() -> &'static [CallForm] {
    &TABLE.call
}

/// The examples of all rows.
#[cfg(test)]
pub(crate) fn examples() -> Vec<&'static CallFormExample> {
    rows().iter().filter_map(|row| row.example.as_ref()).collect()
}
