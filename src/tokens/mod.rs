//! Exact token counts of texts with one tokenizer.

mod added;
mod bpe;
mod builtin;
pub mod chat_template;
mod check;
mod counter;
mod encodings;
mod error;
mod families;
mod file;
mod hex;
mod hub;
mod json;
mod load;
mod memo;
mod nfc;
#[cfg(test)]
mod oracle;
mod probe;
mod ranks;
mod special;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod words;

pub use counter::{TokenCounter, TokenizerIdentity};
pub use encodings::BUILT_IN;
pub use error::TokenizerError;
#[cfg(feature = "stores")]
pub use hub::HubSettings;
pub use load::load;
