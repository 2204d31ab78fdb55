//! The records that `--sample` takes: decided record by record, the same on every run.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A share of the records, drawn by hashing each record's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    percent: f64,
    seed: u64,
}

impl Sample {
    /// Every record.
    pub const ALL: Self = Self {
        percent: 100.0,
        seed: 0,
    };

    /// About `percent` of the records, drawn with `seed`.
    pub fn new(percent: f64, seed: u64) -> Self {
        Self { percent, seed }
    }

    /// About `percent` of the records, or all of them if that is not set.
    pub fn of(percent: Option<f64>, seed: u64) -> Self {
        percent.map_or(Self::ALL, |percent| Self::new(percent, seed))
    }

    /// The share of the records that it takes, in percent.
    pub fn percent(&self) -> f64 {
        self.percent
    }

    /// The seed it is drawn with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true if the sample holds the record with this number (from 1) of this source.
    pub fn takes(&self, source: usize, record: u64) -> bool {
        if self.percent >= 100.0 {
            return true;
        }
        let mut place = [0; 16];
        place[..8].copy_from_slice(&(source as u64).to_le_bytes());
        place[8..].copy_from_slice(&record.to_le_bytes());
        // A double holds 53 bits exactly.
        let draw = (xxh3_64_with_seed(&place, self.seed) >> 11) as f64 / (1_u64 << 53) as f64;
        draw * 100.0 < self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_about_as_large_as_asked_and_always_the_same() {
        let sample = Sample::new(10.0, 7);
        let taken: Vec<u64> = (1..=10_000).filter(|&record| sample.takes(0, record)).collect();
        assert!((900..1100).contains(&taken.len()), "{}", taken.len());
        assert_eq!(
            taken,
            (1..=10_000)
                .filter(|&record| sample.takes(0, record))
                .collect::<Vec<_>>()
        );
        assert_ne!(
            taken,
            (1..=10_000)
                .filter(|&record| Sample::new(10.0, 8).takes(0, record))
                .collect::<Vec<_>>()
        );
        assert!((1..=100).all(|record| Sample::ALL.takes(0, record)));
        assert!((1..=100).all(|record| !Sample::new(0.0, 0).takes(0, record)));
    }
}
