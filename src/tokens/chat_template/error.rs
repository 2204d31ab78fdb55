//! Why there is no template, and why a template gives no text for a chat.

use std::io;
use std::path::PathBuf;

/// Why there is no chat template.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Built-in encodings belong to no model.
    #[error("the built-in tokenizer `{name}` has no chat template")]
    BuiltIn {
        /// The encoding.
        name: String,
    },
    /// The tokenizer itself cannot be found.
    #[error(transparent)]
    Tokenizer(#[from] crate::tokens::TokenizerError),
    /// Nothing beside the tokenizer holds a template.
    #[error("no chat template in `{}` (looked for chat_template.jinja, chat_template.json and `chat_template` in tokenizer_config.json)", folder.display())]
    None {
        /// The tokenizer's folder.
        folder: PathBuf,
    },
    /// Nothing is at the path.
    #[error("chat template `{}` does not exist", path.display())]
    NoFile {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The file is there but cannot be read.
    #[error("cannot read chat template `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds no template that can be used.
    #[error("`{}` holds no usable chat template: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl TemplateError {
    /// What the user can do about it.
    pub fn help(&self) -> String {
        match self {
            Self::BuiltIn { .. } => {
                "give `--tokenizer` the folder of the model that is trained, or `--chat-template` \
                                     the path of a Jinja template"
                    .to_owned()
            }
            Self::Tokenizer(error) => error.help(),
            Self::None { .. } => {
                "give `--chat-template` the path of a Jinja template, or of a tokenizer_config.json \
                                  that has one"
                    .to_owned()
            }
            Self::NoFile { .. } => {
                "give `--chat-template` the path of a Jinja template, or `auto` for the one beside \
                                    the tokenizer"
                    .to_owned()
            }
            Self::Read { .. } => "check the permissions, or give `--chat-template` another file".to_owned(),
            Self::Broken { .. } => {
                "give `--chat-template` a Jinja template, or JSON with the key `chat_template`: a \
                                    template, or a list of them with a name each"
                    .to_owned()
            }
        }
    }
}

/// Why a template gives no text for a chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateRefusal {
    /// What the template says in `raise_exception`, or what is wrong with the chat or the template.
    pub message: String,
}

impl TemplateRefusal {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
