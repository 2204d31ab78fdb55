//! Chats as text: chat templates of Hugging Face models, rendered as `apply_chat_template` does.

mod arguments;
mod arithmetic;
mod bounds;
mod charged;
mod checks;
mod environment;
mod error;
mod filters;
mod generator;
mod iteration;
mod json;
mod load;
mod markup;
mod methods;
mod names;
mod nesting;
mod operators;
mod python;
mod quoted;
mod ranges;
mod sizes;
mod source;
mod special;
mod strings;
mod template;
mod to_json;
mod values;

pub use error::{TemplateError, TemplateRefusal};
pub use template::{ChatTemplate, TemplateIdentity};
