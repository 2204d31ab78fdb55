//! The proof that unrolled records train every assistant turn of their trajectory once: the trained turns reassembled.

use std::borrow::Cow;

use super::super::SummaryMark;
use crate::trajectory::{self, Format, Record, Role, Turn};

/// What a record tells of the trajectory that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrajectoryId {
    /// The trajectory's id.
    pub trajectory: String,
    /// The record's number, from 1.
    pub segment: usize,
    /// The records of the trajectory.
    pub segments: usize,
}

impl TrajectoryId {
    /// What a record tells; `None` where it is none of an unrolled trajectory, or no record.
    pub fn of(bytes: &[u8], format: Option<Format>) -> Option<Self> {
        let record = trajectory::parse(bytes, format).ok()?;
        let number = |name| trajectory::field_of(&record, name)?.parse().ok();
        let id = trajectory::field_of(&record, "trajectory_id")?;
        Some(Self {
            trajectory: text_of(id).into_owned(),
            segment: number("segment")?,
            segments: number("segments")?,
        })
    }

    /// The id of a trajectory that is to be unrolled; `name` if it has none, and `None` where it is no record.
    pub fn of_original(bytes: &[u8], format: Option<Format>, name: &str) -> Option<String> {
        let record = trajectory::parse(bytes, format).ok()?;
        Some(
            record
                .id
                .map_or_else(|| name.to_owned(), |id| text_of(id).into_owned()),
        )
    }
}

fn text_of(id: &str) -> Cow<'_, str> {
    trajectory::json::decode(id).0
}

/// The trained turns of the records of one trajectory, taken one record after another.
pub struct Reassembly<'o> {
    original: Record<'o>,
    /// The assistant turns that are to be trained, from the next one on.
    expected: std::vec::IntoIter<usize>,
    trained: usize,
    mark: Option<&'o SummaryMark>,
}

impl<'o> Reassembly<'o> {
    /// A trajectory of which no record was seen yet; `None` where it is no record. Turns that the field of `mark` leaves out of
    /// the training already are not expected.
    pub fn of(original: &'o [u8], format: Option<Format>, mark: Option<&'o SummaryMark>) -> Option<Self> {
        let original = trajectory::parse(original, format).ok()?;
        let is_expected = |turn: &Turn<'_>| {
            let own = mark.and_then(|mark| Some((mark, trajectory::value_of(turn, &mark.field)?)));
            turn.role == Role::Assistant && own.is_none_or(|(mark, own)| own == mark.on(turn, false))
        };
        let turns = original.turns.iter().enumerate();
        let expected: Vec<usize> = turns
            .filter(|(_, turn)| is_expected(turn))
            .map(|(index, _)| index)
            .collect();
        Some(Self {
            original,
            expected: expected.into_iter(),
            trained: 0,
            mark,
        })
    }

    /// Takes the next record.
    ///
    /// # Errors
    ///
    /// What of it is not as it must be.
    pub fn take(&mut self, record: &[u8]) -> Result<(), String> {
        let format = Some(self.original.format);
        let record = trajectory::parse(record, format).map_err(|error| error.to_string())?;
        for index in self.trained_in(&record) {
            let Some(turn) = record.turns.get(index) else {
                return Err(format!("it has no turn {index}, which it calls trained"));
            };
            let Some(place) = self.expected.next() else {
                return Err(format!("its turn {index} is trained once more than it should be"));
            };
            let original = self.original.turns.get(place);
            let is_same = original.is_some_and(|original| match self.mark {
                Some(mark) => trajectory::is_marked_copy(original, turn, &mark.field),
                None => original.text == turn.text,
            });
            if !is_same {
                return Err(format!("its turn {index} is not turn {place} of the trajectory"));
            }
            self.trained += 1;
        }
        Ok(())
    }

    /// The number of trained turns, once all records were taken.
    ///
    /// # Errors
    ///
    /// The turn that is trained in none of them.
    pub fn finish(mut self) -> Result<usize, String> {
        match self.expected.next() {
            None => Ok(self.trained),
            Some(turn) => Err(format!("turn {turn} of the trajectory is trained in no record")),
        }
    }

    /// The turns that a record trains, by their marks, or by its list of them; all of one that has neither.
    fn trained_in(&self, record: &Record<'_>) -> Vec<usize> {
        let listed = trajectory::field_of(record, "trained_turns");
        if let Some(listed) = listed.filter(|_| self.mark.is_none()) {
            return serde_json::from_str(listed).unwrap_or_default();
        }
        let is_trained = |turn: &Turn<'_>| match self.mark {
            Some(mark) => trajectory::value_of(turn, &mark.field) == Some(mark.on(turn, false)),
            None => true,
        };
        let turns = record.turns.iter().enumerate();
        let trained = turns.filter(|(_, turn)| turn.role == Role::Assistant && is_trained(turn));
        trained.map(|(index, _)| index).collect()
    }
}
