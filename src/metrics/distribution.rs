//! A distribution of counts in memory that does not grow with the number of them.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

/// Percentiles that the totals report.
const PERCENTILES: [(&str, f64); 6] = [
    ("min", 0.0),
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("max", 100.0),
];

/// Exact at both ends and up to 2,000, three significant digits elsewhere.
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
}

impl Default for Distribution {
    #[allow(clippy::expect_used)] // The only error is a precision outside 0..=5.
    fn default() -> Self {
        Self {
            histogram: Histogram::new(3).expect("three significant digits are allowed"),
            min: u64::MAX,
            max: 0,
        }
    }
}

impl Distribution {
    /// Adds a count.
    pub fn add(&mut self, value: u64) {
        // The histogram grows as it must. Recording with saturation would take every count for its first highest one.
        let _ = self.histogram.record(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The percentiles by name; all 0 where nothing was added.
    pub fn percentiles(&self) -> BTreeMap<&'static str, u64> {
        PERCENTILES
            .iter()
            .map(|&(name, percentile)| (name, self.value_at(percentile)))
            .collect()
    }

    fn value_at(&self, percentile: f64) -> u64 {
        if self.histogram.is_empty() {
            0
        } else if percentile <= 0.0 {
            self.min
        } else {
            self.histogram
                .value_at_percentile(percentile)
                .clamp(self.min, self.max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_what_they_are() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.percentiles().get("max"), Some(&0));
        (1..=1000).for_each(|thousand| distribution.add(thousand * 1000 + 7));
        let percentiles = distribution.percentiles();
        assert_eq!(percentiles.get("min"), Some(&1007));
        assert_eq!(percentiles.get("max"), Some(&1_000_007));
        let median = percentiles.get("p50").copied().unwrap_or_default();
        assert!((499_500..=501_000).contains(&median), "{median}");
    }
}
