//! Tests of protection, cut points, plans and placements on small trajectories, written one letter a turn.

use super::*;
use crate::trajectory::Role;

/// Returns an outline of turns of 10 tokens: `s`ystem, `h`uman, `g`pt, `e`mpty answer, `t`ool (answers the `g` before
/// it), `o`ther, `x` a human turn that cannot be read, `u` a person's turn of results in parts, `n` a tool turn without
/// a text, `H` a human turn that begins with a summary.
pub(super) fn outline(letters: &str) -> Outline {
    let mut caller = None;
    let turns = letters.chars().enumerate().map(|(index, letter)| {
        let role = match letter {
            's' => Role::System,
            'h' | 'x' | 'H' => Role::Human,
            'g' | 'e' => Role::Assistant,
            't' | 'u' | 'i' | 'n' => Role::Tool,
            _ => Role::Other,
        };
        caller = if role == Role::Assistant {
            Some(index)
        } else {
            caller.filter(|_| role == Role::Tool)
        };
        let answers = caller.filter(|_| role == Role::Tool);
        TurnFacts {
            role,
            tokens: 10,
            asked_before: TurnFacts::asked_before(index, answers),
            readable: letter != 'x',
            quotable: !"xuin".contains(letter),
            content: match letter {
                'u' => TurnContent::Results { end_in_text: true },
                'i' => TurnContent::Results { end_in_text: false },
                'H' => TurnContent::Summary,
                _ => TurnContent::Text,
            },
            empty: letter == 'e',
        }
    });
    let turns: Vec<_> = turns.collect();
    let last_human = turns.iter().rposition(|turn| turn.role == Role::Human);
    Outline {
        turns,
        extra_tokens: 0,
        last_human,
    }
}

fn compressible(letters: &str, protection: Protection) -> std::ops::Range<usize> {
    let outline = outline(letters);
    compressible_region(&outline, &CutPoints::of(&outline), &protection, usize::MAX)
}

#[test]
fn the_head_ends_with_the_first_assistant_group() {
    assert_eq!(compressible("shgtttgtgtgtgtgt", Protection::default()), 6..12);
    assert_eq!(compressible("shghghghgh", Protection::default()), 3..6);
}

#[test]
fn an_answer_that_says_nothing_is_neither_the_first_nor_the_last() {
    assert_eq!(compressible("shegtgtgtgtgtgt", Protection::default()), 5..11);
    assert_eq!(compressible("shgtgtgtgtgthheh", Protection::default()), 4..10);
    assert_eq!(
        compressible("shhhhheh", Protection::default()),
        compressible(
            "shhhhhgh",
            Protection {
                first_gpt: false,
                ..Protection::default()
            }
        )
    );
}

#[test]
fn what_lies_in_the_second_half_is_no_opening() {
    // The first assistant turn is the sixth of eight.
    assert_eq!(
        compressible(
            "shhhhgtg",
            Protection {
                last_n_turns: 1,
                ..Protection::default()
            }
        ),
        2..7
    );
}

#[test]
fn a_tool_turn_that_does_not_answer_the_first_assistant_turn_is_no_opening() {
    assert_eq!(compressible("shghgtgtgtgtgt", Protection::default()), 3..10);
}

#[test]
fn each_part_of_the_head_can_be_switched_off() {
    let letters = "shgtgtgtgtgtgt";
    assert_eq!(
        compressible(
            letters,
            Protection {
                first_gpt: false,
                ..Protection::default()
            }
        )
        .start,
        2
    );
    assert_eq!(
        compressible(
            letters,
            Protection {
                first_gpt: false,
                first_human: false,
                ..Protection::default()
            }
        )
        .start,
        1
    );
    let none = Protection {
        first_system: false,
        first_human: false,
        first_gpt: false,
        ..Protection::default()
    };
    assert_eq!(compressible(letters, none).start, 0);
    // Its tool turns stay with the assistant turn, whatever the settings.
    assert_eq!(
        compressible(
            letters,
            Protection {
                first_tool: false,
                ..Protection::default()
            }
        )
        .start,
        4
    );
}

#[test]
fn the_tail_starts_at_a_cut_point_and_holds_the_last_assistant_turn() {
    assert_eq!(compressible("shgtgtgtgttttt", Protection::default()).end, 8);
    assert_eq!(
        compressible(
            "shgtgtgthhhh",
            Protection {
                last_n_turns: 0,
                ..Protection::default()
            }
        )
        .end,
        6
    );
    assert_eq!(
        compressible(
            "shgtgtgtgtgtgt",
            Protection {
                last_n_turns: 0,
                ..Protection::default()
            }
        )
        .end,
        12
    );
}

#[test]
fn tail_tokens_protect_as_many_turns_as_fit_and_one_that_half_fits() {
    let tail = |tail_tokens| {
        let protection = Protection {
            last_n_turns: 1,
            tail_tokens,
            ..Protection::default()
        };
        compressible("shgggggggggggggg", protection).end
    };
    assert_eq!(tail(0), 15);
    assert_eq!(tail(30), 12);
    // A seventh turn would stay within 1.5 times 50 tokens, but only one may exceed them.
    assert_eq!(tail(50), 10);
    // A first turn of 10 tokens is over 1.5 times 6.
    assert_eq!(tail(6), 15);
}

