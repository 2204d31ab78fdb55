//! The place of the summary: a turn of its own, or a turn beside the region, so that the order of roles is preserved.

use super::{CutPoints, Outline, Region, RoleOrder, TurnContent, TurnFacts, extend};
use crate::names::named;
use crate::trajectory::Role;

named! {
    /// The setting `--summary-placement`: the ways that are tried.
    SummaryPlacement {
        /// Every way that keeps the order of roles, in the order of their ranks.
        Auto = "auto",
        /// A human turn of its own.
        Human = "human",
        /// The end of the turn before the region; a human turn of its own if that turn cannot receive it.
        Merge = "merge",
    }
}

named! {
    /// A way to write a summary into a record: as a turn, or into one. They are tried in this order.
    Way {
        /// A human turn of its own.
        Own = "own",
        /// The end of the human turn before the region.
        HumanBefore = "human-before",
        /// The front of the human turn after the region.
        HumanAfter = "human-after",
        /// A text part at the end of the turn before the region, whose content is a list of parts.
        Part = "part",
        /// The end of the tool turn before the region: of its last result, where it is a list of results.
        ToolBefore = "tool-before",
    }
}

/// A place for the summary of one region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The way in which it is written.
    pub way: Way,
    /// The index of the turn that receives the summary, right before the region or right after it; `None` for a turn of its own.
    pub host: Option<usize>,
    /// An end marker must separate the summary from the text after it.
    pub end_marker: bool,
    /// The placement asked for was impossible.
    pub refused: bool,
}

impl Placement {
    /// Returns a turn of its own in place of a region.
    pub fn own(outline: &Outline, region: Region) -> Self {
        let after = outline.turns.get(region.end());
        Self {
            way: Way::Own,
            host: None,
            end_marker: after.is_some_and(|turn| turn.role == Role::Human),
            refused: false,
        }
    }

    /// Returns the end of the turn before a region; `None` where that cannot receive a summary.
    pub fn before(outline: &Outline, region: Region) -> Option<Self> {
        let host = region.start().checked_sub(1)?;
        let way = way_into(outline.turns.get(host)?)?;
        Some(Self::into(way, host))
    }

    /// Returns the front of the human turn after a region; `None` where no such turn can receive the summary.
    pub fn after(outline: &Outline, region: Region) -> Option<Self> {
        let host = region.end();
        let turn = outline.turns.get(host)?;
        let takes_it = turn.role == Role::Human && turn.quotable && turn.content != TurnContent::Summary;
        takes_it.then(|| Self::into(Way::HumanAfter, host))
    }

    fn into(way: Way, host: usize) -> Self {
        Self {
            way,
            host: Some(host),
            end_marker: true,
            refused: false,
        }
    }

    /// Returns this placement, marked as a substitute for the one asked for.
    #[must_use]
    pub fn refused(self) -> Self {
        Self {
            refused: true,
            ..self
        }
    }
}

impl SummaryPlacement {
    /// Returns the places for the summary of a region, best first.
    ///
    /// `is_update` is true if the turn before the region holds an earlier summary, which the new one replaces there.
    pub fn places(
        self,
        outline: &Outline,
        region: Region,
        orders: &[RoleOrder],
        is_update: bool,
    ) -> Vec<Placement> {
        let own = || Placement::own(outline, region);
        match self {
            Self::Human => vec![own()],
            Self::Merge => {
                let before = Placement::before(outline, region);
                before.into_iter().chain([own().refused()]).collect()
            }
            Self::Auto => placements(outline, region, orders, is_update),
        }
    }
}

/// Returns the way to append a summary to a turn: only text that the model reads, not text it is trained on, takes one.
fn way_into(turn: &TurnFacts) -> Option<Way> {
    let is_in_parts = matches!(turn.content, TurnContent::Parts | TurnContent::Results { .. });
    let ends_in_text = turn.quotable || turn.content == TurnContent::Results { end_in_text: true };
    match turn.role {
        Role::Human if turn.quotable => Some(Way::HumanBefore),
        // Some trainers drop a turn with a text beside results of tools.
        Role::Tool if turn.readable && ends_in_text => Some(Way::ToolBefore),
        Role::Human | Role::Tool if turn.readable && is_in_parts => Some(Way::Part),
        _ => None,
    }
}

/// Returns the places for the summary of a region that keep the order of roles, best first; none where none does.
fn placements(outline: &Outline, region: Region, orders: &[RoleOrder], is_update: bool) -> Vec<Placement> {
    let ends = [region.start(), region.end()];
    let held: Vec<RoleOrder> = orders
        .iter()
        .copied()
        .filter(|order| order.holds(outline))
        .collect();
    let keeps = |has_own_turn: bool| {
        held.iter()
            .all(|order| order.holds_without(outline, ends, has_own_turn))
    };
    let own = (!is_update && keeps(true)).then(|| Placement::own(outline, region));
    let mut hosts: Vec<Placement> = Vec::new();
    if keeps(false) {
        hosts.extend(Placement::before(outline, region));
        hosts.extend(Placement::after(outline, region).filter(|_| !is_update));
    }
    hosts.sort_by_key(|placement| placement.way as usize);
    own.into_iter().chain(hosts).collect()
}

