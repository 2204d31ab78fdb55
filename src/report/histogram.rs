//! A histogram of records by tokens, with an edge at the limit.

use serde::Serialize;

use super::figures::{percent, thousands};
use super::table::columns;
use crate::metrics::Distribution;

/// The ends of the steps, in eighths of the limit. Beyond the last they are open.
const STEPS: [u64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32];

/// Characters of the longest bar.
const WIDEST: u64 = 40;

/// The records of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// They have more tokens than this; `None` for the first.
    pub over: Option<u64>,
    /// They have at most so many tokens; `None` for the last.
    pub to: Option<u64>,
    /// Number of these records.
    pub records: u64,
}

/// The steps from none up to the last one that holds a record, or to the limit if that is later.
pub fn histogram(distribution: &Distribution, limit: u64) -> Vec<Bin> {
    // In parts, so that no limit is too large to be multiplied.
    let edge = |step: u64| {
        (limit / 8)
            .saturating_mul(step)
            .saturating_add(limit % 8 * step / 8)
    };
    let mut edges: Vec<u64> = STEPS.map(edge).into();
    edges.dedup();
    let mut bins = Vec::new();
    let mut over = None;
    let mut left = distribution.len();
    for edge in edges {
        let beyond = distribution.over(edge);
        bins.push(Bin {
            over,
            to: Some(edge),
            records: left - beyond,
        });
        (over, left) = (Some(edge), beyond);
        if left == 0 && edge >= limit {
            return bins;
        }
    }
    bins.push(Bin {
        over,
        to: None,
        records: left,
    });
    bins
}

/// The bars, a line each, and a line at the limit.
pub fn bars(bins: &[Bin], limit: u64) -> String {
    let all: u64 = bins.iter().map(|bin| bin.records).sum();
    let most = bins.iter().map(|bin| bin.records).max().unwrap_or_default();
    let rows: Vec<Vec<String>> = bins
        .iter()
        .map(|bin| {
            let step = match (bin.to, bin.over) {
                (Some(to), _) => format!("to {:>9}", thousands(to)),
                (None, over) => format!("over {:>7}", thousands(over.unwrap_or_default())),
            };
            vec![
                format!("  {step}"),
                thousands(bin.records),
                percent(bin.records, all),
            ]
        })
        .collect();
    let mut text = String::new();
    for (line, bin) in columns(&rows).lines().zip(bins) {
        let length = (u128::from(bin.records) * u128::from(WIDEST)).div_ceil(u128::from(most.max(1)));
        text.push_str(format!("{line}  {}", "█".repeat(length as usize)).trim_end());
        text.push('\n');
        if bin.to == Some(limit) {
            text.push_str("  ------------ the limit\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        for value in values {
            distribution.add(*value);
        }
        distribution
    }

    #[test]
    fn every_record_is_in_one_step_and_the_limit_is_an_edge() {
        let values: Vec<u64> = (0..2000).map(|number| number * 37).collect();
        for limit in [1, 2, 7, 8, 15_250, 73_963, 100_000, u64::MAX] {
            let bins = histogram(&of(&values), limit);
            assert_eq!(bins.iter().map(|bin| bin.records).sum::<u64>(), 2000, "{limit}");
            assert!(bins.iter().any(|bin| bin.to == Some(limit)), "{limit}");
            assert!(bins.is_sorted_by_key(|bin| bin.over), "{limit}");
        }
    }

    #[test]
    fn the_bars_show_where_the_limit_lies() {
        let distribution = of(&[10, 700, 800, 900, 1000, 1001, 1300, 9000]);
        insta::assert_snapshot!(bars(&histogram(&distribution, 1000), 1000), @r"
        to       125  1  12.5 %  ████████████████████
        to       250  0   0.0 %
        to       375  0   0.0 %
        to       500  0   0.0 %
        to       625  0   0.0 %
        to       750  1  12.5 %  ████████████████████
        to       875  1  12.5 %  ████████████████████
        to     1,000  2  25.0 %  ████████████████████████████████████████
        ------------ the limit
        to     1,250  1  12.5 %  ████████████████████
        to     1,500  1  12.5 %  ████████████████████
        to     2,000  0   0.0 %
        to     4,000  0   0.0 %
        over   4,000  1  12.5 %  ████████████████████
        ");
    }

    #[test]
    fn nothing_has_empty_bars() {
        let bins = histogram(&of(&[]), 80);
        assert_eq!(bins.len(), 8);
        assert!(bars(&bins, 80).ends_with("the limit\n"));
    }
}
