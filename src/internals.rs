//! Internals of the library for the program, its tests and its benchmarks: not stable, whatever the version says.
#![allow(missing_docs)]

pub use crate::cli::{main, run};
pub use crate::standard_streams::note_closed;

pub mod cache {
    pub use crate::cache::{AnswerCache, CacheAccess, FILE};
}

#[cfg(feature = "parquet")]
pub mod columns {
    pub use crate::columns::{
        ColumnShape, OnRead, PlacedLine, RowBatches, RowFile, RowFormat, RowWriter, common_schema, convert,
        decode, join, open, open_stream,
    };
}

pub mod compress {
    pub use crate::compress::{
        CutPoints, Outline, Protection, Reason, RoleOrder, SummaryPlacement, TurnContent, TurnFacts,
        compressible_region,
    };

    pub mod anchors {
        pub use crate::compress::anchors::{Anchor, dangling, identifiers, invented};
    }

    pub mod reuse {
        pub use crate::compress::reuse::Reuse;
    }
}

pub mod config {
    pub use crate::config::{
        Config, ConfigError, ConfigKey, KEYS, MachineFormat, OverLimit, PerTrajectory, Resolved,
        SettingOrigin, Sources, Value, ValueKind,
    };
}

pub mod fit {
    pub use crate::fit::{
        CountMode, FitSettings, Fitted, Fitter, Linter, MarkTurns, OnFailure, OverLimit, Overlap, PairScorer,
        PerTrajectory, Reassembly, Strategy, SummaryMark, SummaryRecords, SummarySize, TemplateArguments,
        TurnCounter, UnrollSettings, Unrolled,
    };
}

pub mod http {
    pub use crate::http::waiting_client;
}

pub mod metrics {
    pub use crate::metrics::{Columns, Prices, Row, Status, Totals, read_rows};
}

pub mod names {
    pub use crate::names::Named;
}

pub mod pipeline {
    pub use crate::pipeline::{
        Counters, Job, MAX_RECORD_BYTES, OnInvalid, OutputFiles, RunError, RunReport, Sample, Source, Worker,
        run, sources,
    };
}

pub mod summarize {
    pub use crate::summarize::{
        Around, Context, PendingRequest, Stretch, Summarizer, Summary, SummaryError, SummaryRequest, Usage,
    };

    pub mod answers {
        pub use crate::summarize::answers::{AnswerKey, AnswerKind, AnswerStore, InMemory, KeptAnswer};
    }

    pub mod batch {
        pub use crate::summarize::batch::{BatchAnswers, NoResponses, RequestShape};
    }

    pub mod chat {
        pub use crate::summarize::chat::{ApiKey, ChatSettings, ChatSummarizer};

        pub mod api {
            pub use crate::summarize::chat::api::Api;
        }
    }

    pub mod extractive {
        pub use crate::summarize::extractive::{Extractive, asks_for_something};
    }

    pub mod grounding {
        pub use crate::summarize::grounding::ground;
    }

    pub mod named_files {
        pub use crate::summarize::named_files::add_files;
    }

    pub mod marker {
        pub use crate::summarize::marker::{SUMMARY_MARKER, with_marker};
    }

    pub mod mask {
        pub use crate::summarize::mask::{error_lines, masks};
    }

    pub mod prompt {
        pub use crate::summarize::prompt::{Material, PromptSettings, Prompter, Style};
    }

    pub mod redact {
        pub use crate::summarize::redact::redact;
    }

    pub mod spend {
        pub use crate::summarize::spend::{Spend, SpendLimits};
    }
}

pub mod tokens {
    pub use crate::tokens::{TokenCounter, load};

    pub mod chat_template {
        pub use crate::tokens::chat_template::{ChatTemplate, TemplateError};
    }
}

pub mod trainers {
    pub use crate::trainers::{TrainerName, TrainingOutcome, Verdict, trainer};
}

pub mod trajectory {
    pub use crate::trajectory::{
        ArgumentsForm, Converted, Faults, Format, NO_REQUEST, OutputForm, Record, Role, SYSTEM_MESSAGE,
        Sanitized, TemplateArguments, ToolCall, Turn, TurnView, Turns, Views, Wishes, answered_turns, chat,
        convert, faults, json, mend, parse, sanitize, view,
    };

    pub mod leaves {
        pub use crate::trajectory::json::leaves::leaves;
    }
}
