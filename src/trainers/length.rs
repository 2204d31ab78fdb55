//! Length: the effect of a trainer's limit on a record, and the number of trained tokens that are lost.

use super::action::Action;
use super::findings::{FindingKind, TrainingOutcome, whole};
use super::judged::Judged;
use super::rules::{OverLength, Trainer};
use super::verdict::Verdict;

/// The length of a record in tokens, as a range if it is not exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lengths {
    /// Lower bound.
    pub least: u64,
    /// Upper bound.
    pub most: u64,
    /// Tokens of each turn, headers included.
    pub turns: Vec<u64>,
}

/// The token range of a turn, half-open, and true if it is trained on.
type TokenRange = (u64, u64, bool);

/// Compares a record with a limit, and adds the findings.
pub fn over_length(
    verdict: &mut Verdict,
    turns: &[Judged<'_>],
    lengths: &Lengths,
    trainer: &Trainer,
    limit: Option<u64>,
) {
    let spans = spans(turns, lengths);
    verdict.learnt = spans.iter().map(|span| learnt_beyond(*span, 0)).sum();
    let Some(limit) = limit else { return };
    let rules = &trainer.length;
    if let Some(room) = rules.prompt_room {
        let before_last = spans.last().map_or(0, |(from, ..)| *from);
        if before_last >= limit.saturating_sub(room) {
            verdict.add(whole(FindingKind::NoRoom, TrainingOutcome::Drop, ""));
            return;
        }
    }
    if lengths.most <= limit || rules.over == OverLength::Keep {
        return;
    }
    if lengths.least <= limit {
        verdict.add(whole(FindingKind::NearLimit, TrainingOutcome::Undecided, ""));
        return;
    }
    let kept = match rules.over {
        OverLength::Keep => return,
        OverLength::Drop => {
            verdict.add(whole(FindingKind::OverLength, TrainingOutcome::Drop, ""));
            return;
        }
        OverLength::EndsRun => {
            verdict.add(whole(FindingKind::OverLength, TrainingOutcome::Refuse, ""));
            return;
        }
        OverLength::CutEnd => cut_end(&spans, limit),
        OverLength::CutPairs => cut_pairs(&spans, limit),
    };
    let left: u64 = kept.learnt;
    verdict.vanished = verdict.learnt.saturating_sub(left);
    verdict.keeps_end = Some(kept.keeps_end);
    verdict.add(whole(FindingKind::OverLength, TrainingOutcome::Cut, ""));
    if left == 0 {
        let outcome = if trainer.trained.none == Action::Drop {
            TrainingOutcome::Drop
        } else {
            TrainingOutcome::Empty
        };
        verdict.add(whole(
            FindingKind::NothingLearnt,
            outcome,
            "all of it is beyond the limit",
        ));
    }
}

/// The trained part of a record that was cut.
struct CutRecord {
    learnt: u64,
    keeps_end: bool,
}

/// The spans of the turns in order; tokens of no turn come before the first.
fn spans(turns: &[Judged<'_>], lengths: &Lengths) -> Vec<TokenRange> {
    let sum: u64 = lengths.turns.iter().sum();
    let mut at = lengths.least.saturating_sub(sum);
    let spans = turns.iter().zip(&lengths.turns).map(|(turn, tokens)| {
        let from = at;
        at += tokens;
        (from, at, turn.is_learnt)
    });
    spans.collect()
}

/// The number of trained tokens of a turn from `limit` on.
fn learnt_beyond((from, to, is_learnt): TokenRange, limit: u64) -> u64 {
    if is_learnt {
        to.saturating_sub(from.max(limit))
    } else {
        0
    }
}

fn cut_end(spans: &[TokenRange], limit: u64) -> CutRecord {
    let all: u64 = spans.iter().map(|span| learnt_beyond(*span, 0)).sum();
    let gone: u64 = spans.iter().map(|span| learnt_beyond(*span, limit)).sum();
    let is_cut_within = |(from, to, is_learnt): &TokenRange| *is_learnt && *from < limit && limit < *to;
    CutRecord {
        learnt: all - gone,
        keeps_end: !spans.iter().any(is_cut_within),
    }
}

/// Keeps pairs from the start and cuts the one that does not fit in proportion: `infer_seqlen` of LLaMA-Factory.
fn cut_pairs(spans: &[TokenRange], limit: u64) -> CutRecord {
    let mut kept = CutRecord {
        learnt: 0,
        keeps_end: true,
    };
    let mut room = limit;
    let mut source = spans.first().map_or(0, |(from, ..)| *from);
    for (from, to, is_learnt) in spans {
        let tokens = to - from;
        if !is_learnt {
            source += tokens;
            continue;
        }
        if room == 0 {
            break;
        }
        let (source_kept, target_kept) = share(source, tokens, room);
        kept.learnt += target_kept;
        kept.keeps_end &= target_kept == tokens;
        room = room.saturating_sub(source_kept + target_kept);
        source = 0;
    }
    kept
}

/// The numbers of tokens of a question and of its answer that fit into `room`.
fn share(source: u64, target: u64, room: u64) -> (u64, u64) {
    let most_target = if target * 2 < room {
        room
    } else if source * 2 < room {
        room - source
    } else {
        room * target / (source + target).max(1)
    };
    let target = most_target.min(target);
    (source.min(room.saturating_sub(target)), target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_is_cut_takes_learnt_tokens_and_markers_with_it() {
        let spans = [(10, 30, false), (30, 50, true), (50, 90, false), (90, 100, true)];
        let at = |limit| {
            let kept = cut_end(&spans, limit);
            (kept.learnt, kept.keeps_end)
        };
        assert_eq!(at(40), (10, false));
        assert_eq!(at(50), (20, true));
        assert_eq!(at(80), (20, true));
        assert_eq!(at(95), (25, false));
        assert_eq!(at(20), (0, true));
    }

    #[test]
    fn pairs_are_kept_from_the_start_and_the_last_one_is_cut_in_proportion() {
        assert_eq!(share(10, 10, 100), (10, 10));
        assert_eq!(share(100, 10, 50), (40, 10));
        assert_eq!(share(10, 100, 50), (10, 40));
        assert_eq!(share(100, 100, 50), (25, 25));
        let spans = [
            (0, 100, false),
            (100, 200, true),
            (200, 300, false),
            (300, 400, true),
        ];
        let kept = cut_pairs(&spans, 250);
        assert_eq!((kept.learnt, kept.keeps_end), (125, false));
        let kept = cut_pairs(&spans, 200);
        assert_eq!((kept.learnt, kept.keeps_end), (100, true));
    }
}
