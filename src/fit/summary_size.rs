//! The size of a summary: a number of tokens, or a fraction of the tokens that its region frees.

/// The denominator of a ratio.
const PARTS: u128 = 1_000_000;

/// The tokens that the summary of a region should have. They grow with the region, but never as fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummarySize {
    /// The ratio to the tokens freed, in millionths; below one million.
    parts: u32,
    min: usize,
    max: usize,
}

impl SummarySize {
    /// Returns the same size for all regions.
    pub fn fixed(tokens: usize) -> Self {
        Self {
            parts: 0,
            min: tokens,
            max: tokens,
        }
    }

    /// Returns a fraction of the tokens that the region frees, from 0 to below 1, within bounds.
    pub fn scaled(ratio: f64, min: usize, max: usize) -> Self {
        // Rounding to millionths is intended; NaN becomes 0.
        let parts = (ratio * PARTS as f64).round().clamp(0.0, (PARTS - 1) as f64) as u32;
        Self {
            parts,
            min,
            max: max.max(min),
        }
    }

    /// Returns the smallest size in tokens.
    pub fn smallest(self) -> usize {
        self.min
    }

    /// Returns the tokens that the summary of a region that frees so many tokens should have.
    pub fn of(self, freed: usize) -> usize {
        let part = freed as u128 * u128::from(self.parts) / PARTS;
        usize::try_from(part)
            .unwrap_or(usize::MAX)
            .clamp(self.min, self.max)
    }

    /// Returns the fewest tokens, at least one, that a region must free for `net` to remain beside its summary.
    pub fn freed_for(self, net: i128) -> usize {
        let whole = PARTS - u128::from(self.parts);
        // Parts are rounded down, so what remains is rounded up.
        let scaled = u128::try_from(net.saturating_sub(1)).map_or(net, |below| {
            i128::try_from((below.saturating_mul(PARTS) / whole).saturating_add(1)).unwrap_or(i128::MAX)
        });
        let freed = scaled
            .min(net.saturating_add(self.max as i128))
            .max(net.saturating_add(self.min as i128));
        usize::try_from(freed.max(1)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_region_frees_what_is_wanted_beside_its_summary_and_no_smaller_one_does(
            ratio in prop_oneof![Just(0.0), 0.0..0.99, Just(0.2)],
            min in 1..500_usize,
            more in 0..500_usize,
            net in -600..5000_i128,
            beyond in 0..3000_usize,
        ) {
            let size = SummarySize::scaled(ratio, min, min + more);
            let left = |freed: usize| freed as i128 - size.of(freed) as i128;
            let freed = size.freed_for(net);
            prop_assert!(left(freed) >= net);
            prop_assert!(left(freed + beyond) >= net, "it grows no faster than its region");
            prop_assert!(freed == 1 || left(freed - 1) < net);
            prop_assert!((min..=min + more).contains(&size.of(freed + beyond)));
        }

        #[test]
        fn what_is_fixed_is_the_same_everywhere(tokens in 1..900_usize, freed in 0..9000_usize, net in -99..9000_i128) {
            let size = SummarySize::fixed(tokens);
            prop_assert_eq!(size.of(freed), tokens);
            prop_assert_eq!(size.freed_for(net) as i128, (net + tokens as i128).max(1));
        }
    }

    #[test]
    fn a_part_is_taken_within_its_bounds() {
        let size = SummarySize::scaled(0.1, 200, 1000);
        assert_eq!(
            [0, 2000, 5000, 90_000].map(|freed| size.of(freed)),
            [200, 200, 500, 1000]
        );
        assert_eq!(
            [900, 1800, 4500, 90_000].map(|net| size.freed_for(net)),
            [1100, 2000, 4999, 91_000]
        );
        let hostile = SummarySize::scaled(f64::NAN, 5, 1);
        assert_eq!(hostile.of(usize::MAX), 5);
        assert_eq!(SummarySize::scaled(7.0, 1, 9).freed_for(i128::MAX), usize::MAX);
    }
}
