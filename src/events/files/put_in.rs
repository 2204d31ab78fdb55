//! The lines that edits put into files.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::events::code::most_telling;
use crate::events::event::{Event, FIRST_NUMBER};
use crate::events::line::{cleaned, is_telling, lines_of};
use crate::events::shell::patch;
use crate::events::shell::programs::is_editor;
use crate::events::source_call::SourceCall;
use crate::events::target::Effect;
use crate::events::tools::{ArgumentFields, Holds, is_replaced};
use crate::knowledge::phrases::{Kinds, PhraseKind};

/// The texts that a call puts into its file: what its arguments hold as that, or else those of several lines.
pub(crate) fn put_in<'c>(call: &'c SourceCall<'_>) -> Vec<Cow<'c, str>> {
    put_in_by(&ArgumentFields::of(call))
}

/// The texts that a call takes out of its file.
pub(crate) fn taken_out<'c>(call: &'c SourceCall<'_>) -> Vec<Cow<'c, str>> {
    taken_out_by(&ArgumentFields::of(call))
}

pub(super) fn put_in_by<'c>(fields: &ArgumentFields<'c>) -> Vec<Cow<'c, str>> {
    let held = fields.all(Holds::Content).chain(fields.all(Holds::Inserted));
    let held: Vec<Cow<'c, str>> = held.collect();
    if !held.is_empty() {
        return held;
    }
    let others = fields.iter().filter(|(name, _)| !is_replaced(name));
    let texts = others.map(|(_, text)| text).filter(|text| text.contains('\n'));
    let put_in = |text: Cow<'c, str>| {
        let added = patch::patch_lines(&text).added;
        if added.is_empty() {
            text
        } else {
            Cow::Owned(added.join("\n"))
        }
    };
    texts.map(put_in).collect()
}

/// The texts that a call takes out of its file: what its arguments hold as that, and the lines of patches.
pub(super) fn taken_out_by<'c>(fields: &ArgumentFields<'c>) -> Vec<Cow<'c, str>> {
    let others = fields.iter().filter(|(name, _)| !is_replaced(name));
    let texts = others.map(|(_, text)| text).filter(|text| text.contains('\n'));
    let patches = texts.map(|text| patch::patch_lines(&text).removed.join("\n"));
    fields
        .all(Holds::Replaced)
        .chain(patches.filter(|removed| !removed.is_empty()).map(Cow::Owned))
        .collect()
}

/// New lines of an edit that are looked at.
const MAX_NEW: usize = 200;

/// The line that ends the text of an edit that is typed as a command.
const END_OF_EDIT: &str = "end_of_edit";

/// What an edit was for, as its call explains it, or else the line that tells most of what it puts in and does not take out: `+ line`.
pub(crate) fn puts_in(fields: &ArgumentFields<'_>) -> Option<String> {
    if let Some(purpose) = fields.get(Holds::Purpose) {
        let purpose = cleaned(purpose.trim_end_matches('.'));
        // A plan, an order or a promise is not what was done.
        let no_purpose = [
            PhraseKind::Announcement,
            PhraseKind::Open,
            PhraseKind::Demand,
            PhraseKind::Outcome,
        ];
        if !Kinds::of(&purpose).has_any(&no_purpose) {
            return Some(purpose);
        }
    }
    let command = fields.get(Holds::Command);
    let typed = command.as_deref().and_then(|command| {
        let (first, rest) = command.trim_start().split_once('\n')?;
        is_editor(first.split(' ').next()?).then_some(rest)
    });
    let inserted = fields.get(Holds::Inserted).or_else(|| fields.get(Holds::Code));
    let replaced = fields.get(Holds::Replaced).unwrap_or_default();
    let replaced: FxHashSet<&str> = lines_of(&replaced).map(str::trim).collect();
    let text = inserted.as_deref().or(typed);
    let is_command = command
        .as_deref()
        .is_some_and(|command| !patch::is_patch(command));
    let may_be_patch = text.is_none() && !is_command && fields.get(Holds::Content).is_none();
    let patches: Vec<Cow<'_, str>> = if may_be_patch {
        fields.iter().map(|(_, value)| value).collect()
    } else {
        Vec::new()
    };
    let added: Vec<&str> = patches
        .iter()
        .flat_map(|text| patch::patch_lines(text).added)
        .collect();
    let new = || {
        let inserted = lines_of(text.unwrap_or_default());
        let inserted = inserted.filter(|line| !replaced.contains(line.trim()));
        let added = inserted.chain(added.iter().copied());
        added.filter(|line| is_telling(line) && line.trim() != END_OF_EDIT)
    };
    // Of lines that replace others by number it is not known which are new; the head of a block most often stood there.
    let is_inner = |line: &&str| typed.is_none() || !line.trim_end().ends_with(['{', ':']);
    let found =
        most_telling(new().filter(is_inner).take(MAX_NEW)).or_else(|| most_telling(new().take(MAX_NEW)));
    found.map(|line| ["+ ", &cleaned(line)].concat())
}

/// Calls between two edits of a file that are looked at.
const MAX_BETWEEN: usize = 64;

/// Tells of an edit that shows nothing of its own (an import, say) what the newest one before it on the same file shows, while that stands
/// and nothing but edits changed the file between them.
pub(crate) fn pass_on_put_in(all: &mut [Event]) {
    for number in 0..all.len() {
        let earlier = all
            .get(number)
            .filter(|event| !event.is_outdated && event.outcome.failed() != Some(true));
        let put_in = earlier.and_then(|event| {
            let later = event.superseded_by?.checked_sub(FIRST_NUMBER)?;
            let is_same = all.get(later)?.target.line == event.target.line;
            let between = all
                .get(number + 1..later)
                .filter(|between| is_same && between.len() <= MAX_BETWEEN)?;
            let changes = |other: &Event| other.target.is_run && other.target.effect == Effect::Modify;
            let shown = event.target.puts_in.as_ref().or(event.put_in_before.as_ref())?;
            (!between.iter().any(changes)).then(|| (later, shown.clone()))
        });
        if let Some((later, line)) = put_in
            && let Some(later) = all.get_mut(later)
            && later.target.puts_in.is_none()
        {
            later.put_in_before = Some(line);
        }
    }
}
