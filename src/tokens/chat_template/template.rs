//! A compiled chat template, which renders chats as text.

use minijinja::Value;

use super::bounds;
use super::environment::TemplateEngine;
use super::error::TemplateRefusal;
use super::values::json;

/// A compiled chat template with the special tokens of its tokenizer.
pub struct ChatTemplate {
    pub(super) identity: TemplateIdentity,
    /// The template for chats without tools.
    pub(super) plain: TemplateEngine,
    /// The template for chats with tools, if the file has a separate one.
    pub(super) tool_use: Option<TemplateEngine>,
    /// `bos_token` and the like.
    pub(super) special: Vec<(String, Value)>,
}

/// The identity of a template.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TemplateIdentity {
    /// The file that it was read from.
    pub name: String,
    /// SHA-256 of the template's text (of both, if there is one for tools) and its special tokens, in hex.
    pub sha256: String,
}

impl ChatTemplate {
    /// The identity of this template.
    pub fn identity(&self) -> &TemplateIdentity {
        &self.identity
    }

    /// Renders a chat as `apply_chat_template(messages, tools, add_generation_prompt=False)` does. `messages` and
    /// `tools` are JSON lists.
    ///
    /// # Errors
    ///
    /// The template refuses the chat, fails on it, or exceeds the limits on time or memory.
    pub fn render(&self, messages: &str, tools: Option<&str>) -> Result<String, TemplateRefusal> {
        bounds::begin(messages.len() + tools.map_or(0, str::len));
        let messages = json::messages(messages)?;
        let tools = tools.map(json::tools).transpose()?;
        let engine = match (&self.tool_use, &tools) {
            (Some(tool_use), Some(_)) => tool_use,
            _ => &self.plain,
        };
        let context = Value::from_pairs(
            self.special
                .iter()
                .map(|(name, token)| (name.as_str(), token.clone()))
                .chain([
                    ("messages", messages),
                    ("tools", tools.unwrap_or(Value::from(()))),
                    ("documents", Value::from(())),
                    ("add_generation_prompt", Value::from(false)),
                ]),
        );
        engine.render(context)
    }
}