/// Returns the regions that differ from a region by one group at one end, best first: those that take the last human
/// turn come last; otherwise those that free more come first.
pub fn moved(
    outline: &Outline,
    cut_points: &CutPoints,
    region: Region,
    compressible_end: usize,
    may_move_start: bool,
) -> Vec<Region> {
    let (start, end) = (region.start(), region.end());
    let longer = extend(outline, cut_points, region, compressible_end, 1);
    let shorter = cut_points.region(start, cut_points.at_or_before(end - 1));
    let later = cut_points.region(cut_points.at_or_after(start + 1), end);
    let mut regions: Vec<Region> = [longer, shorter, later.filter(|_| may_move_start)]
        .into_iter()
        .flatten()
        .collect();
    let takes_human = |region: &Region| outline.last_human.is_some_and(|last| region.contains(last));
    regions.sort_by_key(|moved| takes_human(moved) && !takes_human(&region));
    regions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::outline;
    use super::*;

    /// Returns the ways in which the summary of `[start, end)` can be placed; turns as letters, see [`outline`].
    fn ways(letters: &str, start: usize, end: usize, is_update: bool) -> Vec<Way> {
        let outline = outline(letters);
        let region = CutPoints::of(&outline).region(start, end).unwrap();
        let found = placements(&outline, region, &RoleOrder::OF_RECORDS, is_update);
        found.into_iter().map(|placement| placement.way).collect()
    }

    #[test]
    fn the_first_way_that_keeps_the_order_comes_first() {
        use Way::{HumanAfter, HumanBefore, Own, Part, ToolBefore};
        // Roles strictly alternate.
        assert_eq!(ways("shgtgtgtg", 4, 6, false), [ToolBefore]);
        assert_eq!(ways("shgtgtgtg", 2, 4, false), [HumanBefore]);
        assert_eq!(ways("shgugugug", 4, 6, false), [ToolBefore]);
        assert_eq!(ways("shgigigig", 4, 6, false), [Part]);
        assert_eq!(ways("shghghg", 3, 5, false), [HumanAfter]);
        assert_eq!(ways("shghghg", 3, 4, false), [Own]);
        assert_eq!(ways("shgttgttgtg", 5, 8, false), [ToolBefore]);
        // Roles do not strictly alternate, but no person speaks twice in a row.
        assert_eq!(ways("shggtgtg", 5, 7, false), [ToolBefore]);
        // Neither; elsewhere a person speaks after a tool.
        assert_eq!(ways("shggtgtgthg", 5, 7, false), [Own, ToolBefore]);
        assert_eq!(ways("shggthg", 3, 5, false), [HumanAfter]);
        assert_eq!(ways("shgtghggh", 2, 5, false), Vec::<Way>::new());
        assert_eq!(ways("shggthg", 2, 3, false), [HumanBefore]);
        // No order of roles holds.
        assert_eq!(ways("shhggthg", 3, 6, false), [Own, HumanBefore, HumanAfter]);
    }

    #[test]
    fn a_turn_takes_a_summary_in_only_if_the_model_reads_it_and_it_has_a_text() {
        assert_eq!(ways("shgngtg", 4, 6, false), Vec::<Way>::new());
        assert_eq!(ways("shghgHg", 3, 5, false), Vec::<Way>::new());
        assert_eq!(ways("shghgxg", 3, 5, false), Vec::<Way>::new());
        let outline = outline("shggtgtg");
        let region = CutPoints::of(&outline).region(3, 5).unwrap();
        assert_eq!(Placement::before(&outline, region), None);
    }

    #[test]
    fn an_earlier_summary_is_replaced_where_it_stands_or_not_at_all() {
        assert_eq!(ways("shggtgtg", 5, 7, true), [Way::ToolBefore]);
        assert_eq!(ways("shggthhg", 5, 6, true), [Way::ToolBefore]);
        assert_eq!(ways("shghghg", 2, 3, true), Vec::<Way>::new());
    }

    #[test]
    fn an_end_marker_parts_the_summary_from_what_a_person_says() {
        let marker = |letters: &str, start, end| {
            let outline = outline(letters);
            Placement::own(&outline, CutPoints::of(&outline).region(start, end).unwrap()).end_marker
        };
        assert!(marker("shhggthg", 3, 6));
        assert!(!marker("shghghg", 3, 4));
    }

    fn moves(letters: &str, start: usize, end: usize, compressible_end: usize) -> Vec<[usize; 2]> {
        let outline = outline(letters);
        let cut_points = CutPoints::of(&outline);
        let region = cut_points.region(start, end).unwrap();
        let found = moved(&outline, &cut_points, region, compressible_end, true);
        found
            .into_iter()
            .map(|region| [region.start(), region.end()])
            .collect()
    }

    #[test]
    fn a_region_is_moved_by_one_group_and_the_last_human_turn_taken_last() {
        // No place exists between an answer and a person's turn.
        assert!(ways("shgtgtghgtg", 4, 7, false).is_empty());
        assert_eq!(moves("shgtgtghgthg", 4, 7, 9), [[4, 8], [4, 6], [6, 7]]);
        assert_eq!(moves("shgtgtghgtg", 4, 7, 9), [[4, 6], [6, 7], [4, 8]]);
        assert_eq!(ways("shgtgtghgtg", 4, 6, false), [Way::ToolBefore]);
        assert_eq!(moves("shgtghgtg", 4, 5, 5), Vec::<[usize; 2]>::new());
    }

    /// Turns of the two sides that alternate: people and answers, one each or in runs, then the assistant.
    fn alternating() -> impl Strategy<Value = String> {
        let side = prop_oneof![3 => Just("h"), 4 => Just("t"), 1 => Just("u"), 2 => Just("ttt"), 1 => Just("uu"), 1 => Just("n")];
        (
            prop_oneof![Just(""), Just("s")],
            proptest::collection::vec(side, 1..9),
            any::<bool>(),
        )
            .prop_map(|(system, sides, ends_with_human)| {
                let last = if ends_with_human { "h" } else { "" };
                let all: Vec<String> = sides.into_iter().map(|side| format!("{side}g")).collect();
                format!("{system}hg{}{last}", all.concat())
            })
    }

    /// Any turns without two of a person's in a row.
    fn apart() -> impl Strategy<Value = String> {
        "s?[hgto]{2,14}".prop_map(|letters| letters.replace("hh", "h").replace("hh", "h"))
    }

    fn is_alternating(letters: &str) -> bool {
        let sides: Vec<bool> = letters
            .trim_start_matches('s')
            .chars()
            .map(|letter| letter == 'g')
            .collect();
        !letters.contains('o') && sides.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn in_runs(letters: &str) -> String {
        let mut runs = letters.replace(['u', 'n'], "t");
        while runs.contains("tt") {
            runs = runs.replace("tt", "t");
        }
        runs
    }

    fn is_apart(letters: &str) -> bool {
        let letters: Vec<char> = letters.chars().collect();
        let is_person = |letter: char| "hu".contains(letter);
        !letters
            .windows(2)
            .any(|pair| is_person(pair[0]) && is_person(pair[1]))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_place_keeps_the_orders_that_held(letters in prop_oneof![alternating(), apart(), "s?[hgtuno]{2,14}"]) {
            let facts = outline(&letters);
            let cut_points = CutPoints::of(&facts);
            let count = letters.len();
            let regions = (0..count).flat_map(|start| (start + 1..=count).map(move |end| [start, end]));
            for region in regions.filter_map(|[start, end]| cut_points.region(start, end)) {
                let found = placements(&facts, region, &RoleOrder::OF_RECORDS, false);
                for placement in &found {
                    let own = if placement.host.is_none() { "h" } else { "" };
                    let after = format!("{}{own}{}", &letters[..region.start()], &letters[region.end()..]);
                    prop_assert!(!is_alternating(&letters) || is_alternating(&after), "{} -> {}", letters, after);
                    prop_assert!(
                        !is_alternating(&in_runs(&letters)) || is_alternating(&in_runs(&after)),
                        "{} -> {}", letters, after
                    );
                    prop_assert!(!is_apart(&letters) || is_apart(&after), "{} -> {}", letters, after);
                    let host = placement.host.map(|host| &letters[host..=host]);
                    prop_assert!(matches!(host, None | Some("h" | "t" | "u")), "{:?}", host);
                }
                // In an alternating trajectory, a region of two groups has a place, or one that differs by a group has.
                let others = moved(&facts, &cut_points, region, count, true);
                let has_place = |region: &Region| !placements(&facts, *region, &RoleOrder::OF_RECORDS, false).is_empty();
                let groups = letters[region.range()].matches('g').count();
                let is_inside = region.start() > 1 && region.end() < count;
                if is_inside && groups >= 2 && !letters.contains('n') && is_alternating(&in_runs(&letters)) {
                    prop_assert!(!found.is_empty() || others.iter().any(has_place), "{} {:?}", letters, region);
                }
            }
        }
    }
}
