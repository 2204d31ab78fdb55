//! The part of `explain` about the summary: its size, its place, and the result of the record.

use std::fmt::Write;

use crate::compress::Way;
use crate::fit::Explanation;
use crate::names::Named;
use crate::report::figures::{percent, thousands};

/// Writes the size and place of the summary, and the result of the record.
pub fn tell(text: &mut String, explained: &Explanation) {
    let row = &explained.row;
    if !row.was_compressed {
        return;
    }
    let files = if explained.file_footer {
        ", with the files of the region"
    } else {
        ""
    };
    if explained.strategy != "summarize" {
        if row.summary_tokens > 0 {
            let _ = writeln!(text, "Summary    {} tokens{files}", thousands(row.summary_tokens));
        }
        result(text, explained);
        return;
    }
    let (used, budget) = (row.summary_tokens as usize, explained.summary_budget);
    let slack = budget.saturating_sub(explained.summary_target_tokens);
    let slack_used = used.saturating_sub(explained.summary_target_tokens).min(slack);
    let _ = writeln!(
        text,
        "Summary    {} tokens{files} of at most {}; of {} tokens of slack that whole turns leave, {} were used",
        thousands(used as u64),
        thousands(budget as u64),
        thousands(slack as u64),
        thousands(slack_used as u64),
    );
    result(text, explained);
}

/// Writes the place of the summary, in turns as listed.
fn placed(text: &mut String, explained: &Explanation) {
    let row = &explained.row;
    let (Some(way), Some(region)) = (Way::from_name(&row.placement), &explained.region) else {
        return;
    };
    let before = region.start.saturating_sub(1);
    let place = match way {
        Way::Own => "a human turn of its own".to_owned(),
        Way::HumanBefore => format!("at the end of human turn {before}"),
        Way::HumanAfter => format!("in front of human turn {}", region.end),
        Way::Part => format!("a text part at the end of turn {before}"),
        Way::ToolBefore => format!("at the end of tool turn {before}"),
    };
    let moved = if row.region_moved {
        "; the region was moved by a group, so that there is a place"
    } else {
        ""
    };
    let _ = writeln!(text, "Place      {place}{moved}");
}

fn result(text: &mut String, explained: &Explanation) {
    placed(text, explained);
    let row = &explained.row;
    let passes = match row.passes {
        0 => String::new(),
        1 => ", in 1 pass".to_owned(),
        passes => format!(", in {passes} passes"),
    };
    let _ = writeln!(
        text,
        "Result     {} tokens in {} turns, {} of the original{passes}",
        thousands(row.compressed_tokens),
        row.compressed_turns,
        percent(row.compressed_tokens, row.original_tokens),
    );
}
