//! The role of a turn's speaker, by any name that data sets use.

/// The role of a turn. Names are those of `ShareGPT`; other formats' names map onto them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions to the model (`system`, `developer`).
    System,
    /// The person, or the program in their place (`human`, `user`).
    Human,
    /// The model (`gpt`, `assistant`, `ai`, `model`, `function_call`).
    Assistant,
    /// A tool's answer (`tool`, `function`, `observation`, `function_response`, `toolResult`).
    Tool,
    /// Any other name: the turn is kept, and treated as neither head nor tool.
    #[default]
    Other,
}

impl Role {
    /// Returns the role for a format's name.
    pub fn from_name(name: &str) -> Self {
        match name {
            "system" | "developer" => Self::System,
            "human" | "user" => Self::Human,
            "gpt" | "assistant" | "ai" | "model" | "function_call" => Self::Assistant,
            "tool" | "function" | "observation" | "function_response" | "toolResult" => Self::Tool,
            _ => Self::Other,
        }
    }

    /// Returns the word for it in summaries and messages.
    pub fn label(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Human => "human",
            Self::Assistant => "gpt",
            Self::Tool => "tool",
            Self::Other => "other",
        }
    }
}
