//! The findings about a record, and the outcome of each.

use crate::names::named;

named! {
    /// The outcome of a record with a trainer, from the least harm to the most.
    TrainingOutcome {
        /// It is trained on unchanged.
        Keep = "keep",
        /// Not known: the chat template or the exact length decides.
        Undecided = "undecided",
        /// It is trained on without a part of its content.
        Lose = "lose",
        /// It is cut at the limit on length.
        Cut = "cut",
        /// Nothing of it is trained on.
        Empty = "empty",
        /// It is dropped.
        Drop = "drop",
        /// An error ends the run.
        Refuse = "refuse",
    }
}

named! {
    /// The kind of a finding.
    FindingKind {
        /// The trainer does not read records in this form.
        WrongForm = "wrong_form",
        /// The fields of a turn have other names than in this form.
        WrongKeys = "wrong_keys",
        /// A turn has fields beside role and text.
        ExtraKeys = "extra_keys",
        /// A turn without a readable role.
        UnreadableTurn = "unreadable_turn",
        /// A role that the trainer does not know.
        UnknownRole = "unknown_role",
        /// Two names for one role, where the configuration takes one.
        TwoNames = "two_names",
        /// An order of roles that the trainer does not accept.
        WrongOrder = "wrong_order",
        /// A field that is text in one place and a list or an object in another: the file cannot be loaded.
        MixedKinds = "mixed_kinds",
        /// A field that is not in the records that define the columns: the files cannot be loaded.
        NewColumn = "new_column",
        /// Turns with different fields: `datasets` writes such a column to Parquet as text.
        UnevenFields = "uneven_fields",
        /// Too few turns.
        TooFewTurns = "too_few_turns",
        /// Turns of tools at the end are cut off.
        LastToolsCut = "last_tools_cut",
        /// Content that is null or absent.
        NullContent = "null_content",
        /// Content in parts.
        Parts = "content_in_parts",
        /// Content that is not text or parts.
        OtherContent = "other_content",
        /// A turn of a call that holds no JSON.
        CallText = "call_is_no_json",
        /// Arguments of a call that are a string, but not JSON.
        BrokenArguments = "arguments_are_no_json",
        /// Calls that are left out.
        CallsLost = "calls_lost",
        /// Calls that are null.
        NullCalls = "null_tool_calls",
        /// A tool's turn without the id of its call.
        NoCallId = "no_tool_call_id",
        /// Tools in a form that the trainer does not accept.
        ToolsForm = "tools_no_string",
        /// Tools that are left out.
        ToolsLost = "tools_lost",
        /// A system text beside the turns that is left out.
        SystemLost = "system_lost",
        /// Text that is left out.
        TextLost = "text_lost",
        /// Thinking that is left out.
        ThinkingDropped = "thinking_dropped",
        /// No turn to train on.
        NothingLearnt = "nothing_learnt",
        /// The chat template refuses the record.
        TemplateRefuses = "template_refuses",
        /// Messages rendered separately do not match the chat rendered as a whole.
        RendersOtherwiseAlone = "renders_otherwise_alone",
        /// The chat template decides, but none is given.
        NoTemplate = "no_chat_template",
        /// More tokens than the limit.
        OverLength = "over_length",
        /// The turns before the last leave no room for it.
        NoRoom = "no_room_for_answer",
        /// The number of tokens is too close to the limit to decide.
        NearLimit = "near_the_limit",
    }
}

/// A problem of a record with a trainer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The outcome of this finding alone.
    pub outcome: TrainingOutcome,
    /// The number of its turn, from 1.
    pub turn: Option<usize>,
    /// Details for people; empty if the kind says it all.
    pub detail: String,
}

impl TrainingOutcome {
    /// The rank by harm, from 0.
    pub fn harm(self) -> u8 {
        self as u8
    }

    /// Returns true if a part of the record is certainly lost.
    pub fn is_loss(self) -> bool {
        self.harm() > Self::Undecided.harm()
    }
}

/// A finding about the whole record.
pub fn whole(kind: FindingKind, outcome: TrainingOutcome, detail: &str) -> Finding {
    Finding {
        kind,
        outcome,
        turn: None,
        detail: detail.to_owned(),
    }
}
