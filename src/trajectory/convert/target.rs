//! The target form of a conversion.

use crate::names::named;
use crate::trajectory::Format;

named! {
    /// The way in which arguments of calls are written.
    ArgumentsForm {
        /// A string of JSON, as in the `OpenAI` API and for loaders that require one schema.
        String = "string",
        /// The JSON object itself, as templates read it.
        Object = "object",
    }
}

/// The target form of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputForm {
    /// `ShareGPT` or messages.
    pub form: Format,
    /// The form of arguments. In `ShareGPT` an object is part of the call's text.
    pub arguments: ArgumentsForm,
}
