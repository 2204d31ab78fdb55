//! The form that records are to be written in.

use crate::names::named;
use crate::trajectory::Format;

named! {
    /// How arguments of calls are written.
    Arguments {
        /// A string of JSON, as the `OpenAI` API and loaders of one schema have them.
        String = "string",
        /// The JSON object itself, as templates read it.
        Object = "object",
    }
}

/// The form that a record is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// `ShareGPT` or messages.
    pub form: Format,
    /// How arguments are written. In `ShareGPT` an object stands in the text of the call.
    pub arguments: Arguments,
}
