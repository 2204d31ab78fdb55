//! Chats as text: chat templates of Hugging Face models, rendered as `apply_chat_template` does.

mod arguments;
mod bounds;
mod environment;
mod error;
mod functions;
mod load;
mod names;
mod source;
mod special;
mod template;
mod values;

pub use error::{TemplateError, TemplateRefusal};
pub use template::{ChatTemplate, TemplateIdentity};
