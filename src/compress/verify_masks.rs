//! The final check of a masked record: only tool outputs in the compressible region changed.

use std::ops::Range;

use super::Violation;
use crate::trajectory::TurnView;

/// A masked trajectory and its original.
pub struct MaskedTurns<'a, T> {
    /// The turns between head and tail.
    pub compressible: Range<usize>,
    /// The turns that were masked, in order.
    pub masked: &'a [usize],
    /// Returns a turn before and after masking.
    pub views: &'a dyn Fn(usize) -> Option<[TurnView<'a>; 2]>,
    /// The original turns.
    pub original_turns: &'a [T],
    /// The turns as written.
    pub written_turns: &'a [T],
    /// The texts around the turns: of the original, and as written.
    pub frames: [(&'a str, &'a str); 2],
    /// The tokens of the original.
    pub original_tokens: usize,
    /// The tokens of the masked trajectory.
    pub written_tokens: usize,
}

/// Checks a masked record.
pub fn verify_masks<T: AsRef<str>>(masked: &MaskedTurns<'_, T>) -> Result<(), Violation> {
    let changed = |what: String| Err(Violation::KeptPartChanged(what));
    let [original_frame, written_frame] = masked.frames;
    if original_frame != written_frame {
        return changed("the fields around the turns".to_owned());
    }
    let (original, written) = (masked.original_turns, masked.written_turns);
    if original.len() != written.len() {
        return changed(format!("{} turns, {} expected", written.len(), original.len()));
    }
    let is_masked = |index: usize| masked.masked.binary_search(&index).is_ok();
    let differs = |(index, (before, after)): (usize, (&T, &T))| {
        let is_same = before.as_ref() == after.as_ref();
        (!is_same).then_some(index)
    };
    let mut differing = original.iter().zip(written).enumerate().filter_map(differs);
    if let Some(index) = differing.find(|index| !is_masked(*index)) {
        return changed(format!("turn {index}"));
    }
    for &index in masked.masked {
        let is_sound = (masked.views)(index)
            .is_some_and(|[before, after]| before.index == index && is_same_but_for_outputs(&before, &after));
        if !masked.compressible.contains(&index) || !is_sound {
            return changed(format!("turn {index}"));
        }
    }
    if masked.written_tokens >= masked.original_tokens {
        return Err(Violation::NotSmaller {
            written: masked.written_tokens,
            original: masked.original_tokens,
        });
    }
    Ok(())
}

/// Returns true if both turns are the same but for tool outputs, and answer the same calls by the same names.
fn is_same_but_for_outputs(before: &TurnView<'_>, after: &TurnView<'_>) -> bool {
    let answers = |view: &TurnView<'_>| -> Vec<(Option<String>, Option<String>)> {
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let responses = view.responses.iter();
        responses
            .map(|response| (text(&response.id), text(&response.name)))
            .collect()
    };
    !before.responses.is_empty()
        && before.role == after.role
        && before.index == after.index
        && before.text == after.text
        && before.calls == after.calls
        && answers(before) == answers(after)
}
