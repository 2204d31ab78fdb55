//! The identifiers held of those that later turns rely on: their share in a run, and its worst records.

use serde::Serialize;

use super::Row;

/// Maximum number of records listed.
const LISTED: usize = 10;

/// A record with identifiers that kept assistant turns use and that no longer occur before them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GroundedRecord {
    /// Name of the source.
    pub source: String,
    /// Line in it, from 1.
    pub line: u64,
    /// The record's id; empty if it has none.
    pub id: String,
    /// Identifiers needed.
    pub needed: u64,
    /// Of these, held.
    pub held: u64,
    /// Some of those that dangle, if they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dangling: Vec<String>,
}

impl GroundedRecord {
    /// The record of a row.
    pub fn of(row: &Row) -> Self {
        Self {
            source: row.source.clone(),
            line: row.line,
            id: row.id.clone(),
            needed: row.anchors_needed,
            held: row.anchors_held,
            dangling: Vec::new(),
        }
    }

    fn lost(&self) -> u64 {
        self.needed.saturating_sub(self.held)
    }
}

/// The records that lost most identifiers, the worst first; of equals the earlier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct WorstGrounded(Vec<GroundedRecord>);

impl WorstGrounded {
    /// Takes a record in if it is among the worst.
    pub fn add(&mut self, record: GroundedRecord) {
        let place = self.0.partition_point(|listed| listed.lost() >= record.lost());
        if place < LISTED {
            self.0.insert(place, record);
            self.0.truncate(LISTED);
        }
    }

    /// The records, the worst first.
    pub fn records(&self) -> &[GroundedRecord] {
        &self.0
    }
}

/// The share of the needed identifiers that are held, rounded down to four decimals, so that it is 1 only if all are
/// held; 1 if none is needed.
pub fn share_held(needed: u64, held: u64) -> f64 {
    if needed == 0 {
        return 1.0;
    }
    (u128::from(held) * 10_000 / u128::from(needed)) as f64 / 10_000.0
}

/// Returns true if at least `least` (0 to 1) of the needed identifiers are held.
pub fn is_grounded(needed: u64, held: u64, least: f64) -> bool {
    needed == 0 || held as f64 >= least * needed as f64 - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_come_first_and_the_list_is_bounded() {
        let mut worst = WorstGrounded::default();
        for line in 1..=30 {
            let lost = line % 7;
            worst.add(GroundedRecord {
                line,
                needed: 10,
                held: 10 - lost,
                ..GroundedRecord::default()
            });
        }
        let listed: Vec<u64> = worst.records().iter().map(|record| record.line).collect();
        assert_eq!(listed, [6, 13, 20, 27, 5, 12, 19, 26, 4, 11]);
    }

    #[test]
    fn the_share_is_one_only_where_all_is_held() {
        assert_eq!(share_held(0, 0).to_string(), "1");
        assert_eq!(share_held(100_000, 99_999).to_string(), "0.9999");
        assert_eq!(share_held(3, 3).to_string(), "1");
        assert!(is_grounded(100, 99, 0.99) && !is_grounded(1000, 989, 0.99) && is_grounded(0, 0, 1.0));
    }
}
