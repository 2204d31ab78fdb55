//! A chat as one text, as a trainer sees it: templates of Hugging Face models, rendered as `apply_chat_template` does.

mod arithmetic;
mod bounds;
mod charged;
mod checks;
mod environment;
mod error;
mod filters;
mod iteration;
mod json;
mod load;
mod markup;
mod methods;
mod nesting;
mod operators;
mod python;
mod ranges;
mod source;
mod special;
mod strings;
mod to_json;
mod values;

use std::sync::Arc;

use minijinja::Value;

use environment::Engine;
pub use error::{TemplateError, TemplateRefusal};

/// A compiled chat template with the special tokens of its tokenizer.
pub struct ChatTemplate {
    identity: TemplateIdentity,
    /// What chats without tools are rendered by.
    plain: Engine,
    /// What chats with tools are rendered by, where the file has a template of its own for them.
    tool_use: Option<Engine>,
    /// `bos_token` and the like.
    special: Vec<(String, Value)>,
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
    /// The template that `choice` means: `auto` for the one that lies beside the tokenizer named `tokenizer`, or a file:
    /// a Jinja template, or JSON with the key `chat_template`. Special tokens are the tokenizer's in both cases, where it
    /// is a file and not built in.
    ///
    /// # Errors
    ///
    /// There is none, it cannot be read, or it is no template.
    pub fn load(choice: &str, tokenizer: &str) -> Result<Arc<Self>, TemplateError> {
        load::load(choice, tokenizer).map(Arc::new)
    }

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
