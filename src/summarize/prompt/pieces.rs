//! A region in pieces that a model can read: each updates the summary of those before it.

use std::ops::Range;

use super::turns::{block, repeats, tools};
use crate::tokens::TokenCounter;
use crate::trajectory::TurnView;

/// Maximum bytes sent of one text of a turn, whatever the window: a summary of some hundred tokens can use no more.
const TEXT_ROOM: usize = 8_000;

/// Minimum bytes of a token, as a first guess of what fits.
const BYTES_PER_TOKEN: usize = 3;

/// Bytes under which a text is not shortened any further.
const SMALLEST_TEXT: usize = 120;

/// The turns as blocks, in pieces of at most `room` tokens each; one piece where there is no limit.
///
/// A turn that takes more than half of the room is shortened further, so that no piece is a single endless turn.
pub fn split(turns: &[TurnView<'_>], room: Option<usize>, counter: &dyn TokenCounter) -> Vec<String> {
    let (tools, repeats) = (tools(turns), repeats(turns));
    let Some(room) = room else {
        return vec![
            turns
                .iter()
                .map(|turn| block(turn, &tools, &repeats, TEXT_ROOM))
                .collect(),
        ];
    };
    let mut blocks = Vec::with_capacity(turns.len());
    let mut costs = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut text_room = TEXT_ROOM.min(room / 2 * BYTES_PER_TOKEN).max(SMALLEST_TEXT);
        let mut text = block(turn, &tools, &repeats, text_room);
        let mut cost = counter.count(&text);
        while cost > room.div_ceil(2) && text_room > SMALLEST_TEXT {
            text_room = (text_room / 2).max(SMALLEST_TEXT);
            text = block(turn, &tools, &repeats, text_room);
            cost = counter.count(&text);
        }
        blocks.push(text);
        costs.push(cost);
    }
    let pieces = ranges(&costs, room);
    pieces
        .into_iter()
        .map(|range| blocks.get(range).unwrap_or_default().concat())
        .collect()
}

/// Consecutive ranges whose costs stay within `room`, about evenly filled; a cost above it is a range of its own.
fn ranges(costs: &[usize], room: usize) -> Vec<Range<usize>> {
    let total: usize = costs.iter().sum();
    let pieces = total.div_ceil(room.max(1)).max(1);
    // Evenly, but never more pieces than filling each one would give by much.
    let fill = total.div_ceil(pieces).max(room * 3 / 4).min(room);
    let mut ranges = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (index, cost) in costs.iter().enumerate() {
        if sum > 0 && (sum >= fill || sum + cost > room) {
            ranges.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += cost;
    }
    ranges.push(start..costs.len());
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_consecutive_within_the_room_and_about_even() {
        assert_eq!(ranges(&[], 10).as_slice(), std::slice::from_ref(&(0..0)));
        assert_eq!(
            ranges(&[4, 4, 4, 4], 100).as_slice(),
            std::slice::from_ref(&(0..4))
        );
        assert_eq!(ranges(&[4, 4, 4, 4], 8), [0..2, 2..4]);
        assert_eq!(ranges(&[30, 1, 1], 10), [0..1, 1..3]);
        let costs: Vec<usize> = (0..100).map(|n| n * 7 % 13).collect();
        let ranges = ranges(&costs, 50);
        assert_eq!(
            (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end)),
            (Some(0), Some(100))
        );
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(
            ranges
                .iter()
                .all(|range| costs[range.clone()].iter().sum::<usize>() <= 50)
        );
    }
}
