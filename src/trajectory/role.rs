//! Who speaks in a turn, whatever the data set calls it.

/// The part a turn plays. Names are those of `ShareGPT`; other formats' names map onto them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions to the model (`system`, `developer`).
    System,
    /// The person, or the program in their place (`human`, `user`).
    Human,
    /// The model (`gpt`, `assistant`, `ai`, `model`, `function_call`).
    Assistant,
    /// What a tool answered (`tool`, `function`, `observation`, `function_response`, `toolResult`).
    Tool,
    /// Any other name: kept, and neither head nor tool.
    #[default]
    Other,
}

impl Role {
    /// The role that a format's name for it stands for.
    pub fn from_name(name: &str) -> Self {
        match name {
            "system" | "developer" => Self::System,
            "human" | "user" => Self::Human,
            "gpt" | "assistant" | "ai" | "model" | "function_call" => Self::Assistant,
            "tool" | "function" | "observation" | "function_response" | "toolResult" => Self::Tool,
            _ => Self::Other,
        }
    }

    /// The one word used for it in summaries and messages.
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
