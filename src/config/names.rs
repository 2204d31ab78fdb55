//! The choices that only the configuration knows by name; others are named where they are made.

use crate::names::named;

pub use crate::compress::SummaryPlacement;
pub use crate::fit::{CountMode, MarkTurns, OnFailure, OverLimit, Strategy, TemplateArguments};
pub use crate::names::Named;
pub use crate::pipeline::OnInvalid;
pub use crate::summarize::chat::api::Api;
pub use crate::summarize::prompt::Style;
pub use crate::trainers::TrainerName;

named! {
    /// Who writes summaries.
    SummarizerKind {
        /// Quotes from the region: deterministic, no network.
        Extractive = "extractive",
        /// A language model over HTTP.
        Chat = "chat",
        /// A program on this machine.
        Command = "command",
        /// A language model that is asked in batches, by files: the commands of `trajfit batch`.
        Batch = "batch",
    }
}

named! {
    /// The field that tells a server how many tokens it may write.
    TokenLimitField {
        /// The newer one for `OpenAI`'s own server, the older one for others.
        Auto = "auto",
        /// As most servers know it.
        MaxTokens = "max_tokens",
        /// As `OpenAI`'s newer models want it.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

named! {
    /// The format that records are read as.
    InputFormat {
        /// Detected a record at a time.
        Auto = "auto",
        /// `conversations` of `from` and `value`.
        Sharegpt = "sharegpt",
        /// `messages` of `role` and `content`.
        Messages = "messages",
    }
}

named! {
    /// The form that every record of the output has.
    OutputFormat {
        /// The one that it was read in.
        Same = "same",
        /// `conversations` of `from` and `value`.
        Sharegpt = "sharegpt",
        /// `messages` of `role` and `content`.
        Messages = "messages",
    }
}

named! {
    /// How arguments of tool calls are written.
    OutputArguments {
        /// As most trainers take the form: a string in messages, an object in `ShareGPT`.
        Auto = "auto",
        /// A string of JSON.
        String = "string",
        /// A JSON object.
        Object = "object",
    }
}

named! {
    /// How output is compressed as a file.
    OutputCompression {
        /// By the output's name: `.gz`, `.zst`, else none.
        Auto = "auto",
        /// Not at all.
        None = "none",
        /// gzip.
        Gzip = "gzip",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl SummarizerKind {
    /// Whether its requests leave the machine, so that the keys about endpoints and secrets matter.
    pub fn uses_network(self) -> bool {
        match self {
            Self::Extractive | Self::Command => false,
            Self::Chat | Self::Batch => true,
        }
    }

    /// Whether it asks somebody else, so that answers may be worth keeping.
    pub fn asks(self) -> bool {
        match self {
            Self::Extractive => false,
            Self::Chat | Self::Batch | Self::Command => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_the_variant_that_prints_it() {
        for name in OutputCompression::NAMES {
            assert_eq!(name.parse::<OutputCompression>().unwrap().to_string(), *name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_the_nearest() {
        let error = "keeep".parse::<OverLimit>().unwrap_err();
        assert_eq!(error.nearest, Some("keep"));
        assert_eq!(
            error.to_string(),
            "unknown name \"keeep\"; known are: keep, reject, fail"
        );
    }
}
