//! A compiled chat template, which renders chats as texts.

use minijinja::Value;

use super::environment::Engine;
use super::error::TemplateRefusal;
use super::{bounds, json};

/// A compiled chat template with the special tokens of its tokenizer.
pub struct ChatTemplate {
    pub(super) identity: TemplateIdentity,
    /// What chats without tools are rendered by.
    pub(super) plain: Engine,
    /// What chats with tools are rendered by, where the file has a template of its own for them.
    pub(super) tool_use: Option<Engine>,
    /// `bos_token` and the like.
    pub(super) special: Vec<(String, Value)>,
}

/// What tells one template from another.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TemplateIdentity {
    /// Where it came from: the file.
    pub name: String,
    /// SHA-256 of the template's text (of all of them, where tools have one of their own) and of its special tokens, in hex.
    pub sha256: String,
}

impl ChatTemplate {
    /// Which template this is.
    pub fn identity(&self) -> &TemplateIdentity {
        &self.identity
    }

    /// The text that `apply_chat_template(messages, tools, add_generation_prompt=False)` gives. `messages` and `tools` are
    /// JSON lists.
    ///
    /// # Errors
    ///
    /// The template refuses the chat, fails on it, or takes longer, or makes more, than any sensible one does.
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
