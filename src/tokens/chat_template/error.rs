//! Errors of loading a template, and of rendering a chat with it.

use std::io;
use std::path::PathBuf;

/// The chat template could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Built-in encodings belong to no model, so they have no template.
    #[error("the built-in tokenizer `{name}` has no chat template")]
    BuiltIn {
        /// The encoding.
        name: String,
    },
    /// The tokenizer itself could not be found.
    #[error(transparent)]
    Tokenizer(#[from] crate::tokens::TokenizerError),
    /// No file beside the tokenizer holds a template.
    #[error("no chat template in `{}` (looked for chat_template.jinja, chat_template.json and `chat_template` in tokenizer_config.json)", folder.display())]
    None {
        /// The tokenizer's folder.
        folder: PathBuf,
    },
    /// There is no file at the path.
    #[error("chat template `{}` does not exist", path.display())]
    NoFile {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The file could not be read.
    #[error("cannot read chat template `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file holds no usable template.
    #[error("`{}` holds no usable chat template: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The reason why it is unusable.
        reason: String,
    },
}

impl TemplateError {
    /// Advice on how to solve the error.
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

/// A template did not render a chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateRefusal {
    /// The message of the template's `raise_exception`, or the error in the chat or the template.
    pub message: String,
}

impl TemplateRefusal {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