#[test]
fn no_boundary_lies_inside_a_group_or_before_a_tool_turn() {
    let outline = outline("shgttghtg");
    let cut_points = CutPoints::of(&outline);
    let cuts: Vec<usize> = (0..=9).filter(|&index| cut_points.is_cut(index)).collect();
    assert_eq!(cuts, [0, 1, 2, 5, 6, 8, 9]);
    assert_eq!(cut_points.region(3, 5), None);
    assert_eq!(cut_points.region(2, 2), None);
    assert!(!cut_points.is_cut(10));
}

#[test]
fn a_call_answered_in_a_persons_role_is_in_the_head_if_it_leaves_half_of_the_room() {
    let mut outline = outline("shghghghgh");
    for (index, turn) in outline.turns.iter_mut().enumerate() {
        if index > 2 && turn.role == Role::Human {
            turn.asked_before = TurnFacts::asked_before(index, Some(index - 1));
        }
    }
    let cut_points = CutPoints::of(&outline);
    let cost: usize = outline.turns.iter().take(4).map(|turn| turn.tokens).sum();
    let head =
        |budget: usize| compressible_region(&outline, &cut_points, &Protection::default(), budget).start;
    let tail: usize = outline.turns.iter().skip(6).map(|turn| turn.tokens).sum();
    let enough = 2 * cost + tail;
    assert_eq!((head(enough), head(enough - 1)), (4, 2));
}

fn planned(letters: &str, need: usize) -> Plan {
    let outline = outline(letters);
    let cut_points = CutPoints::of(&outline);
    let compressible = compressible_region(&outline, &cut_points, &Protection::default(), usize::MAX);
    plan(&outline, &cut_points, compressible, need, |_| 15)
}

fn region(letters: &str, need: usize) -> std::ops::Range<usize> {
    match planned(letters, need) {
        Plan::Replace(region) => region.range(),
        Plan::Keep(reason) => panic!("{reason}"),
    }
}

#[test]
fn a_plan_takes_as_few_turns_as_it_needs_and_whole_groups() {
    assert_eq!(region("shgtgtgtgtgtgtgt", 15), 4..6);
    assert_eq!(region("shgtgtgtgtgtgtgt", 21), 4..8);
    assert_eq!(region("shgtgtttttgtgtgtgt", 15), 4..10);
}

#[test]
fn a_plan_takes_the_whole_region_where_that_is_not_enough() {
    assert_eq!(region("shgtgtgtgtgtgtgt", 10_000), 4..12);
}

#[test]
fn a_region_that_frees_no_more_than_its_summary_is_kept() {
    let Plan::Keep(reason) = planned("shgtghggt", 1000) else {
        panic!("planned")
    };
    assert_eq!(reason.code, Reason::NO_NET_SAVING);
    let Plan::Keep(reason) = planned("shgtgtgt", 1000) else {
        panic!("planned")
    };
    assert_eq!(reason.code, Reason::NOTHING_COMPRESSIBLE);
}

#[test]
fn the_last_human_turn_frees_nothing() {
    let outline = outline("shgthgtgtgtgt");
    assert_eq!(freed(&outline, &(4..7)), 20);
}

#[test]
fn a_turn_that_cannot_be_read_is_never_in_a_region() {
    assert_eq!(region("shgtxgtgtgtgtgt", 15), 5..7);
    assert_eq!(region("shgtgtxgtgtgtgtgt", 35), 7..11);
    assert_eq!(region("shgtgtxgtgtgtgtgt", 1000), 7..13);
}

#[test]
fn an_extended_region_starts_where_it_started() {
    let outline = outline("shgtgtgtgtgtgtgt");
    let cut_points = CutPoints::of(&outline);
    let first = cut_points.region(4, 6).unwrap();
    assert_eq!(
        extend(&outline, &cut_points, first, 12, 35).map(Region::range),
        Some(4..8)
    );
    assert_eq!(extend(&outline, &cut_points, first, 6, 35), None);
}

#[test]
fn an_extension_takes_what_is_needed_and_one_group_at_the_least() {
    let outline = outline("shgtgtgtgtgtgtgtgtg");
    let cut_points = CutPoints::of(&outline);
    let region = cut_points.region(4, 6).unwrap();
    let extended = |need| extend(&outline, &cut_points, region, 14, need).map(Region::range);
    // It seems to free enough already, but turned out not to.
    assert_eq!(extended(1), Some(4..8));
    assert_eq!(extended(45), Some(4..10));
    assert_eq!(extended(1000), Some(4..14));
    let whole = cut_points.region(4, 14).unwrap();
    assert_eq!(extend(&outline, &cut_points, whole, 14, 1000), None);
}
