//! Named choices that only the configuration uses; the others are named where they are defined.

use crate::names::named;

pub use crate::compress::SummaryPlacement;
pub use crate::fit::{CountMode, MarkTurns, OnFailure, OverLimit, Strategy, TemplateArguments};
pub use crate::names::Named;
pub use crate::pipeline::OnInvalid;
pub use crate::summarize::chat::api::Api;
pub use crate::summarize::prompt::Style;
pub use crate::trainers::TrainerName;

named! {
    /// The kind of summarizer.
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
    /// The request field with the maximum number of output tokens.
    TokenLimitField {
        /// `max_completion_tokens` for `OpenAI`'s own server, `max_tokens` for others.
        Auto = "auto",
        /// The field that most servers know.
        MaxTokens = "max_tokens",
        /// The field that `OpenAI`'s newer models require.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

named! {
    /// The format that records are read as.
    InputFormat {
        /// Detected per record.
        Auto = "auto",
        /// `conversations` of `from` and `value`.
        Sharegpt = "sharegpt",
        /// `messages` of `role` and `content`.
        Messages = "messages",
    }
}

named! {
    /// The format of every record in the output.
    OutputFormat {
        /// The format that the record was read in.
        Same = "same",
        /// `conversations` of `from` and `value`.
        Sharegpt = "sharegpt",
        /// `messages` of `role` and `content`.
        Messages = "messages",
    }
}

named! {
    /// The form of tool call arguments in the output.
    OutputArguments {
        /// The form that most trainers read: a string in messages, an object in `ShareGPT`.
        Auto = "auto",
        /// A string that holds JSON.
        String = "string",
        /// A JSON object.
        Object = "object",
    }
}

named! {
    /// The compression of the output file.
    OutputCompression {
        /// By the output's extension: `.gz`, `.zst`, otherwise none.
        Auto = "auto",
        /// No compression.
        None = "none",
        /// gzip.
        Gzip = "gzip",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl SummarizerKind {
    /// Returns true if its requests use the network, so that the keys for endpoints and secrets have an effect.
    pub fn uses_network(self) -> bool {
        match self {
            Self::Extractive | Self::Command => false,
            Self::Chat | Self::Batch => true,
        }
    }

    /// Returns true if it sends requests to a model or a program, so that its answers can be cached.
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
