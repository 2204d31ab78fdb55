//! The stretches of a block that are worth more than they cost, found in one walk over its units.

/// Tokens of a heading with its fence, and of a gap in a quotation, about.
pub(super) const HEADING: f32 = 16.0;
pub(super) const GAP: f32 = 5.0;

/// The walk over the units of a block that finds its best stretches.
#[derive(Default)]
pub(super) struct UnitWalk {
    /// For each unit and each state behind it, the state before.
    before: Vec<[WalkState; 3]>,
}

/// The state of a walk: nothing is quoted yet, something was, or the unit before is.
#[derive(Clone, Copy, PartialEq)]
enum WalkState {
    Outside,
    Behind,
    Within,
}

impl UnitWalk {
    /// Returns for each unit if it is in the stretches worth most, a heading and gaps paid for, and worth `least` beside. Of each
    /// unit there are its value and whether a stretch may begin with it.
    pub fn best(&mut self, values: impl Iterator<Item = (f32, bool)>, price: f32, least: f32) -> Vec<bool> {
        use WalkState::{Behind, Outside, Within};
        self.before.clear();
        let (mut behind, mut within) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for (value, may_begin) in values {
            let left = if behind >= within {
                (behind, Behind)
            } else {
                (within, Within)
            };
            let mut entered = (within, Within);
            for other in [
                (-price * HEADING - least, Outside),
                (behind - price * GAP, Behind),
            ] {
                if may_begin && other.0 > entered.0 {
                    entered = other;
                }
            }
            self.before.push([Outside, left.1, entered.1]);
            (behind, within) = (left.0, entered.0 + value);
        }
        let mut state = match (behind, within) {
            (behind, within) if behind.max(within) <= 0.0 => Outside,
            (behind, within) if within > behind => Within,
            _ => Behind,
        };
        let mut is_chosen = vec![false; self.before.len()];
        for (is_chosen, before) in is_chosen.iter_mut().zip(&self.before).rev() {
            *is_chosen = state == Within;
            state = match state {
                Outside => break,
                Behind => before[1],
                Within => before[2],
            };
        }
        is_chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(values: &[f32]) -> Vec<bool> {
        UnitWalk::default().best(values.iter().map(|value| (*value, true)), 0.1, 0.0)
    }

    #[test]
    fn stretches_are_quoted_that_pay_for_their_heading_and_gaps() {
        assert_eq!(best(&[]), Vec::<bool>::new());
        assert_eq!(best(&[1.0, 0.5]), [false, false]);
        assert_eq!(
            best(&[-1.0, 3.0, -0.1, 2.0, -1.0]),
            [false, true, true, true, false]
        );
        assert_eq!(best(&[3.0, -1.0, 2.0]), [true, false, true]);
        assert_eq!(
            UnitWalk::default().best([(3.0, true)].into_iter(), 0.1, 2.0),
            [false]
        );
        let whole = [(1.0, true), (-1.0, false), (5.0, false)];
        assert_eq!(UnitWalk::default().best(whole.into_iter(), 0.1, 0.0), [true; 3]);
    }
}
