//! The findings about a record, and the outcome that each leads to.

use crate::names::named;

named! {
    /// The outcome of a record with a trainer, the least harm first.
    Outcome {
        /// It is learnt as it stands.
        Keep = "keep",
        /// It cannot be told: the chat template or the length decides, and is not known.
        Undecided = "undecided",
        /// It is learnt, but part of what it says is left out.
        Lose = "lose",
        /// It is learnt as far as the limit on length goes.
        Cut = "cut",
        /// Nothing of it is learnt.
        Empty = "empty",
        /// It is left out.
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
        /// A turn's fields are called otherwise than in this form.
        WrongKeys = "wrong_keys",
        /// A turn has fields beside role and text.
        ExtraKeys = "extra_keys",
        /// A turn without a readable role.
        UnreadableTurn = "unreadable_turn",
        /// A role that is not known.
        UnknownRole = "unknown_role",
        /// Two names for one role, where the configuration takes one.
        TwoNames = "two_names",
        /// An order of roles that is not taken.
        WrongOrder = "wrong_order",
        /// A field that holds text here and a list or an object there: the file cannot be loaded.
        MixedKinds = "mixed_kinds",
        /// A field that the records before, which the columns are taken from, do not have: the files cannot be loaded.
        NewColumn = "new_column",
        /// Turns with other fields than others have: `datasets` writes such a column as text into Parquet.
        UnevenFields = "uneven_fields",
        /// Too few turns.
        TooFewTurns = "too_few_turns",
        /// Turns of tools at the end are cut off.
        LastToolsCut = "last_tools_cut",
        /// Content that is null or absent.
        NullContent = "null_content",
        /// Content in parts.
        Parts = "content_in_parts",
        /// Content that is neither text nor parts.
        OtherContent = "other_content",
        /// A call's turn that is no call.
        CallText = "call_is_no_json",
        /// Arguments of a call that are a string, but no JSON.
        BrokenArguments = "arguments_are_no_json",
        /// Calls that are not taken.
        CallsLost = "calls_lost",
        /// Calls that are null.
        NullCalls = "null_tool_calls",
        /// A tool's turn without the id of its call.
        NoCallId = "no_tool_call_id",
        /// Tools in a form that is not taken.
        ToolsForm = "tools_no_string",
        /// Tools that are not taken.
        ToolsLost = "tools_lost",
        /// A system text beside the turns that is not taken.
        SystemLost = "system_lost",
        /// Text that is not taken.
        TextLost = "text_lost",
        /// Thinking that is left out.
        ThinkingDropped = "thinking_dropped",
        /// No turn to learn.
        NothingLearnt = "nothing_learnt",
        /// The chat template refuses the record.
        TemplateRefuses = "template_refuses",
        /// Pieces of the chat rendered alone do not fit in the whole.
        RendersOtherwiseAlone = "renders_otherwise_alone",
        /// The chat template decides, and none is given.
        NoTemplate = "no_chat_template",
        /// More tokens than the limit.
        OverLength = "over_length",
        /// The turns before the last leave no room for it.
        NoRoom = "no_room_for_answer",
        /// As many tokens as the limit, more or less.
        NearLimit = "near_the_limit",
    }
}

/// One thing that a trainer does with a record, or cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The outcome that it alone leads to.
    pub outcome: Outcome,
    /// The turn that it is about, from 1.
    pub turn: Option<usize>,
    /// More about it, for people; empty where the kind says it all.
    pub detail: String,
}

impl Outcome {
    /// The harm done, from 0.
    pub fn harm(self) -> u8 {
        self as u8
    }

    /// If something of the record is lost for certain.
    pub fn is_loss(self) -> bool {
        self.harm() > Self::Undecided.harm()
    }
}

/// A finding about the whole record.
pub fn whole(kind: FindingKind, outcome: Outcome, detail: &str) -> Finding {
    Finding {
        kind,
        outcome,
        turn: None,
        detail: detail.to_owned(),
    }
}
